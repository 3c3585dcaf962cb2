# SPDX-License-Identifier: Apache-2.0
"""SCGI: nginx in the clients' namespace asks a small Python server; no package holds one."""
import socketserver

from servers_kit import SERVER, Expect, need

PACKAGES = "nginx curl"
NGINX = f"""daemon off; pid FOLDER/nginx.pid; error_log FOLDER/error.log; user www-data;
events {{ worker_connections 100; }}
http {{
  access_log off; client_body_temp_path FOLDER/t1; proxy_temp_path FOLDER/t2; fastcgi_temp_path FOLDER/t3;
  uwsgi_temp_path FOLDER/t4;
  scgi_temp_path FOLDER/t5;
  server {{
    listen 127.0.0.1:80;
    location / {{
      scgi_pass {SERVER}:4000;
      scgi_param CONTENT_LENGTH $content_length if_not_empty; scgi_param SCGI 1;
      scgi_param REQUEST_METHOD $request_method;
      scgi_param REQUEST_URI $request_uri; scgi_param SCRIPT_NAME $uri;
    }}
  }}
}}
"""


class Handler(socketserver.StreamRequestHandler):
    def handle(self):
        """A netstring of names and values, the body's length first; then the body."""
        size = b""
        while not size.endswith(b":"):
            size += self.rfile.read(1)
        words = self.rfile.read(int(size[:-1]) + 1).split(b"\0")
        named = dict(zip(words[::2], words[1::2]))
        body = self.rfile.read(int(named.get(b"CONTENT_LENGTH") or 0))
        status = b"404 Not Found" if b"nosuch" in named[b"REQUEST_URI"] else b"200 OK"
        self.wfile.write(b"Status: " + status + b"\r\nContent-Type: text/plain\r\n\r\n%d\n" % len(body))


class Server(socketserver.ThreadingTCPServer):
    allow_reuse_address = True


def serve(_):
    Server((SERVER, 4000), Handler).serve_forever()


def start(lab):
    lab.serve_self()
    lab.wait_tcp(4000)


def drive(lab):
    lab.serve("nginx", "-p", lab.folder, "-c", lab.write("nginx.conf", NGINX))
    lab.wait_tcp(80, "127.0.0.1")
    try:
        lab.run("curl", "-s", "http://127.0.0.1/item/[1-20]")
        lab.run("curl", "-s", "http://127.0.0.1/nosuch/[1-3]")
        out = lab.run("curl", "-s", "-d", f"@{lab.write('posted', 'y' * 100_000)}", "http://127.0.0.1/item/1").out
        need(out == "100000\n", out)
    finally:
        lab.stop()
    return [Expect("scgi", calls=24, errors=3, labels={"GET /item/*": 20, "GET /nosuch/*": 3, "POST /item/*": 1})]
