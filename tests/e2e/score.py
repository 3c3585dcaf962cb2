#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""bbpaths score as a user calls it, on traces made here and, where they are, on recorded ones.

  score.py BBPATHS TRACES"""
import json
import os
import random
import subprocess
import sys
import tempfile
import unittest

BBPATHS, TRACES = sys.argv[1:3]

# Requests entirely right by the paper's choice, percent: what an independent implementation reached.
RECORDED = {"hotel_load50": 76.2, "hotel_load100": 50.8, "media_load125": 26.0, "nodejs_load50": 84.6}


def call(start, end, caller, callee, number, *truth):
    """The lines of a call and its return, times in seconds."""
    keys = " ".join(truth)
    lines = [(start, f"{start:.6f} CALL_SENT {caller} {callee} {number} {keys}")]
    return lines + ([(end, f"{end:.6f} RET_SENT {callee} {caller} {number} {keys}")] if end else [])


def trace(*calls):
    lines = sorted(line for lines in calls for line in lines)
    return "\n".join(["# bbtrace text 1"] + [text for _, text in lines]) + "\n"


def request(start, number):
    """a -> b -> (c, d), with its truth."""
    path = f"path=p{number}"
    return (call(start, start + 0.1, "a", "b", 3 * number, path, "parent=-"),
            call(start + 0.01, start + 0.02, "b", "c", 3 * number + 1, path, f"parent={3 * number}"),
            call(start + 0.03, start + 0.05, "b", "d", 3 * number + 2, path, f"parent={3 * number}"))


def page(draw, start, number, step, deviation):
    """x -> APP -> DB, with its truth, where the call of DB, its return, and the reply are a step later each; and when it ends."""
    asked = start + draw.gauss(step, deviation)
    back = asked + draw.gauss(step, deviation)
    end = back + draw.gauss(step, deviation)
    path = f"path={number}"
    return [call(start, end, "x", "APP", number, path, "parent=-"),
            call(asked, back, "APP", "DB", number + 1, path, f"parent={number}")], end


def own(start, length, callee, number):
    """A call that APP makes by itself."""
    return call(start, start + length, "APP", callee, number, f"path={number}", "parent=-")


SERIAL = trace(*[c for i in range(20) for c in request(100.0 + i, i)])


class Score(unittest.TestCase):
    def run_score(self, data, *options, status=0):
        with tempfile.TemporaryDirectory() as folder:
            path = os.path.join(folder, "t.txt")
            with open(path, "w", encoding="utf-8") as file:
                file.write(data)
            return self.run_file(path, *options, status=status)

    def run_file(self, path, *options, status=0):
        done = subprocess.run([BBPATHS, "score", "-q", *options, path], stdout=subprocess.PIPE,
                              stderr=subprocess.PIPE, text=True, check=False, timeout=120)
        self.assertEqual(done.returncode, status, done.stderr)
        return done.stdout, done.stderr

    def score(self, data, *options):
        return json.loads(self.run_score(data, "--format=json", *options)[0])

    def test_serial_requests_are_all_right(self):
        for assign in ([], ["--assign=paper"], ["--no-labels"]):
            score = self.score(SERIAL, *assign)
            self.assertEqual(score["bbpaths_score"], 1)
            self.assertEqual(score["calls"], 60)
            self.assertEqual(score["links"]["all"], {"right": 60, "of": 60, "share": 1})
            self.assertEqual(score["requests"], {"right": 20, "of": 20, "share": 1})
            self.assertEqual(score["by_pattern"]["instances"],
                             {"found": 20, "false_positives": 0, "true": 20, "false_negatives": 0})
            self.assertEqual(score["patterns"][0]["pattern"], "a -> b (c, d)")
            self.assertEqual(score["omitted"]["top"], [{"n": 1, "by_count": [0, 0, 0], "by_latency": [0, 0, 0]}])

    def test_windows_are_scored_as_one(self):
        whole = self.score(SERIAL, "--assign=paper", "--window=whole")
        self.assertEqual(self.score(SERIAL, "--assign=paper", "--window=4s"), whole)

    def test_the_paper_states_no_confidence(self):
        score = self.score(SERIAL, "--assign=paper")
        self.assertEqual(score["link_confidence"]["stated"], 0)
        self.assertEqual(score["link_confidence"]["not_stated"], 60)
        self.assertIsNone(score["link_confidence"]["calibration_error"])
        self.assertIsNone(score["wrong_instances"]["stated"])
        self.assertIn("Confidence: not stated\n", self.run_score(SERIAL, "--assign=paper")[0])

    def test_a_wrong_truth_is_a_wrong_link(self):
        wrong = SERIAL.replace("b d 5 path=p1 parent=3", "b d 5 path=p0 parent=0")
        self.assertNotEqual(wrong, SERIAL)
        score = self.score(wrong)
        self.assertEqual(score["links"]["children"]["right"], 39)
        self.assertEqual(score["requests"]["right"], 18)
        self.assertEqual(score["edges"][0], {"from": "b", "to": "d", "links": {"right": 19, "of": 20, "share": 0.95}})

    def test_a_lost_parent(self):
        data = trace(call(1.0, None, "a", "b", 1, "path=x", "parent=-"),
                     call(1.1, 1.2, "b", "c", 2, "path=x", "parent=1"))
        score = self.score(data)
        self.assertEqual(score["left_out"], {"unreturned": 1, "without_truth": 0, "circular_truth": 0})
        self.assertEqual(score["links"]["parent_lost"], {"right": 1, "of": 1, "share": 1})

    def test_partial_truth(self):
        data = trace(*request(1.0, 0), call(5.0, 5.1, "a", "b", 9))
        self.assertEqual(self.score(data)["left_out"]["without_truth"], 1)
        self.assertIn("left out: 1 call without ground truth", self.run_score(data)[0])

    def test_no_truth_is_an_error_with_a_remedy(self):
        data = trace(call(1.0, 1.1, "a", "b", 1), call(1.02, 1.05, "b", "c", 2))
        out, err = self.run_score(data, status=1)
        self.assertEqual(out, "")
        self.assertRegex(err, r"t\.txt: no ground truth .*none of its 2 calls has an id and says by parent=.*bbtrace generate")

    def test_calls_without_id_have_no_truth(self):
        data = trace(call(1.0, 1.1, "a", "b", "-", "path=x", "parent=-"),
                     call(1.02, 1.05, "b", "c", "-", "path=x", "parent=#1"))
        self.assertIn("none of its 2 calls has an id", self.run_score(data, status=1)[1])
        self.assertEqual(self.score(data + SERIAL.split("\n", 1)[1])["left_out"]["without_truth"], 2)

    def test_nothing_to_score_is_an_error(self):
        free = "# bbtrace text 1\n1.0 MSG_SENT a b 1 path=x parent=-\n"
        for data, options, why in (
                ("# bbtrace text 1\n", (), "the trace has no messages"),
                ("# bbtrace text 1\n", ("--algo=convolution",), "the trace has no messages"),
                (free, (), "the trace has no calls (--algo=convolution needs none)"),
                (trace(call(1.0, None, "a", "b", 1, "path=x", "parent=-")), (), "no call of the trace has a return")):
            out, err = self.run_score(data, *options, status=1)
            self.assertEqual(out, "")
            self.assertIn(f"t.txt: nothing to score: {why}\n", err)

    def test_convolution_of_calls_without_id_has_no_truth(self):
        data = trace(call(1.0, 1.1, "a", "b", "-", "path=x", "parent=-"),
                     call(1.02, 1.05, "b", "c", "-", "path=x", "parent=1"))
        _, err = self.run_score(data, "--algo=convolution", status=1)
        self.assertIn("none of its 4 messages has an id and says by parent=", err)

    def test_wrong_usage(self):
        for options in (["--format=svg"], ["--root=a"], ["--slower-than=1s"], ["again"]):
            _, err = self.run_score(SERIAL, *options, status=2)
            self.assertIn("--help", err)
        done = subprocess.run([BBPATHS, "score"], stderr=subprocess.PIPE, text=True, check=False)
        self.assertEqual(done.returncode, 2)

    def test_circles(self):
        """Calls that stand within each other, and may be below each other, are; also without operations."""
        draw = random.Random(7)
        def nested(clock, path, nodes, number):
            """Each node calls the next one; the lines, and when the first has returned."""
            lines, start, deep = [], clock, len(nodes) - 1
            starts = [start := start + draw.expovariate(500) for _ in range(deep)]
            end = starts[-1]
            ends = [end := end + draw.expovariate(500) for _ in range(deep)]
            for i in range(deep):
                parent = f"parent={number + i - 1}" if i else "parent=-"
                lines.append(call(starts[i], ends[deep - 1 - i], nodes[i], nodes[i + 1], number + i, f"path={path}", parent))
            return lines, end
        for nodes in ("xAAAAA", "xABABAB", "xABCABC"):
            lines, clock = [], 1.0
            for path in range(300):
                more, clock = nested(clock, path, nodes, 10 * path + 1)
                lines += more
            for options in ([], ["--no-labels"]):
                score = self.score(trace(*lines), *options)
                self.assertGreater(score["links"]["all"]["share"], 0.99, nodes)
                self.assertLess(score["link_confidence"]["calibration_error"], 0.02)

    def test_threads_that_go_out_in_another_order(self):
        """Eight calls at once, each by a thread: in one request of forty one of them is late, and others go first."""
        draw, lines, clock, of = random.Random(11), [], 1.0, 8
        for path in range(400):
            clock += 0.05 + draw.expovariate(50)
            starts, at = [], clock
            for _ in range(of):
                at += 0.0001 + draw.gammavariate(4, 0.00002)
                starts.append(at)
            if path % 40 == 7:
                late = path // 40 % (of - 2)
                starts[late] = starts[late + 2] + 0.0001
            ends = [start + 0.004 + draw.gammavariate(4, 0.001) for start in starts]
            number = 10 * path + 1
            lines.append(call(clock, max(ends) + 0.001, "x", "A", number, f"path={path}", "parent=-"))
            lines += [call(starts[i], ends[i], "A", f"S{i}", number + 1 + i, f"path={path}", f"parent={number}") for i in range(of)]
        score = self.score(trace(*lines))
        self.assertEqual(score["requests"]["right"], 400)

    def test_calls_long_after_the_reply(self):
        """Each request makes a call 200 ms after its reply, ten times as long as it lasts. Another kind nobody causes."""
        draw, lines, clock, number = random.Random(3), [], 1.0, 1
        while clock < 200:
            clock += draw.expovariate(5)
            calls, end = page(draw, clock, number, 0.005, 0.001)
            later = end + draw.gauss(0.2, 0.02)
            lines += calls + [call(later, later + 0.002, "APP", "AUDIT", number + 2, f"path={number}", f"parent={number}")]
            number += 3
        lines += [own(draw.uniform(1, 200), 0.002, "CRON", number + i) for i in range(1000)]
        score = self.score(trace(*lines))
        self.assertGreater(score["links"]["children"]["share"], 0.9)
        self.assertGreater(score["links"]["roots"]["share"], 0.99)
        self.assertLess(score["link_confidence"]["calibration_error"], 0.03)

    def test_calls_of_nobody_in_bursts(self):
        """What the node does by itself, several calls at once, is no request's, however long a request is open."""
        draw, lines, clock, number = random.Random(8), [], 1.0, 1
        while clock < 200:
            clock += draw.expovariate(5)
            lines += page(draw, clock, number, 0.02, 0.004)[0]
            number += 2
        for _ in range(2000):
            at = draw.uniform(1, 200)
            for _ in range(draw.randrange(2, 6)):
                lines.append(own(at, draw.gauss(0.004, 0.001), "CACHE", number))
                number += 1
        score = self.score(trace(*lines))
        self.assertEqual(score["links"]["roots"]["share"], 1)
        self.assertGreater(score["requests"]["share"], 0.99)

    def test_calls_that_requests_make_as_well(self):
        """A node polls its database twenty times as often as requests call it: these calls stay theirs."""
        draw, lines, clock, number = random.Random(1), [], 1.0, 1
        while clock < 2000:
            clock += draw.expovariate(0.5)
            lines += page(draw, clock, number, 0.005, 0.0005)[0]
            number += 2
        lines += [own(1 + i / 10 + draw.uniform(0, 0.005), draw.gauss(0.005, 0.0005), "DB", number + i) for i in range(20000)]
        score = self.score(trace(*lines))
        self.assertGreater(score["links"]["children"]["share"], 0.98)
        self.assertGreater(score["links"]["roots"]["share"], 0.99)

    def test_calls_of_jobs_that_take_long(self):
        """One request of four hundred takes a thousand times as long as the others, and makes most calls of a kind."""
        draw, lines, clock, number = random.Random(1), [], 1.0, 1
        while clock < 600:
            clock += draw.expovariate(20)
            lines += page(draw, clock, number, 0.003, 0.0003)[0]
            number += 2
        clock = 1.0
        while clock < 590:
            begun = clock = clock + 20 * draw.uniform(0.7, 1.3)
            path, number = number, number + 1
            for _ in range(500):
                clock += 0.02 * draw.uniform(0.2, 1.5)
                lines.append(call(clock, clock + 0.004, "APP", "STORE", number, f"path={path}", f"parent={path}"))
                number += 1
            lines.append(call(begun, clock + 0.01, "batch", "APP", path, f"path={path}", "parent=-"))
        lines += [own(draw.uniform(1, 600), 0.004, "STORE", number + i) for i in range(3000)]
        score = self.score(trace(*lines))
        self.assertGreater(score["links"]["children"]["share"], 0.99)
        self.assertLess(score["link_confidence"]["calibration_error"], 0.02)

    def test_calls_of_nobody_where_load_comes_and_goes(self):
        """Calls outside of all requests are in the pauses of the load, and so follow it; they are nobody's all the same."""
        draw, lines, clock, number = random.Random(1), [], 1.0, 1
        while clock < 1200:
            clock += draw.expovariate(30)
            if clock % 4 > 1:
                clock = (clock // 4 + 1) * 4 + draw.expovariate(30)
            lines += page(draw, clock, number, 0.01, 0.001)[0]
            number += 2
        lines += [own(draw.uniform(1, 1200), 0.003, "CRON", number + i) for i in range(2000)]
        score = self.score(trace(*lines))
        self.assertGreater(score["links"]["roots"]["share"], 0.99)

    def test_short_calls_beside_calls_that_hang(self):
        """Thirty clients poll, which takes 20 s and calls nobody; what the short requests call is theirs."""
        draw, lines, number = random.Random(5), [], 1
        for client in range(30):
            clock = 1 + draw.uniform(0, 20)
            while clock < 100:
                end = clock + draw.gauss(20, 2)
                lines.append(call(clock, end, "x", "API", number, "op=poll", f"path={number}", "parent=-"))
                clock, number = end + 0.1, number + 1
        clock = 1.0
        while clock < 100:
            clock, path = clock + draw.expovariate(30), number
            asked = clock + draw.gauss(0.005, 0.001)
            back = asked + draw.gauss(0.005, 0.001)
            lines.append(call(asked, back, "API", "DB", path + 1, f"path={path}", f"parent={path}"))
            if draw.random() < 0.3:
                asked = back + draw.gauss(0.005, 0.001)
                back = asked + draw.gauss(0.005, 0.001)
                lines.append(call(asked, back, "API", "CACHE", path + 2, f"path={path}", f"parent={path}"))
            lines.append(call(clock, back + draw.gauss(0.005, 0.001), "x", "API", path, "op=get", f"path={path}", "parent=-"))
            number += 3
        score = self.score(trace(*lines))
        self.assertGreater(score["links"]["children"]["share"], 0.97)

    def test_stamps_that_are_too_coarse(self):
        """Fifty requests within a second, and stamps of whole seconds: links are guesses, and said to be."""
        data = trace(*(line for second in range(20) for n in range(50)
                       for line in (call(second, second, "x", "a", f"a{second}.{n}", f"path={second}.{n}", "parent=-"),
                                    call(second, second, "a", "b", f"b{second}.{n}", f"path={second}.{n}",
                                         f"parent=a{second}.{n}"))))
        out, err = self.run_score(data, "--format=json")
        self.assertIn("warning: times are whole multiples of 1.00 s, in which a node makes 5", err)
        self.assertLess(json.loads(out)["link_confidence"]["calibration_error"], 0.03)
        self.assertNotIn("whole multiples", self.run_score(data, "--assign=paper")[1])
        self.assertNotIn("whole multiples", self.run_score(SERIAL)[1])

    def test_a_missing_file(self):
        _, err = self.run_file("/nowhere/at/all", status=1)
        self.assertIn("/nowhere/at/all", err)

    def test_the_same_bytes(self):
        for option in ("text", "json"):
            self.assertEqual(self.run_score(SERIAL, "-f", option), self.run_score(SERIAL, "-f", option))

    @unittest.skipUnless(os.path.isdir(TRACES), f"no folder {TRACES}")
    def test_recorded_traces(self):
        for name, right in RECORDED.items():
            out, _ = self.run_file(f"{TRACES}/{name}.txt.gz", "--assign=paper", "--format=json")
            self.assertAlmostEqual(100 * json.loads(out)["requests"]["share"], right, delta=0.06)


if __name__ == "__main__":
    unittest.main(argv=[sys.argv[0]])
