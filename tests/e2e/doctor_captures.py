#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""bbtrace doctor on every public capture: it ends, its figures make sense, the same on every run; and of
captures that are known to be sick or good it says so.

  doctor_captures.py BBTRACE FOLDER        skipped (77) where the captures are absent"""
import concurrent.futures
import json
import os
import subprocess
import sys

import captured

# Findings of files that were made to show just that, by part of their name.
KNOWN = {
    "1000-requests-one-dropped-response": "unseen",
    "http_asymmetric": "one_way",
    "ssh-dups": "doubled",
    "mdns.pcap": "no_mirror",
    "truncated-header": "snaplen",
    "smtp-bdat-gap": "unseen",
    "geneve-47101": "giants",
}
GOOD = ("zeek/http/methods.pcap", "gre-within-gre", "django-cloud")


def ask(bbtrace, path):
    done = subprocess.run([bbtrace, "doctor", "-q", "--json", "-r", path], stdout=subprocess.PIPE,
                          stderr=subprocess.PIPE, check=False, timeout=60)
    assert done.returncode == 0, (path, done)
    return done.stdout


def check(bbtrace, folder, name):
    out = ask(bbtrace, os.path.join(folder, name))
    said = json.loads(out)
    names = [finding["name"] for finding in said["findings"]]
    assert len(set(names)) == len(names), (name, names)
    for finding in said["findings"]:
        assert 0 <= finding["part"] <= finding["whole"], (name, finding)
        assert finding["means"] and finding["remedy"] and finding["unit"], (name, finding)
    severities = {finding["severity"] for finding in said["findings"]}
    verdict = "sick" if "sick" in severities else "usable" if "warning" in severities else "healthy"
    assert said["verdict"] == verdict, (name, said)
    for part, finding in KNOWN.items():
        assert part not in name or finding in names, (name, names)
    assert said["verdict"] == "healthy" or not any(good in name for good in GOOD), (name, names)
    if sum(name.encode()) % 4 == 0:
        assert ask(bbtrace, os.path.join(folder, name)) == out, name
    return verdict


def main():
    bbtrace, folder = sys.argv[1], sys.argv[2]
    if not os.path.isdir(folder):
        print(f"skipped: {folder} is not there")
        return 77
    names = captured.files(folder)
    assert all(any(part in name for name in names) for part in (*KNOWN, *GOOD)), "a file that is known is not there"
    with concurrent.futures.ThreadPoolExecutor(2) as pool:
        verdicts = list(pool.map(lambda name: check(bbtrace, folder, name), names))
    print(f"{len(names)} captures:", ", ".join(f"{verdicts.count(v)} {v}" for v in ("healthy", "usable", "sick")))
    return 0


if __name__ == "__main__":
    sys.exit(main())
