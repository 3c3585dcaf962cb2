#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""What befalls a capture that runs: signals, a terminal that goes away, files that are taken away under it, an interface
without carrier, a second capture at the same place. In a network namespace of its own.

  mishaps.py BBTRACE        skipped (77) where the kernel gives no such namespace, or no tap interfaces"""
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

from namespace import Tap, ended, enter, finish, hear, start, talk

BBTRACE = sys.argv[1]
TUNSETCARRIER, SIOCGIFFLAGS, IFF_RUNNING = 0x400454e2, 0x8913, 0x40


def carrier(tap, on):
    """Returns when the kernel has noticed, for which it takes up to a second."""
    fcntl.ioctl(tap.file, TUNSETCARRIER, struct.pack("i", on))
    until, runs = time.monotonic() + 20, None
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as asked:
        while runs != on:
            assert time.monotonic() < until, on
            flags = fcntl.ioctl(asked, SIOCGIFFLAGS, struct.pack("16sH22x", b"mis0", 0))
            runs = bool(struct.unpack_from("H", flags, 16)[0] & IFF_RUNNING)
            time.sleep(0.05)


def messages(trace):
    """Of a trace that is whole."""
    done = subprocess.run([BBTRACE, "cat", trace], capture_output=True, text=True, check=True)
    assert not done.stderr, done.stderr
    return sum(not line.startswith("#") for line in done.stdout.splitlines())


def run(*options, **more):
    job = subprocess.Popen([BBTRACE, "capture", "-v", "-i", "mis0", *options], stderr=subprocess.PIPE, **more)
    job.heard = ""
    return job


def begin(*options, **more):
    """Returns when it captures."""
    job = run(*options, **more)
    hear(job, "listening on ")
    return job


def wait_for(path):
    """Until somebody writes there."""
    until = time.monotonic() + 20
    while not os.path.exists(path):
        assert time.monotonic() < until, path
        time.sleep(0.05)
    time.sleep(0.3)


def check_signals(tap, folder):
    """SIGHUP ends in order, be there two of them, and does not where it was ignored; SIGUSR2 is answered."""
    trace = f"{folder}/signals.bbt"
    job = begin("-w", trace, preexec_fn=lambda: signal.signal(signal.SIGHUP, signal.SIG_DFL))  # nohup(1) or not
    talk([tap, tap], range(20))
    time.sleep(0.5)
    job.send_signal(signal.SIGUSR2)
    hear(job, "none without --flight-recorder")
    job.send_signal(signal.SIGHUP)
    err = finish(job, signal.SIGHUP)
    assert "20 calls, 20 returns" in err, err
    assert messages(trace) == 40
    job = begin("-w", trace, preexec_fn=lambda: signal.signal(signal.SIGHUP, signal.SIG_IGN))
    job.send_signal(signal.SIGHUP)
    time.sleep(0.5)
    assert job.poll() is None, job.stderr.read()
    finish(job, signal.SIGINT)


def check_doctor(tap):
    """SIGUSR1 says how far it is; time without frames is told; and that there is no carrier."""
    job = start(BBTRACE, "doctor", "-i", "mis0", "-G", "3", "udp", stdout=subprocess.PIPE)
    talk([tap, tap], range(5))
    time.sleep(0.5)
    job.send_signal(signal.SIGUSR1)
    said, err = job.communicate(timeout=60)
    assert job.returncode == 0 and b"mis0: 10 frames so far" in err, err
    carrier(tap, False)
    done = subprocess.run([BBTRACE, "doctor", "-i", "mis0", "-G", "2", "udp"], capture_output=True, text=True, check=True)
    carrier(tap, True)
    assert "0 frames in 2.00 s" in done.stdout, done.stdout
    assert "interface mis0 has no carrier" in done.stderr, done.stderr


def check_carrier(tap, folder):
    """A carrier that is lost is an outage; one that is missing from the beginning is said."""
    job = begin("-w", f"{folder}/carrier.bbt")
    carrier(tap, False)
    hear(job, "mis0 has no carrier")
    carrier(tap, True)
    hear(job, "mis0 has a carrier")
    err = finish(job, signal.SIGINT)
    assert err.count("mis0 has no carrier") == err.count("mis0 has a carrier") == 1, err
    assert re.search(r" 1  [^\n]*\(interface_outages\)", err), err
    carrier(tap, False)
    job = begin("-w", f"{folder}/carrier.bbt")
    hear(job, "mis0 has no carrier")
    carrier(tap, True)
    hear(job, "mis0 has a carrier")
    err = finish(job, signal.SIGINT)
    assert err.count("mis0 has no carrier") == err.count("mis0 has a carrier") == 1, err
    assert re.search(r" 0  [^\n]*\(interface_outages\)", err) or "interface_outages" not in err, err


def check_removed(folder):
    """What is written into a file that nobody can reach is lost, which is said at once and is a failure."""
    for options, gone in ((["-w", f"{folder}/gone.bbt"], f"{folder}/gone.bbt"),
                          (["--flight-recorder", "1M", "-w", f"{folder}/ring"], f"{folder}/ring/ring.bbr")):
        job = begin(*options)
        wait_for(gone)
        os.rename(gone, gone + ".moved")  # is no loss
        time.sleep(1.5)
        os.remove(gone + ".moved")
        hear(job, "was removed, or another file put in its place")
        job.send_signal(signal.SIGINT)
        err = ended(job, 1)
        assert err.count("was removed, or another file put in its place") == 1, err
        assert "was removed while it was written: what was captured is lost" in err, err


def check_second(folder):
    """Of two captures at one place the second is refused, and the first is whole."""
    trace, ring = f"{folder}/one.bbt", f"{folder}/one"
    first, recorder = begin("-w", trace), begin("--flight-recorder", "1M", "-w", ring)
    wait_for(trace)
    wait_for(f"{ring}/ring.bbr")
    err = ended(run("-w", trace), 1)
    assert f"{trace}: another run of bbtrace or bbpaths writes this file now" in err, err
    err = ended(run("--flight-recorder", "1M", "-w", ring), 1)
    assert "another capture records there: choose another place" in err, err
    finish(first, signal.SIGINT)
    finish(recorder, signal.SIGINT)
    assert messages(trace) == 0


def lines_of(path, least):
    """Waits for so many, at most 20 seconds."""
    until, count = time.monotonic() + 20, 0
    while count < least:
        assert time.monotonic() < until, (path, count)
        time.sleep(0.1)
        if os.path.exists(path):
            with open(path, encoding="utf-8") as file:
                count = len(file.readlines())


def check_statistics(folder):
    """A file of statistics that is moved away, as logrotate(8) does, is begun again."""
    stats = f"{folder}/s.jsonl"
    job = begin("--stats", stats, "-w", f"{folder}/s.bbt")
    lines_of(stats, 1)
    os.rename(stats, f"{stats}.1")
    lines_of(stats, 2)
    finish(job, signal.SIGINT)
    for path, least in ((f"{stats}.1", 1), (stats, 2)):
        with open(path, encoding="utf-8") as file:
            assert len([json.loads(line) for line in file]) >= least, path


def check_words(folder):
    os.mkdir(f"{folder}/closed", 0o500)  # as one of somebody else, to who gave up root's rights
    for options in [], ["--rotate-time", "1s"]:
        err = ended(run("-w", f"{folder}/closed/x.bbt", *options), 1)
        assert "Permission denied" in err and "root's rights over the files of others were given up: -Z OWNER" in err, err
    for options, status, words in ((["-s", "63"], 2, "-s takes a number from 64 to 262144"),
                                   (["-Z", "4294967294"], 1, "there is no user '4294967294'"),
                                   (["-Z", "0"], 0, "0 packets")):
        done = subprocess.run([BBTRACE, "capture", "-i", "mis0", "-G", "1", "-w", f"{folder}/w.bbt", *options],
                              capture_output=True, text=True, check=False)
        assert done.returncode == status and words in done.stderr, (options, done)


def main():
    tap = Tap("mis0")
    with tempfile.TemporaryDirectory() as folder:
        check_signals(tap, folder)
        check_doctor(tap)
        check_carrier(tap, folder)
        check_removed(folder)
        check_second(folder)
        check_statistics(folder)
        check_words(folder)
    tap.close()
    print("mishaps: fine")
    return 0


if __name__ == "__main__":
    enter(main, taps=True)
