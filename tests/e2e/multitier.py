#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Capture and nesting against the truth: recall of tagged requests at every hop, share of requests
whose inferred path is entirely right, and where the true patterns stand in the ranking.

  multitier.py BBTRACE BBPATHS CAPTURE [--assign METHOD] [--no-labels] [--recall PERCENT]
               [--right LOW HIGH] [--report]

Skipped (77) where the capture is not there."""
import argparse
import collections
import json
import os
import subprocess
import sys
import tempfile

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
import shop  # noqa: E402


def run(*command):
    return subprocess.run(command, check=True, stdout=subprocess.PIPE).stdout


def nanoseconds(text):
    seconds, _, fraction = text.partition(".")
    return int(seconds) * 10**9 + int((fraction + "0" * 9)[:9])


def load_instances(path):
    """[(pattern, {(time_ns, from, to): parent's key or None})]"""
    instances = []
    with open(path, encoding="utf-8") as lines:
        for line in lines:
            instance = json.loads(line, parse_float=str)
            key = {c["id"]: (nanoseconds(c["call"]), c["from"], c["to"]) for c in instance["calls"]}
            parents = {key[c["id"]]: key.get(c["parent"]) for c in instance["calls"]}
            instances.append((instance["pattern"], parents))
    return instances


def true_tree(group):
    key = {hop: (hop.time_ns, hop.source, hop.target) for hop in group}
    return {key[hop]: key.get(shop.parent_of(hop, group)) for hop in group}


def shape(tree, ops):
    """Canonical text of a tree of calls: node, operation, children in any order."""
    children = collections.defaultdict(list)
    for call, parent in tree.items():
        children[parent].append(call)

    def text(call):
        below = sorted(text(child) for child in children[call])
        return f"{call[2]} {ops.get(call, '')}({','.join(below)})"

    return "".join(sorted(text(root) for root in children[None]))


def pattern_shape(node):
    below = sorted(pattern_shape(child) for child in node["calls"])
    return f"{node['node']} {node.get('op') or ''}({','.join(below)})"


def report_ranking(truth, ops, latency, patterns):
    """Each true pattern: instances and mean latency, and what was inferred of it."""
    true = collections.defaultdict(list)
    for tree in truth.values():
        root = next(call for call, parent in tree.items() if parent is None)
        true[shape(tree, ops)].append(latency.get(root, 0))
    found = {pattern_shape(p["root"]["calls"][0]): p for p in patterns}
    print("true patterns, by number of instances: count and mean latency; rank, count, mean as inferred")
    for text, latencies in sorted(true.items(), key=lambda item: (-len(item[1]), item[0]))[:16]:
        pattern = found.get(text)
        mean_us = sum(latencies) / len(latencies) / 1000
        inferred = "not found"
        if pattern and mean_us:
            inferred = (f"rank {pattern['rank']:4d}  {pattern['count']:6d} ({pattern['count'] / len(latencies):4.0%})"
                        f"  {pattern['mean_latency_s'] * 1e6:7.0f} us ({pattern['mean_latency_s'] * 1e6 / mean_us - 1:+4.0%})")
        print(f"  {len(latencies):6d}  {mean_us:7.0f} us   {inferred:44s}  {text}")


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("bbtrace")
    parser.add_argument("bbpaths")
    parser.add_argument("capture")
    parser.add_argument("--assign", default="joint")
    parser.add_argument("--no-labels", action="store_true")
    parser.add_argument("--recall", type=float, default=99.9)
    parser.add_argument("--right", type=float, nargs=2, default=(0, 100))
    parser.add_argument("--report", action="store_true")
    args = parser.parse_args()
    if not os.path.exists(args.capture):
        print(f"skipped: {args.capture} is not there")
        return 77

    with tempfile.TemporaryDirectory() as folder:
        trace, instances = f"{folder}/t.bbt", f"{folder}/i.jsonl"
        run(args.bbtrace, "capture", "-q", "-r", args.capture, "-w", trace)
        patterns = json.loads(run(args.bbpaths, "--algo", "nesting", "--assign", args.assign,
                                  *["--no-labels"] * args.no_labels, "--format", "json", "--instances",
                                  instances, trace))["patterns"]
        calls, ops, latency, open_calls = set(), {}, {}, {}
        for line in run(args.bbtrace, "cat", trace).decode().splitlines():
            fields = line.split()
            if fields[0] == "#":
                continue
            if fields[1] == "RET_SENT" and fields[4] in open_calls:
                call = open_calls[fields[4]]
                latency[call] = nanoseconds(fields[0]) - call[0]
            if fields[1] != "CALL_SENT":
                continue
            call = (nanoseconds(fields[0]), fields[2], fields[3])
            open_calls[fields[4]] = call
            calls.add(call)
            op = next((f[3:] for f in fields[5:] if f.startswith("op=")), "")
            ops[call] = op.replace("%20", " ")
        inferred = load_instances(instances)

    hops = shop.hops(args.capture)
    found = sum((h.time_ns, h.source, h.target) in calls for h in hops)
    recall = 100 * found / len(hops)
    print(f"recall: {found} of {len(hops)} tagged requests are calls: {recall:.3f} %")

    truth = {rid: true_tree(group) for rid, group in shop.requests(args.capture).items()}
    by_root = {next(c for c, p in tree.items() if p is None): tree for _, tree in inferred}
    right = sum(by_root.get(min(tree)) == tree for tree in truth.values())
    share = 100 * right / len(truth)
    print(f"entirely right: {right} of {len(truth)} requests: {share:.2f} %")
    if args.report:
        report_ranking(truth, ops, latency, patterns)

    low, high = args.right
    if recall < args.recall or not low <= share <= high:
        print(f"FAILED: wanted recall >= {args.recall} % and {low} to {high} % entirely right")
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
