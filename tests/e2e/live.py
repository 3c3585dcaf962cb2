#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Capture from an interface as a user does it: in a network namespace of its own, a server on lo.

  live.py BBTRACE        skipped (77) where the kernel gives no such namespace"""
import http.server
import re
import signal
import subprocess
import sys
import tempfile
import threading
import time
import urllib.request

from namespace import enter, finish, start


class Quiet(http.server.BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def do_GET(self):
        self.send_response(200)
        self.send_header("Content-Length", "2")
        self.end_headers()
        self.wfile.write(b"ok")

    def log_message(self, *_):
        pass


def serve():
    server = http.server.ThreadingHTTPServer(("127.0.0.1", 8080), Quiet)
    threading.Thread(target=server.serve_forever, daemon=True).start()


def ask(count):
    for number in range(count):
        urllib.request.urlopen(f"http://127.0.0.1:8080/item/{number}").read()


def check_trace(bbtrace, folder):
    for sent in (signal.SIGINT, signal.SIGTERM):
        trace = f"{folder}/t.bbt"
        job = start(bbtrace, "capture", "-i", "lo", "-w", trace, "tcp", "port", "8080")
        ask(20)
        time.sleep(0.5)
        err = finish(job, sent)
        assert "20 calls, 20 returns" in err, err
        assert "packets that passed the filter in the kernel" in err, err
        assert "packets dropped by the kernel" in err, err
        counts = [int(number) for number in re.findall(r"(\d+)(?: packets in|  [^\n]* \(kernel_received\))", err)]
        assert len(counts) == 2 and counts[0] == counts[1], err
        out = subprocess.run([bbtrace, "info", trace], stdout=subprocess.PIPE, stderr=subprocess.PIPE, check=True)
        assert out.stderr == b"", out.stderr
        assert b"packets that passed the filter in the kernel" in out.stdout, out.stdout
        assert b"interface lo: time stamps of the host clock (host), in nanoseconds" in out.stdout, out.stdout


def check_text_comes_at_once(bbtrace):
    job = start(bbtrace, "capture", "-i", "lo", stdout=subprocess.PIPE)
    ask(1)
    lines = [job.stdout.readline() for _ in range(4)]  # blocks for ever where nothing is flushed
    assert lines[0] == b"# bbtrace text 1\n" and lines[1].startswith(b"# note interface"), lines
    assert b"CALL_SENT" in lines[2] and b"RET_SENT" in lines[3], lines
    finish(job, signal.SIGINT)


def check_limits(bbtrace):
    job = start(bbtrace, "capture", "-i", "lo", "-c", "10", "-w", "/dev/null", "tcp", "port", "8080")
    ask(20)
    assert "10 packets" in finish(job, None)
    began = time.monotonic()
    finish(start(bbtrace, "capture", "-i", "lo", "-G", "2", "-w", "/dev/null"), None)
    assert 1.5 < time.monotonic() - began < 6


def main():
    bbtrace = sys.argv[1]
    serve()
    with tempfile.TemporaryDirectory() as folder:
        check_trace(bbtrace, folder)
    check_text_comes_at_once(bbtrace)
    check_limits(bbtrace)
    print("live capture: fine")
    return 0


if __name__ == "__main__":
    enter(main)
