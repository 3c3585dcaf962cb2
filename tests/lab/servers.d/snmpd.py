# SPDX-License-Identifier: Apache-2.0
"""snmpd: net-snmp's tools, v1, v2c and v3; a trap nobody answers."""
from servers_kit import SERVER, Expect, need

PACKAGES = "snmpd snmp"
CONFIG = f"""agentaddress udp:{SERVER}:161
rocommunity public
rwcommunity private
sysServices 72
createUser me SHA "password1" AES "password2"
rouser me priv
persistentDir FOLDER/state
"""
SYSTEM = "1.3.6.1.2.1.1"


def start(lab):
    lab.make_folder("state")
    lab.serve("snmpd", "-f", "-Lo", "-C", "-c", lab.write("snmpd.conf", CONFIG),
              env={"SNMP_PERSISTENT_DIR": lab.path("state")})
    lab.wait_udp(161)


def drive(lab):
    env = {"SNMP_PERSISTENT_DIR": lab.make_folder("client"), "MIBS": ""}
    for version in ("1", "2c"):
        for number in range(10):
            lab.run("snmpget", "-v", version, "-c", "public", SERVER, f"{SYSTEM}.{number % 7 + 1}.0", env=env,
                    ok=(0, 1, 2))
    out = lab.run("snmpbulkget", "-v2c", "-c", "public", "-Cr5", SERVER, SYSTEM, env=env).out
    need("iso" in out, out)
    lab.run("snmpgetnext", "-v2c", "-c", "public", SERVER, SYSTEM, env=env)
    # An object that cannot be written, and one that is not there.
    lab.run("snmpset", "-v2c", "-c", "private", SERVER, f"{SYSTEM}.2.0", "s", "x", env=env, ok=(0, 1, 2))
    lab.run("snmpget", "-v1", "-c", "public", SERVER, f"{SYSTEM}.99.0", env=env, ok=(0, 1, 2))
    keys = ("-v3", "-u", "me", "-l", "authPriv", "-a", "SHA", "-A", "password1", "-x", "AES", "-X", "password2")
    lab.run("snmpget", *keys, SERVER, f"{SYSTEM}.3.0", f"{SYSTEM}.1.0", env=env)
    lab.run("snmptrap", "-v2c", "-c", "public", f"{SERVER}:161", "", "1.3.6.1.6.3.1.1.5.1", env=env)
    # v3 asks for the engine's id first, which a report answers.
    return [Expect("snmp", calls=20 + 1 + 1 + 1 + 1 + 2, errors=2, free=1)]
