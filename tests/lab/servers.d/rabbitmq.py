# SPDX-License-Identifier: Apache-2.0
"""RabbitMQ: AMQP 0-9-1 by pika, confirmed publishes and a consumer; STOMP by hand through its plugin."""
from servers_kit import SERVER, Expect, need

PACKAGES = "rabbitmq-server python3-pika"
COUNT = 20
CONFIG = f"""listeners.tcp.1 = {SERVER}:5672
stomp.listeners.tcp.1 = {SERVER}:61613
loopback_users = none
log.file = false
"""


def start(lab):
    home = lab.make_folder("home", "rabbitmq")
    lab.write("enabled_plugins", "[rabbitmq_stomp].\n")
    env = {"HOME": home, "RABBITMQ_NODENAME": "lab@localhost", "ERL_EPMD_ADDRESS": "127.0.0.1",
           "RABBITMQ_CONFIG_FILE": lab.write("rabbitmq.conf", CONFIG),
           "RABBITMQ_MNESIA_BASE": f"{home}/mnesia", "RABBITMQ_LOG_BASE": f"{home}/log",
           "RABBITMQ_ENABLED_PLUGINS_FILE": lab.path("enabled_plugins"),
           "RABBITMQ_DIST_PORT": "25672", "RABBITMQ_PID_FILE": f"{home}/pid", "RABBITMQ_CONF_ENV_FILE": "/dev/null"}
    lab.serve("/usr/lib/rabbitmq/bin/rabbitmq-server", user="rabbitmq", env=env, folder=home)
    lab.wait_tcp(61613)


def drive_amqp():
    """Returns calls, errors, free messages: publish, confirm, deliver and ack are free."""
    import pika
    connection = pika.BlockingConnection(pika.ConnectionParameters(SERVER))
    channel = connection.channel()
    channel.queue_declare("work")
    channel.basic_publish("", "work", b"unconfirmed")
    channel.confirm_delivery()
    for number in range(COUNT):
        channel.basic_publish("", "work", b"job%d" % number)
    for _ in range(3):
        channel.basic_get("work", auto_ack=True)
    channel.basic_qos(prefetch_count=5)
    taken = 0
    for method, _, _ in channel.consume("work", inactivity_timeout=10):
        need(method, "the queue lacks messages")
        channel.basic_ack(method.delivery_tag)
        taken += 1
        if taken == COUNT - 2:
            break
    channel.cancel()
    try:
        channel.queue_declare("nosuch", passive=True)
    except pika.exceptions.ChannelClosedByBroker:
        pass
    other = connection.channel()
    other.queue_delete("work")
    other.close()
    connection.close()
    # Channel.Open, Queue.Declare, Confirm.Select, Basic.Get, Basic.Qos, Basic.Consume, Cancel, the failing
    # Declare, Open, Queue.Delete, Channel.Close, Connection.Close; Connection.Open.
    return 1 + 1 + 1 + 3 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1, 1, 1 + 2 * COUNT + 2 * taken


def drive_stomp(talk):
    talk.ask(b"CONNECT\naccept-version:1.2\nhost:/\nlogin:guest\npasscode:guest\n\n\0", b"\0")
    talk.send(b"SUBSCRIBE\nid:1\ndestination:/queue/stomp\nreceipt:r0\n\n\0")
    talk.until(b"\0")
    for number in range(COUNT):
        talk.send(b"SEND\ndestination:/queue/stomp\nreceipt:s%d\n\nhello\0" % number)
        talk.until(b"\0")
        talk.until(b"\0")  # the receipt and the message, in any order
    talk.send(b"SEND\ndestination:/queue/stomp\n\nno receipt\0")
    talk.until(b"\0")
    talk.ask(b"DISCONNECT\nreceipt:bye\n\n\0", b"\0")
    return 1 + 1 + COUNT + 1, COUNT + 1 + 1


def drive(lab):
    calls, errors, free = drive_amqp()
    with lab.connect(61613) as talk:
        stomp_calls, stomp_free = drive_stomp(talk)
    return [Expect("amqp", calls=calls, errors=errors, free=free, either=("connection.start*", "connection.tune*")),
            Expect("stomp", calls=stomp_calls, free=stomp_free)]
