# SPDX-License-Identifier: Apache-2.0
"""chrony: a server, and another that asks it; what that one notes in its log of measurements is the count."""
import os

from servers_kit import SERVER, Expect

PACKAGES = "chrony"
COUNT = 30  # measurements, at least
ALONE = "cmdport 0\nbindcmdaddress /\n"


def start(lab):
    config = f"local stratum 3\nallow 10.99.0.0/24\nbindaddress {SERVER}\n{ALONE}pidfile FOLDER/pid\n"
    lab.serve("chronyd", "-x", "-d", "-U", "-F", "0", "-u", "root", "-f", lab.write("server.conf", config))
    lab.wait_udp(123)


def drive(lab):
    """A line of the log is a measurement: it begins with a date."""
    config = f"server {SERVER} iburst minpoll -4 maxpoll -4\n{ALONE}pidfile FOLDER/client.pid\n"
    config += "logdir FOLDER\nlog rawmeasurements\n"
    lab.serve("chronyd", "-x", "-d", "-U", "-F", "0", "-u", "root", "-f", lab.write("client.conf", config))
    log = lab.path("measurements.log")
    lab.wait(lambda: os.path.exists(log) and lines(log) >= COUNT, "a log of measurements")
    lab.stop()
    return [Expect("ntp", calls=lines(log))]


def lines(log):
    with open(log, encoding="ascii") as file:
        return sum(line[0].isdigit() for line in file)
