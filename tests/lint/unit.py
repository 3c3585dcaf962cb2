#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""The unit for systemd lets bbtrace do what it does: start the program that is installed, and give up rights by the
calls that the code makes for it, which are in no set of system calls of older versions of systemd.

  unit.py UNIT PROGRAM SOURCE        UNIT as installed, PROGRAM where it will be"""
import pathlib
import re
import sys

UNIT, PROGRAM, SOURCE = pathlib.Path(sys.argv[1]), sys.argv[2], pathlib.Path(sys.argv[3])


def values(key):
    return [line.partition("=")[2] for line in UNIT.read_text().splitlines() if line.startswith(key + "=")]


def main():
    started = values("ExecStart")
    assert len(started) == 1 and started[0].split()[:2] == [PROGRAM, "capture"], started
    allowed = " ".join(values("SystemCallFilter")).split()
    assert "@system-service" in allowed and not any(word.startswith("~") for word in allowed), allowed
    code = "".join(path.read_text() for path in sorted((SOURCE / "cli").glob("confine*.c")))
    wanted = set(re.findall(r"\bSYS_(\w+)", code)) - {"capget", "capset"}  # in @system-service from the beginning
    assert any(call.startswith("landlock_") for call in wanted) and "seccomp_load" in code, wanted
    wanted.add("seccomp")  # which libseccomp makes
    assert wanted <= set(allowed), f"not in SystemCallFilter: {sorted(wanted - set(allowed))}"
    # Where systemd does not know their names, they are not there, which bbtrace takes for an older kernel.
    assert values("SystemCallErrorNumber") == ["ENOSYS"], values("SystemCallErrorNumber")


main()
