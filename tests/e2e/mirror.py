#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""bbtrace mirror in a network namespace of its own: copies really come, and what is removed is what
was made and nothing else.

  mirror.py BBTRACE      skipped (77) without iproute2, namespaces, veth, clsact or mirred

    va <-> vb    the traffic: received at va is what vb sends
    vc <-> vd    the mirror port vc, where a sniffer listens at vd
    vu <-> ve    the way to a collector, 10.9.0.2
    br0          a bridge with the ports vp (<-> vq) and vr (<-> vs)"""
import json
import os
import shutil
import socket
import stat
import subprocess
import sys
import tempfile
import time
import unittest

BBTRACE = os.path.abspath(sys.argv[1])
OURS = 0x88B5  # for local experiments (IEEE 802): nobody else sends it
MARK = "626274726163652d6d6972726f72"
PAIRS = [("va", "vb"), ("vc", "vd"), ("vu", "ve"), ("vp", "vq"), ("vr", "vs")]


def run(*words, **options):
    return subprocess.run(words, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, check=False,
                          timeout=30, **options)


def must(line):
    done = run(*line.split())
    assert done.returncode == 0, (line, done.stderr)
    return done.stdout


def mirror(line, **options):
    return run(BBTRACE, "mirror", *line.split(), **options)


def let_ipv6(speak):
    """Whether interfaces made from now on have an address of IPv6, and so send frames by themselves."""
    try:
        with open("/proc/sys/net/ipv6/conf/default/disable_ipv6", "w", encoding="ascii") as file:
            file.write("0" if speak else "1")
    except OSError:
        pass  # the kernel has no IPv6


def set_up():
    let_ipv6(False)
    for one, other in PAIRS:
        must(f"ip link add {one} type veth peer name {other}")
        must(f"ip link set {one} up")
        must(f"ip link set {other} up")
    must("ip link add br0 type bridge")
    must("ip link set br0 up")
    must("ip link set vp master br0")
    must("ip link set vr master br0")
    must("ip addr add 10.9.0.1/24 dev vu")
    must("ip neigh add 10.9.0.2 lladdr 02:00:00:00:00:99 dev vu")


def filters(interface, direction):
    """Each filter without counters and ages: all that says what it does."""
    return json.loads(must(f"tc -json filter show dev {interface} {direction}") or "[]")


def everything():
    """All qdiscs, filters and interfaces of the namespace."""
    links = [row["ifname"] for row in json.loads(must("ip -json link show"))]
    qdiscs = must("tc qdisc show")
    held = [name for name in links if f" ffff: dev {name} " in qdiscs]
    return qdiscs, sorted(links), {(name, d): filters(name, d) for name in held for d in ("ingress", "egress")}


def actions(interface, direction):
    return [action for row in filters(interface, direction) for action in row.get("options", {}).get("actions", [])]


class Wire:
    """Sends frames of ours out at an interface, and counts those that come in at one."""

    def __init__(self, interface, protocol=OURS):
        self.socket = socket.socket(socket.AF_PACKET, socket.SOCK_RAW, socket.htons(protocol))
        self.socket.bind((interface, protocol))
        self.socket.settimeout(0.1)  # a frame is there before its sender goes on

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.socket.close()

    def send(self, word, count):
        head = bytes.fromhex("ffffffffffff" "020000000001") + OURS.to_bytes(2, "big")
        for number in range(count):
            self.socket.send(head + f"{word} {number}".encode().ljust(60, b"."))

    def frames(self):
        found = []
        try:
            while True:
                data, address = self.socket.recvfrom(65536)
                if address[2] != socket.PACKET_OUTGOING:
                    found.append(data)
        except TimeoutError:
            return found


def words_of(frames):
    """How many frames there are of each word."""
    words = [frame[14:].split(b" ")[0].decode() for frame in frames]
    return {word: words.count(word) for word in words}


def send_both_ways(received=10, sent=7):
    with Wire("vb") as other, Wire("va") as here:
        other.send("received", received)
        here.send("sent", sent)


class Mirror(unittest.TestCase):
    maxDiff = None

    def setUp(self):
        self.before = everything()

    def tearDown(self):
        self.assertEqual(mirror("del --all -q").returncode, 0)
        self.assertEqual(everything(), self.before)

    def does(self, line, said=None, **options):
        done = mirror(line, **options)
        self.assertEqual(done.returncode, 0, (line, done.stderr))
        if said is None:
            self.assertEqual(done.stderr, "", line)
        else:
            self.assertIn(said, done.stderr)
        return done.stdout

    def refuses(self, line, *reasons, status=1, **options):
        before = everything()
        done = mirror(line, **options)
        self.assertEqual(done.returncode, status, (line, done.stderr))
        for reason in reasons:
            self.assertIn(reason, done.stderr)
        self.assertEqual(len(done.stderr.splitlines()), 1 if status == 1 else 2, done.stderr)
        self.assertEqual(everything(), before, line)

    # ---- copies --------------------------------------------------------------------------------

    def copies(self, at="vd", **counts):
        with Wire(at) as sniffer:
            send_both_ways(**counts)
            return words_of(sniffer.frames())

    def test_both_directions(self):
        self.assertEqual(self.copies(), {})
        self.does("add --from va --to vc")
        self.assertEqual(self.copies(), {"received": 10, "sent": 7})
        self.does("del --from va")
        self.assertEqual(self.copies(), {})

    def test_one_direction(self):
        self.does("add --from va --to vc --direction ingress")
        self.assertEqual(self.copies(), {"received": 10})
        self.does("add --from va --to vc -d egress")
        self.assertEqual(self.copies(), {"received": 10, "sent": 7})
        self.does("del --direction ingress")
        self.assertEqual(self.copies(), {"sent": 7})

    def test_the_copy_is_the_frame(self):
        self.does("add --from va --to vc")
        with Wire("vb") as sender, Wire("va") as original, Wire("vd") as sniffer:
            sender.send("frame", 3)
            frames = original.frames()
            self.assertEqual(len(frames), 3)
            self.assertEqual(sniffer.frames(), frames)

    def test_several_interfaces_and_a_bridge(self):
        self.does("add --from va,br0 --from vp --to vc -d ingress", "br0 is a bridge: what it forwards")
        with Wire("vd") as sniffer, Wire("vq") as port, Wire("vb") as other:
            port.send("bridged", 4)
            other.send("other", 3)
            # vp and br0 both see what vp receives for all hosts.
            self.assertEqual(words_of(sniffer.frames()), {"bridged": 8, "other": 3})

    def test_two_mirrors_of_one_interface(self):
        self.does("add --from va --to vc")
        self.does("add --from va --to vu")
        self.assertEqual(self.copies("vd"), {"received": 10, "sent": 7})
        self.assertEqual(self.copies("ve"), {"received": 10, "sent": 7})
        self.does("del --to vc")
        self.assertEqual(self.copies("vd"), {})
        self.assertEqual(self.copies("ve"), {"received": 10, "sent": 7})

    def test_traffic_goes_on_as_before(self):
        self.does("add --from va --to vc")
        with Wire("va") as here, Wire("vb") as there:
            send_both_ways()
            self.assertEqual(words_of(here.frames()), {"received": 10})
            self.assertEqual(words_of(there.frames()), {"sent": 7})

    def test_a_capture_at_the_mirror_port(self):
        self.does("add --from va --to vc")
        with tempfile.TemporaryDirectory() as folder:
            job = subprocess.Popen([BBTRACE, "capture", "-i", "vd", "-c", "17", "-G", "15", "-w", f"{folder}/t.bbt",
                                    "ether", "proto", hex(OURS)], stderr=subprocess.PIPE, text=True)
            time.sleep(1)  # until it listens
            send_both_ways()
            err = job.communicate(timeout=60)[1]
            self.assertIn("17 packets", err)

    # ---- tunnels -------------------------------------------------------------------------------

    def wrapped(self, vni):
        """What comes to the collector in VXLAN (RFC 7348)."""
        with Wire("ve", 0x0800) as collector:
            send_both_ways()
            outer = [frame for frame in collector.frames() if frame[23] == socket.IPPROTO_UDP]
        for frame in outer:
            self.assertEqual(frame[30:34], socket.inet_aton("10.9.0.2"))
            self.assertEqual(frame[36:38], (4789).to_bytes(2, "big"))
            self.assertEqual(frame[42:50], bytes([8, 0, 0, 0]) + vni.to_bytes(3, "big") + b"\0")
            self.assertEqual(frame[62:64], OURS.to_bytes(2, "big"))
        return words_of([frame[50:] for frame in outer])

    def test_vxlan(self):
        if run("ip", "link", "add", "try0", "type", "vxlan", "id", "1", "remote", "10.9.0.2", "dstport",
               "4789").returncode:
            self.skipTest("the kernel has no vxlan")
        must("ip link del try0")
        self.does("add --from va --to-vxlan 10.9.0.2 --id 77 --local 10.9.0.1")
        self.assertEqual(self.wrapped(77), {"received": 10, "sent": 7})
        self.assertIn("bbmirror0 (vxlan 10.9.0.2 id 77 from 10.9.0.1)", self.does("show"))
        self.does("add --from vp --to-vxlan 10.9.0.2 --id 77 --local 10.9.0.1")  # the same tunnel
        self.assertEqual(run("ip", "link", "show", "bbmirror1").returncode, 1)
        self.does("add --from vp --to-vxlan 10.9.0.2 --id 78 -d ingress")  # another one
        self.does("del --to-vxlan 10.9.0.2 --from va")
        self.assertEqual(self.wrapped(77), {})
        self.assertEqual(run("ip", "link", "show", "bbmirror0").returncode, 0)
        self.does("del --to-vxlan 10.9.0.2")
        self.assertEqual(everything(), self.before)

    def test_a_tunnel_sends_nothing_of_its_own(self):
        if run("ip", "link", "add", "try0", "type", "vxlan", "id", "1", "remote", "10.9.0.2", "dstport",
               "4789").returncode:
            self.skipTest("the kernel has no vxlan")
        must("ip link del try0")
        let_ipv6(True)
        with Wire("ve", 0x0800) as collector:
            self.does("add --from va --to-vxlan 10.9.0.2")
            time.sleep(2)  # in which a host would ask for routers and for who has its address
            self.assertEqual(collector.frames(), [])
        let_ipv6(False)

    def test_a_tunnel_device_of_somebody_else_stays(self):
        if run("ip", "link", "add", "bbmirror0", "type", "bridge").returncode:
            self.skipTest("the kernel has no second bridge")
        made = everything()
        self.assertIn("bbmirror1", self.does("add -n --from va --to-vxlan 10.9.0.2"))
        self.does("del --all", "nothing to remove")
        self.assertEqual(everything(), made)
        must("ip link del bbmirror0")

    def test_tunnels_that_the_kernel_lacks(self):
        for kind, device in (("gre", "gretap"), ("erspan", "erspan")):
            words = f"type {device} remote 10.9.0.2 key 1" + (" seq erspan_ver 1 erspan 1" if kind == "erspan" else "")
            if run(*f"ip link add try0 {words}".split()).returncode == 0:
                must("ip link del try0")
                self.does(f"add --from va --to-{kind} 10.9.0.2")
                self.does(f"del --to-{kind} 10.9.0.2")
            else:
                self.refuses(f"add --from va --to-{kind} 10.9.0.2", f"`ip link add name bbmirror0 type {device} ",
                             "modprobe ip_gre (CONFIG_NET_IPGRE), or use --to-vxlan", "nothing is left behind")

    # ---- what is ours --------------------------------------------------------------------------

    def test_show(self):
        self.does("show", "there is no mirror of ours")
        self.does("add --from va --to vc")
        send_both_ways()
        head, ingress, egress = self.does("show").splitlines()
        self.assertEqual(head.split(), ["FROM", "WHAT", "FILTER", "PREF", "PACKETS", "BYTES", "TO"])
        for line, name, pref, count in ((ingress, "ingress", "37", 10), (egress, "egress", "38", 7)):
            words = line.split()
            self.assertEqual(words[:2] + words[3:4] + words[6:], ["va", name, pref, "vc"])
            self.assertIn(words[2], ("matchall", "u32"))
            self.assertGreaterEqual(int(words[4]), count)
            self.assertGreaterEqual(int(words[5].replace(",", "")), count * 60)

    def test_twice_is_said_and_harmless(self):
        self.does("add --from va --to vc")
        once = everything()
        self.does("add --from va --to vc", "va ingress is mirrored to vc already")
        self.assertEqual(everything(), once)
        self.does("del --from va")
        self.does("del --from va", "nothing to remove")

    def test_filters_of_others(self):
        """Somebody's qdisc, with a filter behind ours that copies, too: both get all, and theirs stays."""
        must("tc qdisc add dev va clsact")
        must("tc filter add dev va ingress protocol all pref 100 u32 match u32 0 0 action mirred egress mirror dev vu")
        theirs = everything()
        self.does("add --from va --to vc")
        self.assertEqual([a.get("cookie") for a in actions("va", "ingress")], [MARK + "2d", None])
        self.assertEqual(self.copies("vd"), {"received": 10, "sent": 7})
        self.assertEqual(self.copies("ve"), {"received": 10})
        self.assertNotIn("vu", self.does("show"))
        self.does("del --all")
        self.assertEqual(everything(), theirs)
        self.assertEqual(self.copies("ve"), {"received": 10})
        must("tc qdisc del dev va clsact")

    def test_a_filter_of_others_with_our_preference(self):
        must("tc qdisc add dev va clsact")
        must("tc filter add dev va ingress protocol all pref 37 u32 match u32 0 0 action mirred egress mirror dev vu")
        must("tc filter add dev va ingress protocol all pref 38 u32 match u32 7 0xff at 4 flowid 1:1")
        theirs = everything()
        self.does("add --from va --to vc --direction ingress")
        self.assertEqual({row["pref"] for row in filters("va", "ingress")}, {37, 38, 39})
        self.does("del --all")
        self.assertEqual(everything(), theirs)
        must("tc qdisc del dev va clsact")

    def test_somebody_comes_later_to_our_qdisc(self):
        self.does("add --from va --to vc")
        must("tc filter add dev va egress protocol all pref 5 u32 match u32 0 0 flowid 1:1")
        theirs = filters("va", "egress")[:3]
        self.does("add --from va --to vu", "somebody's filter on va egress (pref 5) comes before ours")
        self.assertEqual(self.copies("ve"), {"received": 10})  # theirs ends what goes out
        self.does("del --to vu")
        self.does("del --all", "va keeps its clsact qdisc, which others use by now")
        self.assertEqual(filters("va", "egress"), theirs)
        self.assertEqual(filters("va", "ingress"), [])
        must("tc qdisc del dev va clsact")

    def test_an_ingress_qdisc_of_others(self):
        must("tc qdisc add dev va ingress")
        theirs = everything()
        self.refuses("add --from va --to vc", "va has an ingress qdisc that is not ours", "--direction ingress")
        self.does("add --from va --to vc --direction ingress")
        self.assertEqual(self.copies(), {"received": 10})
        self.does("del --all")
        self.assertEqual(everything(), theirs)
        must("tc qdisc del dev va ingress")

    def test_which_ones_to_remove_must_be_said(self):
        self.does("add --from va --to vc")
        self.refuses("del", "which mirrors?", status=2)
        self.refuses("del --all --from va", "which mirrors?", status=2)
        self.refuses("del --to vc --to-gre 10.9.0.2", "only one of", status=2)
        self.refuses("del --to-gre 10.9.0", "--to-gre: '10.9.0' is no IPv4 or IPv6 address", status=2)
        self.does("del --from vb", "nothing to remove")
        self.does("del --from va --to vu", "nothing to remove")
        self.assertEqual(self.copies(), {"received": 10, "sent": 7})

    # ---- refusals ------------------------------------------------------------------------------

    def test_loops(self):
        self.refuses("add --from va --to va", "va cannot be mirrored to itself")
        self.refuses("add --from va --to vb", "(vb -> va)")
        self.does("add -n -d egress --from va --to vb")
        self.refuses("add --from vp --to br0", "(br0 -> vp)")
        self.refuses("add --from vq,vs --to vr", "(vr -> vs)")
        self.refuses("add --from vp --to vs", "(vs -> vr -> vp)")
        self.refuses("add --from vu --to-vxlan 10.9.0.2", "copies that are sent to 10.9.0.2", "(vu)")
        self.does("add --from va --to vc")
        self.refuses("add --from vc --to va", "(va -> vc)")
        self.refuses("add --from vd --to vb", "(vb -> va -> vc -> vd)")

    def test_what_there_is_not(self):
        self.refuses("add --from va,vx --to vc", "there is no interface vx; there are: ", "va")
        self.refuses("add --from va --to vx", "there is no interface vx")
        self.refuses("add --from va --to-vxlan 192.0.2.1", "there is no route to the collector 192.0.2.1")

    def test_an_interface_that_is_down(self):
        must("ip link set vc down")
        self.does("add -n --from va --to vc", "vc is down, and copies get lost until it is up: ip link set vc up")
        must("ip link set vc up")

    def test_wrong_usage(self):
        for line, reason in (
                ("", "what to do?"), ("mend", "what to do?"), ("add show", "only one of"),
                ("add --to vc", "which interfaces?"), ("add --from va", "where to?"),
                ("add --from va --to vc --to-gre 10.9.0.2", "where to?"),
                ("add --from va --to vc --direction up", "--direction is ingress, egress or both, not 'up'"),
                ("add --from va;reboot --to vc", "'va;reboot' is no name"),
                ("add --from va --to-gre collector", "'collector' is no IPv4 or IPv6 address"),
                ("add --from va --to-gre 127.0.0.1", "'127.0.0.1' is no IPv4 or IPv6 address of another"),
                ("add --from va --to-vxlan 10.9.0.2 --id 16777216", "--id is a number from 1 to 16777215"),
                ("add --from va --to-erspan 10.9.0.2 --id 1024", "--id is a number from 1 to 1023"),
                ("add --from va --to-gre 10.9.0.2 --local ::5", "two addresses of one family"),
                ("add --from va --to vc --classifier flower", "--classifier is auto, matchall or u32"),
                ("add --from va --to vc --vendor ovs", "add takes no --vendor"),
                ("show --from va", "show takes no --from"), ("plan --from va --to vc", "for whom?"),
                ("plan --vendor x --from va --to vc", "--vendor is arista, aws, ")):
            self.refuses(line, reason, status=2)

    def test_without_rights(self):
        """A second user namespace has no power over the network of the first."""
        done = run("unshare", "-rU", BBTRACE, "mirror", "add", "--from", "va", "--to", "vc")
        self.assertEqual(done.returncode, 1)
        self.assertIn("`tc qdisc add dev va clsact` failed: ", done.stderr)
        self.assertIn(": a mirror needs CAP_NET_ADMIN: run it as root", done.stderr)
        self.assertNotIn("if the kernel lacks it", done.stderr)
        self.assertEqual(run("unshare", "-rU", BBTRACE, "mirror", "show").returncode, 0)

    # ---- what fails half way -------------------------------------------------------------------

    def with_tc(self, folder, script):
        """An environment in which tc is this shell script; "$TC" is the real one."""
        path = os.path.join(folder, "tc")
        with open(path, "w", encoding="utf-8") as file:
            file.write(f"#!/bin/sh\nTC={shutil.which('tc')}\n{script}\n")
        os.chmod(path, stat.S_IRWXU)
        return {**os.environ, "PATH": f"{folder}:{os.environ['PATH']}"}

    def test_half_made_is_undone(self):
        with tempfile.TemporaryDirectory() as folder:
            env = self.with_tc(folder, 'case "$*" in "filter add dev vp egress"*) echo Error: disk on fire. >&2; '
                                       'exit 2;; esac; exec "$TC" "$@"')
            for to in ("--to vc", "--to-vxlan 10.9.0.2"):
                self.refuses(f"add --from va,vp {to}", "`tc filter add dev vp egress", "disk on fire.; ",
                             "nothing is left behind", env=env)

    def test_what_cannot_be_undone_is_said(self):
        with tempfile.TemporaryDirectory() as folder:
            env = self.with_tc(folder, 'case "$*" in "filter add"* | "qdisc del"*) exit 2;; esac; exec "$TC" "$@"')
            done = mirror("add --from va --to vc", env=env)
            self.assertEqual(done.returncode, 1)
            self.assertIn("not all could be undone, please run: tc qdisc del dev va clsact", done.stderr)
        must("tc qdisc del dev va clsact")

    def test_a_signal_leaves_nothing_half_made(self):
        with tempfile.TemporaryDirectory() as folder:
            whole = self.with_tc(folder, 'case "$*" in "qdisc add"*) kill -TERM $PPID;; esac; exec "$TC" "$@"')
            self.does("add --from va --to vc", env=whole)
            self.does("del --all")
            undone = self.with_tc(folder, 'case "$*" in "filter add dev va egress"*) kill -INT $PPID $$;; esac; '
                                          'exec "$TC" "$@"')
            self.refuses("add --from va --to vc --classifier u32", "nothing is left behind", env=undone)

    def test_removal_goes_on_behind_a_failure(self):
        self.does("add --from va,vp --to vc")
        with tempfile.TemporaryDirectory() as folder:
            env = self.with_tc(folder, 'case "$*" in "filter del dev va ingress"*) exit 2;; esac; exec "$TC" "$@"')
            done = mirror("del --all", env=env)
            self.assertEqual(done.returncode, 1)
            self.assertIn("`tc filter del dev va ingress", done.stderr)
        self.assertEqual(filters("vp", "ingress"), [])

    def test_a_program_that_prints_rubbish(self):
        with tempfile.TemporaryDirectory() as folder:
            for rubbish in ("printf '[{'", "printf '{}'", "printf '[%0100000d' 0 | tr 0 '['"):
                env = self.with_tc(folder, rubbish)
                self.refuses("show", "printed no list in JSON: iproute2 4.18", env=env)

    # ---- golden command lines ------------------------------------------------------------------

    def test_dry_run(self):
        before = everything()
        line = f"protocol all pref PREF KIND action mirred egress mirror dev vc continue cookie {MARK}71"
        matchall, u32 = (line.replace("PREF", "37").replace("KIND", kind) for kind in ("matchall", "u32 match u32 0 0"))
        self.assertEqual(self.does("add -n --from va --to vc -d ingress").splitlines(), [
            "tc qdisc add dev va clsact", f"tc filter add dev va ingress {matchall}",
            f"#   or, without matchall in the kernel: tc filter add dev va ingress {u32}"])
        self.assertEqual(self.does("add -n --from va --to vc --classifier matchall").splitlines(), [
            "tc qdisc add dev va clsact", f"tc filter add dev va ingress {matchall}",
            f"tc filter add dev va egress {matchall.replace('37', '38', 1)}"])
        self.assertEqual(self.does("add -n --from va --to vc -d egress --classifier u32").splitlines(), [
            "tc qdisc add dev va clsact", f"tc filter add dev va egress {u32}"])
        self.assertEqual(everything(), before)

    def test_dry_run_of_tunnels(self):
        ends = ["ip link set dev bbmirror0 addrgenmode none", "ip link set dev bbmirror0 up"]
        for words, link, alias in (
                ("--to-gre 10.9.0.2", "gretap remote 10.9.0.2 nopmtudisc ignore-df", "gre,10.9.0.2,-,-"),
                ("--to-gre 10.9.0.2 --id 5", "gretap remote 10.9.0.2 key 5 nopmtudisc ignore-df", "gre,10.9.0.2,5,-"),
                ("--to-erspan 10.9.0.2 --id 9 --local 10.9.0.1",
                 "erspan remote 10.9.0.2 local 10.9.0.1 seq key 9 erspan_ver 1 erspan 1 nopmtudisc ignore-df",
                 "erspan,10.9.0.2,9,10.9.0.1"),
                ("--to-vxlan 10.9.0.2", "vxlan remote 10.9.0.2 id 1 dstport 4789 nolearning", "vxlan,10.9.0.2,1,-")):
            made = self.does(f"add -n --from va {words}").splitlines()
            self.assertEqual(made[:4], [f"ip link add name bbmirror0 type {link}",
                                        f"ip link set dev bbmirror0 alias bbtrace-mirror,{alias}"] + ends)
            self.assertIn("mirror dev bbmirror0 continue", made[5])

    def test_dry_run_of_a_removal(self):
        self.does("add --from va --to vc -d ingress")
        self.assertEqual(self.does("del -n --all").splitlines(), [
            "tc filter del dev va ingress protocol all pref 37", "tc qdisc del dev va clsact"])
        self.assertEqual(self.copies(), {"received": 10})


def missing():
    """Why this kernel cannot have the test, or None."""
    for line in ("ip link add try0 type veth peer name try1", "tc qdisc add dev try0 clsact",
                 "tc filter add dev try0 ingress protocol all pref 1 u32 match u32 0 0 action mirred egress mirror "
                 "dev try1 continue cookie 00", "tc qdisc del dev try0 clsact", "ip link del try0",
                 "ip link add try0 type bridge", "ip link del try0"):
        done = run(*line.split())
        if done.returncode:
            return f"{line}: {done.stderr.strip()}"
    return None


def main():
    os.environ["PATH"] += ":/usr/sbin:/sbin"
    for program in ("tc", "ip", "unshare"):
        if not shutil.which(program):
            print(f"skipped: there is no {program}")
            return 77
    if len(sys.argv) == 2:
        if run("unshare", "-rn", "true").returncode:
            print("skipped: the kernel gives no user and network namespace")
            return 77
        return subprocess.run(["unshare", "-rn", sys.executable, *sys.argv, "inside"], check=False).returncode
    lack = missing()
    if lack:
        print(f"skipped: {lack}")
        return 77
    set_up()
    unittest.main(argv=[sys.argv[0]])
    return 0


if __name__ == "__main__":
    sys.exit(main())
