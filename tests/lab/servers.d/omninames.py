# SPDX-License-Identifier: Apache-2.0
"""omniORB's naming service: GIOP by nameclt, a connection a command."""
from servers_kit import SERVER, Expect, need

PACKAGES = "omniorb-nameserver omniorb"
COUNT = 6


def start(lab):
    lab.serve("omniNames", "-start", "2809", "-datadir", lab.make_folder("data"), "-errlog", lab.path("errors"),
              "-ORBendPoint", f"giop:tcp:{SERVER}:2809")
    lab.wait_tcp(2809)


def drive(lab):
    """Each command asks first whether the service is what it should be; a list is read by an iterator, which says
    by one more answer that it is at its end."""
    client = ("nameclt", "-ORBInitRef", f"NameService=corbaname::{SERVER}:2809")
    for number in range(COUNT):
        lab.run(*client, "bind_new_context", f"c{number}")
    lab.run(*client, "bind_new_context", "c1", ok=(1,))  # there already
    lab.run(*client, "bind", "c1/name", f"corbaloc::{SERVER}:2809/NameService")
    out = lab.run(*client, "list").out
    need("c1" in out, out)
    labels = {"_is_a": COUNT + 3, "bind_new_context": COUNT + 1, "bind": 1, "list": 1, "LocateRequest": 1,
              "next_one": COUNT + 1, "destroy": 1}
    return [Expect("giop", calls=sum(labels.values()), errors=1, labels=labels, either=("CloseConnection",))]
