#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Traces of our own as spans of Jaeger, Zipkin and OTLP, and back: the same messages, the same score.

  spans.py BBTRACE BBPATHS SCENARIOS"""
import collections
import json
import os
import re
import subprocess
import sys
import tempfile
import unittest
from urllib.parse import unquote

BBTRACE, BBPATHS, SCENARIOS = sys.argv[1:4]
TRACE_ID = "5b8aa5a2d2c872e8321cf373%08x"
DELAY_US = 150  # of a message on its way, in the traces where both ends are seen

Call = collections.namedtuple("Call", "id parent path caller callee op status start end free")


def run(*command, status=0):
    done = subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, check=False, timeout=300)
    assert done.returncode == status, (command, done.returncode, done.stderr.decode())
    return done.stdout.decode(), done.stderr.decode()


def field(words, name):
    return next((word[len(name) + 1:] for word in words if word.startswith(name + "=")), None)


def read_text(text):
    """The lines as (microseconds, words), no two at one time: the tools that we write for know
    no nanoseconds."""
    rows, last = [], 0
    for line in text.splitlines()[1:]:
        words = line.split()
        seconds, _, fraction = words[0].partition(".")
        last = max(last + 1, int(seconds) * 1000000 + int((fraction + "000000000")[:6]))
        rows.append((last, words))
    return rows


def write_text(rows, recv_us=None):
    lines = ["# bbtrace text 1"]
    for time, words in rows:
        recv = [] if recv_us is None else [f"recv={stamp(time + recv_us)}"]
        lines.append(" ".join([stamp(time)] + words[1:] + recv))
    return "\n".join(lines) + "\n"


def stamp(time):
    return f"{time // 1000000}.{time % 1000000:06d}"


def read_calls(rows):
    calls = {}
    for time, words in rows:
        operation, sender, receiver, number = words[1:5]
        if operation == "RET_SENT":
            call = calls[number]
            calls[number] = call._replace(end=time, status=field(words, "status"))
        else:
            parent = field(words, "parent")
            calls[number] = Call(int(number), None if parent == "-" else int(parent), field(words, "path"), sender,
                                 receiver, unquote(field(words, "op") or ""), None, time, None, operation == "MSG_SENT")
    return list(calls.values())


# ---- the formats --------------------------------------------------------------------------------
# Each call as its ends: "both", "client" or "server". The client's span is below a span of work within
# the service (twice the id, highest bit set) below the server's span, so that parents are not simply
# there to be copied.


def client_id(number):
    return f"{number:016x}"


def server_id(number):
    return f"{number + (1 << 40):016x}"


def inside_id(number):
    return f"{number + (1 << 63):016x}"


def spans_of(call, ends, shared=False):
    """(role, id, parent, service, peer, start, end) of the spans of a call."""
    known = {"both": ("client", "server"), "client": ("client",), "server": ("server",)}[ends]
    above = None
    if call.parent is not None:
        above = client_id(call.parent) if shared or ends == "client" else server_id(call.parent)
    delay = DELAY_US if ends == "both" else 0
    end = call.end
    if "client" in known and call.parent is not None:
        yield "internal", inside_id(call.id), above, call.caller, None, call.start - 1, call.start
        above = inside_id(call.id)
    if "client" in known:
        yield "client", client_id(call.id), above, call.caller, call.callee, call.start, end and end + delay
        above = above if shared else client_id(call.id)
    if "server" in known:
        number = client_id(call.id) if shared else server_id(call.id)
        yield "server", number, above, call.callee, call.caller, call.start + delay, end


def role_of(role, call):
    return {"client": "producer", "server": "consumer"}.get(role, role) if call.free else role


def jaeger(calls, ends):
    traces = collections.defaultdict(list)
    for call in calls:
        traces[call.path].append(call)
    data = []
    for path, members in traces.items():
        processes, spans = {}, []
        for call in members:
            for role, number, above, service, peer, start, end in spans_of(call, ends):
                name = processes.setdefault(service, f"p{len(processes) + 1}")
                tags = [{"key": "span.kind", "type": "string", "value": role_of(role, call)}]
                if peer:
                    tags.append({"key": "peer.service", "type": "string", "value": peer})
                if call.status == "error":
                    tags.append({"key": "error", "type": "bool", "value": True})
                trace = TRACE_ID % int(path)
                references = [{"refType": "CHILD_OF", "traceID": trace, "spanID": above}] if above else []
                spans.append({"traceID": trace, "spanID": number, "operationName": call.op,
                              "references": references, "startTime": start, "duration": (end or start) - start,
                              "tags": tags, "logs": [], "processID": name, "warnings": None})
                if end is None:
                    del spans[-1]["duration"]
        data.append({"traceID": TRACE_ID % int(path), "spans": spans[::-1],
                     "processes": {name: {"serviceName": service, "tags": []} for service, name in processes.items()}})
    return json.dumps({"data": data, "total": 0, "errors": None}, indent=1)


def zipkin(calls, ends):
    spans = []
    for call in calls:
        for role, number, above, service, peer, start, end in spans_of(call, ends, shared=True):
            span = {"traceId": TRACE_ID % int(call.path), "id": number, "name": call.op,
                    "timestamp": start, "localEndpoint": {"serviceName": service}}
            if role != "internal":
                span["kind"] = role_of(role, call).upper()
            if role == "server" and ends == "both":
                span["shared"] = True
            if above:
                span["parentId"] = above
            if end is not None and end > start:
                span["duration"] = end - start
            if peer:
                span["remoteEndpoint"] = {"serviceName": peer, "ipv4": "192.0.2.1"}
            if call.status == "error":
                span["tags"] = {"error": ""}
            spans.append(span)
    return json.dumps([[span] for span in spans])


def otlp(calls, ends, batch=100):
    kinds = {"internal": 1, "server": 2, "client": 3, "producer": 4, "consumer": 5}
    lines = []
    for first in range(0, len(calls), batch):
        services = collections.defaultdict(list)
        for call in calls[first:first + batch]:
            for role, number, above, service, peer, start, end in spans_of(call, ends):
                attributes = [{"key": "peer.service", "value": {"stringValue": peer}}] if peer else []
                span = {"traceId": TRACE_ID % int(call.path), "spanId": number, "name": call.op,
                        "parentSpanId": above or "", "kind": kinds[role_of(role, call)],
                        "startTimeUnixNano": str(start * 1000), "attributes": attributes,
                        "status": {"code": 2} if call.status == "error" else {}}
                if end is not None:
                    span["endTimeUnixNano"] = end * 1000
                services[service].append(span)
        lines.append(json.dumps({"resourceSpans": [
            {"resource": {"attributes": [{"key": "service.name", "value": {"stringValue": service}}]},
             "scopeSpans": [{"scope": {}, "spans": spans}]} for service, spans in services.items()]}))
    return "\n".join(lines) + "\n"


FORMATS = {"jaeger": jaeger, "zipkin": zipkin, "otlp": otlp}


class Spans(unittest.TestCase):
    maxDiff = 2000

    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = folder.name

    def path(self, name, content=None):
        path = os.path.join(self.folder, name)
        if content is not None:
            with open(path, "w", encoding="utf-8") as file:
                file.write(content)
        return path

    def generate(self, scenario, messages):
        path = f"{SCENARIOS}/{scenario}.scn"
        return read_text(run(BBTRACE, "generate", "-q", "-c", str(messages), path)[0])

    def convert(self, form, content, *options, status=0):
        out = self.path("imported.bbt")
        _, err = run(BBTRACE, "import", "--from", form, self.path(f"in.{form}", content), "-w", out, *options,
                     status=status)
        return out, err

    def score(self, path, *options):
        return json.loads(run(BBPATHS, "score", "-q", "--format=json", *options, path)[0])

    def messages(self, path, base):
        """time, recv, operation, sender, receiver, id and parent of each message."""
        rows = []
        for line in run(BBTRACE, "cat", path)[0].splitlines():
            if line.startswith("#"):
                continue
            words = line.split()
            parent = field(words, "parent")
            rows.append((words[0], field(words, "recv"), *words[1:4], int(words[4], base),
                         "-" if parent == "-" else int(parent, base), unquote(field(words, "op") or "")))
        return rows

    def same(self, scenario, messages, *options):
        rows = self.generate(scenario, messages)
        calls = read_calls(rows)
        for ends in ("both", "client", "server"):
            recv = DELAY_US if ends == "both" else None
            original = self.path("original.txt", write_text(rows, recv))
            wanted = self.score(original, *options)
            self.assertGreater(wanted["calls"], messages / 3)
            for form, write in FORMATS.items():
                with self.subTest(scenario=scenario, form=form, ends=ends):
                    path, err = self.convert(form, write(calls, ends))
                    self.assertNotIn("spans_parent_unknown", err)
                    self.assertNotIn("spans_peer_unknown", err)
                    self.assertEqual(self.score(path, *options), wanted)

    def test_scores_of_imported_traces_are_those_of_the_originals(self):
        self.same("multitier", 2000)
        self.same("cycles", 1500)  # a node that calls itself
        self.same("retries", 1500, "--assign=paper")  # calls without return, and such that failed

    def test_each_message_is_that_of_the_original(self):
        rows = self.generate("retries", 1500)
        calls = read_calls(rows)
        ops = {call.id: call.op for call in calls}
        wanted = [(*row[:-1], ops[row[5]])
                  for row in self.messages(self.path("original.txt", write_text(rows, DELAY_US)), 10)]
        self.assertGreater(len(wanted), 1000)
        for form, write in FORMATS.items():
            with self.subTest(form=form):
                path, err = self.convert(form, write(calls, "both"))
                self.assertEqual(self.messages(path, 16), wanted)
                self.assertRegex(err, rf"{len(calls)}  pairs of spans .*\(spans_joined\)")

    def test_free_messages_too(self):
        rows = self.generate("pubsub", 1500)
        calls = read_calls(rows)
        original = self.messages(self.path("original.txt", write_text(rows, DELAY_US)), 10)
        for form, write in FORMATS.items():
            with self.subTest(form=form):
                path, _ = self.convert(form, write(calls, "both"))
                self.assertEqual(self.messages(path, 16), original)


    def counter(self, err, name):
        found = re.search(rf"([\d,]+)  [^\n]*\({name}\)", err)
        return int(found[1].replace(",", "")) if found else 0

    def test_a_trace_may_be_spread_over_files(self):
        calls = read_calls(self.generate("multitier", 400))
        wanted = self.messages(self.convert("zipkin", zipkin(calls, "both"))[0], 16)
        spans = [trace[0] for trace in json.loads(zipkin(calls, "both"))]
        halves = [self.path(f"{half}.json", json.dumps(spans[half::2])) for half in (0, 1)]
        out = self.path("halves.bbt")
        run(BBTRACE, "import", "--from", "zipkin", *halves, "-w", out)
        self.assertEqual(self.messages(out, 16), wanted)

    def test_another_form_is_refused_with_a_hint(self):
        calls = read_calls(self.generate("retries", 60))
        for form in FORMATS:
            for other, write in FORMATS.items():
                if other != form:
                    with self.subTest(form=form, given=other):
                        _, err = self.convert(form, write(calls, "both"), status=1)
                        self.assertRegex(err, rf"in\.{form}:\d+: .*{other}")

    def test_spans_of_which_no_message_comes_are_warned_of(self):
        traces = jaeger(read_calls(self.generate("multitier", 60)), "both")
        _, err = self.convert("jaeger", re.sub('"(client|server)"', '"internal"', traces), "-q")
        self.assertRegex(err, r"warning: no message came of [\d,]+ spans: ")
        for quiet in '{"data":[]}', traces:
            self.assertEqual(self.convert("jaeger", quiet, "-q")[1], "")

    def test_what_was_cut_off_is_said_and_the_rest_is_kept(self):
        calls = read_calls(self.generate("multitier", 400))
        for form, write in FORMATS.items():
            whole = write(calls, "both")
            with self.subTest(form=form):
                path, err = self.convert(form, whole[:len(whole) // 2])
                self.assertIn("ends in the value that begins in line", err)
                self.assertGreater(len(self.messages(path, 16)), 20)

    def test_bad_lines(self):
        lines = otlp(read_calls(self.generate("multitier", 400)), "both", 50).splitlines()
        good = self.messages(self.convert("otlp", "\n".join(lines))[0], 16)
        bad = [lines[0], lines[1].replace(":", ";", 1), *lines[1:3], "[" * 5000, "{]", *lines[3:]]
        _, err = self.convert("otlp", "\n".join(bad), status=1)
        self.assertRegex(err, r"in\.otlp:2: not JSON")
        path, err = self.convert("otlp", "\n".join(bad), "--skip-bad-lines")
        self.assertEqual(self.counter(err, "json_bad_values"), 3)
        self.assertEqual(self.messages(path, 16), good)


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1])
