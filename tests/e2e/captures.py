#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""What bbtrace finds in each public capture, by protocol, against GOLDEN/captures.tsv; and doc/CAPTURES.md,
which is made of that table and of GOLDEN/tshark/captures.tsv, against what is written there.

  captures.py BBTRACE FOLDER GOLDEN PAGE [--update]   --update writes table and page anew;
                                                      skipped (77) where the captures are absent"""
import collections
import difflib
import os
import pathlib
import sys

import captured
import tshark

HEAD = ("file", "packets", "protocol", "calls", "returns", "pairs", "free", "orphans")

PAGE = """# What is found in public captures

The files are regression captures of Zeek, Suricata, nDPI and tcpdump, and some that were made for bbtrace. They are
no part of the repository. This page is written by

    tests/e2e/captures.py build/cli/bbtrace CAPTURES tests/golden doc/CAPTURES.md --update

and a test fails where it is not what the program finds. `tests/e2e/tshark.py` compares with tshark; differences are
[below](#where-tshark-counts-otherwise).

*Pairs* are calls with their returns, *free* messages are neither, *orphans* are calls without return and returns
without call. Where these files have orphans, the other half is missing in the capture, was never sent, or is in
the list of differences. `tcp` and `udp` are connections of no known protocol, by turns.

"""


def rows_of(name, text):
    messages, counters = captured.read(text)
    found = collections.defaultdict(lambda: collections.defaultdict(list))
    for message in messages:
        found[message.get("proto", "-")][message["what"]].append(message["id"])
    for protocol in sorted(found) or ["-"]:
        calls, returns = found[protocol]["CALL"], found[protocol]["RET"]
        pairs = len(set(calls) & set(returns) - {"-"})
        yield (name, counters.get("frames", 0), protocol, len(calls), len(returns), pairs, len(found[protocol]["MSG"]),
               len(calls) + len(returns) - 2 * pairs)


def table_of(bbtrace, folder):
    lines = ["\t".join(HEAD)]
    for name in captured.files(folder):
        text = captured.run(bbtrace, os.path.join(folder, name))
        lines += ["\t".join(map(str, row)) for row in rows_of(name, text)]
    return "\n".join(lines) + "\n"


def sums_of(rows):
    """By protocol: files, calls, returns, pairs, free messages, orphans."""
    sums = collections.defaultdict(lambda: [0] * 6)
    for row in rows:
        if row[2] != "-":
            sums[row[2]] = [a + b for a, b in zip(sums[row[2]], (1, *map(int, row[3:])))]
    return sorted(sums.items())


def markdown(head, rows, texts):
    """The first columns are texts, the others numbers."""
    lines = ["| " + " | ".join(head) + " |", "|" + "---|" * texts + "---:|" * (len(head) - texts)]
    return "\n".join(lines + ["| " + " | ".join(str(cell).replace("|", "\\|") for cell in row) + " |" for row in rows]) + "\n"


def page_of(table, differences):
    rows = [line.split("\t") for line in table.splitlines()[1:]]
    named = [(protocol, *sums) for protocol, sums in sums_of(rows)]
    reasons = [(name, kind, why, mine, other) for (name, kind), (mine, other, why) in sorted(differences.items())]
    short = [[name, protocol, *numbers] for name, _, protocol, *numbers in rows]
    return (PAGE + "## By protocol\n\n" + markdown(("protocol", "files", *HEAD[3:]), named, 1) +
            "\n## Where tshark counts otherwise\n\n" +
            markdown(("file", "what", "why", "bbtrace", "tshark"), reasons, 3) +
            "\n## File by file\n\n" + markdown((HEAD[0], *HEAD[2:]), short, 2))


def differs(path, expected, found):
    lines = list(difflib.unified_diff(expected.splitlines(), found.splitlines(), str(path), "found", lineterm="", n=0))
    print(*lines, sep="\n", end="\n" if lines else "")
    return bool(lines)


def main():
    bbtrace, folder, golden, page = sys.argv[1], sys.argv[2], pathlib.Path(sys.argv[3]), pathlib.Path(sys.argv[4])
    differences = tshark.read_table(golden / "tshark" / "captures.tsv")
    if not os.path.isdir(folder):
        print(f"skipped: {folder} is not there")
        return 77
    table = table_of(bbtrace, folder)
    text = page_of(table, differences)
    if "--update" in sys.argv:
        (golden / "captures.tsv").write_text(table, encoding="utf-8")
        page.write_text(text, encoding="utf-8")
        return 0
    bad = differs(golden / "captures.tsv", (golden / "captures.tsv").read_text(encoding="utf-8"), table)
    return 1 if differs(page, page.read_text(encoding="utf-8"), text) or bad else 0


if __name__ == "__main__":
    sys.exit(main())
