# SPDX-License-Identifier: Apache-2.0
"""What an entry of servers.d is made of. In: the folder that a server may write to. Out: its processes,
operations driven from the clients' side, and what a trace should then hold.

An entry is one file with

  PACKAGES     Debian's, of server and client
  VERSION      package whose version is shown (default: the first of PACKAGES)
  CAPTURE      further options of bbtrace capture (optional); FOLDER in them is the folder
  start(lab)   in the server's network namespace: writes what the server needs, starts it, waits for it
  drive(lab)   in the clients': drives it, returns a list of Expect
  serve(lab)   where no package holds a server: be one (lab.serve_self starts it)"""
import collections
import contextlib
import dataclasses
import json
import os
import pwd
import signal
import socket
import subprocess
import sys
import time

SERVER, CLIENT = "10.99.0.1", "10.99.0.2"
START_S = 150  # for a server to answer at its port


@dataclasses.dataclass
class Expect:
    """What a trace should hold of one protocol. Calls whose label is one of `either` may be there or not,
    and are not counted: logins and the like."""
    proto: str
    calls: int
    errors: int = 0
    lost: int = 0  # calls that nobody answers
    orphans: int = 0  # returns of no call
    unsure: int = 0  # so many more calls that nobody answers may be there
    free: int | None = 0  # None: as many as there are
    labels: dict = dataclasses.field(default_factory=dict)  # how many calls, and free messages, have each of these
    either: tuple = ()


class Failed(Exception):
    """A server that does not start, or a client that fails: what, and its last words."""


def tail(path, size=1500):
    with open(path, "rb") as file:
        file.seek(max(0, os.path.getsize(path) - size))
        return file.read().decode(errors="replace").strip()


