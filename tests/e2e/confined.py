#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""What a capture gives up: rights, system calls, files; and that it sends nothing. In a network namespace of its own.

  confined.py BBTRACE SAMPLES        skipped (77) where the kernel gives no such namespace"""
import os
import pathlib
import signal
import subprocess
import sys
import tempfile
import time

from namespace import Tap, enter, finish, start, talk

BBTRACE, SAMPLES = sys.argv[1], pathlib.Path(sys.argv[2])
SECCOMP_FILTER = "2"  # proc(5)


def lines_of(path):
    return dict(line.split(":\t", 1) for line in pathlib.Path(path).read_text().splitlines() if ":\t" in line)


def said(err):
    """What bbtrace -v says it has given up."""
    found = [line for line in err.splitlines() if "confined: " in line]
    return found[0].split("confined: ")[1].split(", ") if found else []


def sent_by(interface):
    for line in pathlib.Path("/proc/net/dev").read_text().splitlines():
        name, _, rest = line.partition(":")
        if name.strip() == interface:
            return int(rest.split()[9])
    raise KeyError(interface)


def check_threads(pid):
    """Every thread, those that were made later too."""
    threads = list(pathlib.Path(f"/proc/{pid}/task").iterdir())
    assert len(threads) > 1, threads
    states = [lines_of(thread / "status") for thread in threads]
    for state in states:
        for kind in "CapInh", "CapPrm", "CapEff", "CapAmb":
            assert int(state[kind], 16) == 0, (kind, state)
        assert state["NoNewPrivs"] == "1", state
    return {state["Seccomp"] for state in states}


def check_live(folder):
    tap = Tap("bb0")
    try:
        pathlib.Path("/proc/sys/net/ipv6/conf/bb0/disable_ipv6").write_text("1")
    except OSError:
        pass  # then there is none
    time.sleep(0.2)
    before = sent_by("bb0")
    trace = os.path.join(folder, "live.bbt")
    job = start(BBTRACE, "capture", "-v", "-i", "bb0", "-w", trace)
    seccomp = check_threads(job.pid)
    talk([tap, tap], range(100))
    time.sleep(0.5)
    err = finish(job, signal.SIGINT)
    assert sent_by("bb0") == before, "something was sent"
    gone = said(err)
    assert "no capabilities" in gone and "no new privileges" in gone, err
    if "seccomp" in gone:
        assert seccomp == {SECCOMP_FILTER}, seccomp
    assert "200 packets" in err and " 100 calls, 100 returns" in err, err
    tap.close()
    return gone


def run(*arguments, **options):
    return subprocess.run([BBTRACE, "capture", *arguments], capture_output=True, text=True, **options)


def check_same():
    """Confined or not, the trace is the same: nothing that is needed was given up."""
    keys = SAMPLES / "protocols" / "tls.keys"
    for sample, more in (("shop.pcap.xz", ["--names", str(SAMPLES / "shop.hosts"), "--names-from-dns"]),
                         ("shop.pcap.xz", ["port http"]), ("shop.pcap.xz", ["--names-from-dns", "host 10.77.0.20"]),
                         ("protocols/tls.pcap", ["--keylog", str(keys)])):
        for threads in "1", "3":
            command = ["-r", str(SAMPLES / sample), "--threads", threads, *more]
            here, free = run(*command), run("--unconfined", *command)
            assert here.returncode == free.returncode == 0, (here.stderr, free.stderr)
            assert here.stdout == free.stdout and len(here.stdout) > 1000, sample


def check_users(folder):
    wrong = run("-i", "lo", "-G", "1", "-Z", "there-is-no-such-user", "-w", os.path.join(folder, "x.bbt"))
    assert wrong.returncode == 1 and "-Z" in wrong.stderr, wrong.stderr
    free = run("-v", "--unconfined", "-i", "lo", "-G", "1", "-w", os.path.join(folder, "y.bbt"))
    assert free.returncode == 0 and "confined:" not in free.stderr, free.stderr


def main():
    with tempfile.TemporaryDirectory() as folder:
        gone = check_live(folder)
        check_same()
        check_users(folder)
    print("given up:", ", ".join(gone))
    return 0


if __name__ == "__main__":
    enter(main, taps=True)
