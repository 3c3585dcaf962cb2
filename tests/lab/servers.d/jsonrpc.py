# SPDX-License-Identifier: Apache-2.0
"""JSON-RPC 2.0 over TCP by hand on both sides, a line each: by id, pipelined, notifications, errors."""
import json
import socketserver

from servers_kit import SERVER, Expect, need

PACKAGES = ""
PORT, COUNT = 4040, 20
NOT_FOUND = {"error": {"code": -32601, "message": "Method not found"}}


class Handler(socketserver.StreamRequestHandler):
    def handle(self):
        for line in self.rfile:
            asked = json.loads(line)
            if "id" in asked:
                told = {"result": asked["params"]} if asked["method"] == "echo" else NOT_FOUND
                self.wfile.write(json.dumps({"jsonrpc": "2.0", "id": asked["id"], **told}).encode() + b"\n")


class Server(socketserver.ThreadingTCPServer):
    allow_reuse_address = True


def serve(_):
    Server((SERVER, PORT), Handler).serve_forever()


def start(lab):
    lab.serve_self()
    lab.wait_tcp(PORT)


def request(method, number=None):
    call = {"jsonrpc": "2.0", "method": method, "params": [1, {"deep": "}\"{"}]}
    return json.dumps(call if number is None else {**call, "id": number}).encode() + b"\n"


def drive(lab):
    with lab.connect(PORT) as talk:
        for number in range(COUNT):
            talk.ask(request("echo", number), b"\n")
        talk.send(b"".join(request("echo", 100 + number) for number in range(COUNT)))
        for _ in range(COUNT):
            talk.until(b"\n")
        talk.send(request("tell") * 3)
        for number in range(4):
            need(b"32601" in talk.ask(request("nosuch", 200 + number), b"\n"), "found")
    return [Expect("jsonrpc", calls=2 * COUNT + 4, errors=4, free=3,
                   labels={"echo": 2 * COUNT, "nosuch": 4, "tell": 3})]
