# SPDX-License-Identifier: Apache-2.0
"""One server of the lab. In: its entry, and a folder. Out: captures of its clients' packets, live by bbtrace and by
tcpdump, and rows of what was driven and found. Server and clients are each in a network namespace of their own."""
import os
import pathlib
import shutil
import signal
import subprocess
import sys
import time

import servers_count
import servers_kit

MAIN = os.path.join(os.path.dirname(os.path.abspath(__file__)), "servers")
NAMESPACES = {"server": servers_kit.SERVER, "client": servers_kit.CLIENT}
HOSTS = "127.0.0.1 localhost lab\n10.99.0.1 server.lab server\n10.99.0.2 client.lab client\n"
PYTHON = "/usr/bin/python3"  # whose modules Debian packages
LISTEN_S, PART_S = 30, 240
SETTLE_S = 0.3  # a filter is set after a socket is bound
DRAIN_S = 1.5  # tcpdump's blocks are handed over after a second

# ---- the network ------------------------------------------------------------------------------------


def ip(*words):
    subprocess.run(["ip", *words], check=True)


def build_network(folder):
    """All of it, mounts and processes too, lies in namespaces of this process, and ends with it."""
    for place in ("/run", "/var/log"):
        subprocess.run(["mount", "-t", "tmpfs", "-o", "mode=755", "tmpfs", place], check=True)
    os.makedirs("/run/lock")
    hosts = pathlib.Path(folder) / "hosts"
    hosts.write_text(HOSTS, encoding="ascii")
    subprocess.run(["mount", "--bind", hosts, "/etc/hosts"], check=True)
    subprocess.run(["hostname", "lab"], check=True)
    for name in NAMESPACES:
        ip("netns", "add", name)
    ip("link", "add", "eth0", "netns", "server", "type", "veth", "peer", "name", "eth0", "netns", "client")
    for name, address in NAMESPACES.items():
        for words in (("link", "set", "lo", "up"), ("addr", "add", f"{address}/24", "dev", "eth0"),
                      ("link", "set", "eth0", "up")):
            ip("-n", name, *words)


def inside(name, *command):
    return ["nsenter", f"--net=/run/netns/{name}", *command]


# ---- one server -------------------------------------------------------------------------------------


class Run:
    def __init__(self, options, name, entry, folder):
        self.options, self.name, self.entry, self.folder = options, name, entry, folder

    def path(self, name):
        return str(self.folder / name)

    def part(self, what, namespace, **pipes):
        with open(self.path(f"{what}.err"), "wb") as err:
            python = PYTHON if os.path.exists(PYTHON) else sys.executable
            return subprocess.Popen(inside(namespace, python, MAIN, "--part", what, self.name, str(self.folder)),
                                    stderr=err, **pipes)

    def said(self, what):
        return servers_kit.tail(self.path(f"{what}.err"))

    def capture_options(self):
        return [word.replace("FOLDER", str(self.folder)) for word in getattr(self.entry, "CAPTURE", ())]

    def sniffers(self):
        """bbtrace, and tcpdump where it is there; both listen when this returns."""
        bbtrace = [self.options.bbtrace, "capture", "-q", "-i", "eth0", *self.capture_options(), "-w",
                   self.path("live.bbt")]
        jobs = [subprocess.Popen(inside("client", *bbtrace), stderr=subprocess.PIPE)]
        if shutil.which("tcpdump"):
            tcpdump = ["tcpdump", "-i", "eth0", "-U", "-B", "65536", "--time-stamp-precision=nano", "-w",
                       self.path("packets.pcap")]
            jobs.append(subprocess.Popen(inside("client", *tcpdump), stderr=subprocess.PIPE))
        end = time.monotonic() + LISTEN_S
        while not all(listens(job.pid) for job in jobs):
            if any(job.poll() is not None for job in jobs) or time.monotonic() > end:
                raise servers_kit.Failed(f"no sniffer: {[job.stderr.read() for job in jobs if job.poll() is not None]}")
            time.sleep(0.05)
        time.sleep(SETTLE_S)
        return jobs

    def capture(self):
        jobs = self.sniffers()
        try:
            clients = self.part("drive", "client")
            status = clients.wait(timeout=PART_S)
            time.sleep(DRAIN_S)
        finally:
            for job in jobs:
                job.send_signal(signal.SIGINT)
        for job in jobs:
            _, err = job.communicate(timeout=60)
            if job.returncode or b"\n0 packets dropped by kernel" not in err and job is not jobs[0]:
                raise servers_kit.Failed(f"{job.args[-1]}: {err.decode()}")
        if status:
            raise servers_kit.Failed(f"the clients failed: {self.said('drive')}")

    def go(self):
        """Returns the rows of its protocols: [(Expect, Found, differences)]."""
        for key in self.capture_options():
            if key.startswith(str(self.folder)):
                pathlib.Path(key).touch()
        keeper = self.part("start", "server", stdin=subprocess.PIPE, stdout=subprocess.PIPE)
        try:
            if keeper.stdout.readline() != b"ready\n":
                keeper.wait(timeout=30)
                raise servers_kit.Failed(f"the server does not start: {self.said('start')}")
            self.capture()
        finally:
            keeper.stdin.close()
            keeper.wait(timeout=60)
        expected = servers_kit.from_json(pathlib.Path(self.path("expected.json")).read_text(encoding="utf-8"))
        rows = servers_count.compare(expected, servers_count.count(self.options.bbtrace, self.path("live.bbt"),
                                                                   expected))
        return rows, self.from_file()

    def from_file(self):
        """In words, how the messages of tcpdump's file differ from those seen live; None: not at all, or no file."""
        if not os.path.exists(self.path("packets.pcap")):
            return None
        subprocess.run([self.options.bbtrace, "capture", "-q", "-r", self.path("packets.pcap"), *self.capture_options(),
                        "-w", self.path("file.bbt")], check=True)
        texts = [servers_count.text_of(self.options.bbtrace, self.path(name)) for name in ("live.bbt", "file.bbt")]
        return servers_count.twins(*texts)


def listens(pid):
    """Whether a process has a packet socket that is bound to an interface and runs (proc_net(5): the columns are
    sk, RefCnt, Type, Proto, Iface, R, Rmem, User, Inode)."""
    try:
        with open(f"/proc/{pid}/net/packet", encoding="ascii") as table:
            rows = [line.split() for line in table.readlines()[1:]]
        own = {os.readlink(entry.path) for entry in os.scandir(f"/proc/{pid}/fd")}
    except OSError:
        return False
    return any(row[3] != "0000" and row[4] != "0" and row[5] == "1" and f"socket:[{row[8]}]" in own for row in rows)
