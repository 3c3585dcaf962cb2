#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""bbtrace capture --anonymize and --labels: the oracle is bbtrace anonymize on the plain trace.

  private.py BBTRACE SAMPLES"""
import glob
import os
import re
import subprocess
import sys
import tempfile
import unittest

BBTRACE, SAMPLES = sys.argv[1:3]
SHOP = os.path.join(SAMPLES, "shop-slowauth.pcap.xz")
HOSTS = os.path.join(SAMPLES, "shop.hosts")
# What the plain trace of SHOP has and nothing may have that tells no names.
SECRETS = [rb"10\.77", rb"postgres(?!ql)", rb"cart", rb"SELECT", rb"GET", rb"shop"]
LABELS = [rb"/cart", rb"SELECT", rb"GET"]


def run(*command, status=0):
    done = subprocess.run([BBTRACE, *command], stdout=subprocess.PIPE, stderr=subprocess.PIPE, check=False, timeout=100)
    assert done.returncode == status, (command, done.returncode, done.stderr.decode())
    return done.stdout, done.stderr.decode()


def read(path):
    with open(path, "rb") as file:
        return file.read()


class Case(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = folder.name
        with open(self.path("key"), "wb") as file:
            file.write(b"0123456789abcdef")

    def path(self, name):
        return os.path.join(self.folder, name)

    def capture(self, name, *options, source=SHOP, status=0):
        _, err = run("capture", "-q", "-r", source, "--names", HOSTS, "-w", self.path(name), *options, status=status)
        return err

    def assert_free_of(self, text, secrets):
        for secret in secrets:
            self.assertIsNone(re.search(secret, text), secret)


class Anonymize(Case):
    def test_is_what_anonymize_makes_of_the_plain_trace(self):
        self.capture("plain.bbt")
        self.assertIsNotNone(re.search(SECRETS[0], run("cat", self.path("plain.bbt"))[0]))
        for options in ([], ["--labels=keep"], ["--labels=off"], ["--keep-ports"], ["--keep-prefixes", "--keep-ports"]):
            run("anonymize", "-k", self.path("key"), "-w", self.path("after.bbt"), *options, self.path("plain.bbt"))
            for threads in "1", "4":
                self.capture("at_once.bbt", "--anonymize", "--key", self.path("key"), "--threads", threads, *options)
                self.assertEqual(read(self.path("at_once.bbt")), read(self.path("after.bbt")), (options, threads))
            text = run("cat", self.path("at_once.bbt"))[0]
            self.assertIn(b"# note anonymized: names of nodes, ", text)
            self.assert_free_of(text, SECRETS if "--labels=keep" not in options else SECRETS[:1])

    def test_of_who_is_followed(self):
        follow = ["--follow", "10.77.0.20:80"]
        self.capture("plain.bbt", *follow)
        self.assertIn(b"# note followed 10.77.", run("cat", self.path("plain.bbt"))[0])
        run("anonymize", "-k", self.path("key"), "-w", self.path("after.bbt"), self.path("plain.bbt"))
        self.capture("at_once.bbt", "--anonymize", "--key", self.path("key"), *follow)
        self.assertEqual(read(self.path("at_once.bbt")), read(self.path("after.bbt")))
        self.assertNotIn(b"followed", run("cat", self.path("at_once.bbt"))[0].replace(b"not_followed", b""))

    def test_without_key_no_two_are_the_same(self):
        self.capture("a.bbt", "--anonymize")
        self.capture("b.bbt", "--anonymize")
        self.assertNotEqual(read(self.path("a.bbt")), read(self.path("b.bbt")))

    def test_names_learned_from_dns(self):
        source = os.path.join(SAMPLES, "protocols", "sip.pcap")
        for name, options in (("plain.bbt", []), ("at_once.bbt", ["--anonymize", "-k", self.path("key")])):
            run("capture", "-q", "-r", source, "--names-from-dns", "-w", self.path(name), *options)
        run("anonymize", "-k", self.path("key"), "-w", self.path("after.bbt"), self.path("plain.bbt"))
        self.assertEqual(read(self.path("at_once.bbt")), read(self.path("after.bbt")))

    def test_a_series_and_its_network_facts(self):
        self.capture("plain.bbt", "--rotate-size", "16K")
        self.capture("told.bbt", "--rotate-size", "16K", "--anonymize", "-k", self.path("key"))
        plain, told = (sorted(glob.glob(self.path(name + "_*.bbt"))) for name in ("plain", "told"))
        self.assertGreater(len(told), 3)
        for path in told:
            self.assert_free_of(run("cat", path)[0], SECRETS)
        counts = [re.findall(rb"\n# network .* connections=(\d+)", b"".join(run("cat", path)[0] for path in paths))
                  for paths in (plain, told)]
        self.assertGreater(sum(map(int, counts[0])), 0)
        self.assertEqual(sum(map(int, counts[0])), sum(map(int, counts[1])))

    def test_status_and_statistics_have_no_names(self):
        self.capture("t.bbt", "--anonymize", "--stats", self.path("s.json"))
        for name in "s.json", "s.prom":
            text = read(self.path(name))
            self.assertIn(b'caller', text)
            self.assert_free_of(text, SECRETS)


class Labels(Case):
    def test_off(self):
        self.capture("plain.bbt")
        self.capture("off.bbt", "--labels=off")
        plain, off = (run("cat", self.path(name))[0] for name in ("plain.bbt", "off.bbt"))
        self.assertEqual(re.sub(rb" op=\S+", b"", plain),
                         off.replace(b"# note labels of operations were left out\n", b""))
        self.assert_free_of(read(self.path("off.bbt")), LABELS)

    def test_hash(self):
        self.capture("plain.bbt")
        self.capture("hash.bbt", "--labels=hash", "-k", self.path("key"))
        run("anonymize", "-k", self.path("key"), "-m", self.path("map.csv"), "-w", self.path("x.bbt"),
            self.path("plain.bbt"))
        plain, found = (run("cat", self.path(name))[0] for name in ("plain.bbt", "hash.bbt"))
        hashed = run("cat", self.path("x.bbt"))[0]
        wanted = iter(re.findall(rb" op=\S+", hashed))
        self.assertEqual(re.sub(rb" op=\S+", lambda _: next(wanted), plain),
                         found.replace(b"# note labels of operations are hashed with a key\n", b""))


class Recorder(Case):
    TRIGGERS = ("open(postgres) > 50ms", "errors(GET*) > 0% over 1s min 1", "latency(SELECT*) max > 1us over 1s")

    def record(self, *options, status=0):
        triggers = [word for each in self.TRIGGERS for word in ("--trigger", each)]
        _, err = run("capture", "-r", SHOP, "--names", HOSTS, "-w", self.path("rec"), "--flight-recorder", "4M",
                     "--snap-after", "0", *triggers, *options, status=status)
        return err

    def test_triggers_see_names_and_tell_none(self):
        err = self.record("--anonymize", "-k", self.path("key"))
        paths = glob.glob(self.path("rec/snap-*.bbt"))
        self.assertTrue(paths)
        for path in paths + [self.path("rec/ring.bbr")]:
            text, _ = run("cat", path)
            self.assert_free_of(text + os.path.basename(path).encode() + read(path), SECRETS)
        self.assertIn(b"# note snapshot of a flight recorder, fired by trigger 3: max ", text := b"".join(
            run("cat", path)[0] for path in paths))
        self.assertIn(b"# note anonymized: ", text)
        self.assert_free_of("\n".join(line for line in err.splitlines() if "snapshot" in line).encode()
                            .replace(self.folder.encode(), b""), SECRETS)

    def test_without_labels_triggers_see_nodes_only(self):
        silent, every = "silent(postgres) > 1h", "open(*) > 1h"
        triggers = [word for each in (self.TRIGGERS[2], silent, every) for word in ("--trigger", each)]
        err = run("capture", "-r", SHOP, "--names", HOSTS, "-w", self.path("rec"), "--flight-recorder", "4M", *triggers,
                  "--labels=off")[1]
        self.assertIn("0 snapshots", err)
        self.assertEqual(re.findall(r"warning: with --labels=off triggers match nodes alone: '(.*?)'", err),
                         [self.TRIGGERS[2]])
        self.assertNotIn("warning", run("capture", "-r", SHOP, "--names", HOSTS, "-w", self.path("hashed"),
                                        "--flight-recorder", "4M", *triggers, "--labels=hash")[1])
        text = run("cat", self.path("rec/ring.bbr"))[0]
        self.assert_free_of(text, [rb" op="])
        self.assertIsNotNone(re.search(rb" postgres ", text))

    def test_a_ring_with_names_is_not_gone_on_in(self):
        self.record()
        self.assertIn("ring.bbr: a former run recorded there", self.record("--anonymize", status=1))
        self.assertIn("delete it", self.record("--labels=off", status=1))
        os.unlink(self.path("rec/ring.bbr"))
        self.record("--anonymize")
        self.assertIn("with other --anonymize or --labels", self.record("--labels=hash", status=1))
        self.record()
        self.assertIn("delete it", self.record("--anonymize", status=1))

    def test_a_ring_goes_on_under_its_key_alone(self):
        with open(self.path("other"), "wb") as file:
            file.write(b"fedcba9876543210")
        hosts = lambda: set(re.findall(rb"CALL_SENT (\S+ \S+)", run("cat", self.path("rec/ring.bbr"))[0]))
        for options in ["--anonymize"], ["--labels=hash"]:
            self.record(*options, "-k", self.path("key"))
            before = hosts()
            self.record(*options, "-k", self.path("key"))
            self.assertEqual(hosts(), before)
            for key in ["-k", self.path("other")], []:
                err = self.record(*options, *key, status=1)
                self.assertIn("ring.bbr: a former run recorded there under another key", err)
                self.assertIn("give all runs one --key", err)
            self.assertEqual(hosts(), before)
            os.unlink(self.path("rec/ring.bbr"))
            self.record(*options)  # with a key that nobody knows
            self.assertIn("each run without it makes a key of its own", self.record(*options, status=1))
            os.unlink(self.path("rec/ring.bbr"))
        self.record("--labels=off")
        self.record("--labels=off")  # has no key

    def recovered(self):
        run("snap", "--recover", self.path("rec"), "-w", self.path("out.bbt"))
        return re.findall(r"^# note (.*)", run("cat", self.path("out.bbt"))[0].decode(), re.M)

    def test_a_ring_that_is_recovered_says_what_was_done_to_it(self):
        self.record("--anonymize", "-k", self.path("key"))
        done = "anonymized: names of nodes, "
        notes = self.recovered()
        self.assertEqual(len(notes), 2)
        self.assertTrue(notes[1].startswith(done), notes)
        for marker in b"", b"\nkey", b"\xff\xfe\n", b"x" * 100000:
            with open(self.path("rec/ring.bbr.names"), "wb") as file:
                file.write(marker)
            self.assertFalse([note for note in self.recovered() if note.startswith(done)])
        os.unlink(self.path("rec/ring.bbr.names"))
        os.mkfifo(self.path("rec/ring.bbr.names"))
        self.assertEqual(len(self.recovered()), 1)


class Usage(Case):
    def test_wrong_usage(self):
        for options, word in ((["--labels=none"], "keep, hash or off"), (["--key", self.path("key")], "--key belongs"),
                              (["--labels=off", "--key", self.path("key")], "--key belongs"),
                              (["--keep-ports"], "belong to --anonymize"), (["--keep-prefixes"], "belong to --anonymize"),
                              (["--anonymize", "--keep-frames"], "--keep-frames")):
            self.assertIn(word, self.capture("t.bbt", *options, status=2))
        self.assertIn("would overwrite", self.capture("key", "--anonymize", "-k", self.path("key"), status=2))
        self.assertIn("would change", self.capture("t.bbt", "--anonymize", "-k", self.path("key"), "--stats",
                                                   self.path("key"), status=2))
        with open(self.path("short"), "wb") as file:
            file.write(b"short")
        self.assertIn("5 bytes", self.capture("t.bbt", "--anonymize", "-k", self.path("short"), status=1))
        self.assertIn("/nowhere/key", self.capture("t.bbt", "--labels=hash", "-k", "/nowhere/key", status=1))


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1])
