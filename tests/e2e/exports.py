#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""What bbpaths writes for other tools, read back: spans and trace events give the same calls with the
same causes, slices lie side by side, folded stacks make the whole latency.

  exports.py BBTRACE BBPATHS SAMPLES"""
import collections
import json
import re
import subprocess
import sys
import unittest

from shop_trace import ShopTrace

BBTRACE, BBPATHS, SAMPLES = sys.argv[1:4]
SECOND = 10**9


def run(*command, status=0):
    done = subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, check=False, timeout=300)
    assert done.returncode == status, (command, done.returncode, done.stderr.decode())
    return done.stdout.decode(), done.stderr.decode()


def nanoseconds(text):
    seconds, _, fraction = text.partition(".")
    return int(seconds) * SECOND + int((fraction + "000000000")[:9])


def read_json(path):
    """Floats as the text they are."""
    with open(path, encoding="utf-8") as file:
        return [json.loads(line, parse_float=str) for line in file]


def read_instances(path):
    """Each call (from, to, call, return) with the one that caused it, as often as there is such a pair."""
    links = collections.Counter()
    for instance in read_json(path):
        calls = {call["id"]: (call["from"], call["to"], nanoseconds(call["call"]),
                              call["return"] and nanoseconds(call["return"])) for call in instance["calls"]}
        for call in instance["calls"]:
            links[calls[call["id"]], call["parent"] and calls[call["parent"]]] += 1
    return links


def read_trace(path, origin_ns=0):
    """The same of a trace with parent=. What is called again has an id of its own there."""
    calls, parents = {}, {}
    for line in run(BBTRACE, "cat", path)[0].splitlines():
        if line.startswith("#"):
            continue
        time, kind, sender, receiver, number, *fields = line.split()
        time = nanoseconds(time) + origin_ns
        if kind.startswith("RET"):
            calls[number] = calls[number][:3] + (time,)
            continue
        calls[number] = (sender, receiver, time, None)
        parents[number] = next(f[7:] for f in fields if f.startswith("parent="))
    return collections.Counter((call, calls.get(parents[number])) for number, call in calls.items())


class Exports(ShopTrace):
    bbtrace, samples = BBTRACE, SAMPLES

    def instances(self, trace, form, *options):
        path = self.path(form)
        run(BBPATHS, "-q", *options, "-o", self.path("p.json"), "--instances", path, "--instances-format", form, trace)
        return path

    def imported(self, form, path):
        trace = self.path(f"{form}.bbt")
        run(BBTRACE, "import", "-q", "--from", form, "-w", trace, path)
        return trace

    def answered(self, links):
        """Those of calls with a return: the other forms have an end for every call."""
        return collections.Counter({link: n for link, n in links.items() if link[0][3] is not None})

    def test_spans_are_the_same_calls(self):
        expected = read_instances(self.instances(self.shop, "jsonl"))
        spans = self.instances(self.shop, "otlp")
        found = read_trace(self.imported("otlp", spans))
        self.assertEqual(sum(found.values()), sum(expected.values()))
        self.assertFalse(self.answered(expected) - found)
        ids = [span["spanId"] + span["traceId"] for request in read_json(spans)
               for resource in request["resourceSpans"] for span in resource["scopeSpans"][0]["spans"]]
        self.assertEqual(len(ids), len(set(ids)))

    def test_labels_survive_as_spans(self):
        def labels(trace):
            return collections.Counter(" ".join(sorted(re.findall(r"(?:op|status|proto)=\S+", line)))
                                       for line in run(BBTRACE, "cat", trace)[0].splitlines() if "RET_" in line)
        given, found = labels(self.shop), labels(self.imported("otlp", self.instances(self.shop, "otlp")))
        # An error of no code stands for a call that has no return.
        self.assertFalse(given - found)

    def test_events_are_the_same_calls(self):
        expected = read_instances(self.instances(self.shop, "jsonl"))
        path = self.instances(self.shop, "chrome")
        with open(path, encoding="utf-8") as file:
            origin = json.load(file, parse_float=str)["otherData"]["origin_s"]
        found = read_trace(self.imported("chrome", path), nanoseconds(origin))
        self.assertEqual(sum(found.values()), sum(expected.values()))
        self.assertFalse(self.answered(expected) - found)

    def test_slices_of_a_thread_do_not_overlap(self):
        with open(self.instances(self.shop, "chrome"), encoding="utf-8") as file:
            events = json.load(file, parse_float=str)["traceEvents"]
        threads = collections.defaultdict(list)
        for event in events:
            if event["ph"] == "X":
                start = nanoseconds(event["ts"]) # thousandths of a ns; only order counts
                threads[event["pid"], event["tid"]].append((start, start + nanoseconds(event["dur"])))
        self.assertGreater(len(threads), 10)
        for slices in threads.values():
            slices.sort()
            for before, after in zip(slices, slices[1:]):
                self.assertLessEqual(before[1], after[0])

    def test_messages_are_the_same(self):
        trace = self.path("free.bbt")
        run(BBTRACE, "generate", "pipeline", "-G", "20s", "-w", trace)
        options = "--algo=convolution", "--quantum=1ms", "--max-delay=1s"
        expected = read_instances(self.instances(trace, "jsonl", *options))
        self.assertGreater(sum(1 for _, cause in expected if cause), 100)
        self.assertEqual(read_trace(self.imported("otlp", self.instances(trace, "otlp", *options))), expected)

    def test_stacks_make_the_latency(self):
        out, _ = run(BBPATHS, "-q", "-f", "folded", self.shop)
        stacks = [line.rpartition(" ") for line in out.splitlines()]
        self.assertEqual(len(stacks), len({stack for stack, _, _ in stacks}))
        patterns = json.loads(run(BBPATHS, "-q", "-f", "json", self.shop)[0], parse_float=nanoseconds)["patterns"]
        self.assertEqual(sum(int(ns) for _, _, ns in stacks), sum(p["total_latency_s"] for p in patterns))
        self.assertIn("client;lb GET /item/*;app2 GET /item/*;auth GET", [stack for stack, _, _ in stacks])

    def test_whose_error_it_is(self):
        """What a client did wrong is no error of the server's span (semantic conventions for HTTP and gRPC)."""
        lines, nth = ["# bbtrace text 1"], 0
        for proto, status in (("http", 200), ("http", 404), ("http", 503), ("http2", 404), ("grpc", 5), ("grpc", 13), ("grpc", 0)):
            nth += 1
            about = f"A B {nth} op=GET%20/x proto={proto}"
            lines += [f"{nth}.0 CALL_SENT {about} recv={nth}.1", f"{nth}.2 RET_SENT B A {nth} recv={nth}.3 status={status} proto={proto}"]
        trace = self.path("errors.txt")
        with open(trace, "w", encoding="utf-8") as file:
            file.write("\n".join(lines) + "\n")
        found = {}
        for request in read_json(self.instances(trace, "otlp")):
            for resource in request["resourceSpans"]:
                for span in resource["scopeSpans"][0]["spans"]:
                    about = {a["key"]: next(iter(a["value"].values())) for a in span["attributes"]}
                    failed = span.get("status", {}).get("code") == 2
                    self.assertEqual(failed, "error.type" in about, about)
                    code = about.get("http.response.status_code") or about.get("rpc.grpc.status_code")
                    found.setdefault((about.get("rpc.system", "http"), code), {})[span["kind"]] = failed
                    if "rpc.system" not in about:
                        self.assertEqual(about["http.request.method"], "GET")
        self.assertEqual(found, {("http", "200"): {2: False, 3: False}, ("http", "404"): {2: False, 3: True},
                                 ("http", "503"): {2: True, 3: True}, ("grpc", "5"): {2: False, 3: True},
                                 ("grpc", "13"): {2: True, 3: True}, ("grpc", "0"): {2: False, 3: False}})

    def test_same_bytes(self):
        for form in "otlp", "chrome":
            with open(self.instances(self.shop, form, "--threads=1"), "rb") as one:
                first = one.read()
            with open(self.instances(self.shop, form, "--threads=3"), "rb") as two:
                self.assertEqual(first, two.read())

    def test_selection(self):
        spans = self.instances(self.shop, "otlp", "--top=1")
        roots = [span for request in read_json(spans) for resource in request["resourceSpans"]
                 for span in resource["scopeSpans"][0]["spans"] if "parentSpanId" not in span]
        patterns = {a["value"]["intValue"] for span in roots for a in span["attributes"]
                    if a["key"] == "bbtrace.pattern"}
        self.assertEqual(patterns, {"1"})

    def test_all_into_nothing(self):
        run(BBPATHS, "-q", "-f", "json", "-o", "/dev/null", "--instances", "/dev/null", "--phases", "/dev/null", self.shop)

    def test_refusals(self):
        _, err = run(BBPATHS, "--instances-format=otlp", self.shop, status=2)
        self.assertIn("--instances-format needs --instances=FILE", err)
        _, err = run(BBPATHS, "--instances", self.path("x"), "--instances-format=xml", self.shop, status=2)
        self.assertIn("--instances-format takes: jsonl, otlp, chrome", err)


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1])
