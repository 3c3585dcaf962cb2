# SPDX-License-Identifier: Apache-2.0
"""What bbtrace finds in a capture file: messages and counters of its text trace."""
import os
import subprocess


def run(bbtrace, path, *options):
    done = subprocess.run([bbtrace, "capture", "-q", "-r", path, *options], stdout=subprocess.PIPE, stderr=subprocess.PIPE, check=False)
    if done.returncode != 0:
        raise RuntimeError(f"{path}: status {done.returncode}: {done.stderr.decode(errors='replace')}")
    return done.stdout.decode(errors="replace")


def read(text):
    """([{"what": "CALL", "id": ..., "proto": ..., ...}, ...], {"tcp_packets": 3, ...})"""
    messages, counters = [], {}
    for line in text.splitlines():
        words = line.split()
        if words[:2] == ["#", "counter"]:
            counters[words[2]] = int(words[3])
        elif not line.startswith("#"):
            message = dict(word.split("=", 1) for word in words[5:])
            message.update(what=words[1].partition("_")[0], id=words[4])
            messages.append(message)
    return messages, counters


def files(folder):
    return sorted(os.path.relpath(os.path.join(root, name), folder) for root, _, names in os.walk(folder)
                  for name in names if name.endswith((".pcap", ".pcapng", ".cap", ".gz", ".xz", ".zst")))
