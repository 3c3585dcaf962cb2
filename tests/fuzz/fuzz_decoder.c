// SPDX-License-Identifier: Apache-2.0
// Fuzz target for one decoder (DECODER, given by the build). The input is the bytes of a dialog;
// two bytes FE FE and an operation switch the direction, lose bytes or close a side. Each input
// runs from either side, in whole pieces and byte by byte, and as datagrams where the decoder takes
// them; also through the probes of all decoders.
#include "capture/dialog_state.h"
#include "capture/flow.h"

int LLVMFuzzerTestOneInput(const guint8 *data, gsize size);

#define MARK 0xfe
#define LOST 7u // bytes that a gap is long

typedef enum { TO_SERVER, TO_CLIENT, GAP, CLOSE, N_OPERATIONS } Operation;

typedef struct Run {
    BbDialog *dialog;
    guint side;
    guint32 next[2];
    gint64 now_ns;
    gsize piece;
} Run;

static bool check_message(const BbMessage *message, gpointer user, GError **error)
{
    g_assert(message->end_ns >= message->time_ns);
    g_assert(message->kind == BB_FREE || message->sender != message->receiver);
    g_assert(bb_id_is_known(message->id) || message->kind != BB_CALL);
    return true;
}

static void feed(Run *run, const guint8 *data, gsize size)
{
    while (size) {
        guint32 length = (guint32)MIN(size, run->piece);
        BbPiece piece = {
            .data = data,
            .length = length,
            .seq = run->next[run->side],
            .ack = run->next[!run->side],
            .has_ack = true,
            .time_ns = run->now_ns++,
        };
        bb_dialog_feed(run->dialog, run->side, &piece);
        run->next[run->side] += length;
        data += length;
        size -= length;
    }
}

static void operate(Run *run, Operation operation)
{
    if (operation == TO_SERVER || operation == TO_CLIENT) {
        run->side = operation;
    } else if (operation == GAP) {
        bb_dialog_gap(run->dialog, run->side, run->next[run->side], LOST);
        run->next[run->side] += LOST;
    } else {
        bb_dialog_close(run->dialog, run->side);
    }
}

static void play(Run *run, const guint8 *data, gsize size)
{
    gsize start = 0;
    for (gsize i = 0; i + 2 < size; i++) {
        if (data[i] != MARK || data[i + 1] != MARK)
            continue;
        feed(run, data + start, i - start);
        operate(run, data[i + 2] % N_OPERATIONS);
        start = i + 3;
        i += 2;
    }
    feed(run, data + start, size - start);
}

static void run_dialog(BbContext *context, const guint8 *data, gsize size, guint first, gsize piece,
                       bool is_tcp, bool probed)
{
    static const guint8 a[4] = {10, 0, 0, 1}, b[4] = {10, 0, 0, 2};
    BbEndpoints endpoints = {
        .address = {bb_address_v4(a), bb_address_v4(b)},
        .port = {40000, DECODER.ports[0]},
    };
    Run run = {
        .dialog = bb_dialog_new(context, &endpoints, is_tcp, 0, true),
        .side = first,
        .next = {1000, 0xffffff00u},
        .piece = piece,
    };
    if (!probed) {
        run.dialog->decoder = &DECODER;
        run.dialog->state = g_malloc0(DECODER.state_size);
    }
    play(&run, data, size);
    bb_dialog_free(run.dialog);
}

int LLVMFuzzerTestOneInput(const guint8 *data, gsize size)
{
    BbLoss loss = {0};
    g_autoptr(BbNames) names = bb_names_new();
    g_autoptr(BbNodes) nodes = bb_nodes_new(names, false);
    g_autoptr(BbContext) context = bb_context_new(names, nodes, &loss, check_message, NULL);
    context->learn_names = true;
    for (guint first = 0; first < 2; first++) {
        run_dialog(context, data, size, first, DECODER.tcp ? 1460 : 65535, DECODER.tcp, false);
        if (DECODER.tcp && size < 4096)
            run_dialog(context, data, size, first, 1, true, false);
        if (DECODER.udp)
            run_dialog(context, data, size, first, 65535, false, false);
        run_dialog(context, data, size, first, 1460, true, true);
    }
    guint64 open = loss.count[BB_CALLS] + loss.count[BB_RETURNS_ORPHANED];
    g_assert(loss.count[BB_RETURNS] + loss.count[BB_CALLS_UNRETURNED] == open);
    return 0;
}
