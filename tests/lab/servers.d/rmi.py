# SPDX-License-Identifier: Apache-2.0
"""Java's RMI registry, and a client that binds, lists, looks up, and asks for what is not there."""
from servers_kit import SERVER, Expect

PACKAGES = "openjdk-17-jdk-headless"
CLIENT = f"""import java.rmi.registry.*;
public class Client {{
  public static void main(String[] words) throws Exception {{
    Registry registry = LocateRegistry.getRegistry("{SERVER}", 1099);
    for (int i = 0; i < 20; i++) registry.list();
    for (int i = 0; i < 3; i++)
      try {{ registry.lookup("nosuch"); throw new Error("found"); }} catch (java.rmi.NotBoundException right) {{}}
    System.exit(0);
  }}
}}
"""


def start(lab):
    lab.run("javac", "-d", lab.folder, lab.write("Client.java", CLIENT))
    lab.serve("rmiregistry", "-J-Xmx64m", f"-J-Djava.rmi.server.hostname={SERVER}", "1099")
    lab.wait_tcp(1099)


def drive(lab):
    lab.run("java", "-Xmx64m", "-cp", lab.folder, "Client")
    # What opens a connection, and looks whether it still lives, is the client's own.
    return [Expect("rmi", calls=23, errors=3, labels={"Registry.list": 20, "Registry.lookup": 3},
                   either=("connect", "Ping"))]
