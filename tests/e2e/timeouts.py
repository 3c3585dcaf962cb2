#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Who is to blame where calls time out: three processes that speak HTTP, web, cache and db. Some of db's answers, or
all, take long, web gives them up after 200 ms, and tries a spare that is down. What bbpaths says of a live capture
is what web has noted itself. Or db does not answer at all, web waits for it, and the client goes.

  timeouts.py BBTRACE BBPATHS        skipped (77) where the kernel gives no such namespace"""
import collections
import http.client
import http.server
import json
import multiprocessing
import os
import signal
import subprocess
import sys
import tempfile
import threading
import time

from namespace import enter, finish, start

PORT = 8080
ADDRESS = {"web": "127.0.0.2", "cache": "127.0.0.3", "db": "127.0.0.4", "spare": "127.0.0.5", "client": "127.0.0.9"}

# Requests, one after the other (whose call it was is not to be guessed); of how many answers how many are slow, and
# how slow; how long web and the client wait.
Mix = collections.namedtuple("Mix", "asked each slows slow_s web_s client_s", defaults=(0.8, 0.2, 10))
SOME, MANY, ALL, HUNG = Mix(130, 6, 1), Mix(50, 5, 3), Mix(40, 1, 1), Mix(40, 4, 1, 60, 60, 0.8)


def ask(caller, callee, path, timeout):
    """The status of the answer; None where it has been waited for in vain, and the connection is closed, or refused."""
    connection = http.client.HTTPConnection(ADDRESS[callee], PORT, timeout, source_address=(ADDRESS[caller], 0))
    try:
        connection.request("GET", path)
        answer = connection.getresponse()
        answer.read()
        return answer.status
    except (TimeoutError, ConnectionRefusedError):
        return None
    finally:
        connection.close()


class Server(http.server.ThreadingHTTPServer):
    request_queue_size = 64

    def handle_error(self, *_):
        pass  # db answers a connection that is closed


class Quiet(http.server.BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def do_GET(self):
        self.send_response(self.work())
        self.send_header("Content-Length", "2")
        self.end_headers()
        self.wfile.write(b"ok")

    def log_message(self, *_):
        pass


class Web(Quiet):
    log = mix = None  # log: what was waited for in vain, in seconds, a line each

    def work(self):
        ask("web", "cache", "/price", 10)
        began = time.monotonic()
        if ask("web", "db", "/stock", self.mix.web_s):
            return 200
        os.write(self.log, b"%.6f\n" % (time.monotonic() - began))
        ask("web", "spare", "/stock", self.mix.web_s)
        return 504


class Cache(Quiet):
    def work(self):
        time.sleep(0.002)
        return 200


class Db(Quiet):
    turn, lock, mix = 0, threading.Lock(), None

    def work(self):
        with self.lock:
            Db.turn += 1
            slow = Db.turn % self.mix.each < self.mix.slows
        time.sleep(self.mix.slow_s if slow else 0.008)
        return 200


def serve(name, handler, ready, log, mix):
    Web.log, Web.mix, Db.mix = log, mix, mix
    server = Server((ADDRESS[name], PORT), handler)
    ready.set()
    server.serve_forever()


def serve_all(log, mix):
    jobs = []
    for name, handler in (("web", Web), ("cache", Cache), ("db", Db)):
        ready = multiprocessing.Event()
        jobs.append(multiprocessing.Process(target=serve, args=(name, handler, ready, log, mix), daemon=True))
        jobs[-1].start()
        assert ready.wait(20), name
    return jobs


def capture(bbtrace, folder, mix):
    """Returns the trace, and how long each call took that web gave up."""
    names, trace, log = f"{folder}/hosts", f"{folder}/t.bbt", f"{folder}/log"
    with open(names, "w", encoding="ascii") as file:
        file.writelines(f"{address} {name}\n" for name, address in ADDRESS.items())
    jobs = serve_all(os.open(log, os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o600), mix)
    job = start(bbtrace, "capture", "-i", "lo", "--names", names, "-w", trace, "tcp", "port", str(PORT))
    for _ in range(mix.asked):
        ask("client", "web", "/page", mix.client_s)
    time.sleep(1.1)  # the last late answers
    finish(job, signal.SIGINT)
    for server in jobs:
        server.kill()
    with open(log, encoding="ascii") as file:
        return trace, [float(line) for line in file]


def run(*words):
    return subprocess.run(words, stdout=subprocess.PIPE, check=True).stdout.decode()


def check_blame(bbpaths, trace, waited, mix):
    found = json.loads(run(bbpaths, "blame", "-q", "-f", "json", trace))
    assert found["requests"] == mix.asked, found
    assert found["nodes"][0]["node"] == "db", found["nodes"]
    spare = {"client": "web", "server": "spare", "connections": len(waited), "unanswered": 0, "refused": len(waited)}
    assert found["not_opened"] == [spare], found["not_opened"]
    vain = [row for row in found["contexts"] if row.get("unanswered")]
    assert [(row["node"], row["op"], row["callers"]) for row in vain] == [("db", "GET /stock", ["client", "web"])], vain
    assert abs(vain[0]["calls"] - len(waited)) <= 2, (vain, waited)
    # What web notes begins with the handshake, and ends when it runs again.
    assert abs(vain[0]["critical_total_s"] - sum(waited)) < 0.1 * sum(waited), (vain, waited)
    share = sum(waited) / found["latency_total_s"]
    assert abs(vain[0]["share"] - share) < 0.1 * share, (vain, share)


def check_unread(bbtrace, trace, waited):
    """The answers that db sent to connections that web had closed."""
    unread = [line for line in run(bbtrace, "cat", trace).splitlines() if "status=unread" in line]
    assert abs(len(unread) - len(waited)) <= 2 and all("RET_SENT db web" in line for line in unread), unread


def check_tail(bbpaths, trace):
    [found] = json.loads(run(bbpaths, "tail", "-q", "-f", "json", trace))["compared"]
    cause = found["causes"][0]
    assert (found["node"], cause["what"], cause["node"]) == ("web", "extra_call", "db"), found
    assert cause.get("unanswered"), cause
    assert cause["share"] > 0.7, cause
    shown = [run(bbpaths, "show", "-q", f"i{slow['instance']}", trace).splitlines() for slow in found["slowest"]]
    pages = ["".join(line for line in lines if "web GET /page" in line) for lines in shown]
    stocks = ["".join(line for line in lines if "db GET /stock" in line) for lines in shown]
    vain = sum(" 504!" in page and "no return" in stock for page, stock in zip(pages, stocks))
    assert vain >= len(shown) - 1, shown  # the machine may be busy for a moment


def check_hung(bbtrace, bbpaths):
    """Who waits is gone, and nobody answered: it is db that the clients waited for, and until they went."""
    with tempfile.TemporaryDirectory() as folder:
        trace, _ = capture(bbtrace, folder, HUNG)
        found = json.loads(run(bbpaths, "blame", "-q", "-f", "json", trace))
        closed = [line for line in run(bbtrace, "cat", trace).splitlines() if "status=closed" in line]
    hung = HUNG.asked // HUNG.each  # and one or two more, where the machine is busy for so long
    assert hung <= len(closed) <= hung + 2 and all("MSG_SENT client web" in line for line in closed), closed
    assert found["requests"] == HUNG.asked and found["nodes"][0]["node"] == "db", found
    [vain] = [row for row in found["contexts"] if row.get("unanswered") and row["node"] == "db"]
    assert hung <= vain["calls"] <= hung + 2, vain
    assert abs(vain["critical_total_s"] - vain["calls"] * HUNG.client_s) < 0.15 * hung * HUNG.client_s, vain
    print(f"{hung} of {HUNG.asked} requests that hung: fine")


def main():
    bbtrace, bbpaths = sys.argv[1:]
    for mix in SOME, MANY, ALL:
        with tempfile.TemporaryDirectory() as folder:
            trace, waited = capture(bbtrace, folder, mix)
            assert len(waited) >= mix.asked // mix.each * mix.slows, waited
            check_blame(bbpaths, trace, waited, mix)
            check_unread(bbtrace, trace, waited)
            if mix is SOME:
                check_tail(bbpaths, trace)
        print(f"{len(waited)} calls of {mix.asked} that were given up: fine")
    check_hung(bbtrace, bbpaths)
    return 0


if __name__ == "__main__":
    enter(main)
