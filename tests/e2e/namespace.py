# SPDX-License-Identifier: Apache-2.0
"""What tests of live captures share: a network namespace of their own, interfaces in it, frames, the capture."""
import fcntl
import glob
import os
import select
import socket
import struct
import subprocess
import sys
import threading

SIOCSIFFLAGS, IFF_UP, IFF_RUNNING = 0x8914, 1, 64
TUNSETIFF, IFF_TAP, IFF_NO_PI = 0x400454ca, 2, 0x1000


def enter(main, taps=False):
    """Runs main() of the calling script in a namespace of its own, and ends the program: with 77 where there is
    none, or no tap interface where those are needed."""
    if os.environ.get("BB_NAMESPACE"):
        set_up("lo")
        sys.exit(main())
    if taps and not os.access("/dev/net/tun", os.R_OK | os.W_OK):
        print("skipped: no /dev/net/tun")
        sys.exit(77)
    if subprocess.run(["unshare", "-rn", "true"], stderr=subprocess.DEVNULL, check=False).returncode:
        print("skipped: the kernel gives no user and network namespace")
        sys.exit(77)
    inside = dict(os.environ, BB_NAMESPACE="1")
    sys.exit(subprocess.run(["unshare", "-rn", sys.executable, *sys.argv], env=inside, check=False).returncode)


def set_up(interface, up=True):
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as any_socket:
        request = struct.pack("16sH14s", interface.encode(), IFF_UP | IFF_RUNNING if up else 0, b"")
        fcntl.ioctl(any_socket, SIOCSIFFLAGS, request)


class Tap:
    """An interface that is there until it is closed; what is sent to it is received on it."""

    def __init__(self, name):
        self.file = open("/dev/net/tun", "r+b", buffering=0)
        fcntl.ioctl(self.file, TUNSETIFF, struct.pack("16sH22s", name.encode(), IFF_TAP | IFF_NO_PI, b""))
        set_up(name)

    def send(self, frame):
        self.file.write(frame)

    def close(self):
        self.file.close()


def datagram(source, target, ports, payload):
    """A frame of Ethernet, IPv4 without checksum errors, and UDP without checksum."""
    udp = struct.pack(">HHHH", *ports, 8 + len(payload), 0) + payload
    head = struct.pack(">BBHHHBBH4s4s", 0x45, 0, 20 + len(udp), 0, 0, 64, 17, 0, socket.inet_aton(source),
                       socket.inet_aton(target))
    total = sum(struct.unpack(">10H", head))
    total = (total & 0xffff) + (total >> 16)
    total = (total & 0xffff) + (total >> 16)
    head = head[:10] + struct.pack(">H", ~total & 0xffff) + head[12:]
    return bytes([2, 0, 0, 0, 0, 2, 2, 0, 0, 0, 0, 1, 8, 0]) + head + udp


def dns(number, answer):
    """Question for hostN.test, or its answer."""
    name = b"".join(bytes([len(part)]) + part for part in (b"host%d" % number, b"test")) + b"\0"
    head = struct.pack(">HHHHHH", number, 0x8180 if answer else 0x0100, 1, int(answer), 0, 0)
    record = b"\xc0\x0c" + struct.pack(">HHIH", 1, 1, 60, 4) + bytes([10, 1, 1, number % 250]) if answer else b""
    return head + name + struct.pack(">HH", 1, 1) + record


def talk(legs, numbers):
    """Questions on the first leg, their answers on the second, as the two legs of a tap show them."""
    for number in numbers:
        legs[0].send(datagram("10.9.0.1", "10.9.0.2", (40000 + number, 53), dns(number, False)))
        legs[1].send(datagram("10.9.0.2", "10.9.0.1", (53, 40000 + number), dns(number, True)))


def hear(job, words):
    """Waits until it has said that, 60 seconds at most; what it has said is kept."""
    while words not in job.heard:
        assert select.select([job.stderr], [], [], 60)[0], (words, job.heard)
        part = os.read(job.stderr.fileno(), 65536).decode()
        assert part, (words, job.heard)
        job.heard += part


def start(*command, **options):
    """A capture, or a doctor, that listens."""
    job = subprocess.Popen(command, stderr=subprocess.PIPE, **options)
    job.heard = ""
    hear(job, "listening on ")
    return job


def kill_late(job):
    """Returns a timer that kills it after a minute (a disk may take long to write what is to be on it), and says
    where in the kernel its threads waited."""
    def kill():
        try:
            for task in glob.glob(f"/proc/{job.pid}/task/*"):
                for name in ("comm", "wchan"):
                    with open(f"{task}/{name}", encoding="ascii") as file:
                        print("late:", file.read().strip(), file=sys.stderr)
        except OSError:  # a thread that ended just now
            pass
        finally:
            job.kill()

    timer = threading.Timer(60, kill)
    timer.start()
    return timer


def ended(job, status):
    """What it said; its standard error is closed when it ends."""
    timer = kill_late(job)
    err = job.heard + job.stderr.read().decode()
    timer.cancel()
    assert job.wait(timeout=60) == status, (job.returncode, err)
    return err


def finish(job, sent):
    if sent:
        job.send_signal(sent)
    return ended(job, 0)
