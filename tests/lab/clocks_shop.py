# SPDX-License-Identifier: Apache-2.0
"""A system in three tiers below its clients, and the truth about it. In: which host to be. Out: a line of
JSON for each call that this host made: [its connection, that of the call that caused it, or null].

  clocks_shop.py HOST [SECONDS CLIENTS]      the last two for the host of the clients

Each call has a connection of its own with a port that no other had, so that a connection names a call."""
import itertools
import json
import random
import socket
import sys
import threading
import time

ADDRESS = {"clients": "10.99.0.10", "front": "10.99.0.20", "app1": "10.99.0.31", "app2": "10.99.0.32",
           "cache": "10.99.0.41", "store": "10.99.0.42"}
PORT = 8080
THINK_S, WORK_S = 0.05, {"front": 0.0005, "app1": 0.004, "app2": 0.004, "cache": 0.0008, "store": 0.003}
CACHED = 0.5  # share of what the applications ask for that needs no store

ports = itertools.count(10000)
truth_lock = threading.Lock()


def endpoints(connection):
    """As a trace writes a connection: the lesser end first."""
    ends = sorted((connection.getsockname()[:2], connection.getpeername()[:2]),
                  key=lambda end: (socket.inet_aton(end[0]), end[1]))
    return "-".join(f"{address}:{port}" for address, port in ends)


def read_head(connection):
    head = b""
    while b"\r\n\r\n" not in head:
        more = connection.recv(4096)
        if not more:
            break
        head += more
    return head


def ask(host, path, cause):
    own = (ADDRESS[sys.argv[1]], next(ports))
    with socket.create_connection((ADDRESS[host], PORT), timeout=10, source_address=own) as connection:
        connection.sendall(f"GET {path} HTTP/1.1\r\nHost: {host}\r\nConnection: close\r\n\r\n".encode())
        call = endpoints(connection)
        while connection.recv(4096):
            pass
    with truth_lock:
        print(json.dumps([call, cause]), flush=True)


def work(host):
    time.sleep(random.expovariate(1 / WORK_S[host]))


def answer(host, path, call):
    work(host)
    if host == "front":
        ask(random.choice(("app1", "app2")), path, call)
    elif host.startswith("app"):
        ask("cache", path, call)
        if random.random() > CACHED:
            work(host)
            ask("store", path, call)


def serve_one(host, connection):
    with connection:
        head = read_head(connection)
        if not head:
            return
        answer(host, head.split()[1].decode(), endpoints(connection))
        connection.sendall(b"HTTP/1.1 200 OK\r\nContent-Length: 5\r\nConnection: close\r\n\r\nfine\n")


def serve(host):
    with socket.create_server((ADDRESS[host], PORT), backlog=128) as listener:
        while True:
            connection, _ = listener.accept()
            threading.Thread(target=serve_one, args=(host, connection), daemon=True).start()


def be_client(end):
    while time.monotonic() < end:
        time.sleep(random.expovariate(1 / THINK_S))
        ask("front", random.choice(("/item", "/list")), None)


def be_clients(seconds, count):
    end = time.monotonic() + seconds
    clients = [threading.Thread(target=be_client, args=(end,)) for _ in range(count)]
    for client in clients:
        client.start()
    for client in clients:
        client.join()


if __name__ == "__main__":
    if sys.argv[1] == "clients":
        be_clients(float(sys.argv[2]), int(sys.argv[3]))
    else:
        serve(sys.argv[1])
