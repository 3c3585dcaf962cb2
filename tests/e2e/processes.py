#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Nodes named by process: three programs on one host, on lo, in a network namespace of their own.

  processes.py BBTRACE        skipped (77) where the kernel gives no such namespace"""
import collections
import contextlib
import ctypes
import http.client
import http.server
import os
import pathlib
import pwd
import re
import shutil
import signal
import subprocess
import sys
import tempfile
import threading
import time

from namespace import enter, finish, set_up, start

BBTRACE = sys.argv[1]
SELF = os.path.abspath(__file__)
HOST = re.sub(r"[^A-Za-z0-9_.:@+-]", "_", os.uname().nodename.split(".")[0])
PR_SET_NAME, PR_SET_PDEATHSIG = 15, 1
BACK, FRONT, PAUSE = 8082, 8081, 0.005


def connect(port):
    """A connection that is there for a while before the first request: long enough to be seen on a busy machine."""
    to = http.client.HTTPConnection("127.0.0.1", port)
    to.connect()
    time.sleep(0.5)
    return to


class Server(http.server.ThreadingHTTPServer):
    daemon_threads = True


class Quiet(http.server.BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def answer(self):
        self.send_response(200)
        self.send_header("Content-Length", "2")
        self.end_headers()
        self.wfile.write(b"ok")

    do_GET = answer

    def log_message(self, *_):
        pass


class Middle(Quiet):
    """Asks behind on a connection of its own, which stays open."""

    def do_GET(self):
        if not hasattr(self, "behind"):
            self.behind = connect(BACK)
        self.behind.request("GET", "/behind" + self.path)
        self.behind.getresponse().read()
        self.answer()


def play(role):
    """One of the programs: comm is the name of its role."""
    libc = ctypes.CDLL(None)
    libc.prctl(PR_SET_NAME, role.encode(), 0, 0, 0)
    libc.prctl(PR_SET_PDEATHSIG, signal.SIGKILL, 0, 0, 0)
    if role == "bb-back":
        Server(("127.0.0.1", BACK), Quiet).serve_forever()
    if role == "bb-beyond":
        sys.stdin.readline()  # until it has an interface
        for command in "addr add 10.7.0.2/24 dev vb", "link set vb up":
            subprocess.run(["ip", *command.split()], check=True)
        Server(("0.0.0.0", BACK), Quiet).serve_forever()
    if role == "bb-middle":
        Server(("0.0.0.0", FRONT), Middle).serve_forever()
    for each in sys.stdin:  # bb-client: a number of requests on one connection
        to = connect(FRONT)
        for number in range(int(each)):
            to.request("GET", f"/item/{number}")
            to.getresponse().read()
            time.sleep(PAUSE)
        to.close()
        print("done", flush=True)


class Programs:
    def __init__(self):
        self.jobs = [subprocess.Popen([sys.executable, SELF, BBTRACE, role], text=True, stdin=subprocess.PIPE,
                                      stdout=subprocess.PIPE) for role in ("bb-back", "bb-middle", "bb-client")]
        for port in BACK, FRONT:
            self.wait_for(port)

    @staticmethod
    def wait_for(port, host="127.0.0.1"):
        for _ in range(200):
            try:
                http.client.HTTPConnection(host, port, timeout=5).connect()
                return
            except OSError:
                time.sleep(0.05)
        raise AssertionError(f"nobody listens at {port}")

    def ask(self, count):
        self.jobs[2].stdin.write(f"{count}\n")
        self.jobs[2].stdin.flush()
        assert self.jobs[2].stdout.readline() == "done\n"

    def close(self):
        for job in self.jobs:
            job.kill()
            job.communicate()


def edges_of(trace):
    """How many calls there are from whom to whom; notes."""
    edges, notes = {}, []
    out = subprocess.run([BBTRACE, "cat", trace], capture_output=True, text=True, check=True).stdout
    for line in out.splitlines():
        if line.startswith("# note "):
            notes.append(line)
        elif " CALL_SENT " in line:
            _, _, caller, callee = line.split()[:4]
            edges[caller, callee] = edges.get((caller, callee), 0) + 1
    return edges, notes


def node(name):
    return f"{HOST}/{name}"


def children(pid):
    return [int(child) for child in pathlib.Path(f"/proc/{pid}/task/{pid}/children").read_text().split()]


def is_gone(pid):
    """Or only waits for somebody to take note."""
    for _ in range(50):
        try:
            if pathlib.Path(f"/proc/{pid}/stat").read_text().rsplit(")", 1)[1].split()[0] == "Z":
                return True
        except OSError:
            return True
        time.sleep(0.02)
    return False


def unknown(err):
    found = re.search(r"(\d+)  connection ends at this host whose process was not found", err)
    assert found, err
    return int(found[1])


def check_edges(programs, folder):
    trace = f"{folder}/t.bbt"
    job = start(BBTRACE, "capture", "-v", "-i", "lo", "--processes", "-w", trace)
    looker, = children(job.pid)
    programs.ask(40)
    time.sleep(0.5)
    err = finish(job, signal.SIGINT)
    edges, notes = edges_of(trace)
    assert edges == {(node("bb-client"), node("bb-middle")): 40, (node("bb-middle"), node("bb-back")): 40}, (edges, err)
    assert unknown(err) == 0, err
    assert "warning" not in err, err
    assert "confined: " in err, err
    assert any(f"nodes%20of%20host%20{HOST}" in note or f"nodes of host {HOST}" in note for note in notes), notes
    assert is_gone(looker), "the other process is left"


def check_users_names_win(programs, folder):
    names, trace = f"{folder}/names", f"{folder}/n.bbt"
    pathlib.Path(names).write_text(f"127.0.0.1 everything\n127.0.0.1:{BACK} store\n")
    job = start(BBTRACE, "capture", "-i", "lo", "--processes", "--threads", "1", "--names", names,
                "-w", trace)
    programs.ask(5)
    time.sleep(0.5)
    finish(job, signal.SIGINT)
    edges, _ = edges_of(trace)
    assert edges == {(node("bb-client"), node("bb-middle")): 5, (node("bb-middle"), "store"): 5}, edges


def rights(pid):
    status = pathlib.Path(f"/proc/{pid}/status").read_text()
    return {line.split(":\t")[0]: line.split(":\t")[1] for line in status.splitlines() if ":\t" in line}


def looker_uid():
    """Nobody, where this namespace has such a user."""
    try:
        uid = pwd.getpwnam("nobody").pw_uid
    except KeyError:
        return os.getuid()
    ranges = [[int(word) for word in line.split()] for line in pathlib.Path("/proc/self/uid_map").read_text().splitlines()]
    return uid if any(inside <= uid < inside + count for inside, _, count in ranges) else os.getuid()


def lasting_files(pid):
    """What a process has open each time: while it looks at others, it has their folders open, too."""
    lasting = None
    for _ in range(20):
        files = collections.Counter()
        for fd in os.listdir(f"/proc/{pid}/fd"):
            with contextlib.suppress(FileNotFoundError):
                files[os.readlink(f"/proc/{pid}/fd/{fd}")] += 1
        lasting = files if lasting is None else lasting & files
        time.sleep(0.01)
    return sorted(lasting.elements())


def check_rights(folder):
    """The other process may look into processes, and has nothing open but what it looks with."""
    job = start(BBTRACE, "capture", "-i", "lo", "--processes", "-w", f"{folder}/r.bbt")
    looker, = children(job.pid)
    have = rights(looker)
    assert int(have["CapEff"], 16) & ~(1 << 19 | 1 << 2) == 0, have  # CAP_SYS_PTRACE, CAP_DAC_READ_SEARCH
    assert int(have["CapPrm"], 16) == int(have["CapEff"], 16) == int(have["CapBnd"], 16), have
    assert have["NoNewPrivs"] == "1" and have["Seccomp"] == rights(job.pid)["Seccomp"], have  # 0 under the sanitizers
    assert set(have["Uid"].split()) == {str(looker_uid())}, have
    assert rights(job.pid)["CapBnd"].strip("0") == "", "the capture's own bounding set"
    open_files = lasting_files(looker)
    kinds = [re.sub(r":\[\d+\]", "", file) for file in open_files]
    packets = pathlib.Path("/proc/net/packet").read_text()
    inodes = {line.split()[8] for line in packets.splitlines()[1:]}
    assert sorted(kinds) == ["/dev/null"] * 3 + ["/proc", "socket", "socket"], open_files
    assert inodes and not any(inode in file for inode in inodes for file in open_files), (inodes, open_files)
    finish(job, signal.SIGINT)


def check_death(programs, folder):
    """What is known stays known; the capture goes on."""
    trace = f"{folder}/d.bbt"
    job = start(BBTRACE, "capture", "-i", "lo", "--processes", "-w", trace)
    looker, = children(job.pid)
    os.kill(looker, signal.SIGKILL)
    time.sleep(0.5)
    programs.ask(7)
    time.sleep(0.5)
    err = finish(job, signal.SIGINT)
    edges, _ = edges_of(trace)
    assert "warning: --processes: the process that looks at sockets has ended" in err, err
    assert sum(edges.values()) == 14, edges
    assert edges[("127.0.0.1", node("bb-middle"))] == 7, edges
    assert unknown(err) > 0, err


def check_killed(folder):
    """kill -9 of the capture leaves nothing behind."""
    job = start(BBTRACE, "capture", "-i", "lo", "--processes", "-w", f"{folder}/k.bbt")
    looker, = children(job.pid)
    job.kill()
    job.communicate()
    assert is_gone(looker), "the other process is left"


def connect_to(pid):
    """A veth from here into the namespace of that process; false where there is no such thing."""
    commands = (f"link add va type veth peer name vb netns {pid}", "addr add 10.7.0.1/24 dev va", "link set va up")
    return shutil.which("ip") and not any(subprocess.run(["ip", *command.split()], check=False).returncode
                                          for command in commands)


def check_beyond(folder):
    """A server in another network namespace, as in a container: it is asked from here."""
    inside = subprocess.Popen(["unshare", "-n", sys.executable, SELF, BBTRACE, "bb-beyond"],
                              stdin=subprocess.PIPE, text=True)
    time.sleep(0.5)
    try:
        if not connect_to(inside.pid):
            print("left out: no veth into another namespace here")
            return
        inside.stdin.write("\n")
        inside.stdin.flush()
        Programs.wait_for(BACK, "10.7.0.2")
        trace = f"{folder}/b.bbt"
        job = start(BBTRACE, "capture", "-i", "va", "--processes", "-w", trace)
        to = http.client.HTTPConnection("10.7.0.2", BACK)
        for number in range(10):
            to.request("GET", f"/{number}")
            to.getresponse().read()
        time.sleep(0.5)
        finish(job, signal.SIGINT)
        callees = {callee for _, callee in edges_of(trace)[0]}
        assert callees == {node("bb-beyond")}, callees
    finally:
        inside.kill()
        inside.communicate()


def check_refusal():
    file = subprocess.run([BBTRACE, "capture", "-r", "x.pcap", "--processes"], capture_output=True, text=True,
                          check=False)
    assert file.returncode == 2 and "--processes is for interfaces" in file.stderr, file


def main():
    set_up("lo")
    programs = Programs()
    try:
        with tempfile.TemporaryDirectory() as folder:
            check_refusal()
            check_edges(programs, folder)
            check_users_names_win(programs, folder)
            check_rights(folder)
            check_death(programs, folder)
            check_killed(folder)
            check_beyond(folder)
    finally:
        programs.close()
    print("names of processes: fine")
    return 0


if __name__ == "__main__":
    if len(sys.argv) > 2:
        play(sys.argv[2])
    else:
        enter(main)
