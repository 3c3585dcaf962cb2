#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""The examples of bbpaths(1), one after the other in one folder: each works, and prints what the page shows. "..." there
stands for anything; spaces, line breaks and bars, which the page has made narrower, do not count.

  examples.py BBTRACE BBPATHS SAMPLES PAGE"""
import os
import pathlib
import re
import shlex
import shutil
import subprocess
import sys
import tempfile
import unittest

BBTRACE, BBPATHS = (os.path.abspath(path) for path in sys.argv[1:3])
SAMPLES, PAGE = map(pathlib.Path, sys.argv[3:5])
FOREIGN = {"dot", "flamegraph.pl", "jq"}  # may be absent


def plain(line):
    """A line of mdoc as it is printed."""
    line = re.sub(r"\\\[u([0-9A-F]{4})\]", lambda code: chr(int(code[1], 16)), line)
    return line.replace("\\&", "").replace("\\e", "\\")


def blocks(page):
    """The literal lines of the section EXAMPLES, block by block."""
    section = re.search(r"^\.Sh EXAMPLES$(.*?)^\.Sh ", page, re.M | re.S)[1]
    for block in re.findall(r"^\.Bd -literal.*?\n(.*?)^\.Ed$", section, re.M | re.S):
        yield [plain(line) for line in block.splitlines()]


def is_whole(command):
    try:
        shlex.split(command)
    except ValueError:  # a quote is open
        return False
    return not command.endswith("\\")


def examples(lines):
    """Commands, each with the lines that it is said to print."""
    found = []
    for line in lines:
        if line.startswith("$ "):
            found.append([line[2:], []])
        elif not is_whole(found[-1][0]):
            found[-1][0] += "\n" + line
        else:
            found[-1][1].append(line)
    return found


def words(text):
    return " ".join(re.sub(r"[█░]|#{2,}", " ", text).split())


def pattern(lines):
    return re.compile(".*?".join(re.escape(words(part)) for part in "\n".join(lines).split("...")))


class Examples(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = pathlib.Path(folder.name)
        for name, program in (("bbtrace", BBTRACE), ("bbpaths", BBPATHS)):
            (self.folder / name).symlink_to(program)
        for name in ("shop.pcap.xz", "shop-slowauth.pcap.xz", "shop.hosts"):
            shutil.copy(SAMPLES / name, self.folder)

    def run_example(self, command):
        path = f"{self.folder}{os.pathsep}{os.environ['PATH']}"
        done = subprocess.run(["sh", "-c", command], cwd=self.folder, env={**os.environ, "PATH": path, "LC_ALL": "C.UTF-8"},
                              capture_output=True, text=True, timeout=250, check=False)
        self.assertEqual(done.returncode, 0, (command, done.stderr))
        self.assertNotIn("warning", done.stderr, command)
        return done.stdout

    def test_they_print_what_the_page_shows(self):
        seen = 0
        for command, shown in (example for block in blocks(PAGE.read_text("utf-8")) for example in examples(block)):
            if any(not shutil.which(word) for word in FOREIGN.intersection(command.split())):
                continue
            out = self.run_example(command)
            if not pattern(shown).search(words(out)):
                self.fail("\n".join([f"$ {command}", "The page shows:", *shown, "It prints:", out]))
            seen += 1
        self.assertGreater(seen, 8)


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1])
