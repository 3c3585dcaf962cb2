# SPDX-License-Identifier: Apache-2.0
"""WebSocket by hand on both sides: text and binary, in fragments, a ping between; every ping is answered."""
import base64
import hashlib
import os
import socketserver
import struct

from servers_kit import SERVER, Expect, need

PACKAGES = ""
PORT, MAGIC = 8090, b"258EAFA5-E914-47DA-95CA-C5AB0DC85B11"
TEXT, BINARY, CLOSE, PING, PONG = 1, 2, 8, 9, 10
MESSAGES, PINGS = 20, 5


def frame(opcode, payload, mask=b"", final=True):
    """Of less than 64 KiB."""
    size = struct.pack("!B", len(payload)) if len(payload) < 126 else struct.pack("!BH", 126, len(payload))
    if mask:
        size = bytes([size[0] | 0x80]) + size[1:]
        payload = bytes(byte ^ mask[i % 4] for i, byte in enumerate(payload))
    return bytes([final << 7 | opcode]) + size + mask + payload


def read(take):
    """(opcode, payload) of the next frame"""
    first, second = take(2)
    size = second & 127
    if size == 126:
        size, = struct.unpack("!H", take(2))
    mask = take(4) if second & 128 else bytes(4)
    return first & 15, bytes(byte ^ mask[i % 4] for i, byte in enumerate(take(size)))


class Handler(socketserver.StreamRequestHandler):
    def handle(self):
        """Every message is sent back, in one frame; a ping is answered by a pong."""
        head = b""
        while not head.endswith(b"\r\n\r\n"):
            head += self.rfile.readline()
        key = head.split(b"Sec-WebSocket-Key: ")[1].split(b"\r\n")[0]
        accept = base64.b64encode(hashlib.sha1(key + MAGIC).digest())
        self.wfile.write(b"HTTP/1.1 101 Switching Protocols\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n"
                         b"Sec-WebSocket-Accept: " + accept + b"\r\n\r\n")
        while (got := read(self.rfile.read))[0] != CLOSE:
            if got[0] in (TEXT, BINARY, PING):
                self.wfile.write(frame(PONG if got[0] == PING else got[0], got[1]))
        self.wfile.write(frame(CLOSE, got[1]))


class Server(socketserver.ThreadingTCPServer):
    allow_reuse_address = True


def serve(_):
    Server((SERVER, PORT), Handler).serve_forever()


def start(lab):
    lab.serve_self()
    lab.wait_tcp(PORT)


def drive(lab):
    with lab.connect(PORT) as talk:
        talk.ask(b"GET /live HTTP/1.1\r\nHost: a\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n"
                 b"Sec-WebSocket-Version: 13\r\nSec-WebSocket-Key: "
                 + base64.b64encode(os.urandom(16)) + b"\r\n\r\n", b"\r\n\r\n")
        for number in range(MESSAGES):
            talk.send(frame(BINARY if number % 2 else TEXT, b"x" * number * 1000, os.urandom(4)))
            need(len(read(talk.take)[1]) == number * 1000, "another length came back")
        for number in range(PINGS):
            talk.send(frame(PING, b"%d" % number, os.urandom(4)))
            need(read(talk.take) == (PONG, b"%d" % number), "no pong")
        talk.send(frame(TEXT, b"one ", os.urandom(4), final=False) + frame(PING, b"between", os.urandom(4))
                  + frame(0, b"message", os.urandom(4)))
        read(talk.take), read(talk.take)
        talk.send(frame(CLOSE, struct.pack("!H", 1000), os.urandom(4)))
        talk.end()
    # A message in two frames is one; of it the server sends back the first.
    return [Expect("http", calls=1), Expect("websocket", calls=PINGS + 1, free=2 * MESSAGES + 2, either=("close",))]
