# SPDX-License-Identifier: Apache-2.0
"""What tshark finds in a capture, counted as CALLS are counted in bbtrace: {"dns requests": 3, ...}.
Each rule below takes what tshark tells of one frame (field: list of values), and adds."""
import collections
import os
import subprocess

# What tshark would not look for at these ports. And where it waits for all of a body, of which bytes
# are missing or out of order, before it tells of the message.
IN_ORDER, NO_BODY = ["-o", "tcp.reassemble_out_of_order:TRUE"], ["-o", "http.desegment_body:FALSE"]
OPTIONS = {
    "ndpi/ajp.pcap": ["-d", "tcp.port==8010,ajp13"],
    "ndpi/mongodb.pcap": ["-d", "tcp.port==27017,mongo", "-d", "tcp.port==30000,mongo"],
    "ndpi/soap.pcap": [*IN_ORDER, *NO_BODY],
    "suricata/http2-compression-bug.pcap": ["-d", "tcp.port==443,http2"],
    "suricata/http2-keywords.pcap": ["-d", "tcp.port==3000,http2"],
    "suricata/http2-long-frame.pcap": ["-d", "tcp.port==8443,http2"],
    "zeek/http/concurrent-range-requests.pcap": IN_ORDER,
    "zeek/http/content-range-gap-skip.pcap": NO_BODY,
    "zeek/http/entity_gap.pcap": NO_BODY,
    "zeek/http/http-single-conn-22.pcap": ["-d", "tcp.port==22,http"],
    "zeek/tunnels/gtp1_gn_normal_incl_fragmentation.pcap": NO_BODY,
    "zeek/redis/django-cloud.pcapng": ["-d", "tcp.port==10625,resp"],
    # data/samples/protocols: servers were at odd ports.
    "amqp.pcap": ["-d", "tcp.port==25673,amqp"],
    "grpc.pcap": ["-d", "tcp.port==28191,http2"],
    "http2.pcap": ["-d", "tcp.port==28180,http2", "-d", "tcp.port==28181,http"],
    "ldap.pcap": ["-d", "tcp.port==10389,ldap"],
    "memcached_binary.pcap": ["-d", "tcp.port==21211,memcache"],
    "mqtt.pcap": ["-d", "tcp.port==21883,mqtt"],
    "mysql.pcap": ["-d", "tcp.port==13306,mysql"],
    "postgresql_replication.pcap": ["-d", "tcp.port==15432,pgsql"],
    "radius.pcap": ["-d", "udp.port==11812,radius", "-d", "udp.port==11813,radius"],
    "rmi.pcap": ["-d", "tcp.port==41099,rmi", "-d", "tcp.port==41100,rmi"],
    "sip.pcap": ["-d", "udp.port==15060,sip", "-d", "tcp.port==15060,sip"],
    "smb2.pcap": ["-d", "tcp.port==10445,nbss"],
    "smtp.pcap": ["-d", "tcp.port==12525,smtp", "-d", "tcp.port==12526,smtp", "-d", "tcp.port==12527,smtp"],
    "thrift.pcap": [word for port in range(42001, 42005) for word in ("-d", f"tcp.port=={port},thrift")],
    "tls.pcap": ["-d", "tcp.port==18443,tls"],
    "websocket.pcap": ["-d", "tcp.port==28286,http"],
}

FIELDS = """frame.protocols tcp.dstport tcp.srcport tcp.stream udp.stream http.request.method
    http.response.code dns.flags.response pgsql.type resp.array.length resp.fragment
    http2.headers.method http2.headers.status websocket.opcode tls.handshake.type mysql.command
    mongo.response_to cql.direction kafka.correlation_id amqp.method.class
    amqp.method.method mqtt.msgtype mqtt.qos rpc.xid rpc.msgtyp thrift.mtype ldap.protocolOp
    smb2.flags.response smb2.cmd smb2.nt_status dcerpc.pkt_type ajp13.code fcgi.type
    ajp13.method smtp.req.command smtp.response.code sip.Method sip.Status-Code sip.Call-ID
    sip.CSeq.seq sip.CSeq.method tls.handshake.extensions_server_name radius.code radius.dup
    diameter.flags.request snmp.data ntp.flags.mode rmi.magic rmi.outputstream.message
    rmi.inputstream.message giop.type rx.type rx.seq rx.callnumber rx.cid rx.flags.client_init
    memcache.command memcache.magic""".split()

