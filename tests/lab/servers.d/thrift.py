# SPDX-License-Identifier: Apache-2.0
"""Thrift by python3-thrift on both sides: binary and compact, framed and not; exceptions and a oneway."""
import threading

from servers_kit import SERVER, Expect

PACKAGES = "python3-thrift"
FIRST_PORT, COUNT = 9091, 15


def kinds():
    """(port, transport's factory, protocol's factory) of each kind"""
    from thrift.protocol import TBinaryProtocol, TCompactProtocol
    from thrift.transport import TTransport
    transports = (TTransport.TBufferedTransportFactory, TTransport.TFramedTransportFactory)
    pairs = [(transport, protocol) for transport in transports
             for protocol in (TBinaryProtocol.TBinaryProtocolFactory, TCompactProtocol.TCompactProtocolFactory)]
    return [(FIRST_PORT + i, transport(), protocol()) for i, (transport, protocol) in enumerate(pairs)]


class Processor:
    """What the compiler would make of: i32 add(1: i32 a), string fail(), oneway void tell()."""

    def process(self, source, sink):
        from thrift.Thrift import TApplicationException, TMessageType, TType
        name, kind, number = source.readMessageBegin()
        source.skip(TType.STRUCT)
        source.readMessageEnd()
        if kind == TMessageType.ONEWAY:
            return
        if name == "add":
            sink.writeMessageBegin(name, TMessageType.REPLY, number)
            sink.writeStructBegin("result")
            sink.writeFieldBegin("success", TType.I32, 0)
            sink.writeI32(7)
            sink.writeFieldEnd()
            sink.writeFieldStop()
            sink.writeStructEnd()
        else:
            sink.writeMessageBegin(name, TMessageType.EXCEPTION, number)
            TApplicationException(TApplicationException.UNKNOWN_METHOD, name).write(sink)
        sink.writeMessageEnd()
        sink.trans.flush()


def serve(_):
    from thrift.server import TServer
    from thrift.transport import TSocket
    servers = [TServer.TThreadedServer(Processor(), TSocket.TServerSocket(SERVER, port), transport, protocol)
               for port, transport, protocol in kinds()]
    for server in servers[1:]:
        threading.Thread(target=server.serve, daemon=True).start()
    servers[0].serve()


def start(lab):
    lab.serve_self()
    for port in range(FIRST_PORT, FIRST_PORT + 4):
        lab.wait_tcp(port)


def send(protocol, name, kind, number):
    from thrift.Thrift import TType
    protocol.writeMessageBegin(name, kind, number)
    protocol.writeStructBegin("arguments")
    protocol.writeFieldBegin("a", TType.I32, 1)
    protocol.writeI32(number)
    protocol.writeFieldEnd()
    protocol.writeFieldStop()
    protocol.writeStructEnd()
    protocol.writeMessageEnd()
    protocol.trans.flush()


def use(port, transport, protocol):
    from thrift.Thrift import TMessageType, TType
    from thrift.transport import TSocket
    line = transport.getTransport(TSocket.TSocket(SERVER, port))
    line.open()
    talk = protocol.getProtocol(line)
    for number in range(1, COUNT + 3):
        send(talk, "add" if number <= COUNT else "nosuch", TMessageType.CALL, number)
        talk.readMessageBegin()
        talk.skip(TType.STRUCT)
        talk.readMessageEnd()
    send(talk, "tell", TMessageType.ONEWAY, COUNT + 3)
    line.close()


def drive(_):
    for kind in kinds():
        use(*kind)
    return [Expect("thrift", calls=4 * (COUNT + 2), errors=4 * 2, free=4,
                   labels={"add": 4 * COUNT, "nosuch": 4 * 2, "tell": 4})]
