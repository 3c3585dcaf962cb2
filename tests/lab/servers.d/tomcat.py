# SPDX-License-Identifier: Apache-2.0
"""Tomcat 10: AJP 1.3, written by hand: several requests a connection, pings, a body."""
import glob
import os
import struct

from servers_kit import SERVER, Expect, need

PACKAGES = "tomcat10"
CONFIG = f"""<Server port="-1"><Service name="Catalina">
<Connector protocol="AJP/1.3" address="{SERVER}" port="8009" secretRequired="false" />
<Engine name="Catalina" defaultHost="localhost"><Host name="localhost" appBase="webapps" autoDeploy="false" /></Engine>
</Service></Server>
"""
COUNT, PINGS = 20, 3


def start(lab):
    lab.write("conf/server.xml", CONFIG)
    with open("/etc/tomcat10/web.xml", encoding="utf-8") as file:
        lab.write("conf/web.xml", file.read())
    lab.write("webapps/ROOT/index.html", "fine\n")
    for name in ("logs", "temp", "work"):
        lab.make_folder(name)
    jars = ":".join(sorted(glob.glob("/usr/share/tomcat10/bin/*.jar")))
    lab.serve("java", "-Xmx128m", "-cp", jars, f"-Dcatalina.base={lab.folder}", "-Dcatalina.home=/usr/share/tomcat10",
              f"-Djava.io.tmpdir={os.path.join(lab.folder, 'temp')}", "org.apache.catalina.startup.Bootstrap", "start")
    lab.wait_tcp(8009)


def text(word):
    return struct.pack("!H", len(word)) + word.encode() + b"\0"


def packet(body):
    return b"\x12\x34" + struct.pack("!H", len(body)) + body


def forward(method, path, size=0):
    headers = text("host") + text("a") + ((b"\xa0\x08" + text(str(size))) if size else b"")
    return packet(bytes([2, method]) + text("HTTP/1.1") + text(path) + text("10.99.0.2") + text("client")
                  + text("server")
                  + struct.pack("!H?H", 80, False, 2 if size else 1) + headers + b"\xff")


def answer(talk):
    """Status of the reply; asks of the server for more of the body are met with its end."""
    status = 0
    while True:
        head = talk.take(4)
        body = talk.take(struct.unpack("!H", head[2:])[0])
        if body[0] == 4:
            status, = struct.unpack("!H", body[1:3])
        elif body[0] == 6:
            talk.send(packet(b""))
        elif body[0] in (5, 9):
            return status


def drive(lab):
    with lab.connect(8009) as talk:
        for _ in range(PINGS):
            talk.send(packet(b"\x0a"))
            answer(talk)
        for _ in range(COUNT):
            talk.send(forward(2, "/index.html"))
            need(answer(talk) == 200, "GET /index.html")
        talk.send(forward(2, "/nosuch"))
        need(answer(talk) == 404, "GET /nosuch")
        talk.send(forward(4, "/index.html", 1000) + packet(struct.pack("!H", 1000) + b"x" * 1000))
        posted = answer(talk)
    return [Expect("ajp", calls=PINGS + COUNT + 2, errors=1 + (posted >= 400),
                   labels={"GET /index.html": COUNT, "POST /index.html": 1})]
