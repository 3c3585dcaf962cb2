#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""The programs as a user calls them: exit statuses, what goes where, errors that name file and remedy,
pipes, formats, the same bytes on every run.

  programs.py BBTRACE BBPATHS SAMPLES [--without-paths]"""
import contextlib
import gzip
import json
import lzma
import os
import random
import re
import resource
import signal
import sqlite3
import struct
import subprocess
import sys
import tempfile
import time
import unittest

BBTRACE, BBPATHS, SAMPLES = sys.argv[1:4]
SHOP = f"{SAMPLES}/shop.pcap.xz"
HOSTS = f"{SAMPLES}/shop.hosts"
TEXT = """# bbtrace text 1
10.000000001 CALL_SENT a b id1 op=GET%20/x proto=http
10.100000000 CALL_SENT b c id2
10.200000000 RET_SENT c b id2
10.300000000 RET_SENT b a id1 op=GET%20/x status=500 proto=http
11.000000000 MSG_SENT a d -
"""


def run(*command, data=None, status=0):
    done = subprocess.run(command, input=data, stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                          check=False, timeout=120)
    assert done.returncode == status, (command, done.returncode, done.stderr.decode())
    return done.stdout, done.stderr.decode()


def no_room():
    """Files grow to 1000 bytes only."""
    signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
    resource.setrlimit(resource.RLIMIT_FSIZE, (1000, 1000))


class Programs(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = folder.name

    def path(self, name, content=None):
        path = os.path.join(self.folder, name)
        if content is not None:
            with open(path, "wb") as file:
                file.write(content)
        return path

    def trace(self, *options):
        path = self.path("t.bbt")
        run(BBTRACE, "capture", "-q", "-r", SHOP, "-w", path, *options)
        return path


class Usage(Programs):
    def test_what_only_an_interface_has(self):
        for words in (["-s", "100"], ["-B", "1M"], ["--time-stamp-type", "host"], ["-p"], ["--no-shed"]):
            _, err = run(BBTRACE, "capture", "-r", SHOP, *words, status=2)
            self.assertIn(f"{words[0]} is for interfaces (-i)", err)

    def test_wrong_usage_is_2_and_says_how_to_get_help(self):
        for command in ([BBTRACE], [BBTRACE, "frobnicate"], [BBTRACE, "capture"], [BBTRACE, "info"],
                        [BBTRACE, "capture", "-i", "a", "-r", "b"], [BBTRACE, "cat"],
                        [BBTRACE, "capture", "-r", "x", "--node", "rack"],
                        [BBTRACE, "capture", "-r", "x", "-c", "-1"],
                        [BBTRACE, "capture", "-r", "x", "-G", "9223372036854775807"],
                        [BBTRACE, "doctor", "-r", "x", "-G", "-1"],
                        [BBTRACE, "capture", "-r", "x", "--follow", "10.0.0.1", "--hops", "-1"],
                        [BBTRACE, "capture", "-r", "x", "--max-held", "much"],
                        [BBTRACE, "import", "x", "-w", "y"], [BBTRACE, "import", "--from", "text", "x"],
                        [BBPATHS], [BBPATHS, "a", "b"], [BBPATHS, "--algo", "guess", "x"],
                        [BBPATHS, "--top", "0", "x"], [BBPATHS, "--sort", "name", "x"],
                        [BBPATHS, "--format", "gif", "x"], [BBPATHS, "-o", "x.doc", "x"],
                        [BBPATHS, "--skew-window", "5", "x"], [BBPATHS, "--unknown", "x"],
                        [BBPATHS, "--window", "0", "x"], [BBPATHS, "--window", "soon", "x"],
                        [BBPATHS, "--step", "1s", "x"], [BBPATHS, "--window", "1s", "--step", "2s", "x"],
                        [BBPATHS, "--window", "1s", "--step", "9ms", "x"],
                        [BBPATHS, "--from", "2", "--to", "2", "x"],
                        [BBPATHS, "--from", "yesterday", "x"], [BBPATHS, "--slower-than", "5", "x"],
                        [BBPATHS, "--phases", "-", "x"], [BBPATHS, "--phases", "p", "--instances", "p", "x"],
                        [BBPATHS, "--instances", "-", "x"], [BBPATHS, "--overlap-penalty", "-1", "x"]):
            out, err = run(*command, status=2)
            self.assertEqual(out, b"", command)
            self.assertIn("--help", err, command)

    def test_a_second_file_is_no_filter(self):
        _, err = run(BBTRACE, "capture", "-r", SHOP, SHOP, status=2)
        self.assertIn("-r before each file", err)

    def test_help_is_0_and_on_stdout(self):
        for command in ([BBTRACE, "--help"], [BBTRACE, "capture", "--help"], [BBTRACE, "cat", "--help"],
                        [BBTRACE, "info", "--help"], [BBTRACE, "import", "--help"], [BBPATHS, "--help"]):
            out, err = run(*command)
            self.assertIn(b"Usage", out)
            self.assertEqual(err, "")

    def test_version(self):
        self.assertRegex(run(BBTRACE, "--version")[0], rb"^bbtrace \d+\.\d+\.\d+\n$")
        self.assertRegex(run(BBPATHS, "--version")[0], rb"^bbpaths \d+\.\d+\.\d+\n$")


class Errors(Programs):
    def test_missing_files_are_named(self):
        for command in ([BBTRACE, "capture", "-r"], [BBTRACE, "cat"], [BBTRACE, "info"], [BBPATHS]):
            _, err = run(*command, "/nowhere/at/all", status=1)
            self.assertIn("/nowhere/at/all", err)
            self.assertIn("error", err)

    def test_where_nothing_can_be_read_the_output_stays(self):
        good = self.path("good", b"what was there")
        for words in (["export", "--to", "jsonl", "-o", good], ["export", "--to", "csv", "-o", good],
                      ["merge", "-w", good], ["import", "--from", "text", "-w", good]):
            run(BBTRACE, *words, "/nowhere/at/all", status=1)
            with open(good, "rb") as file:
                self.assertEqual(file.read(), b"what was there", words)
        some, base = self.trace(), self.path("good.db")
        run(BBTRACE, "export", "--to", "sqlite", "-o", base, some)
        with open(base, "rb") as file:
            rows = file.read()
        run(BBTRACE, "export", "--to", "sqlite", "-o", base, "/nowhere/at/all", status=1)
        with open(base, "rb") as file:
            self.assertEqual(file.read(), rows)
        for words in (["export", "--to", "csv", "-o", good], ["merge", "-w", good]):
            run(BBTRACE, *words, "/nowhere/at/all", some, status=1)
            with open(good, "rb") as file:
                self.assertNotEqual(file.read(), b"what was there", words)

    def test_a_capture_given_as_a_trace_names_the_remedy(self):
        with lzma.open(SHOP) as file:
            pcap = self.path("x.pcap", file.read(100000))
        self.assertIn("bbtrace capture", run(BBTRACE, "cat", pcap, status=1)[1])
        self.assertIn("bbtrace capture", run(BBPATHS, pcap, status=1)[1])

    def test_a_trace_given_as_a_capture_says_so(self):
        _, err = run(BBTRACE, "capture", "-r", self.trace(), status=1)
        self.assertIn("trace", err)

    def test_a_malformed_line_is_named_or_skipped(self):
        path = self.path("bad.txt", TEXT.encode() + b"12.0 CALL_SENT a\n12.5 MSG_SENT a b -\n")
        _, err = run(BBTRACE, "cat", path, status=1)
        self.assertRegex(err, r"bad\.txt:7\b")
        out, err = run(BBTRACE, "cat", "--skip-bad-lines", path)
        self.assertEqual(len(out.splitlines()), 7)
        self.assertIn("1 malformed", err)

    def test_a_bad_filter_is_an_error(self):
        _, err = run(BBTRACE, "capture", "-r", SHOP, "port", "http or", status=1)
        self.assertIn("port http or", err)

    def test_unwritable_output(self):
        for command in ([BBTRACE, "capture", "-q", "-r", SHOP, "-w", "/nowhere/x.bbt"],
                        [BBPATHS, "-o", "/nowhere/x.svg", self.trace()]):
            self.assertIn("/nowhere/x.", run(*command, status=1)[1])

    def test_a_full_disk_is_told(self):
        for command in ([BBTRACE, "capture", "-q", "-r", SHOP, "-w", "/dev/full"],
                        [BBPATHS, "--format", "json", "-o", "/dev/full", self.trace()],
                        [BBPATHS, "--instances", "/dev/full", "-o", "/dev/null", "--format", "dot",
                         self.trace()]):
            self.assertIn("/dev/full", run(*command, status=1)[1])

    def test_what_is_there_stays_until_the_new_one_is_whole(self):
        trace, old = self.trace(), b"old"
        both = ["--instances", self.path("i.jsonl")]
        for name, command in (("x.svg", [BBPATHS, trace, "-o"]), ("x.json", [BBPATHS, trace, "-o"]),
                              ("i.jsonl", [BBPATHS, trace, *both, "-f", "json", "-o"]),
                              ("x.jsonl", [BBTRACE, "export", "-t", "jsonl", trace, "-o"]),
                              ("x.csv", [BBTRACE, "export", "-t", "csv", trace, "-o"])):
            path, out = self.path(name, old), self.path("other" if name.startswith("i") else name)
            done = subprocess.run([*command, out], stderr=subprocess.PIPE, check=False, timeout=120,
                                  preexec_fn=no_room)
            self.assertEqual(done.returncode, 1, name)
            self.assertIn(b"File too large", done.stderr)
            with open(path, "rb") as file:
                self.assertEqual(file.read(), old, name)
            self.assertFalse([other for other in os.listdir(self.folder) if other.startswith(f"{name}.")], name)
            run(*command, out)
            self.assertGreater(os.path.getsize(path), 1000, name)

    def test_what_is_read_is_not_overwritten(self):
        with lzma.open(SHOP) as file:
            pcap = self.path("x.pcap", file.read(100000))
        text = self.path("t.txt", TEXT.encode())
        names = self.path("names", b"10.0.0.1 a\n")
        os.link(text, self.path("link.txt"))
        for read, command in (
                (pcap, [BBTRACE, "capture", "-r", SHOP, "-r", pcap, "-w", pcap]),
                (names, [BBTRACE, "capture", "-r", pcap, "--names", names, "-w", names]),
                (text, [BBTRACE, "import", "--from", "text", text, "-w", self.path("link.txt")]),
                (text, [BBPATHS, text, "-f", "json", "-o", text]),
                (text, [BBPATHS, text, "--instances", text])):
            with open(read, "rb") as file:
                before = file.read()
            self.assertIn(f"{read}", run(*command, status=2)[1])
            with open(read, "rb") as file:
                self.assertEqual(file.read(), before, command)
        both = self.path("both.json")
        self.assertIn(both, run(BBPATHS, text, "--instances", both, "-o", both, status=2)[1])
        run(BBPATHS, text, "--instances", "/dev/null", "-o", self.path("new.json"))

    def test_a_bad_file_hides_no_full_disk(self):
        bad = self.path("bad.pcap", b"nonsense" * 100)
        _, err = run(BBTRACE, "capture", "-q", "-r", bad, "-r", SHOP, "-w", "/dev/full", status=1)
        self.assertIn("bad.pcap", err)
        self.assertEqual(err.count("/dev/full"), 1)

    def test_info_to_a_full_disk_is_told(self):
        with open("/dev/full", "wb") as full:
            done = subprocess.run([BBTRACE, "info", self.trace()], stdout=full, stderr=subprocess.PIPE,
                                  check=False, timeout=120)
        self.assertEqual(done.returncode, 1)
        self.assertIn(b"standard output", done.stderr)

    def test_help_to_a_full_disk_is_told(self):
        for words in ([BBTRACE, "--help"], [BBTRACE, "--version"], [BBTRACE, "capture", "--help"],
                      [BBPATHS, "--help"], [BBPATHS, "--version"], [BBPATHS, "blame", "--help"]):
            with open("/dev/full", "wb") as full:
                done = subprocess.run(words, stdout=full, stderr=subprocess.PIPE, check=False, timeout=120)
            self.assertEqual(done.returncode, 1, words)
            self.assertIn(b"standard output: cannot write: No space", done.stderr)

    def test_remedies_fit(self):
        trace = self.trace()
        absent, folder = self.path("sub/x"), self.path("d")
        os.mkdir(folder)
        for words in ([BBTRACE, "capture", "-q", "-r", SHOP, "-w"], [BBTRACE, "anonymize", trace, "-w"],
                      [BBTRACE, "merge", "-q", trace, trace, "-w"], [BBTRACE, "export", "-t", "csv", trace, "-o"],
                      [BBTRACE, "anonymize", trace, "-w", self.path("a.bbt"), "-m"],
                      [BBTRACE, "clocks", trace, "-o"], [BBPATHS, "-f", "svg", trace, "-o"],
                      [BBTRACE, "capture", "-q", "-r", SHOP, "-w", self.path("c.bbt"), "--stats"]):
            self.assertIn("Is a directory: that is a folder: name a file in it", run(*words, folder, status=1)[1], words)
            self.assertIn("make the folder, which is not there", run(*words, absent, status=1)[1], words)
        self.assertIn("make the folder, which is not there",
                      run(BBTRACE, "export", "-t", "sqlite", "-o", absent, trace, status=1)[1])

    def test_seconds_of_a_file_end_before_the_packet_beyond(self):
        _, err = run(BBTRACE, "capture", "-r", SHOP, "-G", "1", "-w", self.path("t.bbt"))
        self.assertRegex(err, r"bbtrace: 490 packets in 0\.122 s: ")
        self.assertIn(b": 490 frames in ", run(BBTRACE, "doctor", "-G", "1", "-r", SHOP)[0])

    def test_bad_names_file(self):
        names = self.path("names", b"10.0.0.1 ok\nnot-an-address x\n")
        self.assertRegex(run(BBTRACE, "capture", "-r", SHOP, "--names", names, status=1)[1], r"names, line 2\b")

    def test_one_bad_file_among_good_ones_loses_nothing(self):
        bad = self.path("bad.pcap", b"nonsense" * 100)
        trace = self.path("t.bbt")
        _, err = run(BBTRACE, "capture", "-r", SHOP, "-r", bad, "-w", trace, status=1)
        self.assertIn("bad.pcap", err)
        self.assertIn("9,325 packets", err)
        self.assertGreater(len(run(BBTRACE, "cat", trace)[0]), 100000)


class Closed(Programs):
    """Standard descriptors that are closed: the next file that is opened must not take their place."""

    def run_closed(self, closed, *command):
        job = os.fork()
        if job == 0:
            for each in range(3):
                os.dup2(os.open(os.devnull, os.O_RDWR), each)
            for each in closed:
                os.close(each)
            os.execv(command[0], command)
        return os.waitstatus_to_exitcode(os.waitpid(job, 0)[1])

    def test_what_is_said_goes_into_no_file(self):
        with lzma.open(SHOP) as file:
            cut = self.path("cut.pcap", file.read(500001))  # which is warned of
        want, got, lines = self.path("want.bbt"), self.path("got.bbt"), self.path("l.jsonl")
        run(BBTRACE, "capture", "-r", cut, "-w", want)
        with open(want, "rb") as file:
            want = file.read()
        for closed in (0,), (1,), (2,), (0, 1), (0, 2), (1, 2), (0, 1, 2):
            self.assertEqual(self.run_closed(closed, BBTRACE, "capture", "-r", cut, "-w", got, "--stats", lines), 0)
            with open(got, "rb") as file:
                self.assertEqual(file.read(), want, closed)
            with open(lines, encoding="ascii") as file:
                self.assertTrue([json.loads(line) for line in file], closed)
            os.unlink(got)
            os.unlink(lines)

    def test_no_other_program_writes_there_either(self):
        text, out = self.path("t.txt", TEXT.encode()), self.path("t.json")
        run(BBPATHS, "-f", "json", "-o", out, text)
        with open(out, "rb") as file:
            want = file.read()
        for closed in (1,), (2,), (0, 1, 2):
            self.assertEqual(self.run_closed(closed, BBPATHS, "-f", "json", "-o", out, text), 0)
            with open(out, "rb") as file:
                self.assertEqual(file.read(), want, closed)

    def test_output_that_is_closed_is_a_failure(self):
        text = self.path("t.txt", TEXT.encode())
        self.assertEqual(self.run_closed((1,), BBTRACE, "cat", text), 1)
        self.assertEqual(self.run_closed((1,), BBPATHS, "-f", "json", text), 1)
        self.assertEqual(self.run_closed((0,), BBTRACE, "cat", "-"), 1)


class Capture(Programs):
    def test_truncated_capture_gives_what_it_holds(self):
        with lzma.open(SHOP) as file:
            cut = self.path("cut.pcap", file.read(500001))
        _, err = run(BBTRACE, "capture", "-r", cut, "-w", self.path("t.bbt"))
        self.assertIn("cut.pcap", err)
        self.assertIn("warning", err)

    def test_forms_and_ways_in_agree(self):
        with lzma.open(SHOP) as file:
            data = file.read()
        want, _ = run(BBTRACE, "capture", "-q", "-r", SHOP)
        self.assertEqual(run(BBTRACE, "capture", "-q", "-r", "-", data=data)[0], want)
        packed = self.path("x.gz", gzip.compress(data))
        self.assertEqual(run(BBTRACE, "capture", "-q", "-r", packed)[0], want)
        self.assertEqual(run(BBTRACE, "cat", self.trace())[0], want)

    def test_rotated_files_are_one_capture(self):
        with lzma.open(SHOP) as file:
            data = file.read()
        at, ends = 24, []
        while at < len(data):
            at += 16 + int.from_bytes(data[at + 8 : at + 12], "little")
            ends.append(at)
        third = ends[len(ends) // 3]
        first = self.path("1.pcap", data[:third])
        second = self.path("2.pcap", data[:24] + data[third:])
        want, _ = run(BBTRACE, "capture", "-q", "-r", SHOP)
        self.assertEqual(run(BBTRACE, "capture", "-q", "-r", first, "-r", second)[0], want)

    def test_limits(self):
        _, err = run(BBTRACE, "capture", "-r", SHOP, "-c", "100", "-w", self.path("t.bbt"))
        self.assertIn("100 packets", err)
        out, _ = run(BBTRACE, "capture", "-q", "-r", SHOP, "-G", "1")
        times = [float(line.split()[0]) for line in out.decode().splitlines() if line[0] != "#"]
        self.assertLess(max(times) - min(times), 1.01)

    def test_evicted_connections_are_counted(self):
        _, err = run(BBTRACE, "capture", "-r", SHOP, "--max-connections", "5", "-w", self.path("t.bbt"))
        self.assertIn("connections_evicted", err)

    def test_names(self):
        out, _ = run(BBTRACE, "capture", "-q", "-r", SHOP, "--names", HOSTS)
        self.assertIn(b" client lb ", out)
        self.assertNotIn(b" 10.77.0.", out)
        out, _ = run(BBTRACE, "capture", "-q", "-r", SHOP, "--node", "endpoint")
        self.assertIn(b" 10.77.0.10 10.77.0.20:80 ", out)

    def test_filter(self):
        out, _ = run(BBTRACE, "capture", "-q", "-r", SHOP, "tcp", "port", "6379")
        protocols = set(re.findall(rb"proto=(\S+)", out))
        self.assertEqual(protocols, {b"redis"})
        _, err = run(BBTRACE, "capture", "-q", "-r", SHOP, "host", "1.2.3.4")
        self.assertEqual(err, 'bbtrace: warning: the filter "host 1.2.3.4" lets none of what was read through (9,325 packets): '
                              "see pcap-filter(7)\n")

    def test_text_has_the_form_of_the_contract(self):
        out, _ = run(BBTRACE, "capture", "-q", "-r", SHOP)
        lines = out.decode().splitlines()
        self.assertEqual(lines[0], "# bbtrace text 1")
        last = 0.0
        calls, returns = set(), set()
        for line in lines[1:]:
            if line[0] == "#":
                continue
            stamp, kind, _, _, ident = line.split()[:5]
            self.assertRegex(stamp, r"^\d+\.\d{1,9}$")
            self.assertGreaterEqual(float(stamp), last)
            last = float(stamp)
            (calls if kind == "CALL_SENT" else returns).add(ident)
            if kind == "CALL_SENT":
                self.assertEqual(len(calls) + 0, len(calls | {ident}))
        self.assertTrue(returns <= calls)

    def test_a_signal_ends_cleanly(self):
        fifo = self.path("fifo")
        os.mkfifo(fifo)
        trace = self.path("t.bbt")
        with subprocess.Popen([BBTRACE, "capture", "-r", fifo, "-w", trace], stderr=subprocess.PIPE) as job:
            with open(fifo, "wb") as pipe, lzma.open(SHOP) as file:
                pipe.write(file.read(1000000))
                pipe.flush()
                time.sleep(1)
                job.send_signal(signal.SIGTERM)
                time.sleep(0.2)
            err = job.stderr.read().decode()
            self.assertEqual(job.wait(timeout=60), 0, err)
        out, err = run(BBTRACE, "info", trace)
        self.assertEqual(err, "")
        self.assertIn(b"messages", out)

    def test_ctrl_c_leaves_what_came_through_a_pipe(self):
        """A terminal sends it to both: who writes ends, and what came until then is shown."""
        for count, status in ((1, 0), (2, -signal.SIGINT)):
            with subprocess.Popen([BBPATHS, "-f", "text", "-"], stdin=subprocess.PIPE, stdout=subprocess.PIPE,
                                  stderr=subprocess.PIPE) as job:
                job.stdin.write(TEXT.encode())
                job.stdin.flush()
                time.sleep(0.5)
                for _ in range(count):
                    job.send_signal(signal.SIGINT)
                    time.sleep(0.2)
                out, err = job.communicate(timeout=60)
            self.assertEqual((job.returncode, err), (status, b""))
            self.assertEqual(b"a -> b" in out, count == 1)


def frame(source, target, protocol, transport):
    """Ethernet and IPv4 around a TCP or UDP packet."""
    ip = struct.pack(">BBHHHBBH4s4s", 0x45, 0, 20 + len(transport), 1, 0, 64, protocol, 0,
                     bytes(map(int, source.split("."))), bytes(map(int, target.split("."))))
    return b"\0" * 12 + b"\x08\0" + ip + transport


def pcap(frames):
    out = struct.pack("<IHHiIII", 0xA1B23C4D, 2, 4, 0, 0, 65535, 1)
    for number, data in enumerate(frames):
        out += struct.pack("<IIII", 1000, number * 1000000, len(data), len(data)) + data
    return out


def udp(source_port, target_port, payload):
    return struct.pack(">HHHH", source_port, target_port, 8 + len(payload), 0) + payload


def tcp(source_port, target_port, seq, ack, payload):
    return struct.pack(">HHIIBBHHH", source_port, target_port, seq, ack, 0x50, 0x18, 1000, 0, 0) + payload


class Names(Programs):
    """A connection to 10.0.0.9, and only behind it the DNS answer that calls it db.example.com."""

    def capture(self):
        question = b"\x02db\x07example\x03com\0\0\x01\0\x01"
        query = struct.pack(">HHHHHH", 7, 0x0100, 1, 0, 0, 0) + question
        answer = (struct.pack(">HHHHHH", 7, 0x8180, 1, 1, 0, 0) + question +
                  b"\xc0\x0c\0\x01\0\x01\0\0\0\x3c\0\x04" + bytes([10, 0, 0, 9]))
        request, reply = b"GET / HTTP/1.1\r\n\r\n", b"HTTP/1.1 204 No Content\r\n\r\n"
        return pcap([
            frame("10.0.0.1", "10.0.0.9", 6, tcp(40000, 80, 1, 1, request)),
            frame("10.0.0.9", "10.0.0.1", 6, tcp(80, 40000, 1, 1 + len(request), reply)),
            frame("10.0.0.1", "10.0.0.2", 17, udp(5000, 53, query)),
            frame("10.0.0.2", "10.0.0.1", 17, udp(53, 5000, answer)),
        ])

    def test_files_are_read_twice_for_names(self):
        path = self.path("dns.pcap", self.capture())
        out, _ = run(BBTRACE, "capture", "-q", "-r", path)
        self.assertIn(b" 10.0.0.1 10.0.0.9 ", out)
        out, _ = run(BBTRACE, "capture", "-q", "-r", path, "--names-from-dns")
        self.assertIn(b" 10.0.0.1 db.example.com ", out)
        self.assertNotIn(b" 10.0.0.9 ", out)

    def test_a_pipe_is_not_and_says_so(self):
        out, err = run(BBTRACE, "capture", "-r", "-", "--names-from-dns", data=self.capture())
        self.assertIn(b" 10.0.0.1 10.0.0.9 ", out)
        self.assertIn("read only once", err)


class Traces(Programs):
    def test_text_to_bbt_and_back(self):
        text = self.path("t.txt", TEXT.encode())
        bbt = self.path("t.bbt")
        run(BBTRACE, "import", "--from", "text", text, "-w", bbt)
        self.assertEqual(run(BBTRACE, "cat", bbt)[0], run(BBTRACE, "cat", text)[0])

    def test_text_is_sorted(self):
        lines = TEXT.splitlines()
        shuffled = "\n".join([lines[0]] + lines[:0:-1]) + "\n"
        out, _ = run(BBTRACE, "cat", "-", data=shuffled.encode())
        self.assertEqual(out, run(BBTRACE, "cat", "-", data=TEXT.encode())[0])

    def test_info(self):
        out, _ = run(BBTRACE, "info", self.path("t.txt", TEXT.encode()))
        text = out.decode()
        for pattern in (r"messages +5", r"calls +2", r"returns +2", r"free +1", r"nodes +4", r"a -> b  http +1",
                        r"span +1\.0000", r"How far to trust it"):
            self.assertRegex(text, pattern)

    def test_info_verdict(self):
        lines = "".join(f"1.{i:04}0 CALL_SENT a b id{i}\n1.{i:04}5 RET_SENT b a id{i}\n" for i in range(500))
        for counters, verdict in (({}, "Good"), ({"frames": 10000, "bad_frames": 50}, "Good"),
                                  ({"frames": 10000, "bad_frames": 200}, "Usable"),
                                  ({"frames": 10000, "bad_frames": 2000}, "Poor"),
                                  ({"frames": 10000, "kernel_dropped": 200}, "Usable"),
                                  ({"interface_outages": 1}, "Usable.*\n.*down or gone 1 time:"),
                                  ({"clock_set_back": 2}, "Usable.*\n.*stepped back 2 times:"),
                                  ({"input_cut": 1}, "Usable.*\n1 capture file breaks off:"),
                                  ({"frames": 10000, "cut_payloads": 5}, "Good.*\n0.05 % of the packets were recorded in"),
                                  ({"frames": 10000, "cut_payloads": 6246}, "Usable.*\n62.46 % of the packets were"),
                                  ({"connections": 900, "processes_unknown": 8}, "Good.*\n0.89 % of the connections have an"),
                                  ({"connections": 900, "processes_unknown": 9}, "Usable.*\n1.00 % of the connections have an"),
                                  ({"frame_bytes": 205400, "tcp_packets": 100, "decoder_unread_bytes": 1800}, "Good.*\n0.90 % of the payload was"),
                                  ({"frame_bytes": 205400, "tcp_packets": 100, "decoder_unread_bytes": 2000}, "Usable.*\n1.00 % of the payload was"),
                                  ({"frame_bytes": 205400, "tcp_packets": 100, "decoder_unread_bytes": 192000}, "Poor.*\n96.00 % of the payload was"),
                                  ({"messages_damaged": 20}, "Usable.*\n1.96 % of the messages were lost where"),
                                  ({"messages_dropped": 5}, "Good.*\n0.50 % of the messages were left out by bbtrace drop"),
                                  ({"messages_dropped": 250}, "Poor.*\n20.00 % of the messages were left out by"),
                                  ({"messages_unwritten": 3500}, "Poor.*\n77.78 % of the messages")):
            said = "".join(f"# counter {name} {value}\n" for name, value in counters.items())
            trace = self.path("t.txt", ("# bbtrace text 1\n" + said + lines).encode())
            self.assertRegex(run(BBTRACE, "info", trace)[0].decode(), verdict)

    def test_info_of_calls_that_are_closed(self):
        """Of ten calls nine have no return, which is known; one comes all the same. Of the last nothing is known."""
        lines = "".join(f"1.{i:02}0 CALL_SENT a b id{i}\n" for i in range(10))
        lines += "".join(f"1.{i:02}5 MSG_SENT a b id{i} status=closed\n" for i in range(5))
        lines += "".join(f"1.{i:02}5 MSG_SENT b a id{i} status=closed\n" for i in range(5, 9))
        lines += "1.5 RET_SENT b a id3 status=unread\n"
        out, _ = run(BBTRACE, "info", self.path("t.txt", ("# bbtrace text 1\n" + lines).encode()))
        self.assertRegex(out.decode(), r"10\.00 % of the calls lack their other half \(1 without return, 0 ")
        self.assertIn("\n8 calls had no return when their connection was closed: given up, not lost.", out.decode())

    def test_info_of_a_damaged_trace(self):
        with open(self.trace(), "rb") as file:
            data = bytearray(file.read())
        data[30000] ^= 64
        damaged = self.path("damaged.bbt", bytes(data))
        out, err = run(BBTRACE, "info", damaged)
        found, lost = map(int, re.search(r"(\d+) messages recovered; (\d+) known to be lost", err).groups())
        verdict = f"{100 * lost / (lost + found):.2f} % of the messages were lost where the trace was damaged."
        self.assertIn(verdict, out.decode())
        self.assertIn("\nPoor", out.decode())
        again = self.path("again.bbt")
        for words in (["merge"], ["import", "--from", "text"], ["filter"]):
            run(BBTRACE, *words, "-q", "-w", again, damaged)
            self.assertIn(verdict, run(BBTRACE, "info", again)[0].decode(), words)

    def test_info_where_clocks_differ(self):
        trace, skewed = self.trace(), self.path("skewed.bbt")
        run(BBTRACE, "skew", "-q", "--node", "10.77.0.31=5ms", "-w", skewed, trace)
        _, *words = re.search(rb"trust it: (.*)", run(BBTRACE, "info", trace)[0])[0].split(b";")[0].split()
        out = run(BBTRACE, "info", skewed)[0]
        self.assertIn(b" ".join(words), out)
        self.assertRegex(out, rb"\nGood.*\n1,338 returns are stamped before their calls: clocks differ")
        self.assertRegex(run(BBPATHS, "-f", "text", skewed)[0], rb"In no pattern: 2 calls without return, 0 returns without call")

    def test_info_where_one_end_was_seen(self):
        """Either sighting of a message stands for it, and both are one: as bbpaths and SQLite pair them."""
        ends = (("CALL_RECV a b {0}", "RET_SENT b a {0} status=500"), ("CALL_SENT a b {0}", "RET_RECV b a {0} status=500"),
                ("CALL_RECV a b {0}", "CALL_SENT a b {0}", "RET_SENT b a {0} status=500", "RET_RECV b a {0}"),
                ("CALL_SENT a b {0}", "CALL_RECV a b {0}", "RET_RECV b a {0} status=500", "RET_SENT b a {0}"))
        for seen in ends:
            lines = [f"{i}.{k} {line.format(i)}\n" for i in range(10, 30) for k, line in enumerate(seen)]
            lines += [f"99.{k} MSG_{end} a b m\n" for k, end in enumerate(("RECV", "SENT"))]
            path = self.path("t.txt", ("# bbtrace text 1\n" + "".join(lines)).encode())
            out = run(BBTRACE, "info", path)[0].decode()
            self.assertIn("Good", out)
            self.assertRegex(out, r"a -> b  +20 +20 +1 +20\n")
            self.assertIn("(0 without return, 0 returns without call)", out)
            self.assertRegex(run(BBPATHS, "-f", "text", path)[0], rb" 20 calls, 0 % unmatched")
            run(BBTRACE, "export", "--to", "sqlite", "-o", self.path("t.db"), path)
            base = sqlite3.connect(self.path("t.db"))
            self.assertEqual(base.execute("SELECT calls, returns, errors FROM edges").fetchall(), [(20, 20, 20)])
            base.close()

    def test_returns_without_call_count_once(self):
        """Seen by both ends: in info and in SQLite's view of edges."""
        path = self.path("t.txt", b"# bbtrace text 1\n1 RET_SENT b a 7 status=500\n1.1 RET_RECV b a 7 status=500\n")
        self.assertRegex(run(BBTRACE, "info", path)[0].decode(), r"a -> b +0 +1 +0 +1\n")
        run(BBTRACE, "export", "--to", "sqlite", "-o", self.path("t.db"), path)
        with contextlib.closing(sqlite3.connect(self.path("t.db"))) as base:
            self.assertEqual(base.execute("SELECT calls, returns, errors FROM edges").fetchall(), [(0, 1, 1)])
            self.assertEqual(base.execute("SELECT message, call FROM messages").fetchall(), [(1, None), (2, 1)])

    def test_info_of_both_ends_with_losses(self):
        """Clocks that differ by more than a call takes, and any sighting may be missing: as bbpaths pairs them."""
        chance = random.Random(1)
        for apart in (0, 0.05):
            lines = []
            for i in range(1000):
                (a, skew), (b, other) = chance.sample((("a", 0), ("b", apart), ("c", -apart)), 2)
                at = 100 + 0.02 * i
                lines += [(at + skew, f"CALL_SENT {a} {b} i{i}"), (at + 0.0002 + other, f"CALL_RECV {a} {b} i{i}"),
                          (at + 0.01 + other, f"RET_SENT {b} {a} i{i}"), (at + 0.0102 + skew, f"RET_RECV {b} {a} i{i}")]
            kept = sorted(line for line in lines if chance.random() > 0.1)
            path = self.path("t.txt", ("# bbtrace text 1\n" + "".join(f"{at:.6f} {line}\n" for at, line in kept)).encode())
            wanted = re.search(rb"In no pattern: (\d+) calls without return, (\d+) returns without call",
                               run(BBPATHS, "-q", "-f", "text", "--window", "whole", path)[0]).groups()
            self.assertIn(b"(%b without return, %b returns without call)" % wanted, run(BBTRACE, "info", path)[0])

    def test_info_of_equal_times(self):
        path = self.path("t.txt", b"# bbtrace text 1\n1 RET_SENT b a 1\n1 CALL_SENT a b 1\n")
        self.assertNotIn(b"stamped before", run(BBTRACE, "info", path)[0])

    def test_errors_of_returns_without_call(self):
        """They were seen on the edge: info and SQLite count them alike."""
        path = self.path("t.txt", b"# bbtrace text 1\n1 CALL_SENT a b 1\n2 RET_SENT b a 1\n3 RET_SENT b a 7 status=404\n")
        self.assertRegex(run(BBTRACE, "info", path)[0], rb"a -> b  +1 +2 +0 +1\n")
        run(BBTRACE, "export", "--to", "sqlite", "-o", self.path("t.db"), path)
        base = sqlite3.connect(self.path("t.db"))
        self.assertEqual(base.execute("SELECT * FROM edges").fetchall(), [("a", "b", None, 1, 2, 1, 1e9, 1000000000)])
        base.close()

    def test_info_of_a_capture_tells_of_loss(self):
        with lzma.open(SHOP) as file:
            data = file.read()
        at, kept, number = 24, bytearray(data[:24]), 0
        while at < len(data):
            end = at + 16 + int.from_bytes(data[at + 8 : at + 12], "little")
            number += 1
            if number % 20:
                kept += data[at:end]
            at = end
        trace = self.path("t.bbt")
        run(BBTRACE, "capture", "-q", "-r", self.path("lossy.pcap", bytes(kept)), "-w", trace)
        text = run(BBTRACE, "info", trace)[0].decode()
        self.assertIn("holes in TCP streams", text)
        self.assertRegex(text, r"Usable|Poor")

    def test_a_cut_bbt_gives_whole_blocks(self):
        with open(self.trace(), "rb") as file:
            data = file.read()
        cut = self.path("cut.bbt", data[: len(data) // 2])
        _, err = run(BBTRACE, "cat", cut)
        self.assertRegex(err, r"warning: .*cut\.bbt.* messages recovered")
        empty = self.path("empty.bbt", b"")
        run(BBTRACE, "cat", empty)
        run(BBPATHS, empty)

    def test_a_trace_without_messages_is_no_failure(self):
        path = self.path("none.txt", b"# bbtrace text 1\n")
        for form in ("dot", "json", "text", "svg"):
            run(BBPATHS, "--format", form, path)
        run(BBTRACE, "info", path)


class Paths(Programs):
    def test_same_bytes_every_time(self):
        trace = self.trace("--names", HOSTS)
        for form in ("dot", "json", "text", "svg"):
            first, _ = run(BBPATHS, "--format", form, trace)
            self.assertEqual(first, run(BBPATHS, "--format", form, trace)[0], form)
            self.assertEqual(first, run(BBPATHS, "--format", form, "--threads", "1", trace)[0], form)
        again = self.path("again.bbt")
        run(BBTRACE, "capture", "-q", "-r", SHOP, "--names", HOSTS, "-w", again)
        with open(trace, "rb") as one, open(again, "rb") as two:
            self.assertEqual(one.read(), two.read())

    def test_json_and_instances_follow_the_contract(self):
        instances = self.path("i.jsonl")
        trace = self.path("t.txt", TEXT.encode())
        out, _ = run(BBPATHS, "--assign=paper", "--format", "json", "--instances", instances, trace)
        result = json.loads(out)
        self.assertEqual(result["bbpaths"], 1)
        self.assertEqual(result["algorithm"], "nesting")
        self.assertEqual(result["trace"]["messages"], 5)
        self.assertEqual(result["trace"]["calls"], 2)
        self.assertEqual(result["trace"]["unmatched"], 0)
        pattern = result["patterns"][0]
        self.assertEqual((pattern["rank"], pattern["count"]), (1, 1))
        root = pattern["root"]
        self.assertEqual(root["node"], "a")
        self.assertEqual(root["calls"][0]["node"], "b")
        self.assertEqual(root["calls"][0]["op"], "GET /x")
        self.assertEqual(set(root["calls"][0]["latency_s"]),
                         {"mean", "min", "max", "stddev", "p50", "p90", "p99", "count"})
        self.assertEqual(root["calls"][0]["call_delay_s"]["max"], 0)
        self.assertEqual(root["calls"][0]["errors"], 1)
        self.assertAlmostEqual(root["calls"][0]["calls"][0]["call_delay_s"]["mean"], 0.1, 6)
        with open(instances, encoding="utf-8") as lines:
            one = [json.loads(line) for line in lines]
        self.assertEqual(one, [{"pattern": 1, "instance": 1, "calls": [
            {"id": "id1", "from": "a", "to": "b", "call": 10.000000001, "return": 10.3, "parent": None,
             "confidence": None},
            {"id": "id2", "from": "b", "to": "c", "call": 10.1, "return": 10.2, "parent": "id1",
             "confidence": None}]}])
        with open(instances, encoding="utf-8") as lines:
            self.assertIn('"call": 10.000000001,', lines.read())
        _, paths = self.instances(trace)
        for call in paths[0]["calls"]:
            self.assertTrue(0 <= call["confidence"] <= 1)

    def test_formats_by_ending(self):
        trace = self.trace()
        for ending, head in (("svg", b"<?xml"), ("dot", b"digraph"), ("json", b"{"), ("txt", b"bbpaths")):
            path = self.path(f"x.{ending}")
            run(BBPATHS, "-o", path, trace)
            with open(path, "rb") as file:
                self.assertTrue(file.read().lstrip().startswith(head), ending)

    def test_dot_is_dot(self):
        dot, _ = run(BBPATHS, self.trace("--names", HOSTS))
        svg, _ = run("dot", "-Tsvg", data=dot)
        self.assertIn(b"app1", svg)

    def test_top_sort_min_count(self):
        trace = self.trace()
        out, _ = run(BBPATHS, "--format", "json", "--sort", "count", "--top", "3", trace)
        counts = [p["count"] for p in json.loads(out)["patterns"]]
        self.assertEqual((len(counts), counts), (3, sorted(counts, reverse=True)))
        out, _ = run(BBPATHS, "--format", "json", "--min-count", "50", trace)
        self.assertTrue(all(p["count"] >= 50 for p in json.loads(out)["patterns"]))
        out, _ = run(BBPATHS, "--format", "json", "--sort", "mean", trace)
        means = [p["mean_latency_s"] for p in json.loads(out)["patterns"]]
        self.assertEqual(means, sorted(means, reverse=True))

    def test_the_slow_service_is_slow_below_one_caller_only(self):
        trace = self.path("slow.bbt")
        run(BBTRACE, "capture", "-q", "-r", f"{SAMPLES}/shop-slowauth.pcap.xz", "--names", HOSTS, "-w", trace)
        out, _ = run(BBPATHS, "--format", "json", "--sort", "count", "--top", "8", trace)
        means = {"app1": [], "app2": []}
        for pattern in json.loads(out)["patterns"]:
            balancer = pattern["root"]["calls"][0]
            for server in balancer["calls"]:
                means[server["node"]] += [call["latency_s"]["mean"] for call in server["calls"]
                                          if call["node"] == "auth"]
        self.assertGreaterEqual(min(map(len, means.values())), 3)
        self.assertLess(max(means["app1"]), 0.002)
        self.assertTrue(all(0.050 < mean < 0.052 for mean in means["app2"]), means)

    def test_labels_can_be_left_out(self):
        trace = self.trace()
        ops = {}
        for assign in ("joint", "paper"):
            for option in ("--no-labels", "--quiet"):
                out, _ = run(BBPATHS, "--format", "json", "--assign", assign, option, trace)
                calls = [pattern["root"]["calls"][0] for pattern in json.loads(out)["patterns"]]
                ops[assign, option] = {call["op"] for call in calls}
        for assign in ("joint", "paper"):
            self.assertEqual(ops[assign, "--no-labels"], {None})
            self.assertIn("GET /item/*", ops[assign, "--quiet"])

    def test_last_byte_is_no_earlier(self):
        trace = self.trace()
        def total(option):
            out, _ = run(BBPATHS, "--format", "json", "--latency", option, trace)
            return sum(p["total_latency_s"] for p in json.loads(out)["patterns"])
        self.assertGreaterEqual(total("last-byte"), total("first-byte"))

    def json_lines(self, name):
        with open(self.path(name), encoding="utf-8") as lines:
            return [json.loads(line) for line in lines]

    def instances(self, trace, *options):
        """The result of a run and its path instances."""
        out, _ = run(BBPATHS, "--format", "json", "--instances", self.path("i.jsonl"), *options, trace)
        return json.loads(out), self.json_lines("i.jsonl")

    def test_windows_count_every_call_once(self):
        trace = self.trace()
        whole, paths = self.instances(trace, "--window", "whole")
        self.assertEqual((whole, paths), self.instances(trace))
        self.assertEqual((whole, paths), self.instances(trace, "--window", "1h"))
        ids = sorted(call["id"] for path in paths for call in path["calls"])
        for options in (["--window", "1s"], ["--window", "500ms", "--step", "100ms"],
                        ["--window", "300ms", "--step", "300ms"]):
            result, paths = self.instances(trace, *options)
            self.assertEqual(sorted(call["id"] for path in paths for call in path["calls"]), ids)
            self.assertEqual([path["instance"] for path in paths], list(range(1, len(paths) + 1)))
            self.assertEqual(result["trace"]["calls"], whole["trace"]["calls"])
            self.assertEqual(result["trace"]["messages"], whole["trace"]["messages"])
            ranks = [path["pattern"] for path in paths]
            for pattern in result["patterns"]:
                self.assertEqual(ranks.count(pattern["rank"]), pattern["count"])

    def test_phases_add_up(self):
        result, paths = self.instances(self.trace(), "--window", "500ms", "--phases", self.path("p.jsonl"))
        phases = self.json_lines("p.jsonl")
        self.assertGreater(len(phases), 3)
        self.assertEqual(sum(phase["instances"] for phase in phases), len(paths))
        for before, after in zip(phases, phases[1:]):
            self.assertLess(before["from"], before["to"])
            self.assertLessEqual(before["to"], after["from"])
        for pattern in result["patterns"]:
            self.assertEqual(sum(share["count"] for phase in phases for share in phase["patterns"]
                                 if share["rank"] == pattern["rank"]), pattern["count"])

    def test_requests_are_chosen(self):
        trace = self.trace("--names", HOSTS)
        _, everything = self.instances(trace)
        start = min(path["calls"][0]["call"] for path in everything)
        def chosen(wanted, *options):
            result, paths = self.instances(trace, *options)
            keep = [path for path in everything if wanted(path)]
            self.assertTrue(0 < len(keep) < len(everything), options)
            self.assertEqual([path["instance"] for path in paths], [path["instance"] for path in keep])
            self.assertEqual(sum(pattern["count"] for pattern in result["patterns"]),
                             sum(path["pattern"] is not None for path in keep))
        def took(path):
            first = path["calls"][0]
            return first["return"] - first["call"] if first["return"] else 0
        chosen(lambda path: "auth" in (path["calls"][0]["from"], path["calls"][0]["to"]), "--root", "auth")
        chosen(lambda path: any("app1" in (call["from"], call["to"]) for call in path["calls"]),
               "--through", "app1")
        chosen(lambda path: took(path) > 0.0100001, "--slower-than", "10000100ns")
        chosen(lambda path: path["calls"][0]["call"] < start + 2, "--to", f"{start + 2:.6f}")
        chosen(lambda path: path["calls"][0]["call"] >= start + 2, "--from", f"{start + 2:.6f}")
        _, some = self.instances(trace, "--op", "GET /item/*")
        self.assertTrue(0 < len(some) < len(everything))
        _, none = self.instances(trace, "--errors", "--through", "app1", "--to", "1970-01-02T00:00:00Z")
        self.assertEqual(none, [])
        _, err = run(BBPATHS, "--through", "app", "-o", "/dev/null", "-f", "json", trace)
        self.assertIn("app1", err)

    def test_a_trace_may_have_the_name_of_a_command(self):
        self.path("score", TEXT.encode())
        out, _ = run(BBPATHS, "--format", "json", os.path.join(self.folder, ".", "score"))
        self.assertEqual(json.loads(out)["trace"]["calls"], 2)


if __name__ == "__main__":
    if "--without-paths" in sys.argv:
        del Paths
    unittest.main(argv=[sys.argv[0]], verbosity=1)
