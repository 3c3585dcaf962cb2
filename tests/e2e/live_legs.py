#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Capture from two interfaces at once, as of the two legs of a tap, in a network namespace of its own: order,
accounts, and a leg that goes away and comes back.

  live_legs.py BBTRACE        skipped (77) where the kernel gives no such namespace, or no tap interfaces"""
import fcntl
import json
import os
import re
import signal
import socket
import struct
import subprocess
import sys
import tempfile
import time

SIOCSIFFLAGS, IFF_UP, IFF_RUNNING = 0x8914, 1, 64
TUNSETIFF, IFF_TAP, IFF_NO_PI = 0x400454ca, 2, 0x1000


def set_up(interface, up=True):
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as any_socket:
        request = struct.pack("16sH14s", interface.encode(), IFF_UP | IFF_RUNNING if up else 0, b"")
        fcntl.ioctl(any_socket, SIOCSIFFLAGS, request)


class Tap:
    """An interface that is there until it is closed; what is sent to it is received on it."""

    def __init__(self, name):
        self.file = open("/dev/net/tun", "r+b", buffering=0)
        fcntl.ioctl(self.file, TUNSETIFF, struct.pack("16sH22s", name.encode(), IFF_TAP | IFF_NO_PI, b""))
        set_up(name)

    def send(self, frame):
        self.file.write(frame)

    def close(self):
        self.file.close()


def datagram(source, target, ports, payload):
    """A frame of Ethernet, IPv4 without checksum errors, and UDP without checksum."""
    udp = struct.pack(">HHHH", *ports, 8 + len(payload), 0) + payload
    head = struct.pack(">BBHHHBBH4s4s", 0x45, 0, 20 + len(udp), 0, 0, 64, 17, 0, socket.inet_aton(source),
                       socket.inet_aton(target))
    total = sum(struct.unpack(">10H", head))
    total = (total & 0xffff) + (total >> 16)
    total = (total & 0xffff) + (total >> 16)
    head = head[:10] + struct.pack(">H", ~total & 0xffff) + head[12:]
    return bytes([2, 0, 0, 0, 0, 2, 2, 0, 0, 0, 0, 1, 8, 0]) + head + udp


def dns(number, answer):
    """Question for hostN.test, or its answer."""
    name = b"".join(bytes([len(part)]) + part for part in (b"host%d" % number, b"test")) + b"\0"
    head = struct.pack(">HHHHHH", number, 0x8180 if answer else 0x0100, 1, int(answer), 0, 0)
    record = b"\xc0\x0c" + struct.pack(">HHIH", 1, 1, 60, 4) + bytes([10, 1, 1, number % 250]) if answer else b""
    return head + name + struct.pack(">HH", 1, 1) + record


def talk(legs, numbers):
    """Questions on the first leg, their answers on the second, as the two legs of a tap show them."""
    for number in numbers:
        legs[0].send(datagram("10.9.0.1", "10.9.0.2", (40000 + number, 53), dns(number, False)))
        legs[1].send(datagram("10.9.0.2", "10.9.0.1", (53, 40000 + number), dns(number, True)))


def start(*command, **options):
    job = subprocess.Popen(command, stderr=subprocess.PIPE, **options)
    time.sleep(1)  # until it listens
    return job


def finish(job, sent):
    if sent:
        job.send_signal(sent)
    err = job.stderr.read().decode()
    assert job.wait(timeout=20) == 0, err
    return err


def count(err, name):
    """The figure of a counter in the summary; None where it is not told."""
    found = re.search(rf"([\d,]+)  [^\n]*\({name}\)", err)
    return int(found[1].replace(",", "")) if found else None


def check_two_legs(bbtrace, folder):
    """A question on one leg, its answer on the other: calls and returns only where both are read in order.
    One leg goes down and comes up, is removed and comes back, while the other goes on."""
    trace = f"{folder}/legs.bbt"
    legs = [Tap("tapa"), Tap("tapb")]
    job = start(bbtrace, "capture", "-v", "-i", "tapa", "-i", "tapb", "--unconfined", "-w", trace, "udp", "port", "53")
    talk(legs, range(1, 101))
    time.sleep(1.5)
    set_up("tapa", False)
    time.sleep(1.5)
    legs[1].send(datagram("10.9.0.2", "10.9.0.1", (53, 40999), dns(999, True)))  # its question was not seen
    set_up("tapa")
    time.sleep(1.5)
    talk(legs, range(101, 151))
    time.sleep(0.5)
    legs[0].close()
    time.sleep(1.2)
    legs[0] = Tap("tapa")
    time.sleep(2)
    talk(legs, range(151, 171))
    time.sleep(0.5)
    err = finish(job, signal.SIGINT)
    assert "170 calls, 171 returns" in err, err
    assert count(err, "kernel_received") == 341 and count(err, "kernel_dropped") == 0, err
    assert count(err, "frames") == 341 and count(err, "frames_crossed") is None, err
    assert count(err, "interface_outages") == 2, err
    for words in ("tapa is down: nothing comes", "tapa is up again", "it is waited for", "tapa is back"):
        assert err.count(words) == 1, (words, err)
    told = subprocess.run([bbtrace, "info", trace], stdout=subprocess.PIPE, check=True).stdout.decode()
    for leg in ("tapa", "tapb"):
        assert f"interface {leg}: time stamps of the host clock (host), in nanoseconds" in told, told
    for leg in legs:
        leg.close()


def check_removed(bbtrace, folder):
    """A process that gave up its rights does not take up an interface that was removed: it goes on without it,
    and ends with the last one."""
    legs = [Tap("tapa"), Tap("tapb")]
    job = start(bbtrace, "capture", "-i", "tapa", "-i", "tapb", "-w", f"{folder}/removed.bbt", "udp")
    for up in (False, True):  # takes no right
        set_up("tapa", up)
        time.sleep(1.5)
    talk(legs, (2, 3))
    time.sleep(1)
    legs[0].close()
    time.sleep(1.5)
    legs[1].send(datagram("10.9.0.1", "10.9.0.2", (40000, 53), dns(1, False)))
    time.sleep(1)
    legs[1].close()
    err = job.stderr.read().decode()
    assert job.wait(timeout=20) == 1, err
    assert "tapa: The interface disappeared" in err and "the others go on" in err, err
    assert "tapa is down" in err and "tapa is up again" in err, err
    assert "3 calls, 2 returns" in err and "tapb: The interface disappeared" in err, err


def check_doctor(bbtrace):
    legs = [Tap("tapa"), Tap("tapb")]
    job = subprocess.Popen([bbtrace, "doctor", "-i", "tapa", "-i", "tapb", "-G", "2", "--json"], stdout=subprocess.PIPE)
    time.sleep(1)
    talk(legs, range(1, 21))
    told = json.loads(job.communicate()[0])
    assert told["input"] == "interfaces tapa, tapb" and "40" in json.dumps(told), told
    for leg in legs:
        leg.close()


def check_refusals(bbtrace):
    for options, words in ((("-i", "lo", "-i", "lo"), "some frames would be read twice"),
                           (("-i", "lo", "--time-stamp-type", "sundial"), "no time stamps of type sundial"),
                           (("-i", "lo", "-i", "nowhere0"), "there is no interface nowhere0")):
        done = subprocess.run([bbtrace, "capture", *options, "-w", "/dev/null"], stderr=subprocess.PIPE, check=False)
        assert done.returncode != 0 and words in done.stderr.decode(), (options, done)


def main():
    if len(sys.argv) == 2:
        done = subprocess.run(["unshare", "-rn", sys.executable, *sys.argv, "inside"], check=False)
        return done.returncode
    bbtrace = sys.argv[1]
    set_up("lo")
    with tempfile.TemporaryDirectory() as folder:
        check_two_legs(bbtrace, folder)
        check_removed(bbtrace, folder)
    check_doctor(bbtrace)
    check_refusals(bbtrace)
    print("two legs: fine")
    return 0


if __name__ == "__main__":
    if len(sys.argv) == 2 and subprocess.run(["unshare", "-rn", "true"], check=False).returncode:
        print("skipped: the kernel gives no user and network namespace")
        sys.exit(77)
    if not os.access("/dev/net/tun", os.R_OK | os.W_OK):
        print("skipped: no /dev/net/tun")
        sys.exit(77)
    sys.exit(main())
