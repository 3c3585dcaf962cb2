# SPDX-License-Identifier: Apache-2.0
"""FreeRADIUS: radclient: accepted, rejected, accounting."""
from servers_kit import SERVER, Expect, need

PACKAGES = "freeradius freeradius-utils"
CONFIG = f"""prefix = /usr
raddbdir = /etc/freeradius/3.0
logdir = FOLDER
run_dir = FOLDER
libdir = /usr/lib/freeradius
pidfile = FOLDER/pid
max_request_time = 5
cleanup_delay = 2
security {{
  reject_delay = 0
  allow_vulnerable_openssl = yes
}}
client lab {{
  ipaddr = 10.99.0.0/24
  secret = testing
  require_message_authenticator = no
}}
thread pool {{
  start_servers = 2
  max_servers = 4
  min_spare_servers = 1
  max_spare_servers = 3
}}
modules {{
  pap {{
  }}
  always ok {{
    rcode = ok
  }}
}}
server lab {{
  listen {{
    type = auth
    ipaddr = {SERVER}
    port = 1812
  }}
  listen {{
    type = acct
    ipaddr = {SERVER}
    port = 1813
  }}
  authorize {{
    if (&User-Name == "bob") {{
      update control {{
        Cleartext-Password := "hello"
      }}
    }}
    pap
  }}
  authenticate {{
    pap
  }}
  accounting {{
    ok
  }}
}}
"""
COUNT = 20


def start(lab):
    lab.write("raddb/radiusd.conf", CONFIG)
    lab.serve("freeradius", "-f", "-l", "stdout", "-d", lab.path("raddb"), "-n", "radiusd", "-D",
              "/usr/share/freeradius")
    lab.wait_udp(1813)


def requests(*pairs):
    """{}: the number of the request."""
    return "\n\n".join(", ".join(pairs).format(number) for number in range(COUNT)) + "\n"


def drive(lab):
    login = ("-p", "4", f"{SERVER}:1812", "auth", "testing")
    right = lab.run("radclient", "-s", *login, text=requests("User-Name = bob", "User-Password = hello")).out
    wrong = lab.run("radclient", "-s", *login, text=requests("User-Name = bob", "User-Password = wrong"), ok=(0, 1)).out
    need("Rejected" in wrong, wrong + right)
    # radclient draws identifiers by chance: without this some would be the same, byte for byte, as of one sent again.
    account = requests("User-Name = bob", "Acct-Status-Type = Start", "Acct-Session-Id = {}")
    lab.run("radclient", "-s", f"{SERVER}:1813", "acct", "testing", text=account)
    return [Expect("radius", calls=3 * COUNT, errors=COUNT,
                   labels={"Access-Request": 2 * COUNT, "Accounting-Request": COUNT})]
