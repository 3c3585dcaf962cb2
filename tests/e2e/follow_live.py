#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""bbtrace capture --follow on an interface: the kernel hands over what is followed and little else, also in VLANs and
tunnels, more as the set grows, and nothing is lost when its filter is changed. In a network namespace of its own.

  follow_live.py BBTRACE        skipped (77) where the kernel gives no such namespace"""
import pathlib
import re
import signal
import struct
import subprocess
import sys
import tempfile
import time

from namespace import Tap, datagram, dns, enter, finish, start

BBTRACE = sys.argv[1]
ENTRANCE, APP, STORE, RELAY, STRANGER = "10.0.0.20", "10.0.0.31", "10.0.0.41", "10.0.0.32", "10.8.0.1"
FOREIGN = 3000


def count(err, counter):
    found = re.search(rf"([\d,]+)  [^\n]* \({counter}\)", err)
    return int(found[1].replace(",", "")) if found else 0


def tagged(frame, *types):
    for kind in types:
        frame = frame[:12] + struct.pack(">HH", kind, 7) + frame[12:]
    return frame


def in_vxlan(frame):
    return datagram("192.0.2.1", "192.0.2.2", (50000, 4789), b"\x08\0\0\0\0\0\x07\0" + frame)


def ask(tap, source, target, number, wrap=lambda frame: frame):
    """A question and its answer."""
    tap.send(wrap(datagram(source, target, (40000 + number, 5300), dns(number, False))))
    tap.send(wrap(datagram(target, source, (5300, 40000 + number), dns(number, True))))


def foreign(tap):
    """Of nobody who is followed; between the VLANs and plain."""
    for number in range(FOREIGN // 6):
        ask(tap, STRANGER, "10.8.0.2", number)
        ask(tap, STRANGER, "10.8.0.3", number, lambda frame: tagged(frame, 0x8100))
        ask(tap, STRANGER, "10.8.0.4", number, lambda frame: tagged(frame, 0x8100, 0x88a8))


def capture(folder, *arguments):
    return start(BBTRACE, "capture", "-v", "-i", "bb0", "-w", f"{folder}/t.bbt", "--decode", "5300=dns", *arguments)


def info(folder):
    return subprocess.run([BBTRACE, "info", f"{folder}/t.bbt"], stdout=subprocess.PIPE, check=True).stdout.decode()


def check_narrow_and_wide(tap, folder, *more):
    job = capture(folder, "--follow", ENTRANCE + ":5300", *more)
    foreign(tap)
    ask(tap, APP, STORE, 1)  # nobody knows yet that they belong to it
    ask(tap, "10.9.0.1", ENTRANCE, 2)
    ask(tap, ENTRANCE, APP, 3)
    tap.send(datagram(ENTRANCE, RELAY, (40009, 5300), dns(9, False)))  # who never answers
    time.sleep(0.7)  # blocks of the kernel's ring come within 0.1 s
    ask(tap, APP, STORE, 4)
    ask(tap, APP, "10.0.0.42", 5, lambda frame: tagged(frame, 0x8100, 0x88a8))
    ask(tap, APP, "10.0.0.43", 6, in_vxlan)
    ask(tap, STRANGER, "10.8.0.2", 7, in_vxlan)  # comes here, and is left out here
    ask(tap, RELAY, "10.0.0.44", 9)
    foreign(tap)
    time.sleep(0.7)
    ask(tap, "10.9.0.9", STORE, 8)  # another caller of whom they call
    time.sleep(0.3)
    err = finish(job, signal.SIGINT)
    calls = 7  # 2 3 4 5 6 8 9
    assert f" {calls + 1} calls, {calls} returns" in err, err
    received, left_out = count(err, "kernel_received"), count(err, "not_followed")
    assert 2 * calls + 3 <= received < 2 * calls + 3 + 100, err  # of more than 6,000; others are ARP and the like
    assert left_out == 2 and count(err, "kernel_dropped") == 0, err
    assert re.search(r" 7  hosts followed", err), err
    text = info(folder)
    assert f"followed {ENTRANCE}:5300 from the beginning" in text, text
    for host, caller, hop in ((APP, ENTRANCE, 1), (STORE, APP, 2), (RELAY, ENTRANCE, 1), ("10.0.0.44", RELAY, 2),
                              ("10.0.0.42", APP, 2), ("10.0.0.43", APP, 2)):
        assert re.search(rf"followed {host} \(hop {hop}, called by {caller} at port 5300\) since 20\d\d-", text), text
    return err


def check_filter_too(tap, folder):
    job = capture(folder, "--follow", ENTRANCE, "udp", "src", "port", "5300")
    foreign(tap)
    ask(tap, "10.9.0.1", ENTRANCE, 1)
    time.sleep(0.3)
    err = finish(job, signal.SIGINT)
    assert count(err, "kernel_received") == 1 and re.search(r"bbtrace: 1 packets? in", err), err


FRAMES_A_SECOND = 200000  # that sanitizers keep up with, too


def check_nothing_lost(tap, folder):
    """All are of the entrance, while hosts join, and with them the filter changes, all the time. On a busy machine the
    kernel may lack buffers for a few, which it counts; a change of the filter may cost none."""
    job = capture(folder, "--follow", ENTRANCE)
    sent, began = 0, time.monotonic()
    while time.monotonic() - began < 3:
        host = sent // 60 % 1500
        frame = datagram(ENTRANCE, f"10.1.{host >> 8}.{host & 255}", (40000, 5300), dns(sent % 60000, False))
        for _ in range(20):
            tap.send(frame)
        sent += 20
        while sent > FRAMES_A_SECOND * (time.monotonic() - began):
            time.sleep(0.001)
    time.sleep(0.5)
    err = finish(job, signal.SIGINT)
    got = int(re.search(r"bbtrace: ([\d,]+) packets? in", err)[1].replace(",", ""))
    dropped = count(err, "kernel_dropped")
    assert sent <= got + dropped < sent + 100 and dropped < sent / 1000, (sent, err)
    assert count(err, "not_followed") < 100, err
    print(f"{sent} frames sent while hosts joined, none lost but {dropped} for want of buffer")


def check_too_many(tap, folder):
    """More hosts than fit: said once, and what the kernel would hold back is left out here."""
    job = capture(folder, "--follow", ENTRANCE)
    for host in range(2500):
        address = f"10.2.{host >> 8}.{host & 255}"
        tap.send(datagram(ENTRANCE, address, (40000, 5301), b"x" * 20))
        tap.send(datagram(address, ENTRANCE, (5301, 40000), b"x" * 20))
    time.sleep(0.7)
    foreign(tap)
    tap.send(datagram("10.9.0.9", "10.2.9.100", (40000, 5301), b"y" * 20))  # the kernel lets all through now
    time.sleep(0.5)
    err = finish(job, signal.SIGINT)
    assert err.count("warning: interface bb0: the kernel cannot pick out what is followed") == 1 and "they are too many" in err, err
    assert re.search(r" 2,501  hosts followed", err), err
    assert count(err, "not_followed") >= FOREIGN and count(err, "kernel_received") >= FOREIGN + 5001, err


def check_any(tap, folder):
    job = start(BBTRACE, "capture", "-v", "-i", "any", "-w", f"{folder}/t.bbt", "--decode", "5300=dns", "--follow", ENTRANCE)
    foreign(tap)
    ask(tap, "10.9.0.1", ENTRANCE, 1)
    time.sleep(0.3)
    err = finish(job, signal.SIGINT)
    assert "the interface is not of Ethernet" in err and re.search(" 1 calls?, 1 returns?", err), err
    assert count(err, "not_followed") >= FOREIGN // 3, err


def main():
    tap = Tap("bb0")
    try:
        pathlib.Path("/proc/sys/net/ipv6/conf/bb0/disable_ipv6").write_text("1")
    except OSError:
        pass  # then there is none
    with tempfile.TemporaryDirectory() as folder:
        confined = check_narrow_and_wide(tap, folder)
        assert "confined: " in confined, confined
        check_narrow_and_wide(tap, folder, "--unconfined", "--threads", "3")
        check_filter_too(tap, folder)
        check_nothing_lost(tap, folder)
        check_too_many(tap, folder)
        check_any(tap, folder)
    tap.close()
    print("followed live: fine")
    return 0


if __name__ == "__main__":
    enter(main, taps=True)
