#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Files of a capture: series and rings of them, kill -9 at any moment, a full disk, signals.

  files.py BBTRACE SAMPLES        parts that need a namespace are skipped, with the reason"""
import fcntl
import glob
import http.server
import os
import random
import re
import signal
import socket
import struct
import subprocess
import sys
import tempfile
import threading
import time
import unittest
import urllib.request

BBTRACE, SAMPLES = sys.argv[1:3]
SHOP = f"{SAMPLES}/shop.pcap.xz"
HOSTS = f"{SAMPLES}/shop.hosts"
START = 1795377843  # 2026-11-22T20:04:03Z
NAMED = re.compile(r"_\d{8}T\d{6}Z_\d{5}\.bbt$")


def run(*command, status=0, data=None):
    done = subprocess.run(command, input=data, stdout=subprocess.PIPE, stderr=subprocess.PIPE, check=False, timeout=60)
    assert done.returncode == status, (command, done.returncode, done.stderr.decode())
    return done.stdout, done.stderr.decode()


def capture(*options, status=0, data=None):
    return run(BBTRACE, "capture", *options, status=status, data=data)[1]


def content(path):
    with open(path, "rb") as file:
        return file.read()


def lines(*traces):
    """Messages, and the facts on the whole, added up."""
    messages, counters, edges = [], {}, {}
    for trace in traces:
        for line in run(BBTRACE, "cat", trace)[0].decode().splitlines():
            words = line.split()
            if line.startswith("# counter "):
                counters[words[2]] = counters.get(words[2], 0) + int(words[3])
            elif line.startswith("# network "):
                edge = edges.setdefault((words[2], words[3]), {})
                for key, value in (word.split("=") for word in words[4:]):
                    known, value = edge.get(key), int(value)
                    how = min if key.endswith("_least_ns") else max if key.endswith("_most_ns") else lambda a, b: a + b
                    edge[key] = value if known is None else how(known, value)
            elif not line.startswith("#"):
                messages.append(line)
    return messages, counters, edges


def checked(trace):
    """What info says of a trace on standard error."""
    return run(BBTRACE, "info", trace)[1]


# ---- a capture whose messages are known -----------------------------------------------------------

REQUEST = b"GET /item/%d HTTP/1.1\r\nHost: shop\r\n\r\n"
REPLY = b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok"
HEAD = struct.pack("<IHHiIII", 0xA1B23C4D, 2, 4, 0, 0, 65535, 1)


def frame(number, back, seq, ack, flags, payload, step_ns):
    ports = struct.pack(">HH", *((80, 40000) if back else (40000, 80)))
    hosts = [bytes((10, 0, 0, 2)), bytes((10, 0, 0, 1))]
    source, target = hosts if back else hosts[::-1]
    tcp = ports + struct.pack(">IIBBHHH", seq & 0xffffffff, ack & 0xffffffff, 0x50, flags, 65535, 0, 0) + payload
    ip = struct.pack(">BBHHHBBH", 0x45, 0, 20 + len(tcp), 0, 0, 64, 6, 0) + source + target
    data = bytes(12) + b"\x08\x00" + ip + tcp
    at = START * 10**9 + number * step_ns
    return struct.pack("<IIII", at // 10**9, at % 10**9, len(data), len(data)) + data


def frames(pairs, step_ns=1000000):
    """A connection with calls and returns, frame after frame; from the fourth on each is one message."""
    out = [frame(0, False, 999, 0, 0x02, b"", step_ns), frame(1, True, 4999, 1000, 0x12, b"", step_ns),
           frame(2, False, 1000, 5000, 0x10, b"", step_ns)]
    seq, ack = 1000, 5000
    for number in range(pairs):
        request = REQUEST % (number * 7919 % 99991)
        out.append(frame(len(out), False, seq, ack, 0x18, request, step_ns))
        seq += len(request)
        out.append(frame(len(out), True, ack, seq, 0x18, REPLY, step_ns))
        ack += len(REPLY)
    return out


def flushed(count, step_ns, every_ns):
    """Messages that are out for certain after so many frames: those up to the last flush, by stamps."""
    since = last = 0
    for number in range(count):
        if (number - since) * step_ns >= every_ns:
            since = last = number
    return max(0, last - 2)


def blocks(path):
    """Messages in whole blocks of a file, and whether it has its end mark."""
    data = content(path)
    at, messages, done = 16, 0, False
    while at + 20 <= len(data):
        kind, _, size, _, _ = struct.unpack_from("<4sIIII", data, at)
        if at + 20 + size > len(data):
            break
        if kind == b"MESG":
            messages += struct.unpack_from("<I", data, at + 28)[0]
        done |= kind == b"DONE"
        at += 20 + size
    return messages, done


class Files(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = folder.name

    def path(self, name):
        return os.path.join(self.folder, name)

    def series(self, name):
        """Files of a series in the order in which they were made."""
        return sorted(glob.glob(self.path(f"{name}_*")), key=lambda path: path.rsplit("_", 1)[1])


class Series(Files):
    def check_same(self, *cuts):
        whole, name = self.path("t.bbt"), f"{len(os.listdir(self.folder))}"
        folder = self.path(name)
        os.mkdir(folder)
        capture("-q", "-r", SHOP, "--names", HOSTS, "-w", whole)
        capture("-q", "-r", SHOP, "--names", HOSTS, "-w", f"{folder}/t.bbt", *cuts)
        files = self.series(f"{name}/t")
        self.assertTrue(all(NAMED.search(file) for file in files), files)
        self.assertEqual([checked(file) for file in files], [""] * len(files))
        self.assertEqual(lines(*files), lines(whole))
        merged = [self.path("one.bbt"), self.path("many.bbt")]
        run(BBTRACE, "merge", "-w", merged[0], whole)
        self.assertNotIn("warning", run(BBTRACE, "merge", "-w", merged[1], *files)[1])
        self.assertEqual(lines(merged[1]), lines(merged[0]))
        return len(files)

    def test_all_files_are_the_trace(self):
        self.assertEqual(self.check_same("--rotate-time", "1s"), 4)
        self.assertGreater(self.check_same("--rotate-size", "4K"), 5)
        self.assertGreater(self.check_same("--rotate-size", "10K", "--rotate-time", "2s", "--sync", "flush"), 2)

    def test_facts_on_the_network_are_in_the_file_of_their_time(self):
        """One connection from the first file to the last."""
        data, whole, packets = HEAD + b"".join(frames(1500, 5000000)), self.path("whole.bbt"), 0
        capture("-q", "-r", "-", "-w", whole, data=data)
        for threads in "1", "3":
            os.mkdir(self.path(threads))
            capture("-q", "-r", "-", "--threads", threads, "--rotate-time", "2s", "--flush", "500ms",
                    "-w", self.path(f"{threads}/t.bbt"), data=data)
            files = self.series(f"{threads}/t")
            self.assertEqual(len(files), 9)
            self.assertEqual(lines(*files), lines(whole))
            told = [sum(edge["packets"] for edge in lines(file)[2].values()) for file in files]
            self.assertTrue(all(100 <= count <= 600 for count in told[1:]), told)  # 400, up to a second late
            packets += sum(told)
        self.assertEqual(packets, 2 * 3003)

    def test_the_same_each_time_and_never_over_an_earlier_run(self):
        contents = []
        for name in ("a", "b"):
            os.mkdir(self.path(name))
            capture("-q", "-r", SHOP, "-w", self.path(f"{name}/t.bbt"), "--rotate-size", "8K", "--flush", "300ms")
            contents.append([(os.path.basename(file), content(file)) for file in self.series(f"{name}/t")])
        self.assertEqual(contents[0], contents[1])
        err = capture("-q", "-r", SHOP, "-w", self.path("a/t.bbt"), "--rotate-size", "8K", status=1)
        self.assertIn("files of an earlier run are there", err)
        self.assertEqual([os.path.basename(f) for f in self.series("a/t")], [name for name, _ in contents[0]])

    def test_ring_keeps_the_last_files(self):
        whole = self.path("whole.bbt")
        capture("-q", "-r", SHOP, "-w", whole)
        messages = lines(whole)[0]
        foreign = self.path("t_20200101T000000Z_00001.bbx")
        open(foreign, "wb").close()
        err = capture("-r", SHOP, "-w", self.path("t.bbt"), "--rotate-size", "4K", "--ring", "3")
        files = sorted(glob.glob(self.path("t_*.bbt")))
        self.assertEqual(len(files), 3)
        self.assertRegex(err, r"\d+ files, \d+ of them deleted by the ring")
        kept = lines(*files)[0]
        self.assertTrue(kept)
        self.assertEqual(kept, messages[-len(kept):])
        self.assertTrue(os.path.exists(foreign))
        for file in files:
            os.unlink(file)
        capture("-q", "-r", SHOP, "-w", self.path("t.bbt"), "--ring", "40K")
        sizes = [os.path.getsize(file) for file in glob.glob(self.path("t_*.bbt"))]
        self.assertLessEqual(sum(sizes), 40 * 1024)
        self.assertGreater(sum(sizes), 20 * 1024)

    def test_wrong_usage(self):
        for options in (["--ring", "3"], ["--ring", "1", "--rotate-size", "1M"], ["--ring", "x"],
                        ["--ring", "1M", "--rotate-size", "1M"], ["--rotate-size", "1K"], ["--rotate-time", "1ms"],
                        ["--flush", "0"], ["--sync", "always"]):
            with self.subTest(options=options):
                capture("-r", SHOP, "-w", self.path("x.bbt"), *options, status=2)
        capture("-r", SHOP, "--rotate-time", "1s", status=2)
        capture("-r", SHOP, "-w", "-", "--rotate-time", "1s", status=2)
        self.assertEqual(os.listdir(self.folder), [])


# ---- kill -9 --------------------------------------------------------------------------------------

class Killed(Files):
    STEP, EVERY = 1000000, 50000000

    def setUp(self):
        super().setUp()
        self.frames = frames(3000, self.STEP)
        capture("-q", "-r", "-", "-w", self.path("all.bbt"), data=HEAD + b"".join(self.frames))
        self.messages = lines(self.path("all.bbt"))[0]
        self.assertEqual(len(self.messages), 6000)

    def begin(self, out, *options):
        job = subprocess.Popen([BBTRACE, "capture", "-q", "-r", "-", "-w", out, "--flush", "50ms", *options],
                               stdin=subprocess.PIPE, stderr=subprocess.PIPE)
        job.stdin.write(HEAD)
        return job

    def seen(self, name):
        return sum(blocks(file)[0] for file in self.series(name))

    def wait_for(self, name, count):
        until = time.monotonic() + 30
        while self.seen(name) < count:
            self.assertLess(time.monotonic(), until, "what was to be flushed does not come")
            time.sleep(0.002)

    def kill(self, job):
        job.send_signal(signal.SIGKILL)
        job.wait(timeout=60)
        job.stderr.close()
        try:
            job.stdin.close()
        except BrokenPipeError:
            pass

    def check_files(self, name, least):
        """All files but the last are complete; together they are the first messages of all."""
        files = self.series(name)
        self.assertTrue(all(blocks(file)[1] for file in files[:-1]))
        if files and not blocks(files[-1])[1]:  # else it came to its end in this very moment
            self.assertIn("no end mark: the file is cut, or its writer did not end", checked(files[-1]))
        text = run(BBTRACE, "cat", *files)[0].decode() if files else ""
        found = [line for line in text.splitlines() if not line.startswith("#")]
        self.assertGreaterEqual(len(found), least)
        self.assertEqual(found, self.messages[:len(found)])
        return len(found)

    def test_at_fifty_random_moments(self):
        seed = int(os.environ.get("BB_TEST_SEED", 1))
        print(f"BB_TEST_SEED={seed}")
        rand = random.Random(seed)
        for turn in range(50):
            name = f"k{turn}"
            options = ["--rotate-time", rand.choice(["1s", "2s", "10min"])]
            if turn % 3 == 0:
                options = ["--rotate-size", rand.choice(["4K", "100M"])]
            job = self.begin(self.path(f"{name}.bbt"), *options)
            if turn % 2:
                self.check_standing(job, name, rand)
            else:
                self.check_running(job, name, rand)

    def check_standing(self, job, name, rand):
        """So many frames, and no more: what is there is what had to be flushed, to the message."""
        count = rand.randrange(1, len(self.frames))
        job.stdin.write(b"".join(self.frames[:count]))
        job.stdin.flush()
        least = flushed(count, self.STEP, self.EVERY)
        self.wait_for(name, least)
        self.kill(job)
        self.assertLessEqual(self.check_files(name, least), max(0, count - 3))

    def check_running(self, job, name, rand):
        """While frames come: nothing goes that was seen in the files before."""
        def feed():
            try:
                for at in range(0, len(self.frames), 20):
                    job.stdin.write(b"".join(self.frames[at:at + 20]))
                    job.stdin.flush()
            except (BrokenPipeError, ValueError):
                pass
        feeder = threading.Thread(target=feed)
        feeder.start()
        self.wait_for(name, rand.randrange(0, 4000))
        time.sleep(rand.random() * 0.01)
        before = self.seen(name)
        job.send_signal(signal.SIGKILL)
        feeder.join()
        self.kill(job)
        self.check_files(name, before)

    def test_one_file_without_series(self):
        job = self.begin(self.path("x.bbt"), "--sync", "flush")
        job.stdin.write(b"".join(self.frames[:1000]))
        job.stdin.flush()
        until = time.monotonic() + 30
        least = flushed(1000, self.STEP, self.EVERY)
        while not os.path.exists(self.path("x.bbt")) or blocks(self.path("x.bbt"))[0] < least:
            self.assertLess(time.monotonic(), until)
            time.sleep(0.005)
        self.kill(job)
        self.assertEqual(lines(self.path("x.bbt"))[0][:least], self.messages[:least])
        self.assertIn("no end mark", checked(self.path("x.bbt")))


# ---- in namespaces: run again inside of one -----------------------------------------------------

def inside(test, how, case):
    """Runs the test case inside; skips where the kernel gives no such namespace."""
    if subprocess.run(["unshare", how, "true"], check=False, stderr=subprocess.DEVNULL).returncode:
        test.skipTest(f"the kernel gives no namespace by unshare {how}")
    command = ["unshare", how, sys.executable, __file__, BBTRACE, SAMPLES, case]
    done = subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, check=False, timeout=120)
    text = done.stdout.decode()
    if "skipped=" in text and not done.returncode:
        test.skipTest(text.strip().splitlines()[0])
    test.assertEqual(done.returncode, 0, text)


class Namespaces(unittest.TestCase):
    def test_full_disk(self):
        inside(self, "-rm", "FullDisk")

    def test_live(self):
        inside(self, "-rn", "Live")


class FullDisk(Files):
    """A disk of 1 MB, of which not much is free."""

    def setUp(self):
        super().setUp()
        self.disk = self.path("disk")
        os.mkdir(self.disk)
        mounted = subprocess.run(["mount", "-t", "tmpfs", "-o", "size=1m", "none", self.disk], check=False)
        if mounted.returncode:
            self.skipTest("no tmpfs can be mounted")
        self.addCleanup(subprocess.run, ["umount", self.disk], check=True)
        self.pcap = self.path("in.pcap")
        with open(self.pcap, "wb") as file:
            file.write(HEAD + b"".join(frames(25000)))

    def leave(self, size):
        with open(f"{self.disk}/filler", "wb") as file:
            file.write(bytes(2**20 - size))

    def out(self):
        return sorted(glob.glob(f"{self.disk}/t*"))

    def check_error(self, err):
        self.assertRegex(err, r"error: \S+/disk/t\S*: cannot write: No space left on device: free space")

    def check_whole(self, files):
        """Every file is complete; what they have is the beginning. Returns the number of messages and counters."""
        self.assertEqual([checked(file) for file in files], [""] * len(files))
        messages, counters, _ = lines(*files)
        self.assertGreater(len(messages), 2000)
        self.assertEqual([int(line.split()[4]) for line in messages], [1 + i // 2 for i in range(len(messages))])
        return len(messages), counters

    def test_one_file(self):
        self.leave(40000)
        err = capture("-r", self.pcap, "-w", f"{self.disk}/t.bbt", "--flush", "1s", status=1)
        self.check_error(err)
        told = re.search(r"([\d,]+)  messages lost because the trace could not be written \(messages_unwritten\)", err)
        count, counters = self.check_whole(self.out())
        self.assertEqual(counters["messages_unwritten"], int(told[1].replace(",", "")))
        self.assertEqual(counters["messages_unwritten"] + count, counters["calls"] + counters["returns"])

    def test_series(self):
        self.leave(45000)
        err = capture("-r", self.pcap, "-w", f"{self.disk}/t.bbt", "--rotate-size", "5K", status=1)
        self.check_error(err)
        files = self.out()
        self.assertGreater(len(files), 2)
        self.assertIn("(messages_unwritten)", err)
        self.check_whole(files)

    def test_a_ring_that_fits_goes_on(self):
        self.leave(60000)
        err = capture("-r", self.pcap, "-w", f"{self.disk}/t.bbt", "--ring", "24K")
        self.assertNotIn("warning", err)
        self.assertLessEqual(sum(os.path.getsize(file) for file in self.out()), 24 * 1024)
        self.assertEqual(len(lines(*self.out())[0]), len(set(lines(*self.out())[0])))

    def test_a_ring_that_does_not_fit_gets_smaller(self):
        self.leave(50000)
        err = capture("-r", self.pcap, "-w", f"{self.disk}/t.bbt", "--ring", "1G", "--rotate-size", "10K")
        self.assertRegex(err, r"warning: the disk was full, and the ring deleted \d+ files? early")
        files = self.out()
        self.assertEqual([checked(file) for file in files], [""] * len(files))
        self.assertEqual(lines(files[-1])[0][-1].split()[4], "25000")

    def test_no_room_for_a_beginning(self):
        self.leave(0)
        err = capture("-r", self.pcap, "-w", f"{self.disk}/t.bbt", "--rotate-size", "20K", status=1)
        self.check_error(err)
        self.assertEqual(self.out(), [])


class Quiet(http.server.BaseHTTPRequestHandler):
    def do_GET(self):
        self.send_response(200)
        self.send_header("Content-Length", "2")
        self.end_headers()
        self.wfile.write(b"ok")

    def log_message(self, *_):
        pass


class Live(Files):
    def setUp(self):
        super().setUp()
        with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as any_socket:
            up = struct.pack("16sH14s", b"lo", 1 | 64, b"")
            fcntl.ioctl(any_socket, 0x8914, up)  # SIOCSIFFLAGS
        server = http.server.ThreadingHTTPServer(("127.0.0.1", 8080), Quiet)
        self.addCleanup(server.server_close)
        self.addCleanup(server.shutdown)
        threading.Thread(target=server.serve_forever, daemon=True).start()

    def ask(self, count):
        for number in range(count):
            urllib.request.urlopen(f"http://127.0.0.1:8080/item/{number}").read()

    def begin(self, *options):
        job = subprocess.Popen([BBTRACE, "capture", "-i", "lo", "-w", self.path("t.bbt"), *options, "tcp"],
                               stderr=subprocess.PIPE)
        time.sleep(0.7)  # until it listens
        return job

    def wait_for(self, done):
        until = time.monotonic() + 20
        while not done():
            self.assertLess(time.monotonic(), until)
            time.sleep(0.02)

    def test_files_end_by_the_clock_and_by_a_signal(self):
        job = self.begin("--rotate-time", "1s", "--flush", "100ms")
        self.ask(20)
        self.wait_for(lambda: self.series("t") and all(blocks(file)[1] for file in self.series("t")))
        self.ask(20)  # and again, in another file
        time.sleep(0.3)
        job.send_signal(signal.SIGTERM)
        err = job.stderr.read().decode()
        job.stderr.close()
        self.assertEqual(job.wait(timeout=60), 0, err)
        files = self.series("t")
        self.assertGreaterEqual(len(files), 2)
        self.assertEqual([checked(file) for file in files], [""] * len(files))
        messages, counters, _ = lines(*files)
        self.assertEqual(len(messages), 80)
        self.assertEqual((counters["calls"], counters["returns"]), (40, 40))

    def test_killed_after_a_flush(self):
        job = self.begin("--flush", "50ms")
        self.ask(20)
        self.wait_for(lambda: blocks(self.path("t.bbt"))[0] == 40)
        job.send_signal(signal.SIGKILL)
        job.wait(timeout=60)
        job.stderr.close()
        self.assertEqual(len(lines(self.path("t.bbt"))[0]), 40)
        self.assertIn("no end mark", checked(self.path("t.bbt")))


def main():
    case = sys.argv[3:] or ["Series", "Killed", "Namespaces"]
    program = unittest.main(argv=[sys.argv[0], *case], exit=False)
    for _, reason in program.result.skipped:
        print(f"skipped: {reason}")
    return 0 if program.result.wasSuccessful() else 1


if __name__ == "__main__":
    sys.exit(main())
