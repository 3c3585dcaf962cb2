# SPDX-License-Identifier: Apache-2.0
"""Redis: one call a command, by order; redis-benchmark pipelines."""
from servers_kit import SERVER, Expect, need

PACKAGES = "redis-server redis-tools"
PORT = 6379


def start(lab):
    lab.serve("redis-server", "--port", str(PORT), "--bind", SERVER, "--protected-mode", "no", "--dir", lab.folder,
              "--save", "")
    lab.wait_tcp(PORT)


def drive_by_hand(listener, talk):
    """Published messages, and commands that ask for no reply: free messages. SKIP is one itself."""
    listener.send(b"SUBSCRIBE news\r\n")
    listener.until(b":1\r\n")
    for number in range(8):
        talk.ask(b"PUBLISH news hello%d\r\n" % number, b":1\r\n")
        listener.until(b"hello%d\r\n" % number)
    for _ in range(5):
        talk.send(b"CLIENT REPLY SKIP\r\nDEL nosuch\r\n")
    talk.ask(b"SET last 1\r\n", b"+OK\r\n")
    return 8


def drive(lab):
    """Where its standard input is no terminal, redis-cli asks nothing of its own but for COMMAND."""
    script = [f"SET key{i} {i}" for i in range(20)] + [f"GET key{i}" for i in range(25)]
    script += ["LPUSH key1 x", "NOSUCH", "INCR key1", "MULTI", "INCR a", "INCR b", "EXEC"]
    out = lab.run("redis-cli", "-h", SERVER, "-p", str(PORT), text="\n".join(script) + "\n").out
    need("WRONGTYPE" in out and "unknown command" in out, out)
    lab.run("redis-benchmark", "-h", SERVER, "-p", str(PORT), "-n", "1000", "-c", "5", "-P", "10", "-t", "incr", "-q")
    with lab.connect(PORT) as listener, lab.connect(PORT) as talk:
        published = drive_by_hand(listener, talk)
    labels = {"SET": 20 + 1, "GET": 25, "LPUSH": 1, "MULTI": 1, "EXEC": 1, "INCR": 3 + 1000, "PUBLISH": published,
              "SUBSCRIBE": 1}
    # What redis-benchmark asks for itself may be there or not.
    return [Expect("redis", calls=len(script) + 1000 + 1 + published + 1, errors=2, free=published + 2 * 5,
                   labels=labels, either=("CONFIG*", "COMMAND*", "HELLO*"))]
