# SPDX-License-Identifier: Apache-2.0
"""ZooKeeper: kazoo, with many requests under way at once, a watch, and errors; a multi."""
from servers_kit import SERVER, Expect, need

PACKAGES = "zookeeper python3-kazoo"
CONFIG = f"tickTime=2000\ndataDir=FOLDER/data\nclientPort=2181\nclientPortAddress={SERVER}\nadmin.enableServer=false\n"
COUNT = 25


def start(lab):
    lab.make_folder("data")
    classes = "/etc/zookeeper/conf:/usr/share/java/zookeeper.jar:/usr/share/zookeeper/*:/usr/share/java/*"
    lab.serve("java", "-Xmx128m", "-cp", classes, "org.apache.zookeeper.server.quorum.QuorumPeerMain",
              lab.write("zoo.cfg", CONFIG))
    lab.wait_tcp(2181)


def drive(_):
    from kazoo.client import KazooClient
    from kazoo.exceptions import NoNodeError, NodeExistsError
    client = KazooClient(hosts=f"{SERVER}:2181", timeout=60)
    client.start()
    client.create("/lab", b"")
    for number in range(COUNT):
        client.create(f"/lab/n{number}", b"x" * number)
    together = [client.get_async(f"/lab/n{number}") for number in range(COUNT)]
    for one in together:
        one.get(timeout=10)
    client.set("/lab/n1", b"new")
    need(len(client.get_children("/lab")) == COUNT, "children")
    need(client.exists("/nosuch") is None, "exists")
    for failing, error in ((lambda: client.get("/nosuch"), NoNodeError),
                           (lambda: client.create("/lab/n1", b""), NodeExistsError)):
        try:
            failing()
            need(False, "a request that must fail did not")
        except error:
            pass
    seen = []
    client.get("/lab/n2", watch=seen.append)
    client.set("/lab/n2", b"watched")
    transaction = client.transaction()
    transaction.create("/lab/multi", b"")
    transaction.delete("/lab/n3")
    transaction.commit()
    client.stop()
    client.close()
    # exists and get of what is not there, a node that is; the watch; ConnectRequest, and closeSession.
    return [Expect("zookeeper", calls=1 + COUNT + COUNT + 1 + 1 + 1 + 2 + 2 + 1 + 1, errors=3, free=1,
                   either=("CONNECT*", "connect*", "ping*", "PING*"))]
