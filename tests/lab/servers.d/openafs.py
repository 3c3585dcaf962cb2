# SPDX-License-Identifier: Apache-2.0
"""OpenAFS: the volume location and protection servers by vos and pts, over Rx without keys."""
import os

from servers_kit import SERVER, Expect, need

PACKAGES = "openafs-fileserver openafs-dbserver openafs-client"
VERSION = "openafs-dbserver"
USERS = 8


def start(lab):
    for name in ("server", "client"):
        lab.write(f"{name}/ThisCell", "lab\n")
        lab.write(f"{name}/CellServDB", f">lab #here\n{SERVER} #server.lab\n")
    lab.write("server/NetInfo", f"{SERVER}\n")
    lab.make_folder("db")
    lab.run("mount", "-t", "tmpfs", "tmpfs", "/var/lib/openafs")  # the lab's own, as all mounts are
    os.mkdir("/var/lib/openafs/local")
    open("/var/lib/openafs/local/NoAuth", "wb").close()
    for name in ("vlserver", "ptserver"):
        lab.serve(f"/usr/lib/openafs/{name}", "-config", lab.path("server"), "-database", lab.path(f"db/{name}"),
                  "-logfile", lab.path(f"{name}.log"))
    lab.wait_udp(7002)
    lab.wait_udp(7003)
    lab.wait_run("pts", "listentries", "-noauth", "-config", lab.path("client"))


def drive(lab):
    tail = ("-noauth", "-config", lab.path("client"))
    for number in range(USERS):
        lab.run("pts", "createuser", f"u{number}", *tail)
    need("u1" in (out := lab.run("pts", "listentries", *tail).out), out)
    lab.run("pts", "createuser", "u1", *tail, ok=(1,))  # there already
    lab.run("pts", "examine", "u2", *tail)
    lab.run("vos", "listvldb", *tail)
    # To examine an entry, pts asks for its number, for names of numbers that are in it, and whether one is a member;
    # vos for all volumes.
    labels = {"pts.NewEntry": USERS + 1, "pts.ListEntries": 1, "pts.NameToID": 3, "pts.ListEntry": 1,
              "pts.IDToName": 2, "pts.IsMemberOf": 1}
    return [Expect("afsrx", calls=sum(labels.values()) + 1, errors=1, labels=labels)]
