"""A device of text lines with two registers and a counter. pyserial is its serial port.

Usage: line-device.py PORT LOG NAME SEED LATE MUTE LATENCY_MAX_MS named|bare

                      named              bare
SET a 17              SET a 17           OK
GET a                 a=17               17
ADD 5 n12             ADDED n12 22       OK
CNT                   total=22           22

A bare reply could be the reply to any request of its kind. A lost cable does not stop the device: what it has to say
later is said on the next one.
"""
import os
import sys
import time

import serial

from device_log import DeviceLog, Fates, now_ms

path, log_path, name, seed, late, mute, latency_max_ms, style = sys.argv[1:]
log = DeviceLog(log_path)
fates = Fates(seed, log.boot, float(late), float(mute), float(latency_max_ms))
registers = {"a": 0, "b": 0}
total = 0
for entry in log.entries:
    if entry["kind"] == "set":
        registers[entry["resource"].split(".")[1]] = entry["value"]
    elif entry["kind"] == "add":
        total += entry["amount"]
port = None


def connect():
    global port
    try:
        port = serial.Serial(path, 115200, timeout=0.05)
    except (serial.SerialException, OSError):
        port = None


def execute(words):
    """The reply; None: no such command."""
    global total
    fate, delay_ms = fates.draw()
    marks = {"fate": fate, "delayMs": round(delay_ms)}
    if words[0] == "SET" and len(words) == 3:
        registers[words[1]] = int(words[2])
        log.write("set", resource=f"{name}.{words[1]}", value=registers[words[1]], **marks)
        reply = " ".join(words) if style == "named" else "OK"
    elif words[0] == "GET" and len(words) == 2:
        value = registers[words[1]]
        log.write("read", resource=f"{name}.{words[1]}", value=value, **marks)
        reply = f"{words[1]}={value}" if style == "named" else f"{value}"
    elif words[0] == "ADD" and len(words) == 3:
        total += int(words[1])
        log.write("add", resource=f"{name}.total", amount=int(words[1]), nonce=words[2], value=total, **marks)
        reply = f"ADDED {words[2]} {total}" if style == "named" else "OK"
    elif words == ["CNT"]:
        log.write("read", resource=f"{name}.total", value=total, **marks)
        reply = f"total={total}" if style == "named" else f"{total}"
    else:
        return None, "mute", 0
    return reply, fate, delay_ms


connect()
print("ready", flush=True)
held = b""
while True:
    if port is None:
        time.sleep(0.01)
        if os.path.exists(path):
            connect()
            held = b""
        continue
    try:
        held += port.read_until(b"\r")
        if not held.endswith(b"\r"):
            continue
        received_at = now_ms()
        words = held.decode("ascii", "replace").split()
        held = b""
        if not words:
            continue
        reply, fate, delay_ms = execute(words)
        if fate == "mute":
            continue
        time.sleep(delay_ms / 1000)
        if port is not None and not fates.is_too_late(received_at):
            try:
                port.write(reply.encode("ascii") + b"\r")
            except (serial.SerialException, OSError):
                connect()
                if port is not None:
                    port.write(reply.encode("ascii") + b"\r")
    except (serial.SerialException, OSError):
        port.close()
        port = None
