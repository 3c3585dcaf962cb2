# SPDX-License-Identifier: Apache-2.0
"""nats-server: its text protocol by hand: requests that another client answers through its inbox, publishes; and the
server's WebSocket port, of which the frames are what counts."""
import base64
import os

from servers_kit import SERVER, Expect

PACKAGES = "nats-server"
CONFIG = f'listen: "{SERVER}:4222"\nwebsocket {{ listen: "{SERVER}:8080", no_tls: true }}\n'
REQUESTS, PUBLISHES, PINGS = 20, 15, 6


def start(lab):
    lab.serve("nats-server", "-c", lab.write("nats.conf", CONFIG))
    lab.wait_tcp(8080)


def greet(talk):
    talk.until(b"\r\n")
    talk.ask(b'CONNECT {"verbose":false,"headers":true,"no_responders":true}\r\nPING\r\n', b"PONG\r\n")


def drive_text(service, client):
    for talk in (service, client):
        greet(talk)
    service.ask(b"SUB work.add 1\r\nSUB news.> 2\r\nPING\r\n", b"PONG\r\n")
    client.ask(b"SUB _INBOX.me.* 1\r\nPING\r\n", b"PONG\r\n")
    for number in range(REQUESTS):
        client.send(b"PUB work.add _INBOX.me.%d 2\r\nhi\r\n" % number)
        service.until(b"hi\r\n")
        service.send(b"PUB _INBOX.me.%d 3\r\nyes\r\n" % number)
        client.until(b"yes\r\n")
    client.send(b"PUB nobody.there _INBOX.me.last 2\r\nhi\r\n")
    client.until(b"NATS/1.0 503\r\n\r\n\r\n")
    for number in range(PUBLISHES):
        client.send(b"PUB news.%d 2\r\nok\r\n" % number)
        service.until(b"ok\r\n")


def frame(opcode, payload):
    """Of a client: masked, here with zeros."""
    return bytes([0x80 | opcode, 0x80 | len(payload)]) + bytes(4) + payload


def drive_websocket(talk):
    key = base64.b64encode(os.urandom(16))
    talk.ask(b"GET /live HTTP/1.1\r\nHost: a\r\nUpgrade: websocket\r\nConnection: Upgrade\r\nSec-WebSocket-Key: " + key
             + b"\r\nSec-WebSocket-Version: 13\r\n\r\n", b"\r\n\r\n")
    talk.until(b"INFO ")
    talk.until(b"\r\n")
    talk.send(frame(2, b'CONNECT {"verbose":false}\r\nPING\r\n'))
    talk.until(b"PONG\r\n")
    for number in range(PINGS):
        talk.send(frame(9, b"ping%d" % number))
        talk.until(b"ping%d" % number)


def drive(lab):
    with lab.connect(4222) as service, lab.connect(4222) as client:
        drive_text(service, client)
    with lab.connect(8080) as talk:
        drive_websocket(talk)
    # A request is a call from the client to the server, and one from it to the service; nobody serves one.
    # A publish that is delivered is a free message twice.
    return [Expect("nats", calls=2 * REQUESTS + 1, errors=1, free=None, either=("PING", "CONNECT*", "INFO*", "SUB*")),
            Expect("http", calls=1), Expect("websocket", calls=PINGS, free=3, either=("close",))]
