#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""The flight recorder: killed at random moments, gone round for hours in fast motion, asked for snapshots
by triggers, by a signal and through its socket, which is abused.

  recorder.py BBTRACE SAMPLES      what needs an interface is skipped where there is no namespace"""
import glob
import lzma
import os
import random
import re
import shutil
import signal
import socket
import stat
import struct
import subprocess
import sys
import tempfile
import threading
import time

import live
import namespace

SECOND = 10**9
HEAD = 24  # of a pcap


def run(*command, status=0):
    done = subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, check=False)
    assert done.returncode == status, (command, done.returncode, done.stderr)
    return done


def lines(bbtrace, trace):
    """Messages of a trace as lines of text, without comments."""
    return [line for line in run(bbtrace, "cat", trace).stdout.splitlines() if not line.startswith("#")]


def snapshots(folder):
    return sorted(glob.glob(f"{folder}/snap-*.bbt"))


def wait_for(condition, seconds=10):
    deadline = time.monotonic() + seconds
    while not condition():
        assert time.monotonic() < deadline
        time.sleep(0.05)


# ---- captures made of a sample ------------------------------------------------------------------


def records(data):
    """(time_ns, frame) of a pcap with nanosecond stamps."""
    assert struct.unpack_from("<I", data)[0] == 0xA1B23C4D
    at = HEAD
    while at + 16 <= len(data):
        seconds, nanos, captured, _ = struct.unpack_from("<IIII", data, at)
        yield seconds * SECOND + nanos, data[at + 16 : at + 16 + captured]
        at += 16 + captured


def record(time_ns, frame):
    return struct.pack("<IIII", time_ns // SECOND, time_ns % SECOND, len(frame), len(frame)) + frame


def with_stalls(data, stalls):
    """The same, but that everything stands still for each (after_s, for_ms) behind a client's request."""
    out, first, waited, left = [data[:HEAD]], None, 0, list(stalls)
    for time_ns, frame in records(data):
        first = first or time_ns
        out.append(record(time_ns + waited, frame))
        if left and time_ns - first >= left[0][0] * SECOND and b"GET /item/" in frame and b"\x0a\x4d\x00\x14" == frame[30:34]:
            waited += left.pop(0)[1] * SECOND // 1000
    assert not left
    return b"".join(out)


def repeated(data, times, every_s):
    """The same again and again, each time among other hosts: 10.77.0.0/16 becomes 10.N.0.0/16."""
    yield data[:HEAD]
    parts = list(records(data))
    for number in range(times):
        chunk = []
        for time_ns, frame in parts:
            if frame[12:14] == b"\x08\x00":
                frame = bytearray(frame)
                frame[27] = frame[31] = 100 + number
                frame = bytes(frame)
            chunk.append(record(time_ns + number * every_s * SECOND, frame))
        yield b"".join(chunk)


# ---- replays ------------------------------------------------------------------------------------


def replay(bbtrace, data, folder, *options):
    done = subprocess.run([bbtrace, "capture", "-r", "-", "-w", folder, *options], input=data,
                          stdout=subprocess.PIPE, stderr=subprocess.PIPE, check=False)
    assert done.returncode == 0, done.stderr
    return done.stderr.decode()


def check_ring_is_a_trace(bbtrace, data, folder):
    pcap, plain = f"{folder}/in.pcap", f"{folder}/plain.bbt"
    with open(pcap, "wb") as file:
        file.write(data)
    run(bbtrace, "capture", "-q", "-r", pcap, "-w", plain)
    err = replay(bbtrace, data, f"{folder}/fr", "--flight-recorder", "8M")
    assert "12,210 messages recorded; 0 snapshots" in err, err
    expected = lines(bbtrace, plain)
    assert len(expected) == 12210
    assert lines(bbtrace, f"{folder}/fr/ring.bbr") == expected
    run(bbtrace, "snap", "--recover", f"{folder}/fr", "-w", f"{folder}/again.bbt")
    assert lines(bbtrace, f"{folder}/again.bbt") == expected
    assert "form        ring" in run(bbtrace, "info", f"{folder}/fr/ring.bbr").stdout
    return expected


