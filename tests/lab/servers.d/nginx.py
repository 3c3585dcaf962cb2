# SPDX-License-Identifier: Apache-2.0
"""nginx: HTTP/1.1 kept, pipelined and with bodies; HTTP/2 with prior knowledge; both in TLS, with curl's key log."""
import os

from servers_kit import SERVER, Expect, counted, need

PACKAGES = "nginx curl openssl nghttp2-client"
CAPTURE = ("--keylog", "FOLDER/keys")
CONFIG = """daemon off; pid FOLDER/nginx.pid; error_log FOLDER/error.log; user www-data;
events { worker_connections 200; }
http {
  access_log off; client_body_temp_path FOLDER/body; proxy_temp_path FOLDER/proxy; fastcgi_temp_path FOLDER/fastcgi;
  uwsgi_temp_path FOLDER/uwsgi; scgi_temp_path FOLDER/scgi; client_max_body_size 10m;
  ssl_certificate FOLDER/certificate.pem; ssl_certificate_key FOLDER/key.pem; ssl_protocols TLSv1.2 TLSv1.3;
  server {
    listen 80; listen 81 http2; listen 443 ssl; listen 444 ssl http2;
    location /item/ { return 200 "fine\\n"; }
    location /old/ { return 301 /item/1; }
    location /fail/ { return 503; }
    location / { root FOLDER/files; }
  }
}
"""
BASE = f"http://{SERVER}"


def start(lab):
    lab.certificate()
    lab.make_folder("files", "www-data")
    lab.write("files/large", "x" * 3_000_000)
    lab.serve("nginx", "-p", lab.folder, "-c", lab.write("nginx.conf", CONFIG))
    lab.wait_tcp(444)


def pipelined(lab):
    requests = b"".join(b"GET /item/%d HTTP/1.1\r\nHost: a\r\n\r\n" % number for number in range(9))
    with lab.connect(80) as talk:
        talk.send(requests + b"GET /nosuch HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n")
        need(talk.end().count(b"HTTP/1.1 ") == 10, "nginx did not answer ten requests")


def curl(lab, *words, ok=(0,)):
    return lab.run("curl", "-s", "-S", *words, ok=ok, env={"SSLKEYLOGFILE": lab.path("keys")}).out


def plain(lab):
    """Labels of HTTP/1 without TLS."""
    curl(lab, f"{BASE}/item/[1-30]")
    curl(lab, "--http1.0", f"{BASE}/item/1", f"{BASE}/item/2")
    curl(lab, "-I", f"{BASE}/item/[1-3]")
    curl(lab, "-o", "/dev/null", "-o", "/dev/null", f"{BASE}/large", f"{BASE}/large")
    curl(lab, "-d", f"@{lab.write('posted', 'y' * 100_000)}", "-H", "Expect: 100-continue", f"{BASE}/item/9")
    curl(lab, f"{BASE}/nosuch", f"{BASE}/fail/1", "-o", "/dev/null", "-L", f"{BASE}/old/1")
    pipelined(lab)
    return 30 + 2 + 3 + 2 + 1 + 2 + 2 + 10, 1 + 1 + 1  # -L asks once more


def drive(lab):
    http, errors = plain(lab)
    lab.run("h2load", "-n", "20", "-c", "2", f"http://{SERVER}:81/item/1")
    lab.run("nghttp", "-n", f"http://{SERVER}:81/large", f"http://{SERVER}:81/nosuch")
    for tls in ("--tls-max 1.2", "--tlsv1.3"):
        curl(lab, "-k", *tls.split(), f"https://{SERVER}/item/[1-10]", f"https://{SERVER}/nosuch")
        curl(lab, "-k", *tls.split(), "--http2", f"https://{SERVER}:444/item/[1-12]", "-o", "/dev/null",
             f"https://{SERVER}:444/large")
    curl(lab, "-k", "--resolve", f"server.lab:443:{SERVER}", "https://server.lab/item/1")
    refused = lab.run("openssl", "s_client", "-connect", f"{SERVER}:443", "-tls1_1", "-cipher", "ALL:@SECLEVEL=0",
                      ok=(1,)).out
    need("alert" in refused, refused)
    need(os.path.getsize(lab.path("keys")), "curl wrote no key log")
    return [Expect("http", calls=http + 2 * 11 + 1, errors=errors + 2,
                   labels=counted(*["GET /item/*"] * (30 + 2 + 9 + 1 + 2 * 10 + 1), *["HEAD /item/*"] * 3,
                                  "POST /item/*")),
            Expect("http2", calls=20 + 2 + 2 * 13, errors=1),
            Expect("tls", calls=2 * 2 + 2, errors=1, free=None)]
