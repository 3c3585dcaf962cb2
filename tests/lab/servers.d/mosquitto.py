# SPDX-License-Identifier: Apache-2.0
"""mosquitto: its own clients, versions 3.1.1 and 5, QoS 0 to 2, both ways."""
import subprocess

from servers_kit import SERVER, Expect, need

PACKAGES = "mosquitto mosquitto-clients"
COUNT = 10  # messages of each quality


def start(lab):
    lab.serve("mosquitto", "-c",
              lab.write("mosquitto.conf",
                        f"listener 1883 {SERVER}\nallow_anonymous true\npersistence false\nuser nobody\n"))
    lab.wait_tcp(1883)


def drive(lab):
    """A subscriber that ends after all messages; a publisher for each quality, a line a message."""
    calls = free = 0
    for version in ("311", "5"):
        subscriber = subprocess.Popen(["stdbuf", "-oL", "mosquitto_sub", "-h", SERVER, "-V", version, "-q", "2", "-t",
                                       f"v{version}/#", "-C", str(3 * COUNT), "-d"],
                                      stdout=subprocess.PIPE, encoding="utf-8")
        while "SUBACK" not in (line := subscriber.stdout.readline()):
            need(line, "mosquitto_sub ended")
        for quality in range(3):
            lab.run("mosquitto_pub", "-h", SERVER, "-V", version, "-q", str(quality), "-t", f"v{version}/q{quality}",
                    "-l", text="hello\n" * COUNT)
        need(subscriber.wait(timeout=30) == 0, "the subscriber lacks messages")
        subscriber.stdout.close()
        # CONNECT of four clients, SUBSCRIBE; each of QoS 1 and 2 to the broker, and from it.
        calls += 4 + 1 + 2 * 2 * COUNT
        free += 2 * COUNT + 4  # QoS 0 both ways, DISCONNECT
    return [Expect("mqtt", calls=calls, free=free, either=("PUBREL*",))]
