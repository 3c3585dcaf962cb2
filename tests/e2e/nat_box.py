# SPDX-License-Identifier: Apache-2.0
"""A NAT between two kernels, captured on both of its sides, gives what its server's side alone gives.

Usage: nat_box.py BBTRACE

Clients and a server of HTTP in two network namespaces talk through a box (this program) that writes other addresses and
ports at both ends, clamps the MSS, writes other identifications, and loses one packet in fifteen: the kernels send again,
SYNs as well. Of what passes, both sides are recorded. Skipped where there is no /dev/net/tun or no namespace."""
import fcntl
import http.client
import http.server
import os
import random
import re
import select
import socket
import struct
import subprocess
import sys
import tempfile
import threading
import time

import namespace

IFF_TUN, SIOCSIFADDR, SIOCSIFNETMASK = 1, 0x8916, 0x891c
CLIENT, SERVICE = ("10.0.0.1", None), ("10.9.9.9", 443)
OUTSIDE, SERVER = "192.168.5.77", ("192.168.5.4", 8080)
CLIENTS, REQUESTS, LOST = 8, 12, 15
RAW = 101  # LINKTYPE_RAW


def tunnel(name, address):
    """An interface of IP packets."""
    file = os.open("/dev/net/tun", os.O_RDWR)
    fcntl.ioctl(file, namespace.TUNSETIFF, struct.pack("16sH22s", name.encode(), IFF_TUN | namespace.IFF_NO_PI, b""))
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as any_socket:
        for what, value in (SIOCSIFADDR, address), (SIOCSIFNETMASK, "255.0.0.0"):
            given = struct.pack("HH4s8x", socket.AF_INET, 0, socket.inet_aton(value))
            fcntl.ioctl(any_socket, what, struct.pack("16s16s", name.encode(), given))
    namespace.set_up(name)
    return file


class Handler(http.server.BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def do_GET(self):
        body = b"x" * (int(self.path[1:]) * 700)
        self.send_response(200)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *_):
        pass


def serve(link):
    """The other namespace, until the box closes the link; what the kernel sends then is not read."""
    try:
        pass_packets(link)
    except ConnectionError:
        pass


def pass_packets(link):
    """What the box sends goes to the kernel, and what that sends to the box."""
    file = tunnel("server", SERVER[0])
    server = http.server.ThreadingHTTPServer(SERVER, Handler)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    link.send(b"ready")
    while True:
        for ready in select.select([file, link], [], [])[0]:
            if ready == file:
                link.send(os.read(file, 65536))
                continue
            packet = link.recv(65536)
            if not packet:
                return
            os.write(file, packet)


def checksum(data):
    total = sum(struct.unpack(f">{len(data) // 2}H", data[:len(data) & ~1])) + (data[-1] << 8 if len(data) & 1 else 0)
    while total >> 16:
        total = (total & 0xffff) + (total >> 16)
    return ~total & 0xffff


def rewrite(packet, source, target):
    """The packet of IPv4 and TCP between other ends."""
    ends = socket.inet_aton(source[0]) + socket.inet_aton(target[0])
    tcp = bytearray(struct.pack(">HH", source[1], target[1]) + packet[24:])
    if tcp[13] & 2 and tcp[20:22] == b"\2\4":
        struct.pack_into(">H", tcp, 22, 1200)
    tcp[16:18] = bytes(2)
    struct.pack_into(">H", tcp, 16, checksum(ends + struct.pack(">HH", 6, len(tcp)) + bytes(tcp)))
    head = bytearray(packet[:4] + struct.pack(">H", random.randrange(65536)) + packet[6:8] + bytes([60, 6, 0, 0]) + ends)
    struct.pack_into(">H", head, 10, checksum(bytes(head)))
    return bytes(head + tcp)


