"""A device on a serial port that answers "?" with a value, and after "!" talks without end.

Usage: talker.py PORT
"""
import sys

import serial

port = serial.Serial(sys.argv[1], 115200)
print("ready", flush=True)
while True:
    command = port.read_until(b"\r")
    if command == b"?\r":
        port.write(b"V=42\r")
    elif command == b"!\r":
        while True:
            port.write(b"noise without end\r" * 20)
