"""What a device did, on disk: one line of JSON for each request that it executed, in order.

The line is written by one call before the reply leaves, and the state of the device is what its log says. So a device
that is killed at any moment comes back with exactly the requests that are in its log, and none else.

`at` is CLOCK_MONOTONIC in milliseconds: every process of the machine reads the same clock.
"""
import json
import os
import random
import time


def now_ms():
    return time.monotonic_ns() / 1e6


class DeviceLog:
    def __init__(self, path):
        self.entries = []
        if os.path.exists(path):
            with open(path, encoding="ascii") as file:
                self.entries = [json.loads(line) for line in file]
        self.seq = len(self.entries)
        self.boot = 1 + sum(1 for entry in self.entries if entry["kind"] == "start")
        self.file = os.open(path, os.O_WRONLY | os.O_APPEND | os.O_CREAT, 0o644)
        self.write("start", pid=os.getpid())

    def write(self, kind, **fields):
        entry = {"seq": self.seq, "at": now_ms(), "boot": self.boot, "kind": kind, **fields}
        line = (json.dumps(entry) + "\n").encode("ascii")
        assert os.write(self.file, line) == len(line)
        self.seq += 1


class Fates:
    """How the reply to a request fares, by a seed: in time, late, or never."""

    def __init__(self, seed, boot, late, mute, latency_max_ms):
        self.random = random.Random(f"{seed}:{boot}")
        self.late = late
        self.mute = mute
        self.latency_max_ms = latency_max_ms

    def draw(self):
        """(fate, delay in ms); the gateway waits for 150 ms."""
        chance = self.random.random()
        if chance < self.mute:
            return "mute", 0
        if chance < self.mute + self.late:
            return "late", self.random.uniform(180, 350)
        return "prompt", self.random.uniform(1, 15)

    def is_too_late(self, received_at):
        """On a busy machine a device keeps its promise all the same: later than this it says nothing."""
        return now_ms() - received_at > self.latency_max_ms
