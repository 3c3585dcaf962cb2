#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Convolution on e-mail: what it finds in a trace of `bbtrace import --from received`, against the path of
each mail, by quantum and by how often a path is seen (SOSP 2003 paper, section 7.4).

A vertex is a chain of hosts from a message that no other message of its mail caused; its count is of the
messages at its end. A complete path is a vertex whose message caused none. Both count from two messages
on. At a threshold, a false positive is what is found so often and is not in the truth at all, a false
negative what is there so often and is not found half as often; both are told as shares.

  mail.py TRACE [--quanta 5s,30s] [--explain messages,paper] [--max-delay 4h] [--skew-window 1h]
  mail.py --check TRACE      the truth against itself, which must be without fault"""
import argparse
import collections
import json
import os
import re
import subprocess
import sys
import time
import urllib.parse

from runs import Table, programs_of

QUANTA = "5s,10s,30s,60s,120s,240s,360s,720s"
OWN = {"messages": ["--rare=30"], "paper": ["--all-roots"]}  # options that only one method has


class Chains:
    """Counts of vertices and of complete paths; a chain is a tuple of hosts."""
    def __init__(self):
        self.vertices, self.paths = collections.Counter(), collections.Counter()

    def add_path(self, chain, count):
        self.paths[chain] += count
        for length in range(2, len(chain) + 1):
            self.vertices[chain[:length]] += count

    def of(self, kind, least):
        """Chains of two messages and more with at least so many."""
        counts = self.vertices if kind == "vertices" else self.paths
        return {chain: count for chain, count in counts.items() if len(chain) > 2 and count >= least}


def messages_of(text):
    """(id, sender, receiver, parent, path) of each message of a text trace."""
    for line in text.splitlines():
        if line and not line.startswith("#"):
            _, _, sender, receiver, name, *keys = line.split()
            keys = dict(key.split("=", 1) for key in keys)
            yield (name, urllib.parse.unquote(sender), urllib.parse.unquote(receiver),
                   keys.get("parent", "-"), keys.get("path"))


def truth_of(messages):
    """Chains of the truth that the trace carries. One message may have caused several."""
    known = {name: (sender, receiver, parent) for name, sender, receiver, parent, _ in messages}
    causes = {parent for _, _, parent in known.values()}
    chains, true = {}, Chains()
    for name in known:
        todo = [name]  # up to the first message whose chain is known, then down again
        while todo:
            sender, receiver, parent = known[todo[-1]]
            if parent in known and parent not in chains:
                todo.append(parent)
                continue
            chains[todo.pop()] = chains.get(parent, (sender,)) + (receiver,)
    for name, chain in chains.items():
        true.vertices[chain] += 1
        if name not in causes:
            true.paths[chain] += 1
    return true


def found_of(output):
    """Chains of bbpaths' JSON: each pattern is a path, with the count of those that end there."""
    found = Chains()
    for pattern in json.loads(output)["patterns"]:
        if pattern.get("derived"):
            continue
        chain, calls = [pattern["root"]["node"]], pattern["root"]["calls"]
        while calls:
            chain.append(calls[0]["node"])
            found.vertices[tuple(chain)] = calls[0]["messages"]
            calls = calls[0]["calls"]
        found.paths[tuple(chain)] += pattern["count"]
    return found


def share(part, whole):
    return len(part) / len(whole) if whole else None


def faults(true, found, kind, least):
    """False positives and negatives as shares, and how many of each kind were found and are true."""
    told, there = found.of(kind, least), true.of(kind, least)
    any_true, half = true.of(kind, 1), found.of(kind, max(1, least / 2))
    return {
        "fp": share([chain for chain in told if chain not in any_true], told),
        "fn": share([chain for chain in there if chain not in half], there),
        "found": len(told),
        "true": len(there)
    }


