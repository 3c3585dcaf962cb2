#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""The text trace of every capture in data/samples/protocols against GOLDEN/protocols/NAME.txt, whole; where
NAME.keys lies beside it, also what is read with these keys against NAME.keys.txt.

  protocols.py BBTRACE FOLDER GOLDEN [--update]   --update writes what is found"""
import difflib
import pathlib
import sys

import captured


def found_in(bbtrace, folder):
    """{NAME.txt: its trace}"""
    names, found = captured.files(folder), {}
    assert len({pathlib.Path(name).stem for name in names}) == len(names) > 0, "two captures of one name, or none"
    for name in names:
        stem, keys = pathlib.Path(name).stem, (folder / name).with_suffix(".keys")
        found[f"{stem}.txt"] = captured.run(bbtrace, folder / name)
        if keys.exists():
            found[f"{stem}.keys.txt"] = captured.run(bbtrace, folder / name, "--keylog", keys)
    return found


def main():
    bbtrace, folder, golden = sys.argv[1], pathlib.Path(sys.argv[2]), pathlib.Path(sys.argv[3]) / "protocols"
    found, bad = found_in(bbtrace, folder), 0
    gone = sorted(path for path in golden.glob("*.txt") if path.name not in found)
    if "--update" in sys.argv:
        golden.mkdir(parents=True, exist_ok=True)
        for path in gone:
            path.unlink()
        for name, text in found.items():
            (golden / name).write_text(text, encoding="utf-8")
        return 0
    for path in gone:
        bad += 1
        print(f"{path}: its capture is gone")
    for name, text in sorted(found.items()):
        path = golden / name
        expected = path.read_text(encoding="utf-8") if path.exists() else ""
        if expected != text:
            bad += 1
            print("\n".join(difflib.unified_diff(expected.splitlines(), text.splitlines(), str(path), "found", lineterm="", n=0)))
    print(f"{len(found)} traces, {bad} differ")
    return 1 if bad else 0


if __name__ == "__main__":
    sys.exit(main())
