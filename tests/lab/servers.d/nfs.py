# SPDX-License-Identifier: Apache-2.0
"""NFS-Ganesha, with its files in memory: version 3 by libnfs' tools, version 4 by the same."""
import socket
import struct

from servers_kit import SERVER, Expect, counted, need

PACKAGES = "nfs-ganesha nfs-ganesha-mem libnfs-utils rpcbind"
CONFIG = """NFS_CORE_PARAM { Bind_addr = 10.99.0.1; Protocols = 3, 4;
  NFS_Port = 2049; MNT_Port = 20048; Enable_NLM = false;
  Enable_RQUOTA = false; fsid_device = true; }
NFSv4 { Graceless = true; RecoveryBackend = fs; RecoveryRoot = FOLDER/recovery; }
EXPORT_DEFAULTS { Access_Type = RW; Squash = None; SecType = sys; }
EXPORT { Export_Id = 1; Path = /lab; Pseudo = /lab; Protocols = 3, 4; FSAL { Name = MEM; } }
LOG { Default_Log_Level = EVENT; }
"""


def start(lab):
    lab.write("rpcbind.pid", str(lab.serve("rpcbind", "-f").pid))
    lab.wait_tcp(111)
    lab.make_folder("recovery")
    lab.serve("ganesha.nfsd", "-F", "-L", "/dev/stdout", "-p", lab.path("pid"), "-f", lab.write("ganesha.conf", CONFIG))
    lab.wait_tcp(2049)


# What libnfs 4 asks to mount, to write a file, and to read one.
MOUNT = ["portmap.NULL", "portmap.GETPORT", "mount.NULL", "mount.MNT", "mount.EXPORT", "portmap.NULL",
         "portmap.GETPORT", "nfs.NULL", "nfs.FSINFO", "nfs.GETATTR"]
WRITE = ["nfs.CREATE", "nfs.LOOKUP", "nfs.GETATTR", "nfs.SETATTR", "nfs.WRITE", "nfs.COMMIT"]
READ = ["nfs.LOOKUP", "nfs.ACCESS", "nfs.GETATTR", "nfs.READ"]
# And what it asks of version 4 to list a folder.
LIST4 = ["nfs.NULL", *(f"nfs.COMPOUND {name}" for name in ("SETCLIENTID", "SETCLIENTID_CONFIRM", "LOOKUP", "READDIR"))]
FILES, PINGS = 5, 10


def ping(lab):
    """portmap.NULL over UDP, each sent again before it is answered: a retransmission is the same call, and its reply
    the same."""
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as talk:
        talk.connect((SERVER, 111))
        talk.settimeout(10)
        with lab.paused("rpcbind.pid"):
            for number in range(PINGS):
                for _ in range(2):
                    talk.send(struct.pack("!10I", 7000 + number, 0, 2, 100000, 2, 0, 0, 0, 0, 0))
        numbers = [talk.recv(2000)[:4] for _ in range(2 * PINGS)]
        need(len(set(numbers)) == PINGS, "rpcbind answered something else")


def drive(lab):
    need("nfs" in lab.run("rpcinfo", "-p", SERVER).out, "Ganesha is not registered")  # DUMP
    local = lab.write("local", "x" * 100_000)
    for number in range(FILES):
        lab.run("nfs-cp", local, f"nfs://{SERVER}/lab/f{number}?version=3")
        lab.run("nfs-cat", f"nfs://{SERVER}/lab/f{number}?version=3")
    lab.run("nfs-cat", f"nfs://{SERVER}/lab/nosuch?version=3", ok=(1, 10))
    out = lab.run("nfs-ls", f"nfs://{SERVER}/lab?version=4").out
    need("f1" in out, out)
    ping(lab)
    v3 = FILES * (2 * MOUNT + WRITE + READ) + MOUNT + ["nfs.LOOKUP"]
    labels = counted(*v3, *LIST4, "portmap.DUMP", *["portmap.NULL"] * PINGS)
    return [Expect("oncrpc", calls=sum(labels.values()), errors=1, labels=labels, either=("rpcbind.*",))]