class Box(threading.Thread):
    def __init__(self, file, link):
        super().__init__(daemon=True)
        self.file, self.link, self.seen = file, link, []  # (time, side, packet)
        self.draw, self.ended = random.Random(5), False

    def note(self, side, packet):
        self.seen.append((time.time_ns(), side, packet))

    def pass_on(self, packet, back):
        if packet[0] != 0x45 or packet[9] != 6:
            return
        ports = struct.unpack_from(">HH", packet, 20)
        self.note(back, packet)
        if self.draw.randrange(LOST) == 0:
            return
        time.sleep(self.draw.random() / 2000)
        if back:
            packet = rewrite(packet, SERVICE, (CLIENT[0], ports[1] ^ 1))
        else:
            packet = rewrite(packet, (OUTSIDE, ports[0] ^ 1), SERVER)
        self.note(not back, packet)
        if back:
            os.write(self.file, packet)
        else:
            self.link.send(packet)

    def run(self):
        while not self.ended:
            for ready in select.select([self.file, self.link], [], [], 0.2)[0]:
                self.pass_on(os.read(self.file, 65536) if ready == self.file else self.link.recv(65536), ready != self.file)

    def write(self, path, sides):
        with open(path, "wb") as out:
            out.write(struct.pack("<IHHiIII", 0xa1b23c4d, 2, 4, 0, 0, 262144, RAW))
            for time_ns, side, packet in self.seen:
                if side in sides:
                    out.write(struct.pack("<IIII", *divmod(time_ns, 10**9), len(packet), len(packet)) + packet)


def ask(number):
    for _ in range(3):
        connection = http.client.HTTPConnection(*SERVICE, timeout=20)
        for size in range(REQUESTS // 3):
            connection.request("GET", f"/{number * size}")
            assert len(connection.getresponse().read()) == number * size * 700
        connection.close()


def talk():
    ours, theirs = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
    inside = dict(os.environ, BB_NAT_LINK=str(theirs.fileno()))
    other = subprocess.Popen(["unshare", "-n", sys.executable, *sys.argv], pass_fds=[theirs.fileno()], env=inside)
    theirs.close()
    assert ours.recv(100) == b"ready", "the server's namespace"
    box = Box(tunnel("clients", CLIENT[0]), ours)
    box.start()
    clients = [threading.Thread(target=ask, args=[number]) for number in range(CLIENTS)]
    for client in clients:
        client.start()
    for client in clients:
        client.join()
    time.sleep(0.5)
    box.ended = True
    box.join()
    ours.close()
    assert other.wait(timeout=10) == 0
    return box


def capture(path, *options):
    done = subprocess.run([sys.argv[1], "capture", "-v", "-r", path, *options], capture_output=True, check=True)
    return done.stdout.decode(), done.stderr.decode()


def renamed(trace):
    """Messages, the client of either side under one name, without the text of the connection."""
    return [re.sub(r" conn=\S+", "", line.replace(OUTSIDE, CLIENT[0])) for line in trace.splitlines() if line[0] != "#"]


def count(said, name):
    found = re.search(rf"([\d,]+)  [^\n]*\({name}\)", said)
    return int(found[1].replace(",", "")) if found else 0


def main():
    if os.environ.get("BB_NAT_LINK"):
        return serve(socket.socket(fileno=int(os.environ["BB_NAT_LINK"])))
    box = talk()
    with tempfile.TemporaryDirectory() as folder:
        box.write(f"{folder}/both.pcap", (False, True))
        box.write(f"{folder}/server.pcap", (True,))
        alone, alone_said = capture(f"{folder}/server.pcap")
        again = count(alone_said, "tcp_retransmitted")
        assert again > 0, alone_said
        for threads in (1, 4):
            both, said = capture(f"{folder}/both.pcap", f"--threads={threads}")
            assert renamed(both) == renamed(alone), said
            assert count(said, "tcp_retransmitted") == again, said
            assert count(said, "nat_joined") == 3 * CLIENTS, said
            assert "10.9.9.9:443 is 192.168.5.4:8080 behind a NAT: 24 connections seen twice, counted once" in said, said
        off = capture(f"{folder}/both.pcap", "--nat=off")[0]
        assert len(renamed(off)) > 1.9 * len(renamed(alone))
        keep = os.environ.get("BB_NAT_KEEP")
        if keep:
            box.write(keep, (False, True))
    print(f"{len(box.seen)} packets, {len(renamed(alone))} messages, {again} segments sent again")
    return 0


if __name__ == "__main__":
    if os.environ.get("BB_NAT_LINK"):
        sys.exit(main())
    namespace.enter(main, taps=True)
