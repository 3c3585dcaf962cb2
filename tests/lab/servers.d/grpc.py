# SPDX-License-Identifier: Apache-2.0
"""gRPC by python3-grpcio on both sides: unary, failing, unknown and streaming calls of several clients."""
import concurrent.futures

from servers_kit import SERVER, Expect, need

PACKAGES = "python3-grpcio"
UNARY, CLIENTS, STREAMED = 30, 3, 10


def handlers(grpc):
    def fail(_, context):
        context.abort(grpc.StatusCode.NOT_FOUND, "no such thing")

    def count(request, _):
        for number in range(STREAMED):
            yield request + b"%d" % number

    return grpc.method_handlers_generic_handler("lab.Shop", {
        "Get": grpc.unary_unary_rpc_method_handler(lambda request, _: b"got " + request),
        "Fail": grpc.unary_unary_rpc_method_handler(fail),
        "Count": grpc.unary_stream_rpc_method_handler(count),
        "Sum": grpc.stream_unary_rpc_method_handler(lambda requests, _: b"%d" % sum(1 for _ in requests)),
        "Echo": grpc.stream_stream_rpc_method_handler(lambda requests, _: requests)})


def serve(_):
    import grpc
    server = grpc.server(concurrent.futures.ThreadPoolExecutor(8))
    server.add_generic_rpc_handlers((handlers(grpc),))
    server.add_insecure_port(f"{SERVER}:50051")
    server.start()
    server.wait_for_termination()


def start(lab):
    lab.serve_self()
    lab.wait_tcp(50051)


def use(channel, grpc):
    get, fail, nosuch = (channel.unary_unary(f"/lab.Shop/{name}") for name in ("Get", "Fail", "NoSuch"))
    for number in range(UNARY):
        get(b"%d" % number)
    for future in [get.future(b"together") for _ in range(UNARY)]:
        future.result()
    for failing in (fail, fail, nosuch):
        try:
            failing(b"x")
        except grpc.RpcError:
            continue
        need(False, "a call that must fail did not")
    need(len(list(channel.unary_stream("/lab.Shop/Count")(b"n"))) == STREAMED, "stream")
    need(channel.stream_unary("/lab.Shop/Sum")(iter([b"a"] * STREAMED)) == b"%d" % STREAMED, "sum")
    need(len(list(channel.stream_stream("/lab.Shop/Echo")(iter([b"b"] * STREAMED)))) == STREAMED, "echo")


def drive(_):
    """Each channel has a connection of its own, by an option that differs."""
    import grpc
    for number in range(CLIENTS):
        with grpc.insecure_channel(f"{SERVER}:50051", options=[("lab.number", number)]) as channel:
            use(channel, grpc)
    labels = {"POST /lab.Shop/Get": 2 * UNARY, "POST /lab.Shop/Fail": 2, "POST /lab.Shop/NoSuch": 1,
              "POST /lab.Shop/Count": 1, "POST /lab.Shop/Sum": 1, "POST /lab.Shop/Echo": 1}
    return [Expect("grpc", calls=CLIENTS * sum(labels.values()), errors=CLIENTS * 3, free=None,
                   labels={label: CLIENTS * number for label, number in labels.items()})]
