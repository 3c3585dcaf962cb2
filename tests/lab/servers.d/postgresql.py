# SPDX-License-Identifier: Apache-2.0
"""PostgreSQL: simple, extended, prepared and pipelined queries by psql and pgbench, COPY, errors, a backup over the
replication protocol, TLS."""
import glob
import os
import shutil

from servers_kit import SERVER, Expect, need

PACKAGES = "postgresql postgresql-contrib openssl"
VERSION = "postgresql-15"
PORT = 5432
LOGIN = ("STARTUP*", "startup*", "PASSWORD*", "password*", "SSLRequest*", "SSL*", "GSSEncRequest*", "GSS*", "AUTH*")


def program(name):
    return sorted(glob.glob(f"/usr/lib/postgresql/*/bin/{name}"))[-1]


def start(lab):
    data = lab.make_folder("data", "postgres")
    lab.run(program("initdb"), "-D", data, "-U", "postgres", "--auth=trust", "-N", "-E", "UTF8", user="postgres")
    lab.write("data/pg_hba.conf", "host all,replication all 0.0.0.0/0 trust\n")
    for path in lab.certificate():
        shutil.chown(path, "postgres")
        os.chmod(path, 0o600)
    lab.serve(program("postgres"), "-D", data, "-c", "ssl=on", "-c", "log_replication_commands=on", "-c",
              f"ssl_cert_file={lab.path('certificate.pem')}", "-c", f"ssl_key_file={lab.path('key.pem')}",
              "-h", f"{SERVER},127.0.0.1", "-p", str(PORT), "-k", "", "-F", user="postgres")
    lab.wait_run("psql", "-h", "127.0.0.1", "-U", "postgres", "-c",
                 "CREATE TABLE items (id int primary key, name text)")
    lab.run("pgbench", "-i", "-q", "-h", "127.0.0.1", "-U", "postgres", "postgres")


def psql(lab, script, tls="disable"):
    return lab.run("psql", "-h", SERVER, "-U", "postgres", "-q", "-v", "ON_ERROR_STOP=0", text=script,
                   env={"PGSSLMODE": tls}).out


def drive(lab):
    """psql sends one simple query a statement, pgbench those of its script."""
    script = "".join(f"INSERT INTO items VALUES ({i}, 'a');\n" for i in range(20))
    script += "".join(f"SELECT name FROM items WHERE id = {i};\n" for i in range(30))
    script += "SELECT * FROM nosuch;\nINSERT INTO items VALUES (1, 'b');\n"
    script += "BEGIN;\nUPDATE items SET name = 'c' WHERE id = 3;\nCOMMIT;\n"
    script += "COPY items FROM STDIN;\n100\tx\n101\ty\n\\.\nCOPY items TO STDOUT;\nDELETE FROM items WHERE id > 99;\n"
    out = psql(lab, script)
    need("nosuch" in out and "duplicate key" in out, out)
    calls = 20 + 30 + 2 + 3 + 2 + 1
    extended = "\\set id random(1, 100000)\nSELECT abalance FROM pgbench_accounts WHERE aid = :id;\n"
    for mode in ("simple", "extended", "prepared"):
        lab.run("pgbench", "-n", "-M", mode, "-t", "50", "-c", "2", "-f", lab.write("select.sql", extended),
                "-h", SERVER, "-U", "postgres", "postgres", env={"PGSSLMODE": "disable"})
    # Built in: BEGIN, UPDATE, SELECT, UPDATE, UPDATE, INSERT, END; before that it asks twice about its tables.
    lab.run("pgbench", "-n", "-t", "50", "-c", "2", "-h", SERVER, "-U", "postgres", "postgres",
            env={"PGSSLMODE": "disable"})
    piped = "\\startpipeline\n" + "SELECT 1;\n" * 5 + "\\endpipeline\n"
    lab.run("pgbench", "-n", "-M", "extended", "-t", "10", "-f", lab.write("piped.sql", piped), "-h", SERVER, "-U",
            "postgres", "postgres", env={"PGSSLMODE": "disable"})
    lab.run(program("pg_basebackup"), "-D", lab.path("backup"), "-X", "fetch", "-c", "fast", "-h", SERVER, "-U",
            "postgres", env={"PGSSLMODE": "disable"})
    with open(lab.path("server0.log"), encoding="utf-8") as log:
        backup = log.read().count("received replication command: ")
    need(backup, "the server notes no replication command")
    need("hidden" in (out := psql(lab, "SELECT 'hidden';\n", "require")), out)
    # A prepared statement is prepared by a call of its own, once a client; a pipeline is one Sync. pgbench has
    # one connection more than clients; each ends by Terminate. pg_basebackup's commands are as many as the server
    # notes.
    calls += 3 * 100 + 2 + 7 * 100 + 2 + 10 + backup
    return [Expect("postgresql", calls=calls, errors=2, free=1 + 4 * 3 + 2 + 1,
                   labels={"INSERT items": 21, "SELECT items": 30, "UPDATE items": 1, "DELETE items": 1,
                           "INSERT pgbench_history": 100, "UPDATE pgbench_tellers": 100, "BEGIN": 101}, either=LOGIN),
            # What asks for TLS may be there or not. Inside, login and query are turns.
            Expect("tls", calls=1 + 2, free=None)]
