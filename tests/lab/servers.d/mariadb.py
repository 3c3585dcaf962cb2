# SPDX-License-Identifier: Apache-2.0
"""MariaDB: the text protocol by its own client and PyMySQL, prepared statements written by hand, errors."""
import os
import struct

from servers_kit import SERVER, Expect, need

PACKAGES = "mariadb-server mariadb-client openssl"
PORT = 3306
PREPARE, EXECUTE, CLOSE, QUIT = 22, 23, 25, 1
CAPABILITIES = 0x0001 | 0x0200 | 0x2000 | 0x8000 | 0x80000  # long password, 4.1, transactions, secure, plugin auth


def start(lab):
    data = lab.make_folder("data", "mysql")
    lab.run("mariadb-install-db", "--no-defaults", f"--datadir={data}", "--user=mysql",
            "--auth-root-authentication-method=normal", "--skip-test-db")
    key, certificate = lab.certificate()
    os.chmod(key, 0o644)
    lab.serve("mariadbd", "--no-defaults", f"--datadir={data}", "--user=mysql", f"--bind-address={SERVER}",
              f"--socket={lab.path('data/sock')}", f"--ssl-cert={certificate}", f"--ssl-key={key}", "--local-infile",
              "--innodb-flush-log-at-trx-commit=0", "--skip-name-resolve")
    lab.wait_run("mariadb", "-S", lab.path("data/sock"), "-e",
                 "CREATE DATABASE shop; GRANT ALL ON shop.* TO 'me'@'%' IDENTIFIED BY 'pass'; "
                 "CREATE USER 'bare'@'%'; GRANT ALL ON shop.* TO 'bare'@'%'; "
                 "CREATE TABLE shop.items (id int primary key, name varchar(20)); "
                 "CREATE PROCEDURE shop.twice() SELECT 1")


class Prepared:
    """The binary protocol, written by hand: no stock client speaks it. One small packet a message."""

    def __init__(self, talk):
        self.talk = talk
        self.packet()  # greeting
        plugin = b"bare\0" + b"\0" + b"mysql_native_password\0"
        self.send(struct.pack("<IIB23x", CAPABILITIES, 1 << 20, 33) + plugin, 1)
        need(self.packet()[0] == 0, "MariaDB refused the login")

    def packet(self):
        size, = struct.unpack("<I", self.talk.take(3) + b"\0")
        return self.talk.take(1 + size)[1:]

    def send(self, body, number=0):
        self.talk.send(struct.pack("<I", len(body))[:3] + bytes([number]) + body)

    def rows(self):
        """Passes over a result with columns: definitions, EOF, rows, EOF."""
        for _ in range(2):
            while self.packet()[0] != 0xfe:
                pass

    def prepare(self, text):
        self.send(bytes([PREPARE]) + text)
        head = self.packet()
        if head[0] == 0xff:
            return None
        statement, columns, parameters = struct.unpack("<IHH", head[1:9])
        for _ in range(sum(count + 1 for count in (columns, parameters) if count)):
            self.packet()
        return statement

    def execute(self, statement, number):
        self.send(struct.pack("<BIBIBBHi", EXECUTE, statement, 0, 1, 0, 1, 3, number))
        self.rows()

    def drive(self):
        statement = self.prepare(b"SELECT name FROM shop.items WHERE id = ?")
        for number in range(25):
            self.execute(statement, number)
        need(self.prepare(b"SELECT nonsense FROM shop.items") is None, "MariaDB prepared nonsense")
        self.send(struct.pack("<BI", CLOSE, statement))
        self.send(bytes([QUIT]))


def drive(lab):
    """The client asks for @@version_comment only where it talks to a person."""
    rows = lab.write("rows", "".join(f"{number}\tloaded\n" for number in range(1000, 60000)))
    script = [f"INSERT INTO items VALUES ({i}, 'a')" for i in range(20)]
    script += [f"SELECT * FROM items WHERE id = {i}" for i in range(30)]
    script += ["SELECT * FROM nosuch", "INSERT INTO items VALUES (1, 'b')", "BEGIN", "UPDATE items SET name = 'c'",
               "COMMIT"]
    script += [f"LOAD DATA LOCAL INFILE '{rows}' INTO TABLE items", "CALL twice()"]
    out = lab.run("mariadb", "--no-defaults", "--skip-ssl", "-h", SERVER, "-ume", "-ppass", "--force",
                  "--local-infile", "shop", text=";\n".join(script) + ";\n", ok=(0, 1)).out
    need("doesn't exist" in out and "Duplicate entry" in out, out)
    lab.run("mariadb", "--no-defaults", "--skip-ssl", "-h", SERVER, "-ume", "-pwrong", "shop", "-e", "SELECT 1",
            ok=(1,))
    lab.run("mariadb-admin", "--no-defaults", "--skip-ssl", "-h", SERVER, "-ume", "-ppass", "ping")
    lab.run("mariadb", "--no-defaults", "--ssl", "-h", SERVER, "-ume", "-ppass", "-e", "SELECT 1")
    with lab.connect(PORT) as talk:
        Prepared(talk).drive()
        talk.end()
    # A refused login is an error too. Greetings, three QUITs that are not hidden and a CLOSE are free messages.
    return [Expect("mysql", calls=len(script) + 1 + 2 + 25, errors=2 + 1 + 1, free=5 + 3 + 1,
                   labels={"INSERT items": 21, "SELECT nosuch": 1, "UPDATE items": 1, "PING": 1},
                   either=("LOGIN*", "login*", "AUTH*", "CONNECT*", "SSLRequest")),
            # Handshake; inside, login and query are turns, and QUIT may look like one that nobody answers.
            Expect("tls", calls=1 + 2, unsure=1, free=None)]
