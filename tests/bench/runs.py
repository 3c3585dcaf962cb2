# SPDX-License-Identifier: Apache-2.0
"""What the scripts of this folder share: running the programs on traces that are made, measured and
removed, patterns counted against the whole truth, and tables as text and TSV."""
import argparse
import collections
import json
import os
import subprocess
import sys
import tempfile
import urllib.parse

ASSIGNS = ("joint", "paper")
ENDLESS = "4000000000"


def programs_of(parser: argparse.ArgumentParser, makes_traces=True):
    """Options that all scripts have: the programs, those of the build next to the sources by default; and
    the seed of traces that are made."""
    root = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..")
    build = os.path.normpath(os.path.join(root, "build", "cli"))
    parser.add_argument("--bbtrace", default=os.path.join(build, "bbtrace"), help="default: %(default)s")
    parser.add_argument("--bbpaths", default=os.path.join(build, "bbpaths"), help="default: %(default)s")
    parser.add_argument("--tools",
                        help="folder of bench_read and bench_cost (default: of bbtrace's build)")
    parser.set_defaults(seed=1)
    if makes_traces:
        parser.add_argument("--seed", type=int, metavar="N", help="of all traces (default: 1)")


class Runs:
    """Runs of the programs, in a folder that is removed when it is left."""
    def __init__(self, options):
        self.bbtrace, self.bbpaths, self.seed = options.bbtrace, options.bbpaths, str(options.seed)
        self.tools = options.tools or os.path.join(os.path.dirname(options.bbtrace), "..", "tests",
                                                   "bench")
        self.kept = tempfile.TemporaryDirectory(prefix="bbtrace-bench-")

    def __enter__(self):
        for program in (self.bbtrace, self.bbpaths, os.path.join(self.tools, "bench_read")):
            if not os.access(program, os.X_OK):
                sys.exit(
                    f"{program}: no such program: build first, or say --bbtrace, --bbpaths and --tools")
        return self

    def __exit__(self, *_):
        self.kept.cleanup()

    def path(self, name):
        return os.path.join(self.kept.name, name)

    @staticmethod
    def run(*command):
        done = subprocess.run(command,
                              stdout=subprocess.PIPE,
                              stderr=subprocess.PIPE,
                              text=True,
                              check=False)
        if done.returncode:
            sys.exit(f"{' '.join(command)}: exit status {done.returncode}\n{done.stderr}")
        return done.stdout

    def generate(self, scenario, *settings, seconds=None, messages=None, connections="none"):
        """A new trace; settings are NAME=VALUE. Whichever limit comes first ends it."""
        trace = self.path("trace.bbt")
        options = [word for setting in settings for word in ("-D", setting)]
        options += ["-G", f"{seconds:.9f}s"] if seconds else []
        self.run(self.bbtrace, "generate", "-q", scenario, f"--connections={connections}", *options, "-c", str(messages or ENDLESS), "-s",
                 self.seed, "-w", trace)
        return trace

    def perturb(self, kind, trace, *options):
        """The trace after `bbtrace skew` or `bbtrace drop`."""
        changed = self.path("changed.bbt")
        self.run(self.bbtrace, kind, "-q", "-s", self.seed, *options, "-w", changed, trace)
        return changed

    def score(self, trace, assign, *options):
        return json.loads(
            self.run(self.bbpaths, "score", "-q", "-f", "json", f"--assign={assign}", *options, trace))

    def read(self, trace, *options):
        """Messages, span_s, read_cpu_s, parallelism of a trace."""
        return json.loads(self.run(os.path.join(self.tools, "bench_read"), trace, *options))

    def cost(self, *command):
        """cpu_s and peak_mb of a command."""
        return json.loads(self.run(os.path.join(self.tools, "bench_cost"), *command))

    def found_patterns(self, trace, assign):
        """{shape: instances} of an inference."""
        found = json.loads(
            self.run(self.bbpaths, "-q", "-f", "json", "-n", "all", f"--assign={assign}", trace))
        counts = collections.Counter()
        for pattern in found["patterns"]:
            root = pattern["root"]
            counts[(root["node"], shape_of_pattern(root["calls"][0]))] += pattern["count"]
        return counts

    def true_patterns(self, trace):
        """The same of the truth that the trace carries."""
        calls, children, roots = {}, collections.defaultdict(list), []
        for line in self.run(self.bbtrace, "cat", trace).splitlines():
            if line.startswith("#"):
                continue
            _, operation, sender, receiver, name, *keys = line.split()
            if operation != "CALL_SENT":
                continue
            keys = dict(key.split("=", 1) for key in keys)
            calls[name] = (receiver, urllib.parse.unquote(keys.get("op", "")))
            if keys["parent"] == "-":
                roots.append((sender, name))
            else:
                children[keys["parent"]].append(name)

        def shape(name):
            return (*calls[name], tuple(sorted(shape(child) for child in children[name])))

        return collections.Counter((client, shape(name)) for client, name in roots)


def shape_of_pattern(call):
    """A call of bbpaths' JSON as (node, op, calls); the order of calls is left out."""
    return (call["node"], call["op"]
            or "", tuple(sorted(shape_of_pattern(child) for child in call["calls"])))


def missed(true, found):
    """The share of true instances that lack in their patterns."""
    return sum(max(0, count - found[shape]) for shape, count in true.items()) / max(sum(true.values()), 1)


class Table:
    """Rows of named columns. A column is (key, heading, format); format is that of format()."""
    def __init__(self, name, title, columns, notes=()):
        self.name, self.title, self.columns, self.notes, self.rows = name, title, columns, list(notes), []

    def add(self, **row):
        self.rows.append(row)

    def cells(self, row, nothing, separator=","):
        return [
            nothing if row.get(key) is None else format(row[key], spec.replace(",", separator))
            for key, _, spec in self.columns
        ]

    def tsv(self):
        lines = [[key for key, _, _ in self.columns]] + [self.cells(row, "", "") for row in self.rows]
        return "".join("\t".join(line) + "\n" for line in lines)

    def text(self):
        lines = [[heading
                  for _, heading, _ in self.columns]] + [self.cells(row, "-") for row in self.rows]
        widths = [max(len(line[i]) for line in lines) for i in range(len(self.columns))]
        left = [not spec or spec[-1] == "s" for _, _, spec in self.columns]
        rows = [
            "  ".join(
                cell.ljust(width) if is_left else cell.rjust(width)
                for cell, width, is_left in zip(line, widths, left)).rstrip() for line in lines
        ]
        return "\n".join([self.title, "", *rows, "", *self.notes]) + "\n"

    def write(self, folder):
        for ending, content in (("txt", self.text()), ("tsv", self.tsv())):
            with open(os.path.join(folder, f"{self.name}.{ending}"), "w", encoding="utf-8") as file:
                file.write(content)
