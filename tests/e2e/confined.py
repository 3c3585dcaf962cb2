#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""What a capture gives up: rights, system calls, files; and that it sends nothing. In a network namespace of its own.

  confined.py BBTRACE SAMPLES        skipped (77) where the kernel gives no such namespace"""
import ctypes
import os
import pathlib
import platform
import re
import signal
import socket
import subprocess
import sys
import tempfile
import time

from namespace import Tap, datagram, enter, finish, start, talk

BBTRACE, SAMPLES = sys.argv[1], pathlib.Path(sys.argv[2])
SECCOMP_FILTER = "2"  # proc(5)


def lines_of(path):
    return dict(line.split(":\t", 1) for line in pathlib.Path(path).read_text().splitlines() if ":\t" in line)


def said(err):
    """What bbtrace -v says it has given up."""
    found = [line for line in err.splitlines() if "confined: " in line]
    return found[0].split("confined: ")[1].split(", ") if found else []


def sent_by(tap, interface):
    """Packets that went out at it, be it by whom; they count when they are taken from the tap."""
    os.set_blocking(tap.file.fileno(), False)
    while tap.file.read(65536):
        pass
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
    let_nobody_else_send("bb0")
    before = sent_by(tap, "bb0")
    trace = os.path.join(folder, "live.bbt")
    job = start(BBTRACE, "capture", "-v", "-i", "bb0", "-w", trace)
    seccomp = check_threads(job.pid)
    talk([tap, tap], range(100))
    time.sleep(0.5)
    err = finish(job, signal.SIGINT)
    assert sent_by(tap, "bb0") == before, "something was sent"
    gone = said(err)
    assert "no capabilities" in gone and "no new privileges" in gone, err
    if "seccomp" in gone:
        assert seccomp == {SECCOMP_FILTER}, seccomp
    assert "200 packets" in err and " 100 calls, 100 returns" in err, err
    tap.close()
    return gone


# ptrace(2) on x86-64; ORIG_RAX is the number of the call that is about to be made.
SEIZE, INTERRUPT, TO_CALL, CALL_INFO, POKE_USER, GO_ON = 0x4206, 0x4207, 24, 0x420e, 6, 7
TELL_CALLS, ORIG_RAX, ENTRY, FORBIDDEN = 1, 15 * 8, 1, {"socket": 41, "execve": 59, "ptrace": 101}


def ptrace(request, pid, address, data):
    libc = ctypes.CDLL(None, use_errno=True)
    libc.ptrace.argtypes = [ctypes.c_long, ctypes.c_int, ctypes.c_void_p, ctypes.c_void_p]
    libc.ptrace.restype = ctypes.c_long
    done = libc.ptrace(request, pid, address, data)
    assert done >= 0, (request, os.strerror(ctypes.get_errno()))


def make_call(pid, number):
    """What the process asks the kernel for next is another call, as if its code had been taken over."""
    ptrace(SEIZE, pid, None, TELL_CALLS)
    ptrace(INTERRUPT, pid, None, None)
    info = ctypes.create_string_buffer(128)
    for _ in range(100):
        os.waitpid(pid, 0)
        ptrace(CALL_INFO, pid, len(info), ctypes.addressof(info))
        if info.raw[0] == ENTRY:
            break
        ptrace(TO_CALL, pid, None, None)
    assert info.raw[0] == ENTRY
    ptrace(POKE_USER, pid, ORIG_RAX, number)
    ptrace(GO_ON, pid, None, None)


def check_forbidden(folder):
    """A capture at work that does what it never does is ended by the kernel; what it wrote is there."""
    if platform.machine() != "x86_64":
        print("skipped: forbidden calls are made on x86-64 only")
        return
    for name, number in FORBIDDEN.items():
        tap, trace = Tap("bb2"), os.path.join(folder, f"{name}.bbt")
        job = start(BBTRACE, "capture", "-i", "bb2", "--flush", "50ms", "-w", trace, "udp", "port", "53")
        talk([tap, tap], range(20))
        time.sleep(0.7)
        make_call(job.pid, number)
        assert job.wait(timeout=60) == -signal.SIGSYS, (name, job.returncode, job.stderr.read())
        job.stderr.close()
        kept = subprocess.run([BBTRACE, "cat", trace], capture_output=True, text=True, check=True).stdout
        assert sum(not line.startswith("#") for line in kept.splitlines()) == 40, (name, kept)
        tap.close()


def check_sends_nothing(folder):
    """Nor do a flight recorder, names and the doctor: not a packet more than before."""
    tap = Tap("bb3")
    let_nobody_else_send("bb3")
    before = sent_by(tap, "bb3")
    for command in (["capture", "-i", "bb3", "--flight-recorder", "1M", "-w", os.path.join(folder, "fr")],
                    ["capture", "-i", "bb3", "--names-from-dns", "--unconfined", "-w", os.path.join(folder, "n.bbt")],
                    ["doctor", "-i", "bb3", "-G", "2"]):
        job = start(BBTRACE, *command)
        talk([tap, tap], range(100))
        time.sleep(0.5)
        if command[0] == "capture":
            finish(job, signal.SIGINT)
        else:
            job.communicate(timeout=60)
        assert sent_by(tap, "bb3") == before, (command, "something was sent")
    with socket.socket(socket.AF_PACKET, socket.SOCK_RAW) as ours:  # the counter counts
        ours.bind(("bb3", 0))
        ours.send(bytes(60))
    assert sent_by(tap, "bb3") == before + 1
    tap.close()


def let_nobody_else_send(interface):
    """The kernel itself would, to find an address of IPv6."""
    quiet = pathlib.Path(f"/proc/sys/net/ipv6/conf/{interface}/disable_ipv6")
    if quiet.exists():
        quiet.write_text("1")
    time.sleep(0.2)


def check_follow(folder):
    """The kernel's filter is changed by a confined process, too: it would say so otherwise."""
    tap = Tap("bb1")
    job = start(BBTRACE, "capture", "-v", "-i", "bb1", "--follow", "10.9.0.2:53", "-w", os.path.join(folder, "f.bbt"))
    check_threads(job.pid)
    talk([tap, tap], range(100))
    for number in range(100):  # of others
        tap.send(datagram("10.8.0.1", "10.8.0.2", (40000 + number, 53), b"x" * 20))
    tap.send(datagram("10.9.0.2", "10.9.0.3", (40000, 8125), b"y" * 20))
    time.sleep(0.5)
    tap.send(datagram("10.9.0.3", "10.9.0.4", (40000, 8125), b"z" * 20))
    time.sleep(0.5)
    err = finish(job, signal.SIGINT)
    tap.close()
    assert "no capabilities" in said(err) and "cannot pick out" not in err, err
    assert " 100 calls, 100 returns, 2 free messages" in err and " 2  hosts followed" in err, err
    received = int(re.search(r"(\d+)  [^\n]* \(kernel_received\)", err)[1])
    assert 202 <= received < 302, err  # and what a new interface sends by itself


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
        check_follow(folder)
        check_sends_nothing(folder)
        if "seccomp" in gone:
            check_forbidden(folder)
        else:
            print("skipped: forbidden calls, as there is no seccomp (in this kernel, or beside the sanitizers)")
        check_same()
        check_users(folder)
    print("given up:", ", ".join(gone))
    return 0


if __name__ == "__main__":
    enter(main, taps=True)
