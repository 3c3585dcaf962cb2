# SPDX-License-Identifier: Apache-2.0
"""Samba: SMB 3.1.1 by smbclient, and DCE/RPC over TCP by rpcclient."""
from servers_kit import SERVER, Expect, counted, need

PACKAGES = "samba smbclient"
CONFIG = """[global]
workgroup = LAB
netbios name = SERVER
server role = standalone server
interfaces = 10.99.0.1
bind interfaces only = yes
disable netbios = yes
smb ports = 445
state directory = FOLDER/state
cache directory = FOLDER/state
lock directory = FOLDER/state
private dir = FOLDER/state
pid directory = FOLDER/state
ncalrpc dir = FOLDER/state/ncalrpc
map to guest = Bad User
guest account = nobody
load printers = no
rpc start on demand helpers = false
[share]
path = FOLDER/share
read only = no
guest ok = yes
"""
FILES = 5


def start(lab):
    lab.make_folder("state")
    lab.make_folder("share", "nobody")
    config = lab.write("smb.conf", CONFIG)
    lab.serve("smbd", "--foreground", "--no-process-group", "-s", config, "-l", lab.path("state"))
    lab.wait_tcp(445)
    lab.serve("/usr/libexec/samba/samba-dcerpcd", "--foreground", "--no-process-group", "-s", config, "--libexec-rpcds")
    lab.wait_tcp(135)


# What smbclient 4.17 asks for each thing that it is told.
SESSION = ["NEGOTIATE", "SESSION_SETUP", "SESSION_SETUP", "TREE_CONNECT", "IOCTL DFS_GET_REFERRALS",
           "TREE_DISCONNECT", "TREE_CONNECT", "TREE_DISCONNECT"]
PUT = ["CREATE", "WRITE", "CLOSE"]
GET = ["CREATE", "QUERY_INFO", "READ", "CLOSE"]
GET_NOTHING = ["CREATE"]
LIST = ["CREATE", "QUERY_DIRECTORY", "QUERY_DIRECTORY", "CLOSE"]
DISK = ["CREATE", "QUERY_INFO", "CLOSE"]  # after a list: how full it is
DELETE = ["CREATE", "QUERY_DIRECTORY", "CREATE", "CLOSE", "QUERY_DIRECTORY", "CLOSE"]  # as many as match


def drive(lab):
    """Two errors: no DFS here, and a file that is not there."""
    local = lab.write("local", "x" * 300_000)
    script = "".join(f"put {local} f{i}; get f{i} {local}.back; " for i in range(FILES)) + "get nosuch; ls; "
    script += "".join(f"del f{i}; " for i in range(FILES))
    out = lab.run("smbclient", "-s", "/dev/null", "-N", "-p", "445", f"//{SERVER}/share", "-c", script, ok=(0, 1)).out
    need("NOT_FOUND" in out, out)
    asked = SESSION + FILES * (PUT + GET + DELETE) + GET_NOTHING + LIST + DISK
    rpc = lab.run("rpcclient", "-s", "/dev/null", "-N", f"ncacn_ip_tcp:{SERVER}", "-c", "srvinfo; netshareenum 1").out
    need("share" in rpc, rpc)
    # Each command asks the endpoint mapper first; binds may be there or not.
    return [Expect("smb2", calls=len(asked), errors=2, labels=counted(*asked)),
            Expect("dcerpc", calls=4, labels={"epmapper.3": 2, "srvsvc.21": 1, "srvsvc.36": 1}, either=("bind *",))]