def thresholds(mails):
    return {"all": 1, "3": 3, "10": 10, "1 %": -(-mails // 100)}


def columns(levels):
    own = [("explain", "explain", "s"), ("quantum", "quantum", "s"), ("seconds", "s", ".1f")]
    for kind in ("vertices", "paths"):
        for name in levels:
            at = "" if name == "all" else f" >={name}"
            own += [(f"{kind} {name} fp", f"{kind}{at} FP", ".2f"), (f"{kind} {name} fn", "FN", ".2f")]
    return own


def row_of(true, found, levels):
    row = {}
    for kind in ("vertices", "paths"):
        for name, least in levels.items():
            for key, value in faults(true, found, kind, least).items():
                row[f"{kind} {name} {key}"] = value
    return row


def check(true, levels):
    """The truth as if it had been found, once as it is and once by way of its complete paths."""
    again = Chains()
    for chain, count in true.paths.items():
        again.add_path(chain, count)
    wrong = 0
    for found in (true, again):
        row = row_of(true, found, levels)
        wrong += sum(value not in (0, None) for key, value in row.items() if key[-2:] in ("fp", "fn"))
    empty = row_of(true, Chains(), levels)
    wrong += sum(empty[f"{kind} {name} fn"] not in (1, None) for kind in ("vertices", "paths")
                 for name in levels)
    other = Chains()
    other.add_path(("no", "such", "path"), 1000)
    wrong += sum(row_of(true, other, levels)[f"{kind} all fp"] != 1 for kind in ("vertices", "paths"))
    print("the truth against itself:", "without fault" if not wrong else f"{wrong} faults")
    return 1 if wrong else 0


def run(*command, timeout=None):
    done = subprocess.run(command, stdout=subprocess.PIPE, text=True, check=False, timeout=timeout)
    if done.returncode:
        sys.exit(f"{' '.join(command)}: exit status {done.returncode}")
    return done.stdout


def measure(options, true, levels):
    title = f"false positives and negatives, {sum(true.paths.values())} complete paths"
    notes = [
        f"{kind} that are true: " +
        ", ".join(f"{len(true.of(kind, least))} ({name})" for name, least in levels.items())
        for kind in ("vertices", "paths")
    ]
    table = Table("mail", title, columns(levels), notes)
    for explain in options.explain.split(","):
        for quantum in options.quanta.split(","):
            command = [
                options.bbpaths, "-q", "-f", "json", "--algo=convolution", f"--explain={explain}",
                f"--quantum={quantum}", f"--max-delay={options.max_delay}", *OWN.get(explain, [])
            ]
            if explain != "paper":
                command.append(f"--skew-window={options.skew_window}")
            command += options.option + [options.trace]
            begin, row = time.monotonic(), {}
            try:
                row = row_of(true, found_of(run(*command, timeout=options.timeout)), levels)
            except subprocess.TimeoutExpired:
                table.notes.append(f"{explain} {quantum}: given up after {options.timeout} s")
            table.add(explain=explain, quantum=quantum, seconds=time.monotonic() - begin, **row)
    print(table.text())
    if options.out:
        table.write(options.out)


def main():
    parser = argparse.ArgumentParser(description=__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("trace", metavar="TRACE")
    parser.add_argument("--check", action="store_true", help="only see that the truth is without fault")
    parser.add_argument("--quanta", default=QUANTA, metavar="LIST", help="default: %(default)s")
    parser.add_argument("--explain", default="messages,paper", metavar="LIST", help="default: %(default)s")
    parser.add_argument("--max-delay", default="4h", metavar="DURATION", help="default: %(default)s")
    parser.add_argument("--skew-window", default="1h", metavar="DURATION", help="default: %(default)s")
    parser.add_argument("--option", action="append", default=[], help="of bbpaths, for all runs")
    parser.add_argument("--timeout", type=float, default=600, metavar="S", help="default: %(default)s")
    parser.add_argument("--out", metavar="DIR", help="write mail.txt and mail.tsv there, too")
    programs_of(parser)
    options = parser.parse_args()
    for program in (options.bbtrace, options.bbpaths)[:1 if options.check else 2]:
        if not os.access(program, os.X_OK):
            sys.exit(f"{program}: no such program: build first, or say --bbtrace and --bbpaths")
    text = run(options.bbtrace, "cat", options.trace)
    messages = list(messages_of(text))
    if not any(parent != "-" for *_, parent, _ in messages):
        sys.exit(f"{options.trace}: no message has a cause: give a trace of bbtrace import --from received")
    counted = re.search(r"^# counter mails (\d+)$", text, re.M)
    levels = thresholds(int(counted[1]) if counted else len({path for *_, path in messages}))
    if options.check:
        sys.exit(check(truth_of(messages), levels))
    measure(options, truth_of(messages), levels)


if __name__ == "__main__":
    main()
