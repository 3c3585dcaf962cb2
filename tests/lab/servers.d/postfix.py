# SPDX-License-Identifier: Apache-2.0
"""Postfix: mail by swaks and smtplib: pipelined, with a recipient that is refused, and without ESMTP."""
import smtplib

from servers_kit import SERVER, Expect, need

PACKAGES = "postfix swaks libnet-ssleay-perl libio-socket-ssl-perl openssl"
MAIN = """compatibility_level = 3.6
queue_directory = FOLDER/spool
data_directory = FOLDER/data
mail_owner = postfix
setgid_group = postdrop
command_directory = /usr/sbin
daemon_directory = /usr/lib/postfix/sbin
shlib_directory = /usr/lib/postfix
meta_directory = FOLDER/etc
maillog_file = FOLDER/mail.log
maillog_file_prefixes = FOLDER
inet_interfaces = 10.99.0.1
inet_protocols = ipv4
myhostname = server.lab
mydestination = server.lab
local_recipient_maps = static:ok
default_transport = discard
local_transport = discard
alias_maps =
smtpd_recipient_restrictions = check_recipient_access inline:{refused@server.lab=REJECT}, permit_mynetworks, reject
mynetworks = 10.99.0.0/24
smtpd_tls_security_level = may
smtpd_tls_cert_file = FOLDER/certificate.pem
smtpd_tls_key_file = FOLDER/key.pem
"""
MASTER = """smtp inet n - n - - smtpd
cleanup unix n - n - 0 cleanup
qmgr unix n - n 300 1 qmgr
rewrite unix - - n - - trivial-rewrite
bounce unix - - n - 0 bounce
defer unix - - n - 0 bounce
trace unix - - n - 0 bounce
discard unix - - n - - discard
anvil unix - - n - 1 anvil
tlsmgr unix - - n 1000? 1 tlsmgr
postlog unix-dgram n - n - 1 postlogd
"""
MAILS = 12


def start(lab):
    lab.certificate()
    lab.write("etc/main.cf", MAIN)
    lab.write("etc/master.cf", MASTER)
    lab.write("etc/dynamicmaps.cf", "")
    lab.write("etc/postfix-files", "")
    for name in "active bounce corrupt defer deferred flush hold incoming private saved trace maildrop public".split():
        lab.make_folder(f"spool/{name}", "postfix")
    lab.make_folder("spool/pid")
    lab.make_folder("data", "postfix")
    lab.serve("postfix", "-c", lab.path("etc"), "start-fg")
    lab.wait_tcp(25)


def drive(lab):
    swaks = ("swaks", "--server", SERVER, "--helo", "client.lab", "--from", "me@client.lab")
    lab.run(*swaks, "--to", "you@server.lab")
    lab.run(*swaks, "--to", "you@server.lab,he@server.lab", "--pipeline", "--body", "x" * 50_000)
    lab.run(*swaks, "--to", "refused@server.lab", ok=(24,))
    lab.run(*swaks, "--to", "you@server.lab", "--tls")
    with smtplib.SMTP(SERVER, local_hostname="client.lab") as mail:
        for number in range(MAILS):
            refused = mail.sendmail("me@client.lab", ["you@server.lab"], f"Subject: {number}\r\n\r\nhello\r\n")
            need(not refused, "Postfix refused a mail")
    # EHLO, MAIL, RCPT, DATA, QUIT; a second RCPT; without DATA; EHLO and STARTTLS; one connection for all mails.
    return [Expect("smtp", calls=5 + 6 + 4 + 2 + 1 + 3 * MAILS + 1, errors=1, free=5,
                   labels={"MAIL": 3 + MAILS, "DATA": 2 + MAILS, "EHLO": 5, "STARTTLS": 1}),
            # Inside, EHLO, MAIL, RCPT, DATA, the mail and QUIT are turns.
            Expect("tls", calls=1 + 6, free=None)]
