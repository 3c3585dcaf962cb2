# SPDX-License-Identifier: Apache-2.0
"""memcached: text, meta and binary commands, written by hand."""
import struct

from servers_kit import SERVER, Expect

PACKAGES = "memcached"
PORT = 11211
GET, SET, DELETE, INCREMENT, QUIT, NOOP, GETQ = 0, 1, 4, 5, 7, 10, 9


def start(lab):
    lab.serve("memcached", "-u", "nobody", "-l", SERVER, "-p", str(PORT), "-U", "0")
    lab.wait_tcp(PORT)


def binary(opcode, key=b"", extras=b"", value=b"", opaque=0):
    body = extras + key + value
    return struct.pack("!BBHBBHIIQ", 0x80, opcode, len(key), len(extras), 0, 0, len(body), opaque, 0) + body


def read_binary(talk):
    head = talk.take(24)
    size = struct.unpack("!I", head[8:12])[0]
    return head[1], struct.unpack("!H", head[6:8])[0], talk.take(size)


def drive_text(talk):
    for number in range(20):
        talk.ask(b"set key%d 0 0 5\r\nhello\r\n" % number, b"STORED\r\n")
    for number in range(30):  # ten of them misses
        talk.ask(b"get key%d\r\n" % number, b"END\r\n")
    talk.ask(b"get key1 key2 key3\r\n", b"END\r\n")
    talk.ask(b"get key1\r\n" * 9 + b"version\r\n", b"VERSION")
    talk.until(b"\r\n")
    talk.ask(b"incr nosuch 1\r\n", b"NOT_FOUND\r\n")
    talk.ask(b"delete key1\r\n", b"DELETED\r\n")
    talk.ask(b"nonsense\r\n", b"ERROR\r\n")
    talk.ask(b"incr key2 1\r\n", b"CLIENT_ERROR")
    talk.until(b"\r\n")
    talk.ask(b"set key9 0 0 2 noreply\r\nhi\r\nget key9\r\n", b"END\r\n")
    return 20 + 30 + 1 + 10 + 4 + 1, 2, 1  # calls, errors, free messages


def drive_meta(talk):
    for number in range(10):
        talk.ask(b"ms meta%d 2\r\nhi\r\n" % number, b"HD\r\n")
        talk.ask(b"mg meta%d v\r\n" % number, b"hi\r\n")
    talk.ask(b"mg nosuch v\r\n", b"EN\r\n")
    talk.ask(b"md meta1\r\n", b"HD\r\n")
    talk.ask(b"mn\r\n", b"MN\r\n")
    return 10 + 10 + 3


def drive_binary(talk):
    for number in range(15):
        talk.send(binary(SET, b"bin%d" % number, struct.pack("!II", 0, 0), b"value"))
        assert read_binary(talk)[:2] == (SET, 0)
    for number in range(20):
        talk.send(binary(GET, b"bin%d" % number))
        assert read_binary(talk)[:2] == (GET, 0 if number < 15 else 1)
    talk.send(binary(INCREMENT, b"bin1", struct.pack("!QQI", 1, 1, 0)))
    assert read_binary(talk)[1] == 6  # no number
    talk.send(binary(GETQ, b"bin1", opaque=1) + binary(GETQ, b"nosuch", opaque=2) + binary(NOOP, opaque=3))
    assert read_binary(talk)[0] == GETQ and read_binary(talk)[0] == NOOP
    talk.send(binary(QUIT))
    assert read_binary(talk)[0] == QUIT
    return 15 + 20 + 1 + 2 + 1, 1, 1


def drive(lab):
    with lab.connect(PORT) as talk:
        text, errors, free = drive_text(talk)
    with lab.connect(PORT) as talk:
        meta = drive_meta(talk)
    with lab.connect(PORT) as talk:
        binaries, binary_errors, binary_free = drive_binary(talk)
    return [Expect("memcached", calls=text + meta + binaries, errors=errors + binary_errors, free=free + binary_free,
                   labels={"VERSION": 1, "MS": 10, "MG": 11, "GET": 30 + 1 + 9 + 1 + 20})]
