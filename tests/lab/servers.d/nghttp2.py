# SPDX-License-Identifier: Apache-2.0
"""nghttp2: h2load's many streams on several connections, and the upgrade from HTTP/1.1 through nghttpx."""
from servers_kit import SERVER, Expect, need

PACKAGES = "nghttp2-server nghttp2-client nghttp2-proxy"


def start(lab):
    lab.write("files/item.html", "z" * 20_000)
    lab.serve("nghttpd", "--no-tls", "-a", SERVER, "-d", lab.path("files"), "8080")
    lab.wait_tcp(8080)
    lab.serve("nghttpx", f"-f{SERVER},8081;no-tls", "-b127.0.0.1,8079;;proto=h2", "--errorlog-file", lab.path("errors"))
    lab.serve("nghttpd", "--no-tls", "-a", "127.0.0.1", "-d", lab.path("files"), "8079")
    lab.wait_tcp(8081)


def drive(lab):
    """An upgraded request and stream 1 are one call of HTTP/1; what follows it is HTTP/2."""
    out = lab.run("h2load", "-n", "300", "-c", "4", "-m", "20", f"http://{SERVER}:8080/item.html").out
    need("300 succeeded" in out, out)
    lab.run("nghttp", "-n", "-m", "5", f"http://{SERVER}:8080/item.html", f"http://{SERVER}:8080/nosuch")
    lab.run("nghttp", "-n", "-u", f"http://{SERVER}:8081/item.html", f"http://{SERVER}:8081/item.html?2")
    return [Expect("http2", calls=300 + 10 + 1, errors=5, labels={"GET /nosuch": 5}), Expect("http", calls=1)]
