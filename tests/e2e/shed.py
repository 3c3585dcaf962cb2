#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""What a live capture leaves out when it cannot keep up, in a network namespace of its own: whole conversations, that
are counted and told, until it can; never half of one, and no pair is wrong. Of files nothing is left out.

  shed.py BBTRACE SAMPLES        skipped (77) where the kernel gives no such namespace, or no tap interface"""
import fcntl
import os
import re
import signal
import socket
import struct
import subprocess
import sys
import tempfile
import threading
import time

from live_legs import count
from namespace import Tap, enter, finish, start

F_SETPIPE_SZ = 1031
SYN, ACK = 2, 16


def segment(source, target, ports, numbers, flags, payload):
    """A frame of Ethernet, IPv4 and TCP; nobody looks at its checksums."""
    tcp = struct.pack(">HHIIBBHHH", *ports, *numbers, 0x50, flags, 8000, 0, 0) + payload
    head = struct.pack(">BBHHHBBH4s4s", 0x45, 0, 20 + len(tcp), numbers[0] & 0xffff or 1, 0, 64, 6, 0,
                       socket.inet_aton(source), socket.inet_aton(target))
    return bytes([2, 0, 0, 0, 0, 2, 2, 0, 0, 0, 0, 1, 8, 0]) + head + tcp


class Talk:
    """A connection with calls of HTTP. The size of each answer tells whose it is."""

    def __init__(self, tap, number, client="10.8.0.1"):
        self.tap, self.port, self.calls, self.client = tap, 10000 + number, number * 1000, client
        self.seq = [number * 7919, number * 104729]
        self.send(0, SYN, b"")
        self.send(1, SYN | ACK, b"")

    def send(self, side, flags, payload):
        hosts, ports = (self.client, "10.8.0.2"), (self.port, 80)
        if side:
            hosts, ports = hosts[::-1], ports[::-1]
        numbers = (self.seq[side] & 0xffffffff, self.seq[1 - side] & 0xffffffff)
        self.tap.send(segment(*hosts, ports, numbers, flags, payload))
        self.seq[side] += len(payload) + (1 if flags & SYN else 0)

    def call(self):
        size = self.calls % 997
        self.calls += 1
        self.send(0, ACK, b"GET /size-%s HTTP/1.1\r\nHost: h\r\n\r\n" % letters(size))
        self.send(1, ACK, b"HTTP/1.1 200 OK\r\nContent-Length: %03d\r\n\r\n" % size + b"." * size)


HEAD = len(b"HTTP/1.1 200 OK\r\nContent-Length: 123\r\n\r\n")


def letters(number):
    """A label keeps letters, and leaves out numbers."""
    return bytes(ord("g") + int(digit) for digit in "%03d" % number)


def number(label):
    return int("".join(str(ord(letter) - ord("g")) for letter in label))


def check_pairs(text):
    """Returns how many calls have their answer, which must be their own, and how many do not."""
    asked, good = {}, 0
    for line in text.splitlines():
        if line.startswith("#"):
            continue
        fields = line.split()
        keys = dict(field.split("=", 1) for field in fields[5:])
        if fields[1] == "CALL_SENT":
            assert fields[4] not in asked, line
            asked[fields[4]] = number(re.search(r"/size-(\w+)", keys["op"])[1])
        elif fields[4] != "-":
            assert int(keys["bytes"]) - HEAD == asked.pop(fields[4]), line
            good += 1
    return good, len(asked)


def trace_of(bbtrace, trace):
    return subprocess.run([bbtrace, "cat", trace], stdout=subprocess.PIPE, check=True).stdout.decode()


def info_of(bbtrace, trace):
    return subprocess.run([bbtrace, "info", trace], stdout=subprocess.PIPE, check=True).stdout.decode()


def talk_for(talks, seconds, until=lambda: False, rounds=None):
    end = time.monotonic() + seconds
    while time.monotonic() < end and not until() and rounds != 0:
        rounds = rounds and rounds - 1
        for talk in talks:
            talk.call()


def check_sums(err, sent=None):
    """Every packet is read or dropped by the kernel; those of flows left out are read, too."""
    dropped = count(err, "kernel_dropped")
    assert count(err, "frames") == count(err, "kernel_received") - dropped, err
    assert sent is None or count(err, "kernel_received") == sent, err


def check_stopped(bbtrace, folder):
    """A capture that is stopped for a while loses packets; then it keeps less, and after a calm time all again."""
    tap, trace = Tap("tapa"), f"{folder}/stopped.bbt"
    job = start(bbtrace, "capture", "-v", "-i", "tapa", "-B", "1M", "--threads", "1", "-w", trace, "tcp")
    talks = [Talk(tap, each) for each in range(64)]
    talk_for(talks, 0.3)
    for _ in range(2):
        job.send_signal(signal.SIGSTOP)
        talk_for(talks, 1)
        job.send_signal(signal.SIGCONT)
        talk_for(talks, 0.4)
    lines = []
    collector = threading.Thread(target=lambda: lines.extend(iter(job.stderr.readline, b"")), daemon=True)
    collector.start()
    end = time.monotonic() + BACK_SECONDS
    while not any(b"all flows are kept again" in line for line in lines):  # less than what it can do, on any machine
        assert time.monotonic() < end, b"".join(lines).decode()
        talk_for(talks, 0.01, rounds=1)
        time.sleep(0.09)
    job.send_signal(signal.SIGINT)
    assert job.wait(timeout=60) == 0
    collector.join()
    err = b"".join(lines).decode()
    check_sums(err)
    assert count(err, "kernel_dropped") > 0 and count(err, "shed_packets") > 0, err
    assert count(err, "shed_connections") >= 2 and count(err, "shed_raised") >= 1, err
    assert 1000 < count(err, "shed_flows_ms") < 30000, err
    assert "whole flows are left out until that is over" in err, err
    assert "give a narrower FILTER" in err, err
    told = info_of(bbtrace, trace)
    assert re.search(r"shed: from .* to .* up to [1-7] of 8 flows were not kept.*\(seed [0-9a-f]{16}\)", told), told
    assert "packets of flows that were not kept  (!)" in told and "% of the packets were left out" in told, told
    good, rest = check_pairs(trace_of(bbtrace, trace))
    assert good > 1000, (good, rest, err)
    tap.close()


BACK_SECONDS = 60


class SlowReader(threading.Thread):
    """Reads nothing until it is told to."""

    def __init__(self, pipe):
        super().__init__()
        fcntl.fcntl(pipe, F_SETPIPE_SZ, 4096)
        self.pipe, self.text, self.go = pipe, b"", threading.Event()

    def run(self):
        self.go.wait()
        self.text = self.pipe.read()


def check_stuck(bbtrace, buffer, load, rounds=None):
    """Nobody takes the text that it writes: threads that decode wait, and so does reading. What comes meanwhile (some
    30 MB, with so many rounds each tenth of a second) waits in a large buffer; of a smaller one it leaves out what it
    can, then goes on, and comes to keep all again."""
    tap = Tap("tapb")
    job = start(bbtrace, "capture", "-v", "-i", "tapb", "-B", buffer, "--threads", "2", "tcp", stdout=subprocess.PIPE)
    reader = SlowReader(job.stdout)
    reader.start()
    errors = []
    collector = threading.Thread(target=lambda: errors.append(job.stderr.read().decode()))
    collector.start()
    talks = [Talk(tap, each) for each in range(64)]
    for _ in range(10 * STUCK_SECONDS):
        talk_for(talks, load / 10, rounds=rounds)
        time.sleep((1 - load) / 10)
    reader.go.set()
    time.sleep(1)
    for _ in range(5):
        talk_for(talks, 0.02, rounds=rounds)
        time.sleep(0.2)
    job.send_signal(signal.SIGINT)
    assert job.wait(timeout=60) == 0
    collector.join()
    reader.join()
    err, = errors
    check_sums(err)
    good, rest = check_pairs(reader.text.decode())
    assert good > 1000, (good, rest, err)
    if not rounds:
        assert count(err, "shed_packets") > 1000 and count(err, "shed_raised") >= 2, err
        assert b"# note shed: from " in reader.text
    else:
        assert count(err, "shed_packets") is None and not rest, (rest, err)
    tap.close()


STUCK_SECONDS = 5


def check_not_silent(bbtrace, folder):
    """Who is left out is not silent to a flight recorder; who is, is. The snapshot tells what was left out."""
    tap, place = Tap("tapd"), f"{folder}/recorder"
    job = start(bbtrace, "capture", "-v", "-i", "tapd", "-B", "1M", "--flight-recorder", "4M", "-w", place,
                "--snap-after", "0", "--trigger", "silent(10.8.1.*) > 1.3s", "tcp")
    talks = [Talk(tap, each, f"10.8.1.{each}") for each in range(64)]
    talk_for(talks, 0.3)
    job.send_signal(signal.SIGSTOP)
    talk_for(talks, 0.7)
    job.send_signal(signal.SIGCONT)
    for _ in range(30):  # flows are left out for 1.5 s and more
        talk_for(talks, 0.01)
        time.sleep(0.09)
    assert not [name for name in os.listdir(place) if name.startswith("snap-")]
    talks.pop(5)
    end = time.monotonic() + 10
    while not [name for name in os.listdir(place) if name.endswith(".bbt")]:
        assert time.monotonic() < end
        talk_for(talks, 0.01)
        time.sleep(0.09)
    err = finish(job, signal.SIGINT)
    assert count(err, "shed_packets") > 0, err
    name, = (name for name in os.listdir(place) if name.endswith(".bbt"))
    told = info_of(bbtrace, f"{place}/{name}")
    assert re.search(r"fired by silent\(10\.8\.1\.\*\) > 1\.3s: silent for .*: 10\.8\.1\.5, at", told), told
    assert re.search(r"shed: from .* of 8 flows were not kept", told), told
    tap.close()


def check_turned_off(bbtrace, folder):
    tap, trace = Tap("tapc"), f"{folder}/off.bbt"
    job = start(bbtrace, "capture", "-v", "-i", "tapc", "-B", "1M", "--no-shed", "-w", trace, "tcp")
    talks = [Talk(tap, each) for each in range(64)]
    job.send_signal(signal.SIGSTOP)
    talk_for(talks, 1)
    job.send_signal(signal.SIGCONT)
    talk_for(talks, 0.5)
    time.sleep(0.3)
    err = finish(job, signal.SIGINT)
    check_sums(err)
    assert count(err, "kernel_dropped") > 0 and "shed" not in err, err
    check_pairs(trace_of(bbtrace, trace))
    tap.close()


def check_files(bbtrace, samples):
    """However slow the reader is."""
    text = []
    for pause in (0, 0.5):
        job = subprocess.Popen([bbtrace, "capture", "-v", "-r", f"{samples}/shop.pcap.xz", "--threads", "2"],
                               stdout=subprocess.PIPE, stderr=subprocess.PIPE)
        fcntl.fcntl(job.stdout, F_SETPIPE_SZ, 4096)
        job.send_signal(signal.SIGSTOP)
        time.sleep(pause)
        job.send_signal(signal.SIGCONT)
        time.sleep(2 * pause)
        out, err = job.communicate()
        assert job.returncode == 0 and b"shed" not in err, err
        text.append(out)
    assert text[0] == text[1] and len(text[0]) > 100000


def main():
    bbtrace, samples = sys.argv[1:3]
    check_files(bbtrace, samples)
    with tempfile.TemporaryDirectory() as folder:
        check_stopped(bbtrace, folder)
        check_turned_off(bbtrace, folder)
        check_not_silent(bbtrace, folder)
    check_stuck(bbtrace, "16M", 1)
    check_stuck(bbtrace, "256M", 0.2, rounds=10)
    print("shedding: fine")
    return 0


if __name__ == "__main__":
    enter(main, taps=True)
