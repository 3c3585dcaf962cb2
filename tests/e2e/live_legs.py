#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Capture from two interfaces at once, as of the two legs of a tap, in a network namespace of its own: order,
accounts, and a leg that goes away and comes back.

  live_legs.py BBTRACE        skipped (77) where the kernel gives no such namespace, or no tap interfaces"""
import json
import re
import signal
import subprocess
import sys
import tempfile
import threading
import time

from namespace import Tap, datagram, dns, enter, finish, set_up, start, talk


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
    job = start(bbtrace, "capture", "-i", "tapa", "-i", "tapb", "--stats", f"{folder}/removed.jsonl",
                "-w", f"{folder}/removed.bbt", "udp")  # of statistics a file is made each second
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
    assert job.wait(timeout=60) == 1, err
    assert "tapa: The interface disappeared" in err and "the others go on" in err, err
    assert "tapa is down" in err and "tapa is up again" in err, err
    assert "3 calls, 2 returns" in err and "tapb: The interface disappeared" in err, err


def check_busy_start(bbtrace, folder):
    """What comes between the opening of an interface and its filter is neither read nor counted."""
    leg, over = Tap("tapa"), threading.Event()

    def flood():
        while not over.is_set():
            leg.send(datagram("10.9.0.3", "10.9.0.4", (1, 9), b"not asked for"))

    sender = threading.Thread(target=flood, daemon=True)
    sender.start()
    for _ in range(4):
        job = start(bbtrace, "capture", "-v", "-i", "tapa", "-w", f"{folder}/busy.bbt", "udp", "port", "53")
        talk((leg, leg), range(1, 21))
        time.sleep(0.5)
        err = finish(job, signal.SIGINT)
        assert count(err, "frames") == count(err, "kernel_received") == 40, err
        assert "20 calls, 20 returns" in err and count(err, "kernel_unread") is None, err
    over.set()
    sender.join()
    leg.close()


def told(*command):
    return subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, check=True)


def check_removed_alone(bbtrace, folder):
    """The only interface is removed, and made again at once: the capture ends and says so; what came before is kept."""
    trace, stats = f"{folder}/alone.bbt", f"{folder}/alone.jsonl"
    leg = Tap("tapa")
    job = start(bbtrace, "capture", "-i", "tapa", "--stats", stats, "-w", trace, "udp")
    talk((leg, leg), range(1, 21))
    time.sleep(0.5)
    leg.close()
    leg = Tap("tapa")
    talk((leg, leg), range(21, 31))
    err = job.stderr.read().decode()
    assert job.wait(timeout=60) == 1, err
    assert "tapa: The interface disappeared; what came before is kept, capture again when it is back" in err, err
    assert "20 calls, 20 returns" in err and count(err, "interface_outages") == 1, err
    kept = told(bbtrace, "cat", trace)
    assert sum(not line.startswith("#") for line in kept.stdout.splitlines()) == 40 and not kept.stderr, kept
    with open(stats, encoding="utf-8") as file:
        lines = [json.loads(line) for line in file]
    assert sum(line["calls"] for line in lines) == 20 and lines[-1]["totals"]["interface_outages"] == 1, lines
    leg.close()


def check_waited_for(bbtrace, folder):
    """Unconfined it is waited for, and nothing of what comes then is lost."""
    leg = Tap("tapa")
    job = start(bbtrace, "capture", "-i", "tapa", "--unconfined", "-w", f"{folder}/waited.bbt", "udp")
    for turn in range(2):
        talk((leg, leg), range(1 + 20 * turn, 21 + 20 * turn))
        time.sleep(0.5)
        if turn == 0:
            leg.close()
            time.sleep(1.2)
            leg = Tap("tapa")
            time.sleep(2)
    err = finish(job, signal.SIGINT)
    assert "40 calls, 40 returns" in err and count(err, "interface_outages") == 1, err
    assert err.count("it is waited for") == err.count("tapa is back") == 1, err
    leg.close()


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
    bbtrace = sys.argv[1]
    with tempfile.TemporaryDirectory() as folder:
        check_two_legs(bbtrace, folder)
        check_busy_start(bbtrace, folder)
        check_removed(bbtrace, folder)
        check_removed_alone(bbtrace, folder)
        check_waited_for(bbtrace, folder)
    check_doctor(bbtrace)
    check_refusals(bbtrace)
    print("two legs: fine")
    return 0


if __name__ == "__main__":
    enter(main, taps=True)
