# SPDX-License-Identifier: Apache-2.0
"""OpenLDAP: its own tools; a search with all its entries is one call."""
from servers_kit import SERVER, Expect, need

PACKAGES = "slapd ldap-utils"
CONFIG = """include /etc/ldap/schema/core.schema
include /etc/ldap/schema/cosine.schema
include /etc/ldap/schema/inetorgperson.schema
modulepath /usr/lib/ldap
moduleload back_mdb
pidfile FOLDER/pid
database mdb
suffix dc=lab
rootdn cn=admin,dc=lab
rootpw secret
directory FOLDER/data
"""
ADMIN = ("-x", "-H", f"ldap://{SERVER}", "-D", "cn=admin,dc=lab", "-w", "secret")
PEOPLE = 15


def start(lab):
    lab.make_folder("data")
    lab.serve("slapd", "-d", "0", "-h", f"ldap://{SERVER}", "-f", lab.write("slapd.conf", CONFIG))
    lab.wait_tcp(389)


def people():
    first = "dn: dc=lab\nobjectClass: dcObject\nobjectClass: organization\no: lab\ndc: lab\n\n"
    return first + "".join(f"dn: cn=p{i},dc=lab\nobjectClass: person\ncn: p{i}\nsn: s\n\n" for i in range(PEOPLE))


def drive(lab):
    """Each tool binds, does its work, and unbinds."""
    lab.run("ldapadd", *ADMIN, text=people())
    out = lab.run("ldapsearch", *ADMIN, "-b", "dc=lab", "(objectClass=person)").out
    need(f"numEntries: {PEOPLE}" in out, out)
    lab.run("ldapsearch", *ADMIN, "-b", "dc=lab", "-E", "pr=5/noprompt", "(objectClass=*)")  # 16 entries, 4 pages
    lab.run("ldapsearch", *ADMIN, "-b", "dc=nosuch", ok=(32,))
    lab.run("ldapmodify", *ADMIN, text="".join(f"dn: cn=p{i},dc=lab\nchangetype: modify\nreplace: sn\nsn: t\n\n"
                                               for i in range(5)))
    lab.run("ldapmodrdn", *ADMIN, "cn=p1,dc=lab", "cn=q1")
    lab.run("ldapcompare", *ADMIN, "cn=p2,dc=lab", "sn:t", ok=(6,))
    lab.run("ldapdelete", *ADMIN, "cn=p3,dc=lab", "cn=p4,dc=lab")
    lab.run("ldapdelete", *ADMIN, "cn=nosuch,dc=lab", ok=(32,))
    lab.run("ldapwhoami", *ADMIN)
    lab.run("ldapwhoami", *ADMIN[:-1], "wrong", ok=(49,))
    work = (1 + PEOPLE) + 1 + 4 + 1 + 5 + 1 + 1 + 2 + 1 + 1
    return [Expect("ldap", calls=11 + work, errors=3, free=11)]
