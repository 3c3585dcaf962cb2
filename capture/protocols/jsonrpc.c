// SPDX-License-Identifier: Apache-2.0
// In: JSON-RPC 2.0 or 1.0 over a TCP connection: JSON texts one after another (newlines, zeros or
// the separators of RFC 7464 between or not), or behind Content-Length headers (Language Server
// Protocol). Out: requests with their responses by id, in both directions; notifications are free
// messages. Each request of a batch counts for itself.
//
// Bytes are read as they come, and none are kept. After a gap messages are looked for at the start
// of each packet.
#include "capture/decoder.h"
#include "capture/protocols/jsonrpc_scan.h"
#include "capture/protocols/label.h"

#include <string.h>

typedef struct Side {
    BbJsonrpcScan scan;
    BbPart part;
    bool under_way;
    bool lost;
    bool doubtful; // what is being read may be a part of a message: found after a gap
    bool good;     // a message was read
} Side;

typedef struct Jsonrpc {
    Side side[2];
    guint32 ok;
    bool versioned; // messages say that they are 2.0: nothing else is one
} Jsonrpc;

// ---- what messages mean -------------------------------------------------------------------------

static guint32 label_of(BbDialog *dialog, const BbJsonrpcMessage *message)
{
    char text[BB_LABEL_MAX + 1];
    return bb_dialog_label(
        dialog, text,
        bb_label_topic(text, "", (const guint8 *)message->method, message->method_length, "./"));
}

static guint32 status_of(BbDialog *dialog, Jsonrpc *rpc, const BbJsonrpcMessage *message)
{
    if (message->has_error && message->code_length)
        return bb_dialog_status(dialog, message->code, message->code_length);
    if (message->has_error)
        return bb_dialog_status(dialog, "error", 5);
    if (!rpc->ok)
        rpc->ok = bb_dialog_status(dialog, "ok", 2);
    return rpc->ok;
}

static void deliver(BbDialog *dialog, Jsonrpc *rpc, const BbJsonrpcMessage *message,
                    const BbPart *part)
{
    if (message->method_length && message->id) {
        guint64 call = bb_dialog_open_by(dialog, part, label_of(dialog, message), message->id, 0,
                                         BB_KEY_REUSED);
        bb_dialog_sent(dialog, call, part);
    } else if (message->method_length) {
        bb_dialog_message(dialog, part, label_of(dialog, message), BB_NAME_NONE);
    } else {
        const BbOpenCall *open = message->id ? bb_dialog_find(dialog, part, message->id) : NULL;
        bb_dialog_return(dialog, open ? open->call : 0, part, status_of(dialog, rpc, message));
    }
}

static bool is_message(const Jsonrpc *rpc, const BbJsonrpcMessage *message)
{
    bool known = message->method_length || message->has_result || message->has_error;
    return known && (message->has_version || !rpc->versioned);
}

static void end_message(BbDialog *dialog, Jsonrpc *rpc, Side *side)
{
    const BbJsonrpcMessage *message = &side->scan.message;
    if (side->part.begun && is_message(rpc, message)) {
        if (side->doubtful)
            bb_dialog_resynced(dialog);
        side->doubtful = false;
        side->good = true;
        rpc->versioned |= message->has_version;
        deliver(dialog, rpc, message, &side->part);
    }
    bb_part_reset(&side->part);
    side->under_way = false;
}

// ---- bytes --------------------------------------------------------------------------------------

static void look_again(Side *side)
{
    side->scan = (BbJsonrpcScan){0};
    side->lost = side->doubtful = true;
    side->under_way = false;
    bb_part_reset(&side->part);
}

static bool may_begin(guint8 byte)
{
    return byte == '{' || byte == '[' || byte == 'C';
}

// Goes on to a packet that may begin with a message.
static gsize find_start(BbDialog *dialog, Side *side, const BbView *view, gsize at)
{
    gsize from = at;
    while (at < view->length && !may_begin(view->data[at]) &&
           view->data[at] != BB_JSONRPC_SEPARATOR)
        at = bb_view_next_packet(view, at);
    side->lost = at == view->length;
    bb_dialog_unread(dialog, view->direction, at - from);
    return at;
}

