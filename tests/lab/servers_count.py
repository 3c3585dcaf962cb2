# SPDX-License-Identifier: Apache-2.0
"""What a trace holds, beside what was driven. In: a trace of bbtrace, in text, and what is expected of it.
Out: counts of each protocol, and every difference in words; how two traces of the same packets differ."""
import collections
import dataclasses
import fnmatch
import subprocess
import urllib.parse


@dataclasses.dataclass
class Found:
    calls: int = 0
    returns: int = 0
    orphans: int = 0
    errors: int = 0
    free: int = 0
    labels: collections.Counter = dataclasses.field(default_factory=collections.Counter)


def messages(text):
    """(time, operation, sender, receiver, id, {key: value}) of each line"""
    for line in text.splitlines():
        if not line.startswith("#"):
            time, operation, sender, receiver, call, *keys = line.split()
            yield time, operation, sender, receiver, call, dict(key.split("=", 1) for key in keys)


def text_of(bbtrace, trace):
    return subprocess.run([bbtrace, "cat", trace], stdout=subprocess.PIPE, check=True, encoding="utf-8").stdout


def errors_by_protocol(bbtrace, trace):
    """{protocol: failed calls}, as `bbtrace info` tells."""
    out = subprocess.run([bbtrace, "info", "--all", trace], stdout=subprocess.PIPE, check=True, encoding="utf-8").stdout
    table = out.split("\nprotocol", 1)[1].split("\n\n", 1)[0] if "\nprotocol" in out else ""
    return {line.split()[0]: int(line.split()[-1]) for line in table.splitlines()[1:] if line}


def count(bbtrace, trace, expected):
    """{protocol: Found}, without the calls that may be there or not."""
    either = {one.proto: one.either for one in expected}
    errors, found, passed = errors_by_protocol(bbtrace, trace), collections.defaultdict(Found), set()
    for _, operation, _, _, call, keys in messages(text_of(bbtrace, trace)):
        proto, label = keys.get("proto", "-"), urllib.parse.unquote(keys.get("op", ""))
        one = found[proto]
        if operation == "RET_SENT":
            one.orphans += call == "-"
            one.returns += call != "-" and call not in passed
        elif any(fnmatch.fnmatchcase(label, pattern) for pattern in either.get(proto, ())):
            passed.add(call)
        else:
            one.calls += operation == "CALL_SENT"
            one.free += operation == "MSG_SENT"
            one.labels[label] += 1
    for proto, one in found.items():
        one.errors = errors.get(proto, 0)
    return {proto: one for proto, one in found.items() if one.calls or one.returns or one.orphans or one.free
            or one.errors}


def differences(one, found):
    """Of an Expect and what was found, in words."""
    calls = min(max(found.calls, one.calls), one.calls + one.unsure)
    pairs = [("calls", calls, found.calls), ("returns", one.calls - one.lost, found.returns),
             ("returns of no call", one.orphans, found.orphans), ("errors", one.errors, found.errors)]
    if one.free is not None:
        pairs.append(("free messages", one.free, found.free))
    pairs += [(f"'{label}'", number, found.labels[label]) for label, number in sorted(one.labels.items())]
    said = [f"{what}: {got} instead of {wanted}" for what, wanted, got in pairs if wanted != got]
    if any("'" in words for words in said):
        said.append("labels found: " + ", ".join(f"'{label}' {number}" for label,
                                                 number in found.labels.most_common(40)))
    return said


def compare(expected, found):
    """[(Expect, Found, differences)]; what nobody expected is a row of its own, of which nothing was driven."""
    rows = [(one, found.get(one.proto, Found())) for one in expected]
    known = {one.proto for one in expected}
    rows += [(None, found[proto], proto) for proto in sorted(found) if proto not in known]
    return [(row[0], row[1], differences(row[0], row[1])) if row[0] else
            (type(expected[0])(row[2], 0), row[1], ["nobody drove it: " + ", ".join(row[1].labels)]) for row in rows]


# ---- live and from the file -------------------------------------------------------------------------


def plain(text):
    """{message: how often}, without its id and times (each sniffer's own), but with what it answers."""
    calls, listed = {}, collections.Counter()
    for _, operation, sender, receiver, call, keys in messages(text):
        keys.pop("end", None)
        if operation == "CALL_SENT":
            calls[call] = (keys.get("conn"), keys.get("off"))
        answered = calls.get(call) if operation == "RET_SENT" else None
        listed[(operation, sender, receiver, answered, *sorted(keys.items()))] += 1
    return listed


def twins(live, later):
    """In words, how two texts of traces differ; None: they tell the same messages, pairs too."""
    one, other = plain(live), plain(later)
    if one == other:
        return None
    return (f"{one.total()} messages live, {other.total()} from the file; "
            f"only live: {sorted((one - other).items(), key=str)[:3]}, "
            f"only from the file: {sorted((other - one).items(), key=str)[:3]}")
