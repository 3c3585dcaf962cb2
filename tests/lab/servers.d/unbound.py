# SPDX-License-Identifier: Apache-2.0
"""unbound: questions over UDP and TCP, many at once; names that are not there, a truncated answer."""
import socket
import struct

from servers_kit import SERVER, Expect, need

PACKAGES = "unbound bind9-dnsutils"
CONFIG = f"""server:
  interface: {SERVER}
  access-control: 0.0.0.0/0 allow
  do-daemonize: no
  use-syslog: no
  username: ""
  chroot: ""
  pidfile: FOLDER/pid
  directory: FOLDER
  local-zone: "lab." static
  local-data: "www.lab. A 10.99.0.1"
  local-data: "www.lab. AAAA fd00::1"
  local-data: "lab. MX 10 www.lab."
  max-udp-size: 600
""" + "".join(f'  local-data: "big.lab. TXT \'{i:03} {"x" * 200}\'"\n' for i in range(8)) + """remote-control:
  control-enable: no
"""
COUNT, TOGETHER = 25, 10


def start(lab):
    lab.serve("unbound", "-d", "-c", lab.write("unbound.conf", CONFIG))
    lab.wait_tcp(53)
    lab.wait_udp(53)


def dig(lab, *words):
    return lab.run("dig", f"@{SERVER}", "+retry=0", "+time=5", *words).out


def question(number, name):
    labels = b"".join(bytes([len(label)]) + label for label in name.split(b"."))
    return struct.pack("!6H", number, 0x100, 1, 0, 0, 0) + labels + b"\0" + struct.pack("!HH", 1, 1)


def together(talk):
    """Questions in one segment; every second name is not there."""
    asked = [question(number, b"gone%d.lab" % number if number % 2 else b"www.lab") for number in range(TOGETHER)]
    talk.send(b"".join(struct.pack("!H", len(one)) + one for one in asked))
    for _ in asked:
        talk.take(struct.unpack("!H", talk.take(2))[0])


def repeated(lab):
    """Each question again before it is answered, which is one call; unbound answers both, and the second answer is
    nobody's."""
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as talk:
        talk.connect((SERVER, 53))
        talk.settimeout(10)
        with lab.paused("pid"):
            for number in range(TOGETHER):
                for _ in range(2):
                    talk.send(question(number, b"www.lab"))
        numbers = [talk.recv(2000)[:2] for _ in range(2 * TOGETHER)]
        need(len(set(numbers)) == TOGETHER, "the answer to another question")


def drive(lab):
    questions = "".join(f"www.lab A\nwww.lab AAAA\nhost{i}.lab A\n" for i in range(COUNT))
    need(dig(lab, "-f", lab.write("questions", questions)).count("NXDOMAIN") == COUNT, "dig asked something else")
    dig(lab, "+tcp", "+keepopen", "-f", lab.write("tcp", "lab MX\nwww.lab A\nnosuch.lab A\n" * 5))
    big = dig(lab, "big.lab", "TXT")  # truncated, then over TCP
    need("Truncated" in big, big)
    with lab.connect(53) as talk:
        together(talk)
    repeated(lab)
    dig(lab, "www.elsewhere.", "A", "+norecurse")  # refused: only what is at home
    return [Expect("dns", calls=3 * COUNT + 3 * 5 + 2 + 1 + TOGETHER + TOGETHER, errors=COUNT + 5 + 1 + TOGETHER // 2,
                   orphans=TOGETHER)]