def check_slow_node_fires_once(bbtrace, data, folder):
    """In the sample app2 (10.77.0.32) is slow from 1.8 s on, and app1 is not."""
    options = ("--flight-recorder", "8M", "--snap-after", "1s", "--snap-pause", "0",
               "--trigger", "latency(10.77.0.32) mean > 40ms over 1s",
               "--trigger", "latency(10.77.0.31) mean > 40ms over 1s")
    err = replay(bbtrace, data, f"{folder}/slow", *options)
    assert "1 snapshot taken, 0 suppressed" in err, err
    (path,) = snapshots(f"{folder}/slow")
    assert re.fullmatch(r"snap-20261120T085428\.\d{3}Z-latency-10-77-0-32-mean-40ms-over-1s\.bbt",
                        os.path.basename(path)), path
    info = run(bbtrace, "info", path).stdout
    assert re.search(r"fired by latency\(10\.77\.0\.32\) mean > 40ms over 1s: mean 5\d\.\d ms of \d+ calls, "
                     r"at 2026-11-20 08:54:28\.\d{3} UTC; the trace goes on for 1\.00 s", info), info
    assert "# note snapshot of a flight recorder, fired by" in run(bbtrace, "cat", path).stdout
    stamps = [float(line.split()[0]) for line in lines(bbtrace, path)]
    fired = float(re.search(r"at 2026-11-20 08:54:(\d+\.\d+) UTC", info)[1]) + 1795164840
    assert stamps[0] < 1795164867.2 and abs(stamps[-1] - fired - 1) < 0.1, (stamps[0], stamps[-1], fired)
    replay(bbtrace, data, f"{folder}/slow2", *options)
    assert "nothing came" not in err, err
    err = replay(bbtrace, data, f"{folder}/none", "-q", "--flight-recorder", "8M",
                 "--trigger", "latency(lb) max > 1s over 1s", "--trigger", "open(GET *) > 1min")
    assert err.count("warning: nothing came that trigger 'latency(lb) max > 1s over 1s' is about") == 1, err
    assert err.count("nothing came") == 1, err
    with open(path, "rb") as one, open(snapshots(f"{folder}/slow2")[0], "rb") as other:
        assert one.read() == other.read()  # the same input, the same output


def check_suppression(bbtrace, data, folder):
    data = with_stalls(data, [(2.5, 300), (2.7, 300), (2.9, 300)])
    for options, taken, suppressed, kept in (((), 1, 2, 1), (("--snap-pause", "0"), 3, 0, 3),
                                             (("--snap-pause", "800ms"), 2, 1, 2),
                                             (("--snap-pause", "0", "--snap-keep", "2"), 3, 0, 2),
                                             (("--snap-pause", "0", "--snap-keep", "1K"), 3, 0, 1)):
        place = tempfile.mkdtemp(dir=folder)
        err = replay(bbtrace, data, place, "--flight-recorder", "4M", "--snap-after", "100ms",
                     "--trigger", "latency(10.77.0.20) max > 200ms over 100ms", *options)
        line = f"{taken} snapshot{'s' * (taken != 1)} taken, {suppressed} suppressed, {taken - kept} deleted beyond the limit"
        assert line in err, (options, err)
        assert len(snapshots(place)) == kept, (options, os.listdir(place))
    again = replay(bbtrace, data, place, "--flight-recorder", "4M", "--trigger",
                   "latency(10.77.0.20) max > 200ms over 100ms")
    assert "1 snapshot taken, 2 suppressed" in again, again
    assert len(snapshots(place)) == 2, os.listdir(place)  # that of the former run was not overwritten


def has_begun(ring):
    """Whether the recorder came to make it: the head is written when all of the ring is set aside."""
    if not os.path.exists(ring):
        return False
    with open(ring, "rb") as file:
        return file.read(8).strip(b"\0") != b""


