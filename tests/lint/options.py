#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""What --help says, what the man pages say and what completion offers are the same: commands, options
with their arguments and defaults, values, counters; and the commands in examples exist.

  options.py BBTRACE BBPATHS SOURCE"""
import pathlib
import re
import shutil
import subprocess
import sys
import unittest

BBTRACE, BBPATHS, SOURCE = sys.argv[1], sys.argv[2], pathlib.Path(sys.argv[3])
PROGRAM = {"bbtrace": BBTRACE, "bbpaths": BBPATHS}
MAN = SOURCE / "doc" / "man"
COMPLETIONS = SOURCE / "doc" / "completions"
HELP_LINE = re.compile(r"  (?:-(\w), )?--([a-z-]+)(?:=(\S+))?(?: {2,}(.*))?$")
OPTION_WORD = re.compile(r"--?[A-Za-z][a-z-]*")
NOWHERE = "/nowhere/at/all"


def run(*command):
    return subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, check=False,
                          timeout=60)


# ---- what the programs say ----------------------------------------------------------------------


def help_text(name, command=None):
    done = run(*[word for word in (PROGRAM[name], command, "--help") if word])
    assert done.returncode == 0 and "Usage" in done.stdout, (name, command, done)
    return done.stdout


def help_commands(name):
    text = help_text(name)
    if name == "bbpaths":  # whose main work has no name
        text = text.partition("\nOther commands")[2]
    return re.findall(r"^  ([a-z]+) {2,}", text, re.M)


def help_options(name, command):
    """long name -> (short name, argument, text); every command has --help, which none prints."""
    found = {}
    for line in help_text(name, command).splitlines():
        match = HELP_LINE.match(line)
        if match:
            found[match[2]] = (match[1], match[3], match[4] or "")
    return found


def own_options(name, command):
    """As help_options, without what a command of bbpaths has in common with its main work."""
    shared = help_options(name, None) if name == "bbpaths" and command else {}
    return {long: spec for long, spec in help_options(name, command).items() if shared.get(long) != spec}


def commands():
    """(program, command) of everything that has options."""
    return [(name, command) for name in PROGRAM for command in [None] + help_commands(name)]


def all_options(name):
    """Option words of a program, over all commands."""
    words = {"-h", "--help"}
    for _, command in (pair for pair in commands() if pair[0] == name):
        for long, (short, _, _) in help_options(name, command).items():
            words |= {f"--{long}"} | ({f"-{short}"} if short else set())
    return words


# ---- what the man pages say ---------------------------------------------------------------------


def plain(line):
    """A line of mdoc without its macros, as far as this test needs it."""
    line = re.sub(r"Fl Fl (?=\w)", "--", line)
    line = re.sub(r"Fl (?=\w)", "-", line)
    line = re.sub(r" Ns (\S+) Ns ", r"\1", line)
    return re.sub(r"^\.?(?:(?:It|Ar|Cm|Pa|Ql|Xr|Sx|Em|No) )+|(?<=[ =])(?:Ar|Cm) ", "", line)


class Item:
    def __init__(self, head):
        self.head, self.body = plain(head), []

    def text(self):
        return " ".join(plain(line) for line in self.body)


def man_items(page):
    """(section, subsection or None, Item) of every tagged item of a page."""
    items = []
    section = subsection = item = None
    for line in (MAN / page).read_text(encoding="utf-8").splitlines():
        if line.startswith((".Sh ", ".Ss ")):
            section = line[4:] if line.startswith(".Sh") else section
            subsection = line[4:] if line.startswith(".Ss") else None
        if line.startswith(".It "):
            item = Item(line)
            items.append((section, subsection, item))
        elif line.startswith((".El", ".Sh", ".Ss")):
            item = None
        elif item:
            item.body.append(line)
    return items


def man_options(name, command):
    """long name -> (short name, argument, text), as own_options."""
    found = {}
    for section, subsection, item in man_items(f"{name}.1"):
        common = section == "OPTIONS" and (name != "bbpaths" or command is None)
        place = common or (section == "COMMANDS" and subsection == command)
        if not place or not item.head.startswith("-"):
            continue
        match = re.fullmatch(r"(?:-(\w)(?: (\S+))? , )?--([a-z-]+)(?:=(\S+))?", item.head)
        assert match, f"{name}.1: cannot read the item {item.head!r}"
        assert not match[1] or match[2] == match[4], f"{name}.1: two arguments in {item.head!r}"
        found[match[3]] = (match[1], match[4], item.text())
    return found


def man_counters():
    """name -> (sentence, whether it stands among the losses)."""
    return {item.head: (item.body[0] if item.body else "", subsection == "Losses")
            for section, subsection, item in man_items("bbtrace.1") if section == "COUNTERS"}


def said_defaults(text):
    """Values that --help calls the default: (default: X) and X (default)."""
    named = re.findall(r"default: ([^,;)]+)", text)
    marked = re.findall(r"([\w-]+) \((?:[^():]*, )?default[,;)]", text)
    return [(value, rf"default: {re.escape(value)}\b") for value in named] + \
           [(value, rf"\b{re.escape(value)}\b[^.]{{0,12}}\(default") for value in marked]


def command_lines(text):
    """(program, words) of every call of a program in examples and quotations."""
    literal = False
    for line in text.splitlines():
        if line.startswith((".Bd", ".Ed")):
            literal = line.startswith(".Bd -literal")
        if literal or line.startswith((".Dl ", ".Ql ", ".Pq Ql ")):
            for match in re.finditer(r"\b(bbtrace|bbpaths) ([^|>]*)", line):
                yield match[1], match[2].split()


# ---- what completion offers ---------------------------------------------------------------------


def complete(name, *words):
    """The words that bash offers for the last one of a command line."""
    program = PROGRAM[name]
    script = f'source "$1"; shift; COMP_WORDS=("$@"); COMP_CWORD=$(($# - 1)); _{name} "$1" ' \
             '"${COMP_WORDS[COMP_CWORD]}" "${COMP_WORDS[COMP_CWORD - 1]}"; printf "%s\\n" "${COMPREPLY[@]}"'
    done = run("bash", "-c", script, "bash", str(COMPLETIONS / f"{name}.bash"), program, *words)
    assert done.returncode == 0 and not done.stderr, (words, done.stderr)
    return set(done.stdout.split())


def formats(text):
    """What the script for zsh sets $formats to, for the main work."""
    return re.search(r"^local formats='([^']*)'", text, re.M)[1] if "$formats" in text else ""


def zsh_arguments(name, *words):
    """What the script for zsh gives to _arguments."""
    script = '_arguments() { print -rl -- "$@" }; _describe() { }; _call_program() { shift; eval "$@" }; ' \
             'words=("${@[2,-1]}"); CURRENT=$#words; () { source $1 } $1'
    done = run("zsh", "-f", "-c", script, "zsh", str(COMPLETIONS / f"_{name}"), PROGRAM[name], *words)
    assert done.returncode == 0 and not done.stderr, (words, done.stderr)
    return done.stdout.splitlines()


# Options whose values are a closed list, and how to ask for them.
VALUES = [("bbpaths", None, "--algo"), ("bbpaths", None, "--explain"), ("bbpaths", None, "--assign"),
          ("bbpaths", None, "--format"), ("bbpaths", None, "--sort"), ("bbpaths", None, "--latency"),
          ("bbtrace", "capture", "--node"), ("bbtrace", "import", "--from"), ("bbtrace", "export", "--to"),
          ("bbtrace", "merge", "--clocks"), ("bbtrace", "merge", "--join"),
          ("bbtrace", "merge", "--observers"), ("bbtrace", "merge", "--nat"),
          ("bbtrace", "merge", "--names-by"), ("bbtrace", "capture", "--names-by"),
          ("bbtrace", "mirror", "--direction"), ("bbtrace", "mirror", "--vendor"),
          ("bbtrace", "mirror", "--classifier"),
          ("bbtrace", "capture", "--sync")]


def try_value(name, command, option, value):
    rest = {"capture": ["-r", NOWHERE, "-w", "/dev/null"], "import": ["-w", "/dev/null", NOWHERE],
            "export": ["-o", "/dev/null", NOWHERE],
            "merge": ["-w", "/dev/null", NOWHERE], "compare": [NOWHERE, NOWHERE],
            "mirror": ["plan" if option == "--vendor" else "add", "--from=x", "--to=x"]}.get(command, [NOWHERE])
    if option == "--explain":
        rest = ["--algo=convolution", "--quantum=10ms"] + rest
    return run(PROGRAM[name], *([command] if command else []), option, value, *rest)


def accepted_values(name, command, option):
    """The list in the words that refuse another value."""
    done = try_value(name, command, option, "?")
    assert done.returncode == 2, (option, done)
    listed = re.search(r"(?::|is) ([\w-]+(?:(?:, | or )[\w-]+)*)(?:, not '\?')?$",
                       done.stderr.splitlines()[0])
    assert listed, (option, done.stderr)
    return set(re.split(r", | or ", listed[1]))


class Options(unittest.TestCase):
    maxDiff = None

    def test_there_is_something_to_compare(self):
        self.assertIn("capture", help_commands("bbtrace"))
        self.assertEqual(help_options("bbtrace", "capture")["read"][:2], ("r", "FILE"))
        self.assertGreater(len(list(command_lines((MAN / "bbtrace.1").read_text(encoding="utf-8")))), 5)

    def test_man_pages_have_the_commands(self):
        for name in PROGRAM:
            text = (MAN / f"{name}.1").read_text(encoding="utf-8")
            synopsis = text.split(".Sh SYNOPSIS\n")[1].split(".Sh ")[0]
            sections = text.split(".Sh COMMANDS\n")[1].split(".Sh ")[0]
            with self.subTest(name=name):
                self.assertEqual(set(re.findall(r"^\.Cm (\w+)$", synopsis, re.M)), set(help_commands(name)))
                self.assertEqual(re.findall(r"^\.Ss (\w+)$", sections, re.M), help_commands(name))

    def test_man_pages_have_the_options_and_no_others(self):
        for name, command in commands():
            with self.subTest(name=name, command=command):
                shown = {long: spec[:2] for long, spec in own_options(name, command).items()}
                said = {long: spec[:2] for long, spec in man_options(name, command).items()}
                if command is None:
                    self.assertEqual(said["help"], ("h", None))
                    said["help"] = shown.get("help", said["help"])
                    shown["help"] = said["help"]
                self.assertEqual(said, shown)

    def test_help_is_an_option_of_every_command(self):
        for name, command in commands():
            for option in ("-h", "--help"):
                done = run(*[word for word in (PROGRAM[name], command, option) if word])
                self.assertEqual((done.returncode, done.stdout), (0, help_text(name, command)))

    def test_man_pages_have_the_defaults(self):
        for name, command in commands():
            told = man_options(name, command)
            for long, (_, _, text) in own_options(name, command).items():
                for value, pattern in said_defaults(text):
                    with self.subTest(command=command, option=long, default=value):
                        self.assertRegex(told[long][2], pattern)

    def test_options_named_in_the_text_exist(self):
        for name in PROGRAM:
            known = all_options(name)
            for line in (MAN / f"{name}.1").read_text(encoding="utf-8").splitlines():
                if " Fl " in f" {line[1:]}":
                    words = {f"-{w}" if f == "Fl" else f"--{w}"
                             for f, w in re.findall(r"\b(Fl Fl|Fl) ([a-z][\w-]*)", line, re.I)}
                    self.assertLessEqual(words, known, line)

    def test_command_lines_in_all_pages_exist(self):
        for page in sorted(MAN.iterdir()):
            for name, words in command_lines(page.read_text(encoding="utf-8")):
                command = next((word for word in words[:1] if word in help_commands(name)), None)
                known = {"--help", "-h"}
                for long, (short, _, _) in help_options(name, command).items():
                    known |= {f"--{long}", f"-{short}"}
                used = {word.split("=")[0] for word in words if OPTION_WORD.match(word)}
                self.assertLessEqual(used, known, (page.name, name, words))

    def test_man_page_has_the_counters(self):
        source = (SOURCE / "capture" / "loss.h").read_text(encoding="utf-8").replace("\\\n", " ")
        table = {name: (f"{meaning}.", loss == "true") for name, meaning, loss in
                 re.findall(r'X\(\w+,\s*"(\w+)",\s*"([^"]*)",\s*(true|false)\)', source)}
        self.assertEqual(len(table), len(re.findall(r"\bX\(BB_", source)))
        self.assertEqual(man_counters(), table)


class Completion(unittest.TestCase):
    def test_bash_offers_the_commands(self):
        self.assertEqual(complete("bbtrace", ""), set(help_commands("bbtrace")) | {"--help", "--version"})
        self.assertEqual(complete("bbtrace", "ca"), {"cat", "capture"})
        self.assertEqual(complete("bbpaths", ""), set(help_commands("bbpaths")))

    def test_bash_offers_the_options_and_no_others(self):
        for name, command in commands():
            words = [command] if command else []
            offered = complete(name, *words, "--")
            self.assertEqual(offered, {f"--{long}" for long in help_options(name, command)} | {"--help"})
            self.assertTrue(all(o.startswith("--q") for o in complete(name, *words, "--q")))

    def test_bash_offers_the_values(self):
        for name, command, option in VALUES:
            with self.subTest(option=option):
                words = [command] if command else []
                values = accepted_values(name, command, option)
                self.assertEqual(complete(name, *words, option, ""), values)
                self.assertEqual(complete(name, *words, option, "=", ""), values)
                for value in values:
                    self.assertEqual(try_value(name, command, option, value).returncode, 1, value)
                short = help_options(name, command)[option[2:]][0]
                if short:
                    self.assertEqual(complete(name, *words, f"-{short}", ""), values)

    def test_bash_leaves_files_to_bash(self):
        for words in (("bbtrace", "info", ""), ("bbtrace", "capture", "-r", ""), ("bbpaths", "-o", "x")):
            self.assertEqual(complete(*words), set(), words)

    @unittest.skipUnless(shutil.which("zsh"), "no zsh here")
    def test_zsh_offers_the_short_options_of_the_command(self):
        for name, command in (pair for pair in commands() if pair != ("bbtrace", None)):
            with self.subTest(name=name, command=command):
                taken = zsh_arguments(name, *[command] if command else [], "-")
                short = {letter: value for letter, value, _ in help_options(name, command).values() if letter and value}
                self.assertEqual({word[1] for word in taken if re.match(r"-\w\+", word)}, set(short), taken)
                for letter in (letter for letter, value in short.items() if value == "FILE"):
                    self.assertIn(f"-{letter}+:file:_files", taken)
                self.assertEqual("--node=host*:node:(host endpoint)" in taken, name == "bbtrace")
                if name == "bbpaths":
                    values = accepted_values(name, command, "--format") if command not in ("report", "show") else {"text", "json"}
                    listed = [word for word in taken if word.startswith("--format=*:")]
                    self.assertEqual({*re.search(r"\((.*)\)", *listed)[1].split()}, values)

    def test_zsh_names_nothing_else(self):
        for name in PROGRAM:
            text = (COMPLETIONS / f"_{name}").read_text(encoding="utf-8")
            self.assertTrue(text.startswith(f"#compdef {name}\n"))
            named = set(re.findall(r"['\"](--?[a-z][a-z-]*)[=+]", text))
            self.assertTrue(named)
            self.assertLessEqual(named, all_options(name))
            for _, command, option in (v for v in VALUES if v[0] == name):
                listed = re.search(rf"['\"]{option}=\w*\*:\w+:\(([^)$]*)\)['\"]", text.replace("$formats", formats(text)))
                self.assertTrue(listed, option)
                self.assertEqual(set(listed[1].split()), accepted_values(name, command, option))


if __name__ == "__main__":
    unittest.main(argv=[sys.argv[0]])
