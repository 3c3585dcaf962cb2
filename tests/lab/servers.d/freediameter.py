# SPDX-License-Identifier: Apache-2.0
"""freeDiameter on both sides, which say hello and goodbye; and a peer written by hand with more to ask."""
import struct

from servers_kit import CLIENT, SERVER, Expect, need

PACKAGES = "freediameterd openssl"
COUNT = 15


def config(lab, name, address, peer):
    lab.certificate(f"{name}.lab", name)
    return lab.write(f"{name}.conf", f'''Identity = "{name}.lab";
Realm = "lab";
Port = 3868;
SecPort = 0;
No_SCTP;
No_IPv6;
ListenOn = "{address}";
TLS_Cred = "FOLDER/{name}certificate.pem", "FOLDER/{name}key.pem";
TLS_CA = "FOLDER/{name}certificate.pem";
TwTimer = 30;
ConnectPeer = "{peer[0]}.lab" {{ ConnectTo = "{peer[1]}"; No_TLS; Port = 3868; }};
''')


def start(lab):
    lab.serve("freeDiameterd", "-c", config(lab, "server", SERVER, ("client", "10.99.0.3")))
    lab.wait_tcp(3868)


def avp(code, value):
    """Mandatory, and padded to four bytes."""
    return struct.pack("!II", code, 0x40 << 24 | 8 + len(value)) + value + bytes(-len(value) % 4)


def request(command, number, *more, application=0):
    origin = avp(264, b"client.lab") + avp(296, b"lab")
    body = b"".join((origin, *more))
    return struct.pack("!5I", 1 << 24 | 20 + len(body), 0x80 << 24 | command, application, number, 7000 + number) + body


def answer(talk):
    """Its hop-by-hop identifier"""
    head = talk.take(20)
    talk.take((struct.unpack("!I", head[:4])[0] & 0xffffff) - 20)
    return struct.unpack("!I", head[12:16])[0]


def ask(talk, *words, **named):
    talk.send(request(*words, **named))
    need(answer(talk) == words[1], "the answer to another request")


def drive_by_hand(talk):
    """Capabilities, watchdogs one by one and together, a command that is not there, goodbye."""
    address = avp(257, b"\0\x01" + bytes((10, 99, 0, 2)))
    ask(talk, 257, 1, address, avp(266, bytes(4)), avp(269, b"lab"), avp(299, bytes(4)), avp(258, b"\xff" * 4))
    for number in range(COUNT):
        ask(talk, 280, 10 + number)
    talk.send(b"".join(request(280, 100 + number) for number in range(COUNT)))
    need({answer(talk) for _ in range(COUNT)} == set(range(100, 100 + COUNT)), "a watchdog lacks its answer")
    for number in range(3):
        ask(talk, 300, 200 + number, avp(263, b"lab;1;%d" % number), avp(283, b"lab"), application=4)
    ask(talk, 282, 300, avp(273, bytes(4)))


def drive(lab):
    lab.serve("freeDiameterd", "-c", config(lab, "client", CLIENT, ("server", SERVER)))
    lab.wait(lambda: b"OPEN" in open(lab.jobs[0][2], "rb").read(), "the peer")
    lab.stop()
    with lab.connect(3868) as talk:
        drive_by_hand(talk)
    return [Expect("diameter", calls=2 + 1 + 2 * COUNT + 3 + 1, errors=3,
                   labels={"Capabilities-Exchange": 2, "Device-Watchdog": 2 * COUNT, "Disconnect-Peer": 2})]
