#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""bbtrace capture gives the same bytes, whatever the number of threads: text, .bbt, a series of files, a pipe.

threads.py BBTRACE SHARED SAMPLES
"""
import hashlib
import os
import subprocess
import sys
import tempfile

import captured

BBTRACE, SHARED, SAMPLES = sys.argv[1:4]
THREADS = ["1", "2", "5"]


def capture(path, *options, stdin=None):
    done = subprocess.run([BBTRACE, "capture", "-r", path, *options], stdin=stdin, stdout=subprocess.PIPE,
                          stderr=subprocess.PIPE, check=False)
    return done.returncode, done.stdout, done.stderr


def digest(folder):
    """Names and contents of the files in folder."""
    found = []
    for name in sorted(os.listdir(folder)):
        with open(os.path.join(folder, name), "rb") as file:
            found.append((name, hashlib.sha256(file.read()).hexdigest()))
    return found


def check_text(path, *options):
    one = capture(path, "--threads", THREADS[0], *options)
    for threads in THREADS[1:]:
        other = capture(path, "--threads", threads, *options)
        assert one == other, f"{path} {' '.join(options)}: --threads {threads} differs from --threads 1"
    return one[1]


def check_files(path, *options):
    """What is written with -w, whole or as a series."""
    digests = []
    for threads in THREADS:
        with tempfile.TemporaryDirectory() as folder:
            status, _, err = capture(path, "-q", "-w", os.path.join(folder, "t.bbt"), "--threads", threads, *options)
            assert status == 0, err
            digests.append(digest(folder))
    assert digests[0] == digests[1] == digests[2], f"{path} {' '.join(options)}: files differ"
    return len(digests[0])


def check_pipe(path):
    texts = []
    for threads in THREADS:
        with subprocess.Popen(["xz", "-dc", path], stdout=subprocess.PIPE) as unpack:
            texts.append(capture("-", "-q", "--names-from-dns", "--threads", threads, stdin=unpack.stdout)[1])
    assert texts[0] == texts[1] == texts[2], f"{path} through a pipe: text differs"


def main():
    messages = files = 0
    for folder in [SHARED, os.path.join(SAMPLES, "protocols")]:
        if not os.path.isdir(folder):
            print(f"{folder} is not there: left out")
            continue
        for name in captured.files(folder):
            messages += check_text(os.path.join(folder, name), "--keep-frames", "--names-from-dns").count(b"\n")
            files += 1
    least = 50 if os.path.isdir(SHARED) else 20
    assert files > least, f"only {files} captures"
    shop = os.path.join(SAMPLES, "shop.pcap.xz")
    assert check_text(shop).count(b"CALL") > 1000
    check_text(shop, "--node", "endpoint", "--max-connections", "1500")
    check_text(shop, "--max-connections", "20", "--max-held", "100K")
    check_files(shop)
    assert check_files(shop, *SERIES) > 2
    check_pipe(shop)
    print(f"{files} captures, {messages} lines: the same with {', '.join(THREADS)} threads")


SERIES = ["--rotate-size", "20K"]
main()