class Lab:
    def __init__(self, name, folder):
        self.name, self.folder, self.jobs = name, folder, []

    def path(self, name):
        return os.path.join(self.folder, name)

    # ---- files ------------------------------------------------------------------------------------

    def write(self, name, text, mode=0o644):
        path = self.path(name)
        os.makedirs(os.path.dirname(path), exist_ok=True)
        with open(path, "w" if isinstance(text, str) else "wb") as file:
            file.write(text.replace("FOLDER", self.folder) if isinstance(text, str) else text)
        os.chmod(path, mode)
        return path

    def make_folder(self, name, owner=None):
        path = self.path(name)
        os.makedirs(path, exist_ok=True)
        if owner:
            user = pwd.getpwnam(owner)
            os.chown(path, user.pw_uid, user.pw_gid)
        return path

    def certificate(self, host="server.lab", name=""):
        """Key and certificate of a host, signed by itself: NAMEkey.pem, NAMEcertificate.pem."""
        key, certificate = self.path(f"{name}key.pem"), self.path(f"{name}certificate.pem")
        self.run("openssl", "req", "-x509", "-newkey", "rsa:2048", "-nodes", "-days", "2", "-subj", f"/CN={host}",
                 "-addext", f"subjectAltName=DNS:{host}", "-keyout", key, "-out", certificate)
        return key, certificate

    # ---- processes --------------------------------------------------------------------------------

    def serve(self, *command, user=None, env=None, folder=None):
        """Starts a server that stays in the foreground."""
        log = self.path(f"server{len(self.jobs)}.log")
        with open(log, "wb") as out:
            job = subprocess.Popen(command, stdin=subprocess.DEVNULL, stdout=out, stderr=subprocess.STDOUT, user=user,
                                   group=pwd.getpwnam(user).pw_gid if user else None, extra_groups=[] if user else None,
                                   env={**os.environ, **(env or {})}, cwd=folder or self.folder, start_new_session=True)
        self.jobs.append((job, command, log))
        return job

    def serve_self(self):
        """Starts this entry's own serve()."""
        return self.serve(sys.executable, sys.argv[0], "--part", "serve", self.name, self.folder)

    @contextlib.contextmanager
    def paused(self, pid_file):
        """A server that does nothing meanwhile, and finds all that came at once."""
        with open(self.path(pid_file), encoding="ascii") as file:
            number = int(file.read())
        os.kill(number, signal.SIGSTOP)
        try:
            yield
        finally:
            os.kill(number, signal.SIGCONT)

    def wait(self, ready, what):
        end = time.monotonic() + START_S
        while not ready():
            for job, command, log in self.jobs:
                if job.poll() is not None:
                    raise Failed(f"{command[0]} ended with {job.returncode}: {tail(log)}")
            if time.monotonic() > end:
                raise Failed(f"{what} is not there after {START_S} s: {tail(self.jobs[-1][2]) if self.jobs else ''}")
            time.sleep(0.1)

    def wait_tcp(self, port, address=SERVER):
        def answers():
            try:
                socket.create_connection((address, port), timeout=1).close()
            except OSError:
                return False
            return True
        self.wait(answers, f"port {port}")

    def wait_udp(self, port):
        """Bound, at any address: a line of /proc/net/udp ends its address with the port."""
        def bound():
            lines = ""
            for table in ("/proc/net/udp", "/proc/net/udp6"):
                if os.path.exists(table):
                    with open(table, encoding="ascii") as file:
                        lines += file.read()
            return f":{port:04X} " in lines
        self.wait(bound, f"UDP port {port}")

    def wait_run(self, *command, **options):
        self.wait(lambda: self.run(*command, ok=None, **options).returncode == 0, " ".join(command))

    def stop(self):
        for job, _, _ in reversed(self.jobs):
            for sent, patience in ((signal.SIGTERM, 5), (signal.SIGKILL, 5)):
                try:
                    os.killpg(job.pid, sent)
                    job.wait(timeout=patience)
                except (ProcessLookupError, subprocess.TimeoutExpired):
                    pass

    def run(self, *command, ok=(0,), text=None, env=None, user=None):
        """A client, or what prepares a server. Returns it done, with .out; `ok`: exit statuses that are right."""
        done = subprocess.run(command, input=text, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, timeout=120,
                              user=user,
                              group=pwd.getpwnam(user).pw_gid if user else None, cwd=self.folder, check=False,
                              env={**os.environ, **(env or {})}, encoding="utf-8", errors="replace",
                              **({} if text is not None else {"stdin": subprocess.DEVNULL}))
        if ok is not None and done.returncode not in ok:
            raise Failed(f"{' '.join(command)} ended with {done.returncode}: {done.stdout[-1500:]}")
        done.out = done.stdout
        return done

    # ---- raw sockets ------------------------------------------------------------------------------

    def connect(self, port):
        return Talk(socket.create_connection((SERVER, port), timeout=20))


class Talk:
    """A TCP connection of a client that writes its protocol by hand."""

    def __init__(self, connection):
        connection.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        self.connection, self.rest = connection, b""

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.connection.close()

    def send(self, data):
        self.connection.sendall(data)

    def more(self):
        data = self.connection.recv(65536)
        if not data:
            raise Failed(f"the server ended the connection; before that: {self.rest[-200:]!r}")
        self.rest += data

    def take(self, size):
        while len(self.rest) < size:
            self.more()
        taken, self.rest = self.rest[:size], self.rest[size:]
        return taken

    def until(self, mark):
        """All up to the mark, and the mark."""
        while mark not in self.rest:
            self.more()
        return self.take(self.rest.index(mark) + len(mark))

    def ask(self, data, mark):
        self.send(data)
        return self.until(mark)

    def end(self):
        """What comes until the server ends the connection."""
        while data := self.connection.recv(65536):
            self.rest += data
        return self.rest


def counted(*words):
    """{word: how often}"""
    return dict(collections.Counter(words))


def need(condition, what):
    if not condition:
        raise Failed(what)


def to_json(expected):
    return json.dumps([dataclasses.asdict(one) for one in expected])


def from_json(text):
    return [Expect(**one) for one in json.loads(text)]
