#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""What both programs say where something cannot be as it was asked for: names that are nowhere, windows that
cut, times that were not meant, files of other kinds; and how sure patterns say they are where nobody can know.

  words.py BBTRACE BBPATHS"""
import gzip
import json
import os
import pathlib
import pty
import random
import re
import resource
import subprocess
import sys
import tempfile
import unittest

BBTRACE, BBPATHS = map(os.path.abspath, sys.argv[1:3])
START = 1795164688  # 2026-11-20 08:51:28 UTC


def requests(count, every=0.2, took=0.1, nodes=("c", "A", "B"), depth=1):
    """Requests one after the other: c -> A -> B, each with its ids and its truth."""
    lines = []
    for i in range(count):
        at, names = START + every * i, (*nodes[:2], *(f"{nodes[2]}{k}" if k else nodes[2] for k in range(depth)))
        for k in range(len(names) - 1):
            begin, end = at + 0.01 * took * k, at + took - 0.01 * took * k
            parent = f"r{i}.{k - 1}" if k else "-"
            lines.append((begin, f"CALL_SENT {names[k]} {names[k + 1]} r{i}.{k} op=x path={i} parent={parent}"))
            lines.append((end, f"RET_SENT {names[k + 1]} {names[k]} r{i}.{k} path={i}"))
    return lines


def burst(count):
    """All requests are open at once, and each makes one call at a time that says nothing."""
    chance, lines = random.Random(1), []
    for i in range(count):
        begin = START + chance.random()
        end, call = begin + 2 + chance.random(), begin + chance.random()
        lines += [(begin, f"CALL_SENT c A p{i} op=x path={i} parent=-"), (end, f"RET_SENT A c p{i} path={i}"),
                  (call, f"CALL_SENT A B q{i} op=y path={i} parent=p{i}"),
                  (call + 0.5 * chance.random(), f"RET_SENT B A q{i} path={i}")]
    return lines


class Words(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = pathlib.Path(folder.name)
        self.trace = self.write("shop.txt", requests(60))

    def write(self, name, lines):
        path = self.folder / name
        path.write_text("# bbtrace text 1\n" + "".join(f"{at:.6f} {line}\n" for at, line in sorted(lines)))
        return path

    def run_one(self, status, *words, **more):
        done = subprocess.run([str(word) for word in words], text=True, cwd=self.folder,
                              **{"stdout": subprocess.PIPE, "stderr": subprocess.PIPE, **more})
        self.assertEqual(done.returncode, status, (words, done.stderr))
        return done

    def says(self, status, wanted, *words):
        said = self.run_one(status, *words).stderr
        self.assertIn(wanted, said)
        return said

    def test_who_calls_itself_is_told_of_processes(self):
        lines = [(1, "CALL_SENT lo lo 1"), (2, "RET_SENT lo lo 1"), (3, "CALL_SENT lo lo 2"), (4, "CALL_SENT a b 3")]
        told = self.run_one(0, BBTRACE, "info", self.write("lo.txt", lines)).stdout
        self.assertIn("\n66.67 % of the calls go from a node to itself: to tell programs of one host apart, capture there "
                      "with --processes", told)
        self.assertNotIn("--processes", self.run_one(0, BBTRACE, "info", self.trace).stdout)

    def test_ends_without_name_are_no_nodes(self):
        lines = [(1, "CALL_SENT - - 1"), (2, "RET_SENT - - 1"), (3, "CALL_SENT a - 2"), (4, "RET_SENT - a 2")]
        told = self.run_one(0, BBTRACE, "info", self.write("none.txt", lines)).stdout
        self.assertRegex(told, r"\nnodes +1\n")
        self.assertRegex(told, r"\n\? -> \? +1 +1 ")
        self.assertRegex(told, r"\na -> \? +1 +1 ")
        self.assertNotIn("from a node to itself", told)

    def test_a_mistyped_command_is_no_trace(self):
        self.says(2, "there is no trace 'sho', and no command matches 'sho': near that is show", BBPATHS, "sho", self.trace)
        for word in ("sh*", "a,b", self.trace):
            self.says(2, "one trace at a time", BBPATHS, word, self.trace)

    def test_tables_keep_their_columns(self):
        trace = self.write("names", [(1, "CALL_SENT клиент 服务器 1"), (2, "RET_SENT 服务器 клиент 1"), (3, "CALL_SENT a b 2")])
        told = self.run_one(0, BBTRACE, "info", trace).stdout
        rows = [line for line in told.splitlines() if re.search(r" -> |^edge ", line)]
        wide = [sum(2 if "一" <= letter <= "龥" else 1 for letter in row) for row in rows]
        self.assertEqual(wide, [wide[0]] * 3, told)

    def test_patterns_that_lack_their_call_are_not_sure(self):
        trace = self.write("burst.txt", burst(1500))
        found = json.loads(self.run_one(0, BBPATHS, "-q", "-f", "json", trace).stdout)
        for pattern in found["patterns"]:
            if pattern["count"] >= 100:
                self.assertGreater(pattern["wrong_share"], 0.3, pattern)
        score = json.loads(self.run_one(0, BBPATHS, "score", "-q", "-f", "json", trace).stdout)["wrong_instances"]
        self.assertGreater(score["actual"], 0.99)
        self.assertGreater(score["stated"], 0.6)

    def test_nothing_to_choose_is_sure(self):
        found = json.loads(self.run_one(0, BBPATHS, "-q", "-f", "json", self.trace).stdout)
        self.assertEqual([pattern["count"] for pattern in found["patterns"]], [60])
        self.assertLess(found["patterns"][0]["wrong_share"], 0.01)

    def test_short_windows(self):
        said = self.says(0, "by which windows overlap", BBPATHS, "-q", "-f", "text", "--window", "60ms", self.trace)
        self.assertIn("100 % of the calls last longer than the 15.0 ms", said)
        none = self.run_one(0, BBPATHS, "-q", "-f", "text", "--window", "1ns", self.trace)
        self.assertIn("No patterns: no return was matched with its call", none.stdout)
        self.assertNotIn("warning", self.run_one(0, BBPATHS, "-q", "-f", "text", "--window", "5s", self.trace).stderr)

    def test_losses_are_not_cuts(self):
        text = self.write("lossy.txt", [])
        with open(self.trace, encoding="utf-8") as file:
            lines = [line for number, line in enumerate(file) if number < 5 or number % 7]
        with open(text, "w", encoding="utf-8") as file:
            file.writelines(lines)
        said = self.run_one(0, BBPATHS, "-q", "-f", "text", "--window", "5s", text).stderr
        self.assertIn("lack their other half: messages were lost, or calls last longer than the 1.25 s", said)

    def test_no_messages(self):
        empty = self.write("empty.txt", [])
        self.assertIn("No patterns: the trace has no messages",
                      self.run_one(0, BBPATHS, "-q", "-f", "text", empty).stdout)

    def test_tail_of_equals(self):
        text = self.run_one(0, BBPATHS, "tail", "-q", self.trace).stdout
        self.assertIn("no part of them takes longer", text)
        self.assertNotIn("own work", text)

    def test_commands_come_first(self):
        for words in (("--slower-than", "1s", "blame"), ("--algo", "nesting", "show", "p1"), ("-q", "tail")):
            command = next(word for word in words if word in ("blame", "show", "tail"))
            self.says(2, f"a command comes before its options: bbpaths {command} ...", BBPATHS, *words, self.trace)

    def test_own_exports(self):
        for form, wanted in (("csv", "import --from csv"), ("jsonl", "import --from jsonl"),
                             ("sqlite", "SQLite database")):
            self.run_one(0, BBTRACE, "export", "-t", form, "-o", f"x.{form}", self.trace)
            self.says(1, wanted, BBTRACE, "info", f"x.{form}")
            self.says(1, wanted, BBPATHS, f"x.{form}")
        self.run_one(0, BBTRACE, "import", "--from", "csv", "-w", "back.bbt", "x.csv")

    def test_filter_that_matches_nothing(self):
        for words, wanted in (
                (("--op", "X*"), "no operation matches 'X*': near that is x"), (("--op", "get"), "the only operation is x"),
                (("-p", "http"), "no protocol matches 'http': there are no protocols"),
                (("--status", "5*"), "no status matches '5*': there are no statuses"),
                (("-n", "A,B"), "a comma is part of a name: give the option once for each"),
                (("-e", "c->Z"), "no node matches 'Z'"), (("-e", "B->A"), "no node that matches 'B' calls one that matches 'A'"),
                (("--from", "2030-01-01"), "--from is after the trace, which goes from 2026-11-20 08:51:28.000 UTC to"),
                (("--to", "2020-01-01"), "--to is before the trace, which goes from")):
            self.assertIn("0 of 240 messages kept", self.says(0, wanted, BBTRACE, "filter", *words, self.trace))
        said = self.run_one(0, BBTRACE, "filter", "-e", " c -> A ", "--op", "x", self.trace).stderr
        self.assertEqual(said, "bbtrace: 120 of 240 messages kept\n")
        for words, wanted in ((("-e", "a->b->c"), "--edge takes"), (("--slower-than", "20ms", "--faster-than", "20ms"), "no call takes both")):
            self.says(2, wanted, BBTRACE, "filter", *words, self.trace)

    def test_values_that_are_too_large(self):
        most = ": at most 277777h\n"
        for words in (("filter", "--slower-than", "99999999h"), ("skew", "-n", "A=-500000h"), ("skew", "--random", "500000h"),
                      ("anonymize", "--shift", "-900000h"), ("generate", "-G", "300000h")):
            self.says(2, most, BBTRACE, *words, self.trace)
        for words in (("--slower-than", "1000000h"), ("--window", "1000000h"), ("--skew-window", "1000000h")):
            self.says(2, most, BBPATHS, *words, self.trace)
        self.run_one(0, BBPATHS, "-q", "-f", "text", "-n", "9" * 30, self.trace)
        self.run_one(0, BBTRACE, "filter", "--slower-than", "277777h", self.trace)
        self.assertNotIn("at most", self.says(2, "--slower-than", BBTRACE, "filter", "--slower-than", "fast", self.trace))

    def test_drop_options(self):
        for words, wanted in ((("--peak", "0"), "--peak takes messages a second, above 0"), ((), "Give --rate or --peak"),
                              (("-r", "5%", "--queue", "10"), "--queue is of use with --peak or --burst only")):
            self.says(2, wanted, BBTRACE, "drop", *words, self.trace)
        self.run_one(0, BBTRACE, "drop", "-r", "5%", "-b", "--queue", "10", self.trace)

    def test_names_that_begin_with_a_dash(self):
        (self.folder / "-t.txt").write_bytes(self.trace.read_bytes())
        for words in ((BBTRACE, "info"), (BBTRACE, "cat"), (BBTRACE, "filter"), (BBPATHS, "-q"), (BBPATHS, "blame", "-q")):
            self.run_one(0, *words, "--", "-t.txt")
        self.assertEqual(self.run_one(0, BBTRACE, "cat", "--", "-t.txt").stdout, self.run_one(0, BBTRACE, "cat", "./-t.txt").stdout)
        self.says(2, "one trace at a time", BBTRACE, "info", "--", "-t.txt", "-t.txt")
        self.says(1, "cannot open --:", BBTRACE, "info", "--", "--")

    def test_values_behind_their_letter(self):
        trace = self.write("-n2", requests(60))
        wanted = self.run_one(0, BBPATHS, "-q", "--format=json", "--top=1", self.trace).stdout
        for words in (["-fjson", "-n1"], ["-f", "json", "-n1"], ["-fjson", "-qn", "1"], ["-n1", "--format", "json"]):
            self.assertEqual(self.run_one(0, BBPATHS, "-q", *words, self.trace).stdout, wanted, words)
        self.run_one(0, BBPATHS, "-q", "-oout.json", "-n1", "--", trace.name)
        self.assertEqual((self.folder / "out.json").read_text(), wanted)
        self.run_one(0, BBPATHS, "-q", "-f", "json", "-o", "-n3", self.trace)  # the name of a file
        self.assertTrue((self.folder / "-n3").exists())
        self.says(2, "--top takes a number or 'all', not '1x'", BBPATHS, "-n1x", self.trace)
        self.says(2, "Unknown option -o=x.svg", BBPATHS, "-o=x.svg", self.trace)
        self.says(2, "Unknown option -z1", BBPATHS, "-z1", self.trace)

    def test_terminals_that_cannot_redraw(self):
        trace = self.write("long.txt", requests(5000))
        for kind in ("xterm", "dumb", "", None):
            ours, theirs = pty.openpty()
            around = {name: value for name, value in os.environ.items() if name != "TERM"}
            with os.fdopen(ours, "rb", buffering=0) as told:
                self.run_one(0, BBTRACE, "merge", "-w", "out.bbt", trace, stdout=subprocess.DEVNULL, stderr=theirs,
                             env=around if kind is None else {**around, "TERM": kind})
                os.close(theirs)
                self.assertEqual(b"\x1b" in told.read(65536), kind == "xterm", kind)

    def test_suggestions_can_be_copied(self):
        head = b"\xd4\xc3\xb2\xa1" + bytes(60)
        for name, word in (("plain.pcap", "plain.pcap"), ("a b.pcap", "'a b.pcap'"), ("-x.pcap", "./-x.pcap"), ("it's.pcap", "'it'\\''s.pcap'")):
            (self.folder / name).write_bytes(head)
            self.says(1, f"run `bbtrace capture -r {word} -w TRACE.bbt` first", BBTRACE, "info", "--", name)
        with open(self.folder / "plain.pcap", "rb") as file:
            self.assertIn("`bbtrace capture -r - -w", self.run_one(1, BBPATHS, "-", stdin=file).stderr)

    def test_names_of_files_do_not_move_the_cursor(self):
        for words in ((BBTRACE, "info"), (BBTRACE, "cat"), (BBPATHS,), (BBTRACE, "frob")):
            said = self.run_one(2 if "frob" in words else 1, *words, "no\x1b[31m\nfile\u202e").stderr
            self.assertNotRegex(said, "\x1b|\u202e")
        name = "no\x1b[31m.pcap"
        (self.folder / name).write_bytes(b"\xd4\xc3\xb2\xa1\2\0\4\0" + bytes(8) + b"\0\0\4\0\1\0\0\0")
        self.assertIn("no%1B[31m.pcap: the mirror is", self.run_one(0, BBTRACE, "doctor", "-r", name).stdout)

    def test_files_of_another_kind(self):
        (self.folder / "x.pcap").write_bytes(b"\xd4\xc3\xb2\xa1" + bytes(60))
        (self.folder / "x.mbox").write_text("From a@b Thu Nov 26 14:57:38 2026\n\nx\n")
        self.run_one(0, BBTRACE, "generate", "-q", "multitier", "-G", "1s", "-w", "x.bbt")
        for form in ("csv", "jsonl", "jaeger", "zipkin", "otlp", "chrome", "zeek", "events", "received"):
            said = self.says(1, "it is a packet capture (pcap): run `bbtrace capture -r x.pcap", BBTRACE, "import", "--from", form, "-w",
                             "o.bbt", "x.pcap")
            self.assertNotIn("0 messages", said)
            self.says(1, "it is a trace (.bbt)", BBTRACE, "import", "--from", form, "-w", "o.bbt", "x.bbt")
            self.assertFalse((self.folder / "o.bbt").exists())
        self.says(1, "it is a trace (.bbt)", BBTRACE, "generate", "x.bbt")
        self.says(1, "it is mail: `bbtrace import --from received -w TRACE.bbt x.mbox`", BBPATHS, "x.mbox")

    def test_standard_input_twice(self):
        for words in (("cat",), ("filter",), ("export", "--to", "csv"), ("import", "--from", "text", "-w", "o.bbt")):
            self.says(2, "standard input (-) can be read once only", BBTRACE, *words, "-", self.trace, "-")
        self.says(2, "can be read once only", BBTRACE, "capture", "-r", "-", "-r", "-")

    def test_milliseconds_for_seconds(self):
        (self.folder / "ms.csv").write_text("ts,src,dst\n1795164867140,a,b\n")
        self.says(1, "as --columns time=ts:ms", BBTRACE, "import", "--from", "csv", "--columns", "time=ts,from=src,to=dst", "-w", "o.bbt",
                  "ms.csv")

    def test_packed_text_that_breaks_off(self):
        """Wherever it does: the archive is named, and what is whole before is there."""
        for form in ("text", "csv", "jsonl"):
            self.run_one(0, BBTRACE, "export", "-t", form, "-o", "x", self.trace)
            whole = gzip.compress((self.folder / "x").read_bytes())
            for size in (len(whole) // 2, len(whole) - 9):
                (self.folder / "x.gz").write_bytes(whole[:size])
                said = self.says(0, f"x.gz: the gzip data breaks off at byte {size}", BBTRACE, "import", "--from", form, "-w", "o.bbt", "x.gz")
                self.assertNotIn("malformed", said)
                self.assertRegex(said, r"\n(bbtrace: \d\d+ messages)\n")

    def test_a_text_trace_that_breaks_off(self):
        text = self.trace.read_text()
        (self.folder / "cut.txt").write_text(text[:-3])
        for program in ((BBTRACE, "cat"), (BBTRACE, "info"), (BBPATHS, "-q", "-f", "text")):
            self.says(0, "warning: cut.txt: its last line has no line end", *program, "cut.txt")
        self.assertIn("of the messages were lost where the trace was damaged", self.run_one(0, BBTRACE, "info", "cut.txt").stdout)

    def test_merge_of_a_folder(self):
        self.says(1, "is a directory", BBTRACE, "merge", "-w", "m.bbt", self.folder)

    def test_times_as_they_are_printed(self):
        for begin in ("2026-11-20 08:51:34.385 UTC", "2026-11-20T08:51:34.385z", "2026-11-20T08:51:34.385"):
            kept = self.run_one(0, BBTRACE, "filter", "--from", begin, self.trace).stdout
            self.assertEqual(kept.count("CALL_SENT c A"), 28, begin)
        for begin in ("2026-11-20", "2026-11-20T08:51"):
            kept = self.run_one(0, BBTRACE, "filter", "--from", begin, self.trace)
            self.assertEqual(kept.stdout.count("CALL_SENT c A"), 60, begin)
            self.assertNotIn("warning", kept.stderr)
        self.says(0, "--from 2026 is that many seconds after 1970", BBTRACE, "filter", "--from", "2026", self.trace)
        self.says(0, "--from 2026 is that many seconds after 1970", BBPATHS, "-q", "-f", "text", "--from", "2026",
                  self.trace)

    def test_columns_that_are_not_there(self):
        self.run_one(0, BBTRACE, "export", "-t", "csv", "-o", "x.csv", self.trace)
        columns = "from=from,to=to"
        self.says(1, "no column `nosuch`, which is to be the field `time`", BBTRACE, "import", "--from", "csv",
                  "--columns", f"time=nosuch,{columns}", "-w", "o.bbt", "x.csv")
        self.says(1, "no column `time_ns:weeks`, which is to be the field `time` (units are s, ms, us, ns, iso)", BBTRACE,
                  "import", "--from", "csv", "--columns", f"time=time_ns:weeks,{columns}", "-w", "o.bbt", "x.csv")

    def test_roles_are_not_overwritten(self):
        roles = self.folder / "roles"
        roles.write_text("both A B\nnone nosuch other*\n")
        for words in (("-o", "roles", "-f", "text"), ("--instances", "roles", "-o", "o.json")):
            self.says(2, "has the roles and would be overwritten", BBPATHS, "--roles", "roles", *words, self.trace)
        self.assertTrue(roles.read_text().startswith("both"))
        self.says(0, "2 of its 4 nodes match none of the trace: nosuch, other*", BBPATHS, "-q", "-f", "text", "--roles",
                  "roles", self.trace)

    def test_a_close_before_its_call_ends_nothing(self):
        trace = self.write("early.txt", [(1, "MSG_SENT A B 3 status=closed"), (2, "CALL_SENT A B 3"), (3, "MSG_SENT A B 4 status=closed")])
        self.assertIn("100 % unmatched", self.run_one(0, BBPATHS, "-q", "-f", "text", trace).stdout)
        trace = self.write("late.txt", [(1, "CALL_SENT A B 3"), (2, "MSG_SENT A B 3 status=closed")])
        self.assertIn("0 % unmatched", self.run_one(0, BBPATHS, "-q", "-f", "text", trace).stdout)

    def test_a_role_with_the_name_of_a_node(self):
        roles = self.folder / "roles"
        roles.write_text("A B\n")
        self.says(0, "roles: role A has the name of a node that it does not list, and that is taken for one of it", BBPATHS, "-q",
                  "-f", "text", "--roles", "roles", self.trace)
        roles.write_text("A A B\n")
        self.assertNotIn("call the role otherwise",
                         self.run_one(0, BBPATHS, "-q", "-f", "text", "--roles", "roles", self.trace).stderr)

    def test_clocks_that_are_known_too_badly(self):
        """A merge left the counters: bbpaths says what to do, where it helps."""
        lines = pathlib.Path(self.trace).read_text().split("\n", 1)
        self.trace.write_text(lines[0] + "\n# counter merge_returns_moved 20\n# counter merge_clock_error_ns 12345678\n" + lines[1])
        said = self.says(0, "17 % of the calls had a return that preceded them, or their arrival, and clocks are known to within 12.3 ms: ", BBPATHS,
                         "-q", "-f", "text", self.trace)
        self.assertIn("bbpaths --skew-window=13ms allows for it", said)
        for words in (["--skew-window=13ms"], ["--assign=paper"], ["--algo=convolution"]):
            self.assertNotIn("skew", self.run_one(0, BBPATHS, "-q", "-f", "text", *words, self.trace).stderr)

    def test_a_limit_on_the_size_of_files(self):
        """It is a failure to write as any other, of both programs."""
        limit = lambda: resource.setrlimit(resource.RLIMIT_FSIZE, (1000, 1000))
        for words in ([BBPATHS, "-q", "-f", "json", "-o", "o.json"], [BBPATHS, "-q", "--instances", "i.json", "-f", "text"],
                      [BBTRACE, "export", "-t", "csv", "-o", "o.csv"], [BBTRACE, "export", "-t", "jsonl", "-o", "o.json"]):
            said = self.run_one(1, *words, self.trace, preexec_fn=limit).stderr
            self.assertRegex(said, r"cannot write.*: File too large: raise the limit on the size of files \(ulimit -f\)")
            self.assertEqual(said.count("\n"), 1, said)

    def test_standard_streams_have_names(self):
        said = self.run_one(1, BBPATHS, "score", "-", stdin=subprocess.DEVNULL).stderr
        self.assertIn("error: standard input: nothing to score: the trace has no messages", said)
        trace = self.write("long.txt", requests(3000))
        for words in ([BBTRACE, "cat"], [BBTRACE, "export", "-t", "csv"], [BBPATHS, "-q", "-f", "json"]):
            with subprocess.Popen(["sh", "-c", "trap '' PIPE; exec \"$@\"", "sh", *words, trace], stdout=subprocess.PIPE,
                                  stderr=subprocess.PIPE, text=True) as job:
                job.stdout.close()
                self.assertIn("Broken pipe: let its reader read to the end, or write to another place", job.stderr.read())

    def test_of_what_was_not_written_no_count_is_told(self):
        for words in (["filter"], ["merge"], ["import", "--from", "text"]):
            said = self.run_one(1, BBTRACE, *words, "-w", "none.bbt", "missing.bbt").stderr
            self.assertEqual(said, "bbtrace: error: cannot open missing.bbt: No such file or directory; check the name\n")
            self.assertFalse((self.folder / "none.bbt").exists())
        said = self.run_one(1, BBTRACE, "filter", "-w", "some.bbt", self.trace, "missing.bbt").stderr
        self.assertIn("240 of 240 messages kept", said)
        self.assertEqual(self.run_one(0, BBTRACE, "cat", "some.bbt").stdout.count("_SENT"), 240)

    def test_outputs_are_not_one_file(self):
        """However it is spelled, whether it is there yet or not."""
        (self.folder / "sub").mkdir()
        for name in "./x.json", "sub/../x.json", self.folder / "x.json":
            self.says(2, "-w and --map are one file", BBTRACE, "anonymize", "-w", "x.json", "-m", name, self.trace)
            self.says(2, "patterns and phases cannot both go to", BBPATHS, "-o", "x.json", "--phases", name, self.trace)
            self.says(2, "--stats would change", BBTRACE, "capture", "-r", "no.pcap", "-w", "x.json", "--stats", name)
            self.assertFalse((self.folder / "x.json").exists())
        self.says(0, "", BBPATHS, "-q", "-o", "x.json", "--phases", "sub/x.json", self.trace)
        self.says(2, "-w and --map are one file", BBTRACE, "anonymize", "-w", "x.json", "-m", "./x.json", self.trace)

    def test_nodes_that_are_not_there(self):
        self.says(0, "no node matches 'ngnix'", BBTRACE, "filter", "-n", "ngnix", self.trace)
        self.says(0, "no node matches 'nosuch'", BBTRACE, "drop", "-r", "5%", "-n", "nosuch", self.trace)
        for command in (["filter", "-n", "A"], ["drop", "-r", "5%", "-n", "A"]):
            self.assertNotIn("warning", self.run_one(0, BBTRACE, *command, self.trace).stderr)

    def test_a_key_log_that_is_none(self):
        tls = pathlib.Path(__file__).resolve().parents[2] / "data/samples/protocols"
        keys = self.folder / "keys"
        for text, odd in ((tls.joinpath("tls.keys").read_text(), 0), ("no\nkeys\n# at all\n", 2)):
            keys.write_text(text)
            said = self.run_one(0, BBTRACE, "capture", "-r", tls / "tls.pcap", "--keylog", keys, "-w", "t.bbt").stderr
            self.assertEqual(f" {odd}  lines of the key log that are no secrets" in said, odd > 0, said)

    def test_names_of_files(self):
        for words in ([BBTRACE, "filter", "-w", "/nonexist/x.bbt", self.trace],
                      [BBTRACE, "export", "-t", "csv", "-o", "/nonexist/x.csv", self.trace],
                      [BBPATHS, "-q", "-o", "/nonexist/x.svg", self.trace]):
            self.says(1, "make the folder, which is not there", *words)
        self.says(2, "--write takes the name of a file, not ''", BBTRACE, "filter", "-w", "", self.trace)
        self.says(2, "--output takes the name of a file, not ''", BBPATHS, "-o", "", self.trace)
        closed = self.run_one(1, "sh", "-c", f"'{BBTRACE}' export -t csv '{self.trace}' >&-").stderr
        self.assertIn("Bad file descriptor", closed)

    def test_numbers(self):
        self.says(2, "--threads takes a number from 1", BBPATHS, "--threads", "0", self.trace)
        self.run_one(0, BBPATHS, "-q", "-f", "text", "--threads", "1", self.trace)
        for words in (["-s", "-1"], ["-c", "0"], ["-G", "0"]):
            self.run_one(2, BBTRACE, "generate", *words, "pipeline")

    def test_long_names(self):
        trace = self.write("long.txt", requests(40, nodes=("c", "A" * 300, "B" * 300)))
        for words in ([BBPATHS, "blame", "-q"], [BBPATHS, "tail", "-q"], [BBTRACE, "info"]):
            text = self.run_one(0, *words, trace).stdout
            self.assertIn("AAA...AAA", text)
            self.assertNotIn("A" * 60, text)

    def test_pictures_that_are_too_large(self):
        lines = []
        for i in range(1050):  # each with an operation of its own
            lines += [(at, line.replace("op=x", f"op=x{i}")) for at, line in requests(1)]
        lines = [(at + 0.2 * (k // 4), line.replace("r0.", f"r{k // 4}.").replace("path=0", f"path={k // 4}"))
                 for k, (at, line) in enumerate(lines)]
        trace = self.write("many.txt", lines)
        said = self.says(0, "too large for png and drawn at", BBPATHS, "-q", "-n", "all", "-o", "o.png", trace)
        self.assertRegex(said, r"warning: Graphviz takes some \d+ s to lay out a picture of 3,\d+ nodes, in which little can")
        self.assertNotIn("cairo", said)
        self.assertEqual((self.folder / "o.png").read_bytes()[1:4], b"PNG")


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1], verbosity=1)