# Values that pair a request's kind with its reply's: field, requests, replies.
BY_VALUE = {
    "websocket": ("websocket.opcode", {"9"}, {"10"}),
    "mqtt": ("mqtt.msgtype", {"1", "6", "8", "10", "12"}, {"2", "4", "5", "7", "9", "11", "13"}),
    "thrift": ("thrift.mtype", {"1"}, {"2", "3"}),
    # Bind, search, modify, add, delete, rename, compare, extended; of a search only what ends it.
    "ldap": ("ldap.protocolOp", {"0", "3", "6", "8", "10", "12", "14", "23"},
             {"1", "5", "7", "9", "11", "13", "15", "24"}),
    # Request, bind, alter_context; response, fault, and what answers the other two.
    "dcerpc": ("dcerpc.pkt_type", {"0", "11", "14"}, {"2", "3", "12", "13", "15"}),
    "fastcgi": ("fcgi.type", {"1"}, {"3"}),
    "ajp": ("ajp13.code", {"10"}, {"5", "9"}),  # and the requests, which have a method
    "giop": ("giop.type", {"0", "3"}, {"1", "4"}),  # but for MIOP, which has no replies
    "radius": ("radius.code", {"1", "4", "12", "40", "43"}, {"2", "3", "5", "11", "41", "42", "44", "45"}),
    "diameter": ("diameter.flags.request", {"1"}, {"0"}),
    "snmp": ("snmp.data", {"0", "1", "3", "5", "6"}, {"2", "8"}),
    "ntp": ("ntp.flags.mode", {"3"}, {"4"}),
    "cassandra": ("cql.direction", {"0"}, {"8"}),
    "rmi": ("rmi.outputstream.message", {"80", "82"}, set()),
    "dns": ("dns.flags.response", {"0"}, {"1"}),
}

# pgsql.type of what ends in a ReadyForQuery or is a message of its own: a simple query, a Sync, the
# startup message, Terminate, CancelRequest, SSLRequest.
PGSQL_REQUESTS = {"Simple query", "Sync", "Startup message", "Termination", "SSL request", "Cancel request"}

# AMQP's classes and methods that are answered, by the client's half.
AMQP_REQUESTS = {("10", "10"), ("10", "20"), ("10", "30"), ("10", "40"), ("10", "50"), ("20", "10"), ("20", "20"), ("20", "40"),
                 ("40", "10"), ("40", "20"), ("50", "10"), ("50", "20"), ("50", "30"), ("50", "40"), ("50", "50"),
                 ("60", "10"), ("60", "20"), ("60", "30"), ("60", "70"), ("60", "110"), ("85", "10"), ("90", "10"),
                 ("90", "20"), ("90", "30")}

STATUS_PENDING = str(0x103)
SMB2_CANCEL, SMB2_BREAK = {"12"}, {"18"}
MYSQL_ONE_WAY = {"1", "24", "25"}  # QUIT, STMT_SEND_LONG_DATA, STMT_CLOSE

MONGODB_NONE = {"0", str(0xffffffff)}  # responseTo of a request


def plain(value):
    """Numbers as tshark's versions write them: 0x01, True, 1."""
    value = {"True": "1", "False": "0"}.get(value, value)
    return str(int(value, 16)) if value.startswith("0x") else value


def to_server(frame):
    target, source = frame["tcp.dstport"], frame["tcp.srcport"]
    return bool(target and source) and int(target[-1]) < int(source[-1])


def transport(protocols):
    """tcp or udp where that is what the frame carries innermost."""
    layers = [layer for layer in protocols.split(":") if not layer.startswith("ipv6.")]
    last = max((i for i, layer in enumerate(layers) if layer in ("ip", "ipv6")), default=None)
    if last is None or last + 1 == len(layers) or layers[last + 1] not in ("tcp", "udp"):
        return None
    inside = layers[last + 2:]
    return None if "eth" in inside or "wlan" in inside else layers[last + 1]


def add_text_protocols(counts, frame):
    counts["http requests"] += len(frame["http.request.method"])
    counts["http replies"] += sum(code[0] != "1" or code == "101" for code in frame["http.response.code"])
    counts["http2 requests"] += len(frame["http2.headers.method"])
    counts["http2 replies"] += sum(code[0] != "1" for code in frame["http2.headers.status"])
    counts["smtp requests"] += len(frame["smtp.req.command"])
    # What asks for the rest of a command is none of its own.
    counts["smtp replies"] += sum(code not in ("334", "354") for code in frame["smtp.response.code"])
    counts["memcached requests"] += frame["memcache.magic"].count("128")
    counts["memcached replies"] += frame["memcache.magic"].count("129")
    counts["ajp requests"] += len(frame["ajp13.method"])
    counts["websocket messages"] += sum(kind in ("1", "2") for kind in frame["websocket.opcode"])
    counts["rmi requests"] += len(frame["rmi.magic"])
    counts["rmi replies"] += sum(kind in ("78", "81", "83") for kind in frame["rmi.inputstream.message"])
    if to_server(frame):
        counts["memcached requests"] += len(frame["memcache.command"])
        # Fragments are inline commands.
        counts["redis requests"] += len(frame["resp.array.length"]) + len(frame["resp.fragment"])


