"""A device on a serial port that answers "N" with "VN": "1" after 200 ms, everything else after 20 ms.

Usage: slow-echo.py PORT
"""
import sys
import time

import serial

port = serial.Serial(sys.argv[1], 115200)
print("ready", flush=True)
while True:
    command = port.read_until(b"\r").strip()
    time.sleep(0.2 if command == b"1" else 0.02)
    port.write(b"V" + command + b"\r")
