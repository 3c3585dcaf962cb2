# SPDX-License-Identifier: Apache-2.0
"""uWSGI with a Python application: its own protocol, written by hand."""
import struct

from servers_kit import SERVER, Expect, need

PACKAGES = "uwsgi uwsgi-plugin-python3"
APPLICATION = """def application(environ, start):
    body = environ["wsgi.input"].read(int(environ.get("CONTENT_LENGTH") or 0))
    start("404 Not Found" if "nosuch" in environ["PATH_INFO"] else "200 OK", [("Content-Type", "text/plain")])
    return [str(len(body)).encode()]
"""


def start(lab):
    lab.write("app.py", APPLICATION)
    lab.serve("uwsgi", "--plugin", "python3", "--socket", f"{SERVER}:3031", "--wsgi-file", "app.py", "--workers", "2",
              "--die-on-term", "--master")
    lab.wait_tcp(3031)


def ask(lab, method, path, body=b""):
    variables = {"REQUEST_METHOD": method, "PATH_INFO": path, "REQUEST_URI": path, "SERVER_NAME": "a",
                 "SERVER_PORT": "80", "QUERY_STRING": "",
                 "SERVER_PROTOCOL": "HTTP/1.1", "CONTENT_LENGTH": str(len(body)) if body else ""}
    packed = b"".join(struct.pack("<H", len(word)) + word.encode() for pair in variables.items() for word in pair)
    with lab.connect(3031) as talk:
        talk.send(struct.pack("<BHB", 0, len(packed), 0) + packed + body)
        return talk.end()


def drive(lab):
    """A connection a request: the protocol has no other way."""
    for number in range(20):
        need(b" 200 " in ask(lab, "GET", f"/item/{number}"), "not found")
    need(ask(lab, "POST", "/item/1", b"z" * 50_000).endswith(b"50000"), "the body got lost")
    for _ in range(3):
        need(b" 404 " in ask(lab, "GET", "/nosuch"), "found")
    return [Expect("uwsgi", calls=24, errors=3, labels={"GET /item/*": 20, "POST /item/*": 1, "GET /nosuch": 3})]
