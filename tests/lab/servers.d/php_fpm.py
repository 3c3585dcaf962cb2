# SPDX-License-Identifier: Apache-2.0
"""php-fpm: FastCGI by cgi-fcgi, a connection a request, and by nginx in the clients' namespace, connections kept."""
from servers_kit import SERVER, Expect, need

PACKAGES = "php8.2-fpm libfcgi-bin nginx curl"
FPM = f"""[global]
pid = FOLDER/pid
error_log = FOLDER/fpm.log
daemonize = no
[www]
user = www-data
listen = {SERVER}:9000
pm = static
pm.max_children = 3
"""
NGINX = f"""daemon off; pid FOLDER/nginx.pid; error_log FOLDER/error.log; user www-data;
events {{ worker_connections 100; }}
http {{
  access_log off; client_body_temp_path FOLDER/t1; proxy_temp_path FOLDER/t2; fastcgi_temp_path FOLDER/t3;
  uwsgi_temp_path FOLDER/t4;
  scgi_temp_path FOLDER/t5;
  upstream fpm {{ server {SERVER}:9000; keepalive 4; }}
  server {{
    listen 127.0.0.1:80;
    location / {{
      fastcgi_pass fpm; fastcgi_keep_conn on;
      fastcgi_param SCRIPT_FILENAME FOLDER/files$fastcgi_script_name; fastcgi_param SCRIPT_NAME $fastcgi_script_name;
      fastcgi_param REQUEST_METHOD $request_method;
      fastcgi_param CONTENT_LENGTH $content_length; fastcgi_param CONTENT_TYPE $content_type;
    }}
  }}
}}
"""
SCRIPT = ("<?php if (isset($_GET['x'])) http_response_code(500); "
          "echo strlen(file_get_contents('php://input')), \"\\n\";\n")


def start(lab):
    lab.write("files/index.php", SCRIPT)
    lab.serve("php-fpm8.2", "-n", "-y", lab.write("fpm.conf", FPM))
    lab.wait_tcp(9000)


def drive(lab):
    script = lab.path("files/index.php")
    for number in range(10):
        method = {"REQUEST_METHOD": "GET", "QUERY_STRING": "x=1" if number == 9 else ""}
        lab.run("cgi-fcgi", "-bind", "-connect", f"{SERVER}:9000", env={"SCRIPT_FILENAME": script,
                                                                        "SCRIPT_NAME": "/index.php", **method})
    lab.make_folder("nginx")
    lab.serve("nginx", "-p", lab.folder, "-c", lab.write("nginx.conf", NGINX))
    lab.wait_tcp(80, "127.0.0.1")
    try:
        lab.run("curl", "-s", "http://127.0.0.1/index.php?[1-20]")
        out = lab.run("curl", "-s", "-d", f"@{lab.write('posted', 'y' * 100_000)}", "http://127.0.0.1/index.php").out
        need(out == "100000\n", out)
        lab.run("curl", "-s", "http://127.0.0.1/nosuch.php")
    finally:
        lab.stop()
    return [Expect("fastcgi", calls=10 + 20 + 1 + 1, errors=2, labels={"GET /index.php": 30, "POST /index.php": 1})]