def check_kills(bbtrace, data, expected, folder):
    """After kill -9: what is in the ring, and that nothing older than the newest is
    missing. Every other time so much was fed and no more: then all that is whole by then is there."""
    seed = int(os.environ.get("BB_TEST_SEED", 1))
    print(f"BB_TEST_SEED={seed}")
    rand = random.Random(seed)
    some = 0
    for number in range(50):
        place, stands = f"{folder}/kill", number % 2
        fed = data[: rand.randrange(len(data))]
        job = subprocess.Popen([bbtrace, "capture", "-q", "-r", "-", "-w", place, "--flight-recorder", "4M"],
                               stdin=subprocess.PIPE, stderr=subprocess.DEVNULL)
        job.stdin.write(fed)
        job.stdin.flush()
        if stands:
            wait_until_idle(job.pid)
        else:
            time.sleep(rand.random() * 0.05)
        job.kill()
        job.wait()
        job.stdin.close()
        if has_begun(f"{place}/ring.bbr"):
            some += check_killed(bbtrace, place, expected, newest_of(fed) if stands else 0) > 0
        shutil.rmtree(place, ignore_errors=True)
    assert some >= 20, some


def check_killed(bbtrace, place, expected, newest):
    done = run(bbtrace, "cat", f"{place}/ring.bbr")
    assert "warning" not in done.stderr, done.stderr
    got = [line for line in done.stdout.splitlines() if not line.startswith("#")]
    assert set(got) <= set(expected) and len(set(got)) == len(got)
    check_nothing_is_missing(got, expected, newest)
    return len(got)


def newest_of(fed):
    """Stamp of its last packet, in seconds; what was complete a while before is known."""
    return max((time_ns for time_ns, _ in records(fed)), default=0) / SECOND


def wait_until_idle(pid):
    """It has read what there was: it waits for more, at two looks in a row."""
    deadline, last = time.monotonic() + 10, None
    while time.monotonic() < deadline:
        time.sleep(0.03)
        with open(f"/proc/{pid}/stat", encoding="ascii") as file:
            words = file.read().rpartition(")")[2].split()
        now = (words[0], words[11], words[12])
        if now == last and words[0] == "S":
            return
        last = now


def end_of(line):
    return float(re.search(r" end=([\d.]+)", line)[1])


def check_nothing_is_missing(got, expected, newest=0):
    """Messages come when they are whole: those that ended a while before the newest did are there."""
    newest = max(newest, max(map(end_of, got), default=0))
    missing = set(expected) - set(got)
    assert not [line for line in missing if end_of(line) < newest - 0.1 and " RET_SENT " in line]


def sampled(path, job):
    """Feeds the file to the job, and looks at its memory meanwhile: KB of its own, in order."""
    seen = []
    with open(path, "rb") as file:
        while chunk := file.read(1 << 20):
            job.stdin.write(chunk)
            with open(f"/proc/{job.pid}/status", encoding="ascii") as status:
                seen += [int(line.split()[1]) for line in status if line.startswith("RssAnon")]
    job.stdin.close()
    return seen


