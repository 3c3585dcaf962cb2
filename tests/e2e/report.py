#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""bbpaths report: one page that has what the commands say, and nothing that runs.

  report.py BBTRACE BBPATHS SAMPLES"""
import html.parser
import subprocess
import sys
import unittest

from shop_trace import ShopTrace

BBTRACE, BBPATHS, SAMPLES = sys.argv[1:4]
HOSTILE = """# bbtrace text 1
10.0 CALL_SENT <script>alert(1)</script> b]]>--><!-- 1 op=%22%3E%3Cimg%20src=x%3E
10.1 CALL_SENT b]]>--><!-- c&lt; 2 op=%26%23x3c;script%3E
10.2 RET_SENT c&lt; b]]>--><!-- 2
10.3 RET_SENT b]]>--><!-- <script>alert(1)</script> 1 status=500
"""
VOID = {"meta"}


def run(*command, status=0):
    done = subprocess.run(command, capture_output=True, check=False, timeout=300)
    assert done.returncode == status, (command, done.returncode, done.stderr.decode())
    return done.stdout.decode(), done.stderr.decode()


class Page(html.parser.HTMLParser):
    """Tags by number, and the text of each kind of element; complains of what does not nest."""

    def __init__(self, text):
        super().__init__()
        self.open, self.tags, self.texts = [], [], {}
        self.feed(text)
        self.close()
        assert not self.open, self.open

    def handle_starttag(self, tag, attrs):
        self.tags.append(tag)
        for name, value in attrs:
            assert not name.startswith("on"), (tag, name)
            assert name not in ("href", "src", "xlink:href") or value.startswith("#"), (tag, name, value)
        if tag not in VOID:
            self.open.append(tag)

    def handle_startendtag(self, tag, attrs):
        self.handle_starttag(tag, attrs)
        self.open.pop()

    def handle_endtag(self, tag):
        assert self.open.pop() == tag, tag

    def handle_data(self, data):
        if self.open:
            self.texts.setdefault(self.open[-1], []).append(data)


class Report(ShopTrace):
    bbtrace, samples = BBTRACE, SAMPLES

    def test_it_has_what_the_commands_say(self):
        page = Page(run(BBPATHS, "report", "-q", self.shop)[0])
        tables = "".join(page.texts["pre"])
        for command in (["blame", "-n30"], ["tail"], ["-f", "text"]):
            self.assertIn(run(BBPATHS, *command, "-q", self.shop)[0], tables)
        self.assertEqual(page.tags.count("svg"), 1)
        self.assertEqual(page.texts["h1"], ["shop.bbt"])
        self.assertNotIn("script", page.tags)

    def test_options(self):
        path = self.path("report.html")
        run(BBPATHS, "report", "-q", "-n2", "--title", "<Shop>", "--root=client", "-o", path, self.shop)
        with open(path, encoding="utf-8") as file:
            page = Page(file.read())
        self.assertEqual(page.texts["h1"], ["<Shop>"])
        self.assertIn("Top 2 of ", "".join(page.texts["pre"]))
        self.assertIn("Chosen by --root=client", "".join(page.texts["pre"]))

    def test_names_are_text(self):
        trace = self.path("hostile.txt")
        with open(trace, "w", encoding="utf-8") as file:
            file.write(HOSTILE)
        page = Page(run(BBPATHS, "report", "-q", trace)[0])
        self.assertFalse({"script", "img"} & set(page.tags))
        self.assertIn("<script>alert(1)</script>", "".join(page.texts["pre"]))

    def test_of_standard_input(self):
        with open(self.shop, "rb") as file:
            done = subprocess.run([BBPATHS, "report", "-q", "-"], stdin=file, capture_output=True, check=True, timeout=300)
        self.assertEqual(Page(done.stdout.decode()).texts["h1"], ["standard input"])

    def test_long_layout_is_warned_of(self):
        trace = self.path("many.txt")
        with open(trace, "w", encoding="utf-8") as file:
            file.write("# bbtrace text 1\n")
            for i in range(1000):  # each with an operation of its own
                for at, line in ((0, f"CALL_SENT a b {i}.1 op=x{i}"), (1, f"CALL_SENT b c {i}.2"),
                                 (2, f"RET_SENT c b {i}.2"), (3, f"RET_SENT b a {i}.1")):
                    file.write(f"{10 + i}.{at} {line}\n")
        _, err = run(BBPATHS, "report", "-q", "-n", "all", trace)
        self.assertIn("Graphviz takes some 3 s to lay out a picture of 3,000 nodes", err)
        self.assertEqual("", run(BBPATHS, "report", "-q", trace)[1])

    def test_what_nobody_could_read_is_not_drawn(self):
        """A nightly job: one request with thousands of calls."""
        lines = ["1.0 CALL_SENT cron job 1"]
        for i in range(4000):
            lines += [f"{2 + i / 100:.6f} CALL_SENT job n{i} {i + 2}", f"{2.005 + i / 100:.6f} RET_SENT n{i} job {i + 2}"]
        trace = self.path("job.txt")
        with open(trace, "w", encoding="utf-8") as file:
            file.write("\n".join(["# bbtrace text 1"] + lines + ["99.0 RET_SENT job cron 1", ""]))
        page = Page(run(BBPATHS, "report", "-q", trace)[0])
        self.assertNotIn("svg", page.tags)
        self.assertTrue(any("There is no picture: of the 4,001 calls" in text for text in page.texts["p"]))

    def test_convolution_has_patterns(self):
        page = Page(run(BBPATHS, "report", "-q", "--algo=convolution", self.shop)[0])
        self.assertEqual(len(page.texts["h2"]), 1)
        self.assertIn("svg", page.tags)

    def test_nothing_in_the_trace(self):
        trace = self.path("empty.txt")
        with open(trace, "w", encoding="utf-8") as file:
            file.write("# bbtrace text 1\n")
        page = Page(run(BBPATHS, "report", "-q", trace)[0])
        self.assertNotIn("svg", page.tags)
        self.assertIn("No patterns: the trace has no messages", "".join(page.texts["pre"]))

    def test_same_bytes(self):
        one, _ = run(BBPATHS, "report", "-q", "--threads=1", self.shop)
        self.assertEqual(one, run(BBPATHS, "report", "-q", "--threads=3", self.shop)[0])

    def test_roles_are_not_overwritten(self):
        roles = self.path("roles")
        with open(roles, "w", encoding="utf-8") as file:
            file.write("app: app1 app2\n")
        self.assertIn("would be overwritten", run(BBPATHS, "report", "--roles", roles, "-o", roles, self.shop, status=2)[1])

    def test_replicas_count_as_one_node(self):
        roles = self.path("replicas")
        with open(roles, "w", encoding="utf-8") as file:
            file.write("app app1 app2\n")
        text = "".join(Page(run(BBPATHS, "report", "-q", "--merge-replicas", "--roles", roles, self.shop)[0]).texts["pre"])
        self.assertIn("auth GET  <-  client -> lb -> app\n", text)
        self.assertIn("own work: lb -> app -> auth GET\n", text)
        self.assertNotRegex(text, r"(<-|: lb).* -> app2")

    def test_refusals(self):
        for words, option in (("would be overwritten", ["-o", self.shop]), ("--top takes a number", ["-n", "x"])):
            self.assertIn(words, run(BBPATHS, "report", *option, self.shop, status=2)[1])
        self.assertIn("cannot", run(BBPATHS, "report", "-q", "-o", self.path("no/where.html"), self.shop, status=1)[1])
        self.assertIn("No space left", run(BBPATHS, "report", "-q", "-o", "/dev/full", self.shop, status=1)[1])


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1])
