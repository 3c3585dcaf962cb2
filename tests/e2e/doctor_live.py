#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""bbtrace doctor at mirror ports that tc makes, of a server behind a bridge: a good one, half a mirror,
one that shows frames twice, and none.

  doctor_live.py BBTRACE        skipped (77) where the kernel lacks something of it"""
import json
import os
import signal
import subprocess
import sys
import time
import urllib.request

SERVER = """
import http.server
class Quiet(http.server.BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    def do_GET(self):
        self.send_response(200)
        self.send_header("Content-Length", "2")
        self.end_headers()
        self.wfile.write(b"ok")
    def log_message(self, *_):
        pass
http.server.ThreadingHTTPServer(("10.9.0.2", 8080), Quiet).serve_forever()
"""
BOTH, ONE = ("ingress", "egress"), ("ingress",)


class Missing(Exception):
    pass


def run(line):
    done = subprocess.run(line.split(), stdout=subprocess.PIPE, stderr=subprocess.PIPE, check=False)
    if done.returncode:
        raise Missing(f"{line}: {done.stderr.decode().strip()}")


def build():
    """A bridge with our address, a server behind vs0 in a namespace of its own, and a mirror port mon1 that
    nothing comes to yet. Returns the processes to end."""
    holder = subprocess.Popen(["unshare", "-n", "cat"], stdin=subprocess.PIPE, stdout=subprocess.DEVNULL)
    time.sleep(0.5)  # until it is in its namespace
    inside = f"nsenter -t {holder.pid} -n"
    for line in ("ip link add br0 type bridge", "ip addr add 10.9.0.1/24 dev br0", "ip link set br0 up",
                 f"ip link add vs0 type veth peer name vs1 netns {holder.pid}", "ip link set vs0 master br0 up",
                 f"{inside} ip addr add 10.9.0.2/24 dev vs1", f"{inside} ip link set vs1 up",
                 "ip link add mon0 type veth peer name mon1", "ip link set mon0 up", "ip link set mon1 up"):
        run(line)
    server = subprocess.Popen([*inside.split(), sys.executable, "-c", SERVER])
    return server, holder


def mirror(directions, times):
    run("tc qdisc add dev vs0 clsact")
    for direction in directions:
        run(f"tc filter add dev vs0 {direction} protocol all prio 1 u32 match u32 0 0" + " action mirred egress mirror dev mon0" * times)


def ask(count):
    for number in range(count):
        urllib.request.urlopen(f"http://10.9.0.2:8080/item/{number}", timeout=10).read()


def wait_for_server():
    for _ in range(50):
        try:
            ask(1)
            return
        except OSError:
            time.sleep(0.1)
    raise AssertionError("the server does not answer")


def watch(bbtrace, *options):
    job = subprocess.Popen([bbtrace, "doctor", "-i", "mon1", "--json", *options], stdout=subprocess.PIPE)
    time.sleep(1)  # until it listens
    return job


def finish(job, status=0):
    out, _ = job.communicate(timeout=30)
    assert job.returncode == status, (job.returncode, out)
    return json.loads(out)


def visit(bbtrace, directions, times=1):
    """(verdict, names of the findings that are no notes, all that was said)"""
    if directions:
        mirror(directions, times)
    job = watch(bbtrace, "-G", "3")
    ask(60)
    said = finish(job)
    if directions:
        run("tc qdisc del dev vs0 clsact")
    return said["verdict"], [f["name"] for f in said["findings"] if f["severity"] != "note"], said


def check_verdicts(bbtrace):
    verdict, names, said = visit(bbtrace, BOTH)
    assert (verdict, names) == ("healthy", []), said
    assert said["calls"] >= 60 and said["both_directions"] >= 60, said
    verdict, names, said = visit(bbtrace, ONE)
    assert (verdict, names) == ("sick", ["one_way"]), said
    assert said["findings"][0]["where"][0]["place"] == "nothing from 10.9.0.1", said
    verdict, names, said = visit(bbtrace, BOTH, 2)
    assert (verdict, names) == ("usable", ["doubled"]), said
    verdict, names, said = visit(bbtrace, ())
    assert verdict == "sick" and names in (["silent"], ["no_mirror"]), said


def check_ends_early(bbtrace):
    began = time.monotonic()
    job = watch(bbtrace, "-G", "60", "--strict", "tcp", "port", "1")
    job.send_signal(signal.SIGINT)
    said = finish(job, 1)
    assert [finding["name"] for finding in said["findings"]] == ["silent"], said
    assert time.monotonic() - began < 10


def main():
    if len(sys.argv) == 2:
        return subprocess.run(["unshare", "-rn", sys.executable, *sys.argv, "inside"], check=False).returncode
    jobs = []
    os.sched_setaffinity(0, {min(os.sched_getaffinity(0))})  # frames that two processors send overtake each other
    try:
        jobs = build()
        mirror(BOTH, 1)
        run("tc qdisc del dev vs0 clsact")
    except (Missing, OSError) as error:
        print(f"skipped: {error}")
        return 77
    try:
        wait_for_server()
        check_verdicts(sys.argv[1])
        check_ends_early(sys.argv[1])
    finally:
        for job in jobs:
            job.kill()
            job.wait()
    print("doctor at mirror ports: fine")
    return 0


if __name__ == "__main__":
    if len(sys.argv) == 2 and subprocess.run(["unshare", "-rn", "true"], check=False).returncode:
        print("skipped: the kernel gives no user and network namespace")
        sys.exit(77)
    sys.exit(main())
