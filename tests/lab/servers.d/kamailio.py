# SPDX-License-Identifier: Apache-2.0
"""Kamailio: SIP over UDP by sipsak, over UDP and TCP by hand, with provisional replies and ACK."""
import socket

from servers_kit import CLIENT, SERVER, Expect, need

PACKAGES = "kamailio sipsak"
CONFIG = f"""#!KAMAILIO
children=2
tcp_children=2
fork=yes
log_stderror=yes
listen=udp:{SERVER}:5060
listen=tcp:{SERVER}:5060
mpath="/usr/lib/x86_64-linux-gnu/kamailio/modules/"
loadmodule "sl.so"
loadmodule "pv.so"
loadmodule "textops.so"
request_route {{
  if (is_method("ACK")) exit;
  if (is_method("INVITE")) {{ sl_send_reply("100", "Trying"); sl_send_reply("486", "Busy Here"); exit; }}
  if (is_method("OPTIONS|REGISTER")) {{ sl_send_reply("200", "OK"); exit; }}
  sl_send_reply("405", "Method Not Allowed");
}}
"""
COUNT = 20


def start(lab):
    lab.serve("kamailio", "-f", lab.write("kamailio.cfg", CONFIG), "-DD", "-E", "-Y", lab.folder, "-u", "nobody",
              "-m", "16", "-M", "4")
    lab.wait_tcp(5060)
    lab.wait_udp(5060)


def request(method, number, transport):
    return (f"{method} sip:you@{SERVER} SIP/2.0\r\n"
            f"Via: SIP/2.0/{transport} {CLIENT}:5999;branch=z9hG4bK{method}{transport}{number};rport\r\n"
            f"From: <sip:me@{CLIENT}>;tag={number}\r\nTo: <sip:you@{SERVER}>\r\n"
            f"Call-ID: {number}-{transport}@{CLIENT}\r\n"
            f"CSeq: {number} {method}\r\nMax-Forwards: 70\r\nContent-Length: 0\r\n\r\n").encode()


def drive_udp():
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as talk:
        talk.bind((CLIENT, 5999))
        talk.connect((SERVER, 5060))
        talk.settimeout(10)
        for number in range(COUNT):
            talk.send(request("INVITE", number, "UDP"))
            need(b" 100 " in talk.recv(4096) and b" 486 " in talk.recv(4096), "no reply to INVITE")
            talk.send(request("ACK", number, "UDP"))


def drive_tcp(talk):
    for number in range(COUNT):
        for method in ("OPTIONS", "REGISTER", "PUBLISH"):
            talk.ask(request(method, number, "TCP"), b"\r\n\r\n")
    talk.send(b"".join(request("OPTIONS", 1000 + number, "TCP") for number in range(5)))
    for _ in range(5):
        talk.until(b"\r\n\r\n")


def drive(lab):
    for _ in range(5):
        lab.run("sipsak", "-s", f"sip:you@{SERVER}")
    drive_udp()
    with lab.connect(5060) as talk:
        drive_tcp(talk)
    return [Expect("sip", calls=5 + COUNT + 3 * COUNT + 5, errors=2 * COUNT, free=COUNT,
                   labels={"OPTIONS": 5 + COUNT + 5, "INVITE": COUNT, "REGISTER": COUNT, "PUBLISH": COUNT})]