def check_hours(bbtrace, data, folder):
    """Twelve hours of traffic go round in a ring that holds some minutes of it; memory stays, when there are as many
    connections as may be remembered."""
    times, every_s, limit = 30, 1440, ("--max-connections", "1000")
    pcap, place = f"{folder}/hours.pcap", f"{folder}/hours"
    with open(pcap, "wb") as file:
        file.writelines(repeated(data, times, every_s))
    # Under the sanitizer what is freed would stay for long.
    short = dict(os.environ, ASAN_OPTIONS="quarantine_size_mb=1:thread_local_quarantine_size_kb=16")
    job = subprocess.Popen([bbtrace, "capture", "-r", "-", "-w", place, "--flight-recorder", "1M", *limit],
                           stdin=subprocess.PIPE, stderr=subprocess.PIPE, env=short)
    seen = sampled(pcap, job)
    err = job.stderr.read().decode()
    assert job.wait(timeout=60) == 0 and f"{times * 12210:,} messages recorded" in err, err
    run(bbtrace, "capture", "-q", "-r", pcap, "-w", f"{folder}/hours.bbt", *limit)
    expected, got = lines(bbtrace, f"{folder}/hours.bbt"), lines(bbtrace, f"{place}/ring.bbr")
    stamps = [float(line.split()[0]) for line in (expected[0], got[0], got[-1], expected[-1])]
    assert stamps[3] - stamps[0] > 11.5 * 3600, stamps
    assert 10000 < len(got) < 60000 and set(got) <= set(expected), len(got)
    missing = {line for line in expected if float(line.split()[0]) > stamps[1] + 0.2} - set(got)
    assert not missing, len(missing)
    assert got[-1] == expected[-1]
    early, late = (max(part) for part in (seen[len(seen) // 3 : len(seen) * 2 // 3], seen[len(seen) * 2 // 3 :]))
    assert late < early * 1.2 + 1000, (early, late)  # it would grow by half
    print(f"own memory, KB, at most in hours 4 to 8: {early}, in hours 8 to 12: {late}")


def check_refusals(bbtrace, data, folder):
    pcap = f"{folder}/in.pcap"
    for options, status, word in ((("--flight-recorder", "1M"), 2, "-w FOLDER"),
                                  (("--flight-recorder", "10K", "-w", f"{folder}/x"), 2, "no size from 1M"),
                                  (("--trigger", "open(*) > 1s", "-w", f"{folder}/x"), 2, "--flight-recorder"),
                                  (("--flight-recorder", "1M", "-w", f"{folder}/x", "--trigger",
                                    "latency(*) p99 > 1s"), 2, "at its end: expected 'over'"),
                                  (("--flight-recorder", "1M", "-w", f"{folder}/x", "--threads", "2"), 2, "one thread"),
                                  (("--flight-recorder", "2M", "-w", f"{folder}/fr"), 1, "another size"),
                                  (("--flight-recorder", "1M", "-w", f"{folder}/plain.bbt"), 1, "folder")):
        done = run(bbtrace, "capture", "-r", pcap, *options, status=status)
        assert word in done.stderr, done.stderr
    job = subprocess.Popen([bbtrace, "capture", "-q", "-r", "-", "-w", f"{folder}/fr", "--flight-recorder", "8M"],
                           stdin=subprocess.PIPE)
    job.stdin.write(data[:10000])
    job.stdin.flush()
    wait_for(lambda: os.path.exists(f"{folder}/fr/control.sock"))
    done = run(bbtrace, "capture", "-r", pcap, "-w", f"{folder}/fr", "--flight-recorder", "8M", status=1)
    assert "another capture records there" in done.stderr, done.stderr
    job.communicate(data[10000 : len(data) // 2])
    assert job.returncode == 0
    ids = {line.split()[4] for line in lines(bbtrace, f"{folder}/fr/ring.bbr")}
    assert "run1-1" in ids and "1" in ids  # both runs are there
    assert not os.path.exists(f"{folder}/fr/control.sock")
    done = run(bbtrace, "snap", f"{folder}/fr", status=1)
    assert "is it running" in done.stderr, done.stderr


def check_socket_is_of_one(bbtrace, data, folder):
    path = f"{folder}/one.sock"
    command = [bbtrace, "capture", "-q", "--flight-recorder", "1M", "--socket", path]
    job = subprocess.Popen([*command, "-r", "-", "-w", f"{folder}/first"], stdin=subprocess.PIPE)
    job.stdin.write(data[:10000])
    job.stdin.flush()
    wait_for(lambda: answers(path))
    before = os.stat(path).st_ino
    done = run(*command, "-r", f"{folder}/in.pcap", "-w", f"{folder}/second", status=1)
    assert "another capture listens there" in done.stderr, done.stderr
    assert os.stat(path).st_ino == before and answers(path)
    os.unlink(path)  # what is there now is somebody else's
    with open(path, "w", encoding="ascii") as file:
        file.write("mine")
    job.communicate(data[10000:20000])
    assert job.returncode == 0
    with open(path, encoding="ascii") as file:
        assert file.read() == "mine"
    assert not os.path.exists(path + ".lock")
    os.unlink(path)
    replay(bbtrace, data[:20000], f"{folder}/second", "--flight-recorder", "1M", "--socket", path)


def check_files_of_others(bbtrace, data, folder):
    """What only looks like a snapshot stays; what a killed recorder left half written does not."""
    place, stale = f"{folder}/others", "snap-20200101T000000.000Z-x"
    os.mkdir(place)
    names = ["snap-holiday.bbt", "snap-20200101T000000Z-x.bbt", "snap-holiday.bbt.part", f"{stale}.txt"]
    for name in [*names, f"{stale}.bbt", f"{stale}.bbt.part", f"{stale}.bbt.2.part"]:
        with open(f"{place}/{name}", "w", encoding="ascii") as file:
            file.write("mine")
    err = replay(bbtrace, data, place, "--flight-recorder", "1M", "--snap-keep", "1", "--snap-after", "1s",
                 "--trigger", "latency(10.77.0.32) mean > 40ms over 1s")
    assert "1 snapshot taken, 0 suppressed, 1 deleted beyond the limit" in err, err
    found = [name for name in os.listdir(place) if name != "ring.bbr"]
    new = [name for name in found if name.startswith("snap-2026")]
    assert len(new) == 1 and sorted(found) == sorted(names + new), found


def check_failed_snapshots_do_not_count(bbtrace, data, folder):
    place = f"{folder}/moved"
    with subprocess.Popen([bbtrace, "capture", "-r", "-", "-w", place, "--flight-recorder", "1M", "--trigger",
                           "latency(10.77.0.32) mean > 40ms over 1s"], stdin=subprocess.PIPE, stderr=subprocess.PIPE) as job:
        job.stdin.write(data[:10000])
        job.stdin.flush()
        wait_for(lambda: os.path.exists(f"{place}/ring.bbr"))
        os.rename(place, f"{place}.away")
        _, err = job.communicate(data[10000:])
    assert job.returncode == 1 and b"error: snapshot for latency" in err, err
    assert b"messages recorded; 0 snapshots taken" in err, err


def check_recover_spares_the_ring(bbtrace, expected, folder):
    ring, out, link = f"{folder}/x.part", f"{folder}/x", f"{folder}/y.part"
    os.rename(f"{folder}/fr/ring.bbr", ring)
    os.symlink(ring, link)
    for path in (out, f"{folder}/y"):
        run(bbtrace, "snap", "--recover", ring, "-w", path)
        assert lines(bbtrace, path) == expected
        assert lines(bbtrace, ring) == expected
    assert os.path.islink(link)
    os.rename(ring, f"{folder}/fr/ring.bbr")


# ---- live ---------------------------------------------------------------------------------------


def answers(path):
    """Whether somebody listens: the socket of one that was killed is still there."""
    with socket.socket(socket.AF_UNIX) as client:
        return client.connect_ex(path) == 0


def start(bbtrace, place, *options):
    return namespace.start(bbtrace, "capture", "-i", "lo", "-w", place, "--flight-recorder", "4M", "--snap-after", "300ms",
                           *options)


def stop(job):
    time.sleep(0.5)  # until the kernel has handed over what was sent
    return namespace.finish(job, signal.SIGINT)


def check_live(bbtrace, folder):
    place = f"{folder}/live"
    job = start(bbtrace, place, "--trigger", "silent(127.0.0.1) > 1s")
    assert stat.S_IMODE(os.stat(f"{place}/control.sock").st_mode) == 0o600
    live.ask(20)
    path = run(bbtrace, "snap", place, "--reason", "looks odd").stdout.strip()
    assert len(lines(bbtrace, path)) >= 40, path
    assert "fired by bbtrace snap: looks odd" in run(bbtrace, "info", path).stdout
    wait_for(lambda: any("silent-127-0-0-1" in name for name in snapshots(place)))
    live.ask(5)
    job.send_signal(signal.SIGUSR2)
    wait_for(lambda: any("SIGUSR2" in name for name in snapshots(place)))
    live.ask(5)
    time.sleep(0.5)  # until the kernel has handed them over
    job.kill()
    job.wait()
    assert len(lines(bbtrace, f"{place}/ring.bbr")) == 60
    job = start(bbtrace, place, "--processes")  # over the socket that was left
    live.ask(1)
    path = run(bbtrace, "snap", place).stdout.strip()
    notes = re.findall(r"^# note (.*)", run(bbtrace, "cat", path).stdout, re.M)
    assert len(notes) == 3 and "time stamps of the " in notes[1] and "are named by unit" in notes[2], notes
    err = stop(job)
    assert "2 messages recorded" in err, err


def abuse(path, over):
    """Clients of all bad manners, until over."""
    held = []
    manners = [b"", b"sn", b"\0\xff" * 400, b"snap " + b"x" * 240, b"snap\n" * 3, b"x" * 5000, b"drop table\n",
               b"snap \x1b[31m\xff\n"]
    while not over.is_set():
        client = socket.socket(socket.AF_UNIX)
        client.setblocking(False)
        try:
            client.connect(path)
            client.send(random.choice(manners))
        except OSError:
            pass
        held.append(client)  # which is never read from
        if len(held) > 60:
            held.pop(random.randrange(len(held))).close()
        time.sleep(0.002)


def check_abuse(bbtrace, folder):
    place = f"{folder}/abuse"
    job = start(bbtrace, place, "--snap-keep", "3")
    over = threading.Event()
    villain = threading.Thread(target=abuse, args=(f"{place}/control.sock", over))
    villain.start()
    began = time.monotonic()
    live.ask(200)  # the capture goes on meanwhile
    time.sleep(2)
    over.set()
    villain.join()
    path = run(bbtrace, "snap", "--socket", f"{place}/control.sock").stdout.strip()
    assert os.path.exists(path) and time.monotonic() - began < 20
    assert b"\x1b" not in run(bbtrace, "info", path).stdout.encode()
    with socket.socket(socket.AF_UNIX) as client:
        client.connect(f"{place}/control.sock")
        client.sendall(b"hello\n")
        assert client.recv(100).startswith(b"error unknown command")
    assert len(snapshots(place)) <= 3, os.listdir(place)
    err = stop(job)
    assert "400 messages recorded" in err, err


def inside(bbtrace):
    namespace.set_up("lo")
    live.serve()
    with tempfile.TemporaryDirectory() as folder:
        check_live(bbtrace, folder)
        check_abuse(bbtrace, folder)
    return 0


def main():
    bbtrace, samples = sys.argv[1], sys.argv[2]
    if samples == "inside":
        return inside(bbtrace)
    with lzma.open(f"{samples}/shop-slowauth.pcap.xz") as file:
        slow = file.read()
    with lzma.open(f"{samples}/shop.pcap.xz") as file:
        shop = file.read()
    with tempfile.TemporaryDirectory() as folder:
        expected = check_ring_is_a_trace(bbtrace, slow, folder)
        check_recover_spares_the_ring(bbtrace, expected, folder)
        check_slow_node_fires_once(bbtrace, slow, folder)
        check_socket_is_of_one(bbtrace, slow, folder)
        check_failed_snapshots_do_not_count(bbtrace, slow, folder)
        check_files_of_others(bbtrace, slow, folder)
        check_suppression(bbtrace, shop, folder)
        check_kills(bbtrace, slow, expected, folder)
        check_refusals(bbtrace, slow, folder)
        check_hours(bbtrace, slow, folder)
    if subprocess.run(["unshare", "-rn", "true"], stderr=subprocess.DEVNULL, check=False).returncode:
        print("skipped: live, as the kernel gives no user and network namespace")
    else:
        subprocess.run(["unshare", "-rn", sys.executable, __file__, bbtrace, "inside"], check=True)
    print("flight recorder: fine")
    return 0


if __name__ == "__main__":
    sys.exit(main())