// Reads up to the end of a message, of view, or where no message is. Returns where it stopped.
static gsize scan(Side *side, const BbView *view, gsize at, BbScanStep *step)
{
    gsize from = at;
    *step = BB_SCAN_ON;
    while (at < view->length && *step != BB_SCAN_END && *step != BB_SCAN_BAD) {
        *step = bb_jsonrpc_scan(&side->scan, view->data[at]);
        if (*step == BB_SCAN_BEGIN) {
            side->under_way = true;
            from = at;
        }
        at++;
    }
    if (side->under_way)
        bb_part_add(&side->part, view, from, at);
    return at;
}

static gssize parse(BbDialog *dialog, void *state, const BbView *view)
{
    Jsonrpc *rpc = state;
    Side *side = &rpc->side[view->direction];
    gsize at = 0;
    while (at < view->length) {
        BbScanStep step;
        if (side->lost) {
            at = find_start(dialog, side, view, at);
            continue;
        }
        gsize next = scan(side, view, at, &step);
        if (step == BB_SCAN_BAD && !side->good && !side->doubtful)
            return BB_PARSE_BAD;
        if (step == BB_SCAN_BAD) {
            gsize bad = next - 1;
            next = bb_view_next_packet(view, bad);
            bb_dialog_unread(dialog, view->direction, next - bad);
            look_again(side);
        } else if (step == BB_SCAN_END) {
            end_message(dialog, rpc, side);
        }
        at = next;
    }
    return (gssize)view->length;
}

static void gap(BbDialog *dialog, void *state, BbDirection direction)
{
    Jsonrpc *rpc = state;
    Side *side = &rpc->side[direction];
    end_message(dialog, rpc, side);
    look_again(side);
}

static void finish(BbDialog *dialog, void *state)
{
    Jsonrpc *rpc = state;
    end_message(dialog, rpc, &rpc->side[BB_TO_SERVER]);
    end_message(dialog, rpc, &rpc->side[BB_TO_CLIENT]);
}

// ---- the probe ----------------------------------------------------------------------------------

// A 2.0 message says so; without that, only what both sides say is enough. Whole: all of it was
// seen.
static BbMatch judge(const BbJsonrpcMessage *message, bool whole)
{
    bool answer = message->has_result || message->has_error;
    if (message->has_version && message->method_length)
        return BB_MATCH_REQUEST;
    if (message->has_version && answer)
        return BB_MATCH_REPLY;
    if (!whole)
        return BB_MATCH_MORE;
    return (message->method_length || answer) && message->id ? BB_MATCH_LIKELY : BB_MATCH_NO;
}

static BbMatch probe(const guint8 *data, gsize length)
{
    static const char header[] = "Content-";
    BbJsonrpcScan scan = {0};
    if (length && data[0] == BB_JSONRPC_SEPARATOR) {
        data++;
        length--;
    }
    if (!length)
        return BB_MATCH_MORE;
    if (!may_begin(data[0]) ||
        (data[0] == 'C' && memcmp(data, header, MIN(length, sizeof header - 1)) != 0))
        return BB_MATCH_NO;
    for (gsize i = 0; i < length; i++) {
        BbScanStep step = bb_jsonrpc_scan(&scan, data[i]);
        if (step == BB_SCAN_BAD)
            return BB_MATCH_NO;
        if (step == BB_SCAN_END)
            return judge(&scan.message, true);
    }
    return judge(&scan.message, false);
}

const BbDecoder bb_decoder_jsonrpc = {
    .name = "jsonrpc",
    .about = "JSON-RPC 2.0 and 1.0 over TCP, LSP: by id",
    .tcp = true,
    .state_size = sizeof(Jsonrpc),
    .probe = probe,
    .parse = parse,
    .gap = gap,
    .finish = finish,
};
