#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""bbtrace export and its way back by import, filter and anonymize, on whole traces.

  conversions.py BBTRACE SAMPLES TRACES"""
import collections
import contextlib
import csv
import glob
import gzip
import hashlib
import hmac
import json
import os
import signal
import sqlite3
import subprocess
import sys
import tempfile
import threading
import time
import unittest
import urllib.parse

BBTRACE, SAMPLES, TRACES = sys.argv[1:4]
SHOP = os.path.join(SAMPLES, "shop-slowauth.pcap.xz")
HOSTS = os.path.join(SAMPLES, "shop.hosts")
FORMS = ("text", "jsonl", "csv", "sqlite")
TEXT = b"""# bbtrace text 1
10.000000 CALL_SENT a b 1 op=GET%20/x
10.010000 RET_SENT b a 1 status=500
"""


def run(*command, data=None, status=0):
    done = subprocess.run(command, input=data, stdout=subprocess.PIPE, stderr=subprocess.PIPE, check=False,
                          timeout=200)
    assert done.returncode == status, (command, done.returncode, done.stdout[-500:], done.stderr.decode())
    return done.stdout, done.stderr.decode()


def lines(text):
    """The messages of a text trace, without counters."""
    return [line for line in text.splitlines() if not line.startswith(b"#")]


NOTED = TEXT + b"# note fired by SIGUSR2\n"
COPIES = (["filter"], ["anonymize", "--seed", "1"], ["skew", "-n", "a=1ms"], ["drop", "--rate", "0"])
NONE_DROPPED = b"# counter messages_dropped 0\n"
ANONYMIZED = b"anonymized: names of nodes, operations, ids and connections are pseudonyms"
Message = collections.namedtuple("Message", "line kind sender receiver id time keys")


def messages(text):
    found = []
    for line in lines(text):
        words = line.decode().split(" ")
        keys = {k: urllib.parse.unquote(v) for k, v in (word.split("=", 1) for word in words[5:])}
        found.append(Message(line, words[1].split("_")[0], words[2], words[3], words[4],
                             int(words[0].split(".")[0]) * 10**9 + int(words[0].split(".")[1].ljust(9, "0")),
                             keys))
    return found


def calls(found):
    """Index of each message -> index of the other half of its call."""
    waiting, other = collections.defaultdict(list), {}
    for i, message in enumerate(found):
        if message.kind == "CALL":
            waiting[message.sender, message.receiver, message.id].append(i)
        elif message.kind == "RET" and waiting[message.receiver, message.sender, message.id]:
            j = waiting[message.receiver, message.sender, message.id].pop(0)
            other[i], other[j] = j, i
    return other


class Notes(unittest.TestCase):
    def test_notes_come_back_or_are_said_to_be_left_out(self):
        with tempfile.TemporaryDirectory() as folder:
            path, back, merged = (os.path.join(folder, name) for name in ("x.jsonl", "x.bbt", "m.bbt"))
            note = b"# note fired by SIGUSR2\n"
            self.assertIn(note, run(BBTRACE, "export", "--to", "text", "-", data=NOTED)[0])
            self.assertEqual(run(BBTRACE, "export", "--to", "jsonl", "-o", path, "-", data=NOTED), (b"", ""))
            with open(path, encoding="utf-8") as file:
                self.assertIn('{"note": "fired by SIGUSR2"}\n', file.read())
            run(BBTRACE, "import", "-q", "--from", "jsonl", "-w", back, path)
            self.assertIn(note, run(BBTRACE, "cat", back)[0])
            run(BBTRACE, "merge", "-q", "-w", merged, back, back)
            self.assertEqual(run(BBTRACE, "cat", merged)[0].count(note), 1)
            for form in ("csv", "sqlite"):
                _, err = run(BBTRACE, "export", "--to", form, "-o", os.path.join(folder, form), back)
                self.assertIn("has no place for 1 note\n", err)


    def test_copies_keep_notes_and_anonymize_drops_them(self):
        noted = NOTED.replace(b"# note fired by SIGUSR2\n", b"# note fired by SIGUSR2\n# note of web-7\n")
        for command in COPIES:
            out, err = run(BBTRACE, *command, "-", data=noted)
            notes = [line for line in out.splitlines() if line.startswith(b"# note ")]
            if command[0] == "anonymize":
                self.assertEqual(notes, [b"# note " + ANONYMIZED])
                self.assertIn("2 notes left out", err)
            else:
                self.assertEqual(notes, [b"# note fired by SIGUSR2", b"# note of web-7"], command)

    def test_anonymize_spares_its_key(self):
        with tempfile.TemporaryDirectory() as folder:
            key, out = os.path.join(folder, "key"), os.path.join(folder, "out.bbt")
            with open(key, "wb") as file:
                file.write(b"k" * 32)
            for words in (["-w", key], ["-w", out, "-m", key]):
                done = subprocess.run([BBTRACE, "anonymize", "-k", key, *words, "-"], input=NOTED,
                                      stdout=subprocess.PIPE, stderr=subprocess.PIPE, check=False)
                self.assertEqual(done.returncode, 2)
                self.assertIn(b"would overwrite the key", done.stderr)
                with open(key, "rb") as file:
                    self.assertEqual(file.read(), b"k" * 32)


class Case(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        folder = tempfile.TemporaryDirectory()
        cls.addClassCleanup(folder.cleanup)
        cls.folder = folder.name
        cls.shop = os.path.join(cls.folder, "shop.bbt")
        run(BBTRACE, "capture", "-q", "-r", SHOP, "--names", HOSTS, "-w", cls.shop)
        cls.truth = os.path.join(cls.folder, "truth.bbt")
        run(BBTRACE, "generate", "-q", "multitier", "-G", "60s", "-w", cls.truth)

    def path(self, name, content=None):
        path = os.path.join(self.folder, name)
        if content is not None:
            with open(path, "wb") as file:
                file.write(content)
        return path


class RoundTrips(Case):
    def round_trip(self, trace):
        text = run(BBTRACE, "cat", trace)[0]
        self.assertEqual(run(BBTRACE, "export", "--to", "text", trace)[0], text)
        for form in ("text", "jsonl", "csv"):
            out, back = self.path("x." + form), self.path("back.bbt")
            run(BBTRACE, "export", "-t", form, "-o", out, trace)
            run(BBTRACE, "import", "--from", form, "-w", back, out)
            again = run(BBTRACE, "cat", back)[0]
            if form == "csv":  # which has no place for counters and facts on the network
                self.assertEqual(lines(again), lines(text))
            else:
                self.assertEqual(again, text)

    def test_a_capture(self):
        self.round_trip(self.shop)

    def test_a_capture_with_frames(self):
        frames = self.path("frames.bbt")
        run(BBTRACE, "capture", "-q", "--keep-frames", "-r", SHOP, "-w", frames)
        text = run(BBTRACE, "cat", frames)[0]
        self.assertIn(b" frame=", text)
        self.assertIn(b"\n# network ", text)
        self.assertIn(b"\n# counter ", text)
        self.round_trip(frames)

    def test_a_trace_with_truth(self):
        self.round_trip(self.truth)

    def test_shared_traces(self):
        found = sorted(glob.glob(os.path.join(TRACES, "*.txt.gz")))
        if not found:
            self.skipTest(f"nothing in {TRACES}")
        for trace in found:
            with self.subTest(trace=trace):
                bbt = self.path("shared.bbt")
                run(BBTRACE, "import", "--from", "text", "-w", bbt, trace)
                self.round_trip(bbt)

    def test_pipes(self):
        out = run(BBTRACE, "export", "--to", "jsonl", "-", data=TEXT)[0]
        back = self.path("pipe.bbt")
        run(BBTRACE, "import", "--from", "jsonl", "-w", back, "-", data=out)
        self.assertEqual(run(BBTRACE, "cat", back)[0], TEXT)

    def test_packed_input(self):
        out = self.path("packed.csv")
        run(BBTRACE, "export", "--to", "csv", "-o", out, self.shop)
        run("xz", "-f", out)
        back = self.path("packed.bbt")
        run(BBTRACE, "import", "--from", "csv", "-w", back, out + ".xz")
        self.assertEqual(lines(run(BBTRACE, "cat", back)[0]), lines(run(BBTRACE, "cat", self.shop)[0]))


class Export(Case):
    def test_other_programs_read_it(self):
        text = messages(run(BBTRACE, "cat", self.shop)[0])
        objects = [json.loads(line) for line in run(BBTRACE, "export", "-t", "jsonl", self.shop)[0].splitlines()]
        rows = list(csv.DictReader(run(BBTRACE, "export", "-t", "csv", self.shop)[0].decode().splitlines()))
        found = [o for o in objects if "time_ns" in o]
        self.assertEqual(len(found), len(text))
        self.assertEqual(len(rows), len(text))
        for message, one, row in zip(text, found, rows):
            self.assertEqual(one["time_ns"], message.time)
            self.assertEqual((one["from"], one["to"], one["id"]), message[2:5])
            self.assertEqual(one.get("op"), message.keys.get("op"))
            self.assertEqual({k: v for k, v in row.items() if v}, {k: str(v) for k, v in one.items()})
        counters = {o["counter"]: o["value"] for o in objects if "counter" in o}
        self.assertEqual(counters["calls"], sum(m.kind == "CALL" for m in text))

    def test_sqlite(self):
        path = self.path("shop.db")
        run(BBTRACE, "export", "-t", "sqlite", "-o", path, self.shop)
        text = messages(run(BBTRACE, "cat", self.shop)[0])
        other = calls(text)
        database = sqlite3.connect(path)
        self.addCleanup(database.close)

        def query(sql):
            return database.execute(sql).fetchall()

        self.assertEqual(query("SELECT count(*) FROM messages"), [(len(text),)])
        self.assertEqual(query("SELECT call, message FROM messages WHERE call IS NOT NULL ORDER BY 2"),
                         [(j + 1, i + 1) for i, j in sorted(other.items()) if j < i])
        pairs = [(i, j) for i, j in other.items() if i < j]
        latency = sum(text[j].time - text[i].time for i, j in pairs)
        self.assertEqual(query("SELECT sum(latency_ns), count(\"return\") FROM calls"), [(latency, len(pairs))])
        self.assertEqual(query("SELECT sum(calls) FROM edges"), query("SELECT count(*) FROM calls"))
        errors = sum(m.keys.get("status", "0") >= "400" for m in text if m.keys.get("proto") == "http")
        self.assertEqual(query("SELECT sum(errors) FROM edges WHERE proto = 'http'"), [(errors,)])
        self.assertEqual(query("SELECT value FROM counters WHERE name = 'calls'"),
                         [(sum(m.kind == "CALL" for m in text),)])
        cat = run(BBTRACE, "cat", self.shop)[0].decode()
        facts = [line.split(" ")[2:] for line in cat.splitlines() if line.startswith("# network ")]
        packets = [(a, b, int(dict(key.split("=") for key in keys)["packets"])) for a, b, *keys in facts]
        self.assertEqual(query("SELECT c.name, s.name, packets FROM network n JOIN nodes c ON c.node = n.client "
                               "JOIN nodes s ON s.node = n.server ORDER BY n.rowid"), packets)

    def test_the_same_bytes_again(self):
        for form in FORMS:
            a, b = self.path("a." + form), self.path("b." + form)
            for out in (a, b):
                run(BBTRACE, "export", "-t", form, "-o", out, self.truth)
            with open(a, "rb") as one, open(b, "rb") as two:
                self.assertEqual(one.read(), two.read(), form)

    def test_several_traces_are_one_in_order(self):
        early, late = self.path("early", TEXT), self.path("late", TEXT.replace(b"\n10.", b"\n11."))
        times = [json.loads(line)["time_ns"] for line in
                 run(BBTRACE, "export", "-t", "jsonl", late, early)[0].splitlines()]
        self.assertEqual(times, sorted(times))
        self.assertEqual(len(times), 4)

    def test_the_ending_tells_the_form(self):
        trace, out = self.path("t.txt", TEXT), self.path("o.CSV")
        run(BBTRACE, "export", "-o", out, trace)
        with open(out, "rb") as file:
            self.assertEqual(file.read(), run(BBTRACE, "export", "-t", "csv", trace)[0])
        run(BBTRACE, "export", "-o", out, "-t", "text", trace)
        with open(out, "rb") as file:
            self.assertEqual(file.read(), run(BBTRACE, "cat", trace)[0])
        for words, wanted in ((("-o", self.path("o.xls")), "o.xls' names no format: give --to (text, jsonl, csv, sqlite)"),
                              (("-o", "-"), "--to takes: text, jsonl, csv, sqlite"), ((), "--to takes: text")):
            self.assertIn(wanted, run(BBTRACE, "export", *words, trace, status=2)[1])

    def test_csv_says_what_it_cannot_hold(self):
        self.assertRegex(run(BBTRACE, "export", "-t", "csv", self.shop)[1],
                         r"csv has no place for the \d+ counters of the trace and the facts on the network of \d+ edges\n")
        facts = self.path("facts", TEXT + b"# network a b packets=1\n")
        self.assertRegex(run(BBTRACE, "export", "-t", "csv", facts)[1],
                         r"csv has no place for the facts on the network of 1 edge\n$")
        for form in FORMS[:2]:
            self.assertEqual(run(BBTRACE, "export", "-t", form, facts)[1], "")
        self.assertEqual(run(BBTRACE, "export", "-t", "csv", self.path("t", TEXT))[1], "")

    def test_files_are_not_lost(self):
        trace, foreign = self.path("t.txt", TEXT), self.path("foreign", b"mine" * 100)
        for form in FORMS:
            run(BBTRACE, "export", "-t", form, "-o", trace, trace, status=2)
        _, err = run(BBTRACE, "export", "-t", "sqlite", "-o", foreign, trace, status=1)
        self.assertIn("is there, and is no database", err)
        with open(trace, "rb") as file, open(foreign, "rb") as other:
            self.assertEqual((file.read(), other.read()), (TEXT, b"mine" * 100))

    def test_nothing_is_replaced_where_nothing_can_be_read(self):
        for command in COPIES:
            out = self.path("there.bbt", b"mine")
            self.assertIn("/nowhere/t", run(BBTRACE, *command, "-w", out, "/nowhere/t", status=1)[1])
            with open(out, "rb") as file:
                self.assertEqual(file.read(), b"mine", command)
            run(BBTRACE, *command, "-q", "-w", out, self.path("none", TEXT[:17]))  # no message is no failure
            left = run(BBTRACE, "cat", out)[0].replace(NONE_DROPPED, b"").replace(b"# note " + ANONYMIZED + b"\n", b"")
            self.assertEqual(left, TEXT[:17])

    def test_what_is_told_besides_messages_goes_along(self):
        facts = b"# network a b connections=2 packets=9\n# counter lost 3\n"
        trace = self.path("facts", TEXT + facts)
        for command in COPIES + (["export", "--to", "text"], ["cat"]):
            out = run(BBTRACE, *command, trace)[0]
            if command[0] == "anonymize":
                caller, callee = messages(out)[0][2:4]
                out = out.replace(caller.encode(), b"a").replace(callee.encode(), b"b")
            self.assertTrue(out.replace(NONE_DROPPED, b"").endswith(facts), (command, out))

    def test_an_empty_input(self):
        nothing, out = self.path("nothing", b""), self.path("e.bbt")
        for form in ("text", "jsonl", "csv", "jaeger", "zipkin", "otlp", "chrome", "zeek", "events", "received"):
            for name, said in ((nothing, nothing), ("-", "standard input")):
                _, err = run(BBTRACE, "import", "--from", form, "-w", out, name, data=b"", status=1)
                self.assertIn(f"error: {said}: there is nothing in it", err)
                self.assertFalse(os.path.exists(out))
        for words in (["filter", "-w", out], ["cat"]):
            run(BBTRACE, *words, nothing)  # as a .bbt of which nothing was written
        trace = self.path("t.txt", TEXT)
        for form in ("csv", "jsonl", "text"):
            run(BBTRACE, "export", "-t", form, "-o", self.path("o"), trace)
            self.assertEqual(run(BBTRACE, "import", "--from", form, "-w", out, self.path("o"))[1],
                             "bbtrace: 2 messages\n")

    def test_byte_order_marks(self):
        """Some editors write one in front of a text."""
        mark, trace, out = b"\xef\xbb\xbf", self.path("t.txt", TEXT), self.path("o.bbt")
        wanted = run(BBTRACE, "cat", trace)[0]
        self.assertEqual(run(BBTRACE, "cat", self.path("m.txt", mark + TEXT))[0], wanted)
        for form in ("text", "jsonl", "csv"):
            marked = self.path("m", mark + run(BBTRACE, "export", "-t", form, trace)[0])
            run(BBTRACE, "import", "--from", form, "-w", out, marked)
            self.assertEqual(lines(run(BBTRACE, "cat", out)[0]), lines(wanted), form)
        rules = self.path("rules", mark + b"server: b\n")
        run(BBTRACE, "merge", "-q", "--alias", rules, "-w", out, trace)
        self.assertIn(b" CALL_SENT a server ", run(BBTRACE, "cat", out)[0])
        run(BBTRACE, "import", "--from", "zeek", "-w", out, self.path("conn.log", mark +
            b'{"ts": 1.5, "uid": "C1", "id.orig_h": "10.0.0.1", "id.orig_p": 5, "id.resp_h": "10.0.0.2", "id.resp_p": 80, '
            b'"proto": "tcp", "duration": 0.5, "orig_bytes": 10, "resp_bytes": 10, "conn_state": "SF"}\n'))
        self.assertTrue(lines(run(BBTRACE, "cat", out)[0]))

    def test_names_that_fit_nothing(self):
        """A misspelt rule, or the names of another place."""
        trace, out = self.path("t.txt", TEXT), self.path("o.bbt")
        rules = self.path("rules", b"server: b bb-* 10.0.0.0/8\n")
        names = self.path("hosts", b"10.9.9.9 elsewhere\n10.9.9.8 further\n")
        told = run(BBTRACE, "merge", "--alias", rules, "--names", names, "-w", out, trace)[1]
        self.assertIn("bbtrace: --alias: nothing was called bb-* 10.0.0.0/8\n", told)
        self.assertIn("warning: --names: no node has any of its 2 names", told)
        told = run(BBTRACE, "capture", "-r", SHOP, "--names", names, "-w", out)[1]
        self.assertIn("warning: --names: no node has any of its 2 names", told)
        self.assertNotIn("--names", run(BBTRACE, "capture", "-r", SHOP, "--names", HOSTS, "-w", out)[1])

    def test_failures_are_told(self):
        trace = self.path("t.txt", TEXT)
        for form in FORMS:
            self.assertIn("/nowhere/x", run(BBTRACE, "export", "-t", form, "-o", "/nowhere/x", trace, status=1)[1])
            self.assertIn("/nowhere/t", run(BBTRACE, "export", "-t", form, "-o", self.path("o" + form), "/nowhere/t",
                                            status=1)[1])
        for form in ("text", "jsonl", "csv"):
            self.assertIn("space", run(BBTRACE, "export", "-t", form, "-o", "/dev/full", trace, status=1)[1])

    def test_a_signal_leaves_what_was_there(self):
        for number, words in enumerate((*(["export", "-t", form, "-o"] for form in FORMS),
                                        *([*copy, "-w"] for copy in COPIES), ["import", "--from", "text", "-w"])):
            out = self.path(f"o{number}")
            run(BBTRACE, *words, out, self.path("t.txt", TEXT))
            with open(out, "rb") as file:
                before = file.read()
            with subprocess.Popen([BBTRACE, *words, out, "-"], stdin=subprocess.PIPE, stderr=subprocess.PIPE) as job:
                job.stdin.write(b"# bbtrace text 1\n")
                stop = threading.Timer(1, job.send_signal, [signal.SIGINT])
                stop.start()
                try:
                    for i in range(1 << 62):
                        job.stdin.write(b"%d.%06d MSG_SENT a b -\n" % (10 + i // 10**6, i % 10**6))
                except BrokenPipeError:
                    pass
                with contextlib.suppress(BrokenPipeError):
                    job.stdin.close()
                job.stdin = None
                said = job.communicate()[1].decode()
                self.assertEqual(job.returncode, 1, said)
            self.assertIn("stopped by a signal: the output is not complete; run it again", said)
            with open(out, "rb") as file:
                self.assertEqual(file.read(), before)
            self.assertFalse(glob.glob(glob.escape(out) + ".*"))

    def test_a_signal_leaves_what_was_there_before_a_scenario(self):
        out = self.path("there", TEXT)
        with subprocess.Popen([BBTRACE, "generate", "-q", "webshop", "-G", "1000h", "-w", out],
                              stderr=subprocess.PIPE) as job:
            time.sleep(0.5)
            job.send_signal(signal.SIGTERM)
            said = job.communicate()[1].decode()
        self.assertEqual(job.returncode, 1, said)
        self.assertIn("stopped by a signal", said)
        self.assertFalse(glob.glob(glob.escape(out) + ".*"))
        with open(out, "rb") as file:
            self.assertEqual(file.read(), TEXT)

    def test_what_stands_for_standard_output_is_written_to(self):
        trace, out = self.path("t.txt", TEXT), self.path("o")
        run(BBTRACE, "filter", "-w", out, trace)
        with open(out, "rb") as file:
            whole = file.read()
        for out in ("-", "/dev/stdout"):
            self.assertEqual(run(BBTRACE, "filter", "-w", out, trace)[0], whole)

    def test_what_is_readable_of_several_is_written(self):
        trace, bad = self.path("t.txt", TEXT), self.path("bad", b"no trace")
        out, err = run(BBTRACE, "export", "-t", "jsonl", bad, trace, status=1)
        self.assertEqual(len(out.splitlines()), 2)
        self.assertIn(bad, err)


CHROME = {"traceEvents": [
    {"ph": "M", "pid": 1, "name": "process_name", "args": {"name": "web"}},
    {"ph": "M", "pid": 2, "name": "process_name", "args": {"name": "db"}},
    {"ph": "X", "pid": 1, "tid": 1, "ts": 1000, "dur": 100, "name": "GET /"},
    {"ph": "s", "pid": 1, "tid": 1, "ts": 1010, "id": "0x7", "cat": "rpc"},
    {"ph": "f", "bp": "e", "pid": 2, "tid": 5, "ts": 1020, "id": "0x7", "cat": "rpc"},
    {"ph": "X", "pid": 2, "tid": 5, "ts": 1015.5, "dur": 50, "name": "query"},
]}
ZEEK_FIELDS = ("#separator \\x09\n#unset_field\t-\n#path\t{}\n#fields\tts\tuid\tid.orig_h\tid.orig_p\t"
               "id.resp_h\tid.resp_p\t{}\n")
ZEEK_CONN = ZEEK_FIELDS.format("conn", "proto\tservice\tduration\torig_bytes\tresp_bytes\tconn_state") + """\
10.000000\tCa1\t10.0.0.1\t1000\t10.0.0.2\t80\ttcp\thttp\t1.5\t100\t2000\tSF
11.000000\tCb2\t10.0.0.1\t1001\t10.0.0.3\t53\tudp\tdns\t0.25\t30\t60\tSF
12.000000\tCc3\t10.0.0.1\t1002\t10.0.0.2\t81\ttcp\t-\t-\t-\t-\tS0
"""
ZEEK_HTTP = ZEEK_FIELDS.format("http", "method\turi\tstatus_code") + """\
10.100000\tCa1\t10.0.0.1\t1000\t10.0.0.2\t80\tGET\t/cart/4711?x=1\t200
10.900000\tCa1\t10.0.0.1\t1000\t10.0.0.2\t80\tPOST\t/pay\t500
"""
EVENTS = """% what a client, a web server and a database said
event(1, client, t1, -, sig, call, 'GET /').
event(1, client, t1, -, sig, time, 10.0).
event(2, web, w1, 1, act, time, 10.001).
event(3, web, w1, -, sig, call, query).
event(3, web, w1, -, sig, time, 10.002).
event(4, db, d1, 3, act, time, 10.003).
event(5, db, d1, -, sig, return, ok).
event(5, db, d1, -, sig, time, 10.004).
event(6, web, w1, 5, act, time, 10.005).
event(7, web, w1, -, sig, return, 200).
event(7, web, w1, -, sig, time, 10.006).
event(8, client, t1, 7, act, time, 10.007).
"""
ZIPKIN_PARTS = [
    {"traceId": "7", "id": "1", "kind": "CLIENT", "timestamp": 10, "localEndpoint": {"serviceName": "web"}},
    {"traceId": "7", "id": "1", "kind": "SERVER", "shared": True, "timestamp": 11,
     "localEndpoint": {"serviceName": "app"}},
    {"traceId": "7", "id": "1", "timestamp": 11, "duration": 5, "localEndpoint": {"serviceName": "app"}},
    {"traceId": "7", "id": "1", "kind": "CLIENT", "duration": 9, "timestamp": 10, "name": "get",
     "localEndpoint": {"serviceName": "web"}},
]


class Imports(Case):
    """Small inputs of each foreign form, with all that comes of them."""

    def imported(self, form, *texts):
        """The trace as text, after a round trip through JSON Lines, and what was said."""
        inputs = [self.path(f"foreign{i}", text.encode()) for i, text in enumerate(texts)]
        out, again = self.path("foreign.bbt"), self.path("again.bbt")
        _, err = run(BBTRACE, "import", "--from", form, "-w", out, *inputs)
        text = run(BBTRACE, "cat", out)[0]
        rows = run(BBTRACE, "export", "--to", "jsonl", out)[0]
        run(BBTRACE, "import", "--from", "jsonl", "-w", again, "-", data=rows)
        self.assertEqual(run(BBTRACE, "cat", again)[0], text)
        self.assertEqual(run(BBTRACE, "import", "-q", "--from", form, "-w", again, *inputs), (b"", ""))
        self.assertEqual(run(BBTRACE, "cat", again)[0], text)
        return [line.decode() for line in lines(text)], err

    def test_chrome(self):
        found, err = self.imported("chrome", json.dumps(CHROME))
        self.assertEqual(found, [
            "0.001010 CALL_SENT web db 1 recv=0.001020 op=query path=1 parent=-",
            "0.001065500 RET_SENT db web 1 recv=0.001100 op=query path=1 parent=-"])
        self.assertIn("(chrome_waited)", err)
        events = "[\n" + ",\n".join(json.dumps(event) for event in CHROME["traceEvents"]) + ",\n"
        self.assertEqual(self.imported("chrome", events)[0], found)

    def test_zeek(self):
        found, err = self.imported("zeek", ZEEK_CONN, ZEEK_HTTP)
        there, back = "10.0.0.1 10.0.0.2", "10.0.0.2 10.0.0.1"
        self.assertEqual(found, [
            f"10.100000 CALL_SENT {there} Ca1.1 op=GET%20/cart/* conn=Ca1 proto=http",
            f"10.900000 RET_SENT {back} Ca1.1 op=GET%20/cart/* status=200 conn=Ca1 proto=http",
            f"10.900000 CALL_SENT {there} Ca1.2 op=POST%20/pay conn=Ca1 proto=http",
            "11.000000 CALL_SENT 10.0.0.1 10.0.0.3 Cb2 op=dns bytes=30 conn=Cb2 proto=udp",
            "11.250000 RET_SENT 10.0.0.3 10.0.0.1 Cb2 op=dns status=ok bytes=60 conn=Cb2 proto=udp",
            f"11.500000 RET_SENT {back} Ca1.2 op=POST%20/pay status=500 conn=Ca1 proto=http",
            f"12.000000 CALL_SENT {there} Cc3 op=tcp/81 conn=Cc3 proto=tcp"])
        for name in ("zeek_conn_http", "zeek_bounded", "zeek_no_answer"):
            self.assertIn(f"({name})", err)
        rows = [dict(zip(log.splitlines()[3].split("\t")[1:], row.split("\t")))
                for log in (ZEEK_HTTP, ZEEK_CONN) for row in log.splitlines()[4:]]
        text = "".join(json.dumps({k: v for k, v in row.items() if v != "-"}) + "\n" for row in rows)
        self.assertEqual(self.imported("zeek", text)[0], found)

    def test_events(self):
        found, err = self.imported("events", EVENTS)
        self.assertEqual(found, [
            "10.000000 CALL_SENT client web 1 recv=10.001000 op=GET%20/ path=1 parent=-",
            "10.002000 CALL_SENT web db 3 recv=10.003000 op=query path=1 parent=1",
            "10.004000 RET_SENT db web 3 recv=10.005000 op=query status=ok path=1 parent=1",
            "10.006000 RET_SENT web client 1 recv=10.007000 op=GET%20/ status=200 path=1 parent=-"])
        self.assertRegex(err, r"4  pairs of events .*\(events_joined\)")

    def test_zipkin_in_parts(self):
        found, err = self.imported("zipkin", json.dumps(ZIPKIN_PARTS))
        ids = "0000000000000001"
        keys = "path=0000000000000007 parent=-"
        self.assertEqual(found, [f"0.000010 CALL_SENT web app {ids} recv=0.000011 op=get {keys}",
                                 f"0.000016 RET_SENT app web {ids} recv=0.000019 op=get {keys}"])
        self.assertRegex(err, r" 2  spans .*\(spans_parts\)")

    def test_keys_of_others_are_kept_from_text_to_text(self):
        line = b"1.000000 CALL_SENT a b 1 op=x foo=b%20r z=1"
        trace, out = self.path("keys.txt", b"# bbtrace text 1\n" + line + b"\n"), self.path("keys.bbt")
        for command in (["cat"], ["export", "--to", "text"], ["filter", "-q", "--node", "a"]):
            self.assertEqual(lines(run(BBTRACE, *command, trace)[0]), [line])
        rows = run(BBTRACE, "export", "--to", "jsonl", trace)[0]
        self.assertEqual(json.loads(rows)["extra"], "foo=b%20r z=1")
        run(BBTRACE, "import", "--from", "text", "-w", out, trace)
        self.assertEqual(lines(run(BBTRACE, "cat", out)[0]), [b"1.000000 CALL_SENT a b 1 op=x"])


class Filter(Case):
    def keep(self, trace, *options):
        return lines(run(BBTRACE, "filter", "-q", *options, trace)[0])

    def expect(self, trace, test, *options):
        """test(call, return): which calls are wanted; a half alone comes with None for the other."""
        found = messages(run(BBTRACE, "cat", trace)[0])
        other = calls(found)
        wanted = []
        for i, message in enumerate(found):
            half = found[other[i]] if i in other else None
            call, back = (half, message) if message.kind == "RET" else (message, half)
            wanted.append(bool(test(call, back)))
        with self.subTest(options=options):
            self.assertTrue(any(wanted))
            self.assertFalse(all(wanted))
            self.assertEqual(self.keep(trace, *options), [m.line for m, w in zip(found, wanted) if w])
            self.assertEqual(self.keep(trace, "--invert", *options),
                             [m.line for m, w in zip(found, wanted) if not w])

    def test_conditions(self):
        trace = self.shop
        some = messages(run(BBTRACE, "cat", trace)[0])
        middle = (some[0].time + some[-1].time) // 2
        stamp = f"{middle // 10**9}.{middle % 10**9:09d}"
        self.expect(trace, lambda c, r: (c or r).time < middle, "--to", stamp)
        self.expect(trace, lambda c, r: (c or r).time >= middle, "--from", stamp)
        self.expect(trace, lambda c, r: c and c.receiver == "postgres", "--edge", "*->postgres")
        self.expect(trace, lambda c, r: c and "app1" in (c.sender, c.receiver), "--node", "app1")
        self.expect(trace, lambda c, r: c and c.keys["proto"] in ("redis", "http"), "-p", "redis", "-p", "ht*")
        self.expect(trace, lambda c, r: c and c.keys["op"].startswith("SELECT"), "--op", "SELECT*")
        self.expect(trace, lambda c, r: c and r and r.time - c.time > 2000000, "--slower-than", "2ms")
        self.expect(trace, lambda c, r: c and r and r.time - c.time < 2000000, "--faster-than", "2ms")
        self.expect(trace, lambda c, r: r and r.keys.get("status") == "200", "--status", "200")
        self.expect(trace, lambda c, r: c and r and c.receiver == "lb" and r.time - c.time > 2000000,
                    "--edge", "client->lb", "--slower-than", "2ms")

    def test_samples_add_up_to_connections(self):
        found = messages(run(BBTRACE, "cat", self.shop)[0])
        kept = set(self.keep(self.shop, "--sample", "1/4"))
        by_connection = collections.defaultdict(set)
        for message in found:
            by_connection[message.keys["conn"]].add(message.line in kept)
        self.assertTrue(all(len(lots) == 1 for lots in by_connection.values()))
        share = sum(True in lots for lots in by_connection.values()) / len(by_connection)
        self.assertTrue(0.15 < share < 0.35, share)

    def test_counters_stay(self):
        def counters(text):
            return [line for line in text.splitlines() if line.startswith(b"# counter")]
        self.assertEqual(counters(run(BBTRACE, "filter", "-q", "--node", "lb", self.shop)[0]),
                         counters(run(BBTRACE, "cat", self.shop)[0]))

    def test_bbt_and_text_are_the_same(self):
        out = self.path("kept.bbt")
        _, err = run(BBTRACE, "filter", "--errors", "-w", out, self.path("t.txt", TEXT))
        self.assertIn("2 of 2 messages kept", err)
        self.assertEqual(run(BBTRACE, "cat", out)[0], TEXT)


class Anonymize(Case):
    def test_structure_stays_and_names_go(self):
        before = messages(run(BBTRACE, "cat", self.shop)[0])
        text = run(BBTRACE, "anonymize", "-q", "--seed", "5", self.shop)[0]
        after = messages(text)
        names = {m.sender for m in before} | {m.receiver for m in before}
        self.assertEqual(len(before), len(after))
        renamed = collections.defaultdict(set)
        for old, new in zip(before, after):
            self.assertEqual((old.kind, old.time), (new.kind, new.time))
            for what, x, y in (("node", old.sender, new.sender), ("node", old.receiver, new.receiver),
                               ("id", old.id, new.id), ("op", old.keys.get("op"), new.keys.get("op")),
                               ("conn", old.keys["conn"], new.keys["conn"])):
                renamed[what, x].add(y)
            for key in ("bytes", "status", "proto", "off", "end"):
                self.assertEqual(old.keys.get(key), new.keys.get(key))
        self.assertTrue(all(len(y) == 1 for y in renamed.values()))
        self.assertEqual(len({(what, *y) for (what, _), y in renamed.items()}), len(renamed))
        for name in names | {"10.77", "SELECT", "GET"}:
            self.assertNotIn(name.encode() + b" ", text)
        mine = hmac.new(b"5", b"node\0postgres", hashlib.sha256).hexdigest()[:12]
        self.assertEqual(renamed["node", "postgres"], {"n" + mine})

    def test_keys(self):
        key, short = self.path("key", b"k" * 16), self.path("short", b"k" * 15)
        trace = self.path("t.txt", TEXT)
        one = run(BBTRACE, "anonymize", "--key", key, trace)[0]
        self.assertEqual(one, run(BBTRACE, "anonymize", "-k", key, trace)[0])
        self.assertNotEqual(run(BBTRACE, "anonymize", trace)[0], run(BBTRACE, "anonymize", trace)[0])
        self.assertIn("15 bytes", run(BBTRACE, "anonymize", "-k", short, trace, status=1)[1])
        self.assertIn("/nowhere/key", run(BBTRACE, "anonymize", "-k", "/nowhere/key", trace, status=1)[1])
        self.assertIn("can be guessed", run(BBTRACE, "anonymize", "-s", "1", trace)[1])

    def test_map_and_shift(self):
        names = self.path("map.csv")
        out = run(BBTRACE, "anonymize", "-q", "-s", "1", "--shift=-4s", "-m", names, self.path("t.txt", TEXT))[0]
        with open(names, encoding="utf-8", newline="") as file:
            rows = list(csv.DictReader(file))
        self.assertEqual([(row["kind"], row["name"]) for row in rows],
                         [("node", "a"), ("node", "b"), ("op", "GET /x")])
        first = messages(out)[0]
        self.assertEqual((first.sender, first.receiver, first.keys["op"]), tuple(row["pseudonym"] for row in rows))
        self.assertEqual(first.time, 6 * 10**9)
        self.assertEqual(os.stat(names).st_mode & 0o777, 0o600)


class Usage(Case):
    def test_wrong_usage_is_2_and_says_how_to_get_help(self):
        trace = self.path("t.txt", TEXT)
        for command in (["export"], ["export", trace], ["export", "--to", "xml", trace], ["export", "--to", "csv"],
                        ["export", "--to", "sqlite", trace], ["export", "--to", "sqlite", "-o", "-", trace],
                        ["filter"], ["filter", "--from", "noon", trace], ["filter", "--to", "noon", trace],
                        ["filter", "--from", "2", "--to", "1", trace], ["filter", "--edge", "a-b", trace],
                        ["filter", "--sample", "1/0", trace], ["filter", "--sample", "half", trace],
                        ["filter", "--slower-than", "2", trace], ["filter", "--faster-than", "0", trace],
                        ["filter", "-w", trace, trace],
                        ["anonymize"], ["anonymize", trace, trace], ["anonymize", "--seed", "x", trace],
                        ["anonymize", "--seed", "1", "--key", trace, trace], ["anonymize", "--shift", "1", trace],
                        ["anonymize", "-m", trace, trace], ["anonymize", "-m", "x", "-w", "x", trace],
                        ["anonymize", "-m", "-", trace],
                        ["import", "--from", "text", "--columns", "time=a", "-w", "x", trace],
                        ["import", "--from", "csv", "--columns", "when=a", "-w", "x", trace]):
            out, err = run(BBTRACE, *command, status=2)
            self.assertEqual(out, b"", command)
            self.assertIn("--help", err, command)

    def test_tables_of_others(self):
        table = self.path("calls.csv", b"ts;x,src,dst,what,rid\n1500,a,b,request,7\n1600,b,a,reply,7\n1,2\n")
        out = self.path("calls.bbt")
        options = ["--from", "csv", "--columns", "time=ts;x:ms,from=src,to=dst,kind=what,id=rid", "-w", out]
        self.assertRegex(run(BBTRACE, "import", *options, table, status=1)[1], r"calls\.csv:4: the record has not")
        self.assertIn("1 malformed line was skipped", run(BBTRACE, "import", "--skip-bad-lines", *options, table)[1])
        self.assertEqual(lines(run(BBTRACE, "cat", out)[0]), [b"1.500000 CALL_SENT a b 7", b"1.600000 RET_SENT b a 7"])

    def test_a_stray_quote_costs_its_line(self):
        table = self.path("quote.csv", b'time,from,to,op\n1,a,"b,x\n2,a,b,5" disk\n3,a,b,x\n4,a,b,"x"\n5,a,"b\n6,a,b,x\n')
        out = self.path("quote.bbt")
        self.assertIn("3 malformed lines were skipped",
                      run(BBTRACE, "import", "--from", "csv", "--skip-bad-lines", "-w", out, table)[1])
        self.assertEqual([line.split()[0] for line in lines(run(BBTRACE, "cat", out)[0])],
                         [b"3.000000", b"4.000000", b"6.000000"])

    def test_a_stray_quote_in_a_file_that_breaks_off(self):
        rows = [b"time,from,to"] + [b'%d,%sa,b' % (i, b'"' if i == 10 else b"") for i in range(20000)]
        packed = gzip.compress(b"\n".join(rows))
        table, out = self.path("cut.csv.gz", packed[: len(packed) * 3 // 4]), self.path("cut.bbt")
        told = run(BBTRACE, "import", "--from", "csv", "--skip-bad-lines", "-w", out, table)[1]
        self.assertIn("the gzip data breaks off", told)
        self.assertIn("1 malformed line was skipped", told)
        self.assertGreater(len(lines(run(BBTRACE, "cat", out)[0])), 10000)

    def test_many_columns(self):
        header = b"time,from,to" + b",x" * 250000 + b",id" * 150000  # the first id stands far behind
        table = self.path("wide.csv", header + b"\n1,a,b" + b"," * 400000 + b"\n")
        begin = time.monotonic()
        run(BBTRACE, "import", "--from", "csv", "-w", self.path("wide.bbt"), table)
        self.assertLess(time.monotonic() - begin, 3)


if __name__ == "__main__":
    unittest.main(argv=[sys.argv[0]])