def add_databases(counts, frame):
    kinds = frame["pgsql.type"]
    counts["postgresql requests"] += sum(kind in PGSQL_REQUESTS for kind in kinds)
    counts["postgresql replies"] += kinds.count("Ready for query")
    counts["mysql requests"] += sum(command not in MYSQL_ONE_WAY for command in frame["mysql.command"])
    replies = sum(answered not in MONGODB_NONE for answered in frame["mongo.response_to"])
    counts["mongodb replies"] += replies
    counts["mongodb requests"] += len(frame["mongo.response_to"]) - replies


def add_queues(counts, frame):
    counts[f"kafka {'requests' if to_server(frame) else 'replies'}"] += len(frame["kafka.correlation_id"])
    qos = frame["mqtt.qos"]
    counts["mqtt requests"] += sum(level != "0" for level, kind in zip(qos, (k for k in frame["mqtt.msgtype"] if k == "3")))
    for method in zip(frame["amqp.method.class"], frame["amqp.method.method"]):
        number = (method[0], str(int(method[1]) - 1))
        if method in AMQP_REQUESTS:
            counts["amqp requests"] += 1
        elif number in AMQP_REQUESTS or method in {("60", "71"), ("60", "72")}:
            counts["amqp replies"] += 1


def add_once(counts, seen, kind, *number):
    if (kind, *number) not in seen:
        seen.add((kind, *number))
        counts[kind] += 1


def add_calls_by_number(counts, frame, seen):
    """Retransmissions are the same call: a number counts once in a conversation."""
    stream = (*frame["tcp.stream"], "/", *frame["udp.stream"])
    for kind, xid in zip(frame["rpc.msgtyp"], frame["rpc.xid"]):
        add_once(counts, seen, "oncrpc requests" if kind == "0" else "oncrpc replies", stream, xid)
    for kind, seq, number, cid, client in zip(*(frame[f"rx.{name}"] for name in (
            "type", "seq", "callnumber", "cid", "flags.client_init"))):
        if kind == "1" and seq == "1" or kind == "4" and client == "0":
            add_once(counts, seen, "afsrx requests" if client == "1" else "afsrx replies", number, cid)
    answers = any(int(code) >= 200 for code in frame["sip.Status-Code"])
    for number in zip(*(frame[f"sip.{name}"] for name in ("Call-ID", "CSeq.seq", "CSeq.method"))):
        if answers or frame["sip.Method"] and number[2] != "ACK":
            add_once(counts, seen, "sip replies" if answers else "sip requests", number)
    # A handshake has a label of its own where the client names the server.
    if frame["tls.handshake.extensions_server_name"]:
        add_once(counts, seen, "tls requests", stream)
    if "2" in frame["tls.handshake.type"] and ("tls requests", stream) in seen:
        add_once(counts, seen, "tls replies", stream)


def add_smb2(counts, frame):
    statuses = iter(frame["smb2.nt_status"])
    for command, response in zip(frame["smb2.cmd"], frame["smb2.flags.response"]):
        if response == "0":
            counts["smb2 requests"] += command not in SMB2_CANCEL | SMB2_BREAK
        else:
            counts["smb2 replies"] += next(statuses, "") != STATUS_PENDING and command not in SMB2_BREAK


def count(folder, name):
    """In one pass: tshark takes its time to start."""
    command = ["tshark", "-n", "-r", os.path.join(folder, name), *OPTIONS.get(name, []),
               "-T", "fields", "-E", "occurrence=a", "-E", "aggregator=|", "-E", "separator=/t"]
    for field in FIELDS:
        command += ["-e", field]
    out = subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, check=False).stdout
    counts, seen = collections.Counter(), set()
    for line in out.decode(errors="replace").splitlines():
        frame = {field: [plain(value) for value in column.split("|") if value]
                 for field, column in zip(FIELDS, line.split("\t"))}
        protocols = "".join(frame["frame.protocols"])
        if "icmp" in protocols:  # which quotes
            continue
        carried = transport(protocols)
        if carried:
            counts[f"{carried} packets"] += 1
        for protocol, (field, requests, replies) in BY_VALUE.items():
            if protocol == "giop" and "miop" in protocols or protocol == "radius" and frame["radius.dup"]:
                continue
            counts[f"{protocol} requests"] += sum(value in requests for value in frame[field])
            counts[f"{protocol} replies"] += sum(value in replies for value in frame[field])
        add_text_protocols(counts, frame)
        add_databases(counts, frame)
        add_queues(counts, frame)
        add_calls_by_number(counts, frame, seen)
        add_smb2(counts, frame)
    return counts
