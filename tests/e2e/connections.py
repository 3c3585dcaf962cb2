#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""What connections tell, on a web shop whose truth is known: much where threads have their own, some
where requests hold them, and nothing where all requests share them, or where they are not asked.

  connections.py BBTRACE BBPATHS"""
import json
import os
import subprocess
import sys
import tempfile
import unittest

BBTRACE, BBPATHS = sys.argv[1:3]


def run(*command):
    return subprocess.run(command, check=True, stdout=subprocess.PIPE).stdout


class Connections(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.folder = tempfile.TemporaryDirectory()
        for how in ("none", "pool", "held", "threads"):
            run(BBTRACE, "generate", "-q", "webshop", "-D", "rate=400/s", "-G", "3s", f"--connections={how}",
                "-w", cls.trace(how))

    @classmethod
    def tearDownClass(cls):
        cls.folder.cleanup()

    @classmethod
    def trace(cls, how):
        return os.path.join(cls.folder.name, f"{how}.bbt")

    def right(self, how, *options):
        """Requests entirely right, and links of children, percent."""
        score = json.loads(run(BBPATHS, "score", "-q", "-f", "json", *options, self.trace(how)))
        return 100 * score["requests"]["share"], 100 * score["links"]["children"]["share"]

    def test_threads(self):
        requests, links = self.right("threads")
        self.assertGreater(requests, 88)
        self.assertGreater(links, 98.5)

    def test_held_and_shared(self):
        _, none = self.right("none")
        _, held = self.right("held")
        _, pool = self.right("pool")
        self.assertGreater(held, none + 2)
        self.assertLess(abs(pool - none), 2.5)

    def test_not_asked(self):
        without = run(BBPATHS, "-q", "--format", "json", "--no-connections", self.trace("threads"))
        unknown = run(BBPATHS, "-q", "--format", "json", self.trace("none"))
        self.assertEqual(without, unknown)

    def test_any_number_of_threads(self):
        one, two = (run(BBPATHS, "-q", "--format", "json", "--threads", n, self.trace("held")) for n in "13")
        self.assertEqual(one, two)


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1])
