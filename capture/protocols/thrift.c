// SPDX-License-Identifier: Apache-2.0
// In: Apache Thrift over TCP and UDP: framed and not, binary (strict and old) and compact. Out:
// calls with their replies by sequence number, or by order where clients give all the same one;
// oneway calls are free messages. An exception of the server is `error`, one that the method
// declares is `exception`.
//
// A frame says how long it is. Without one the structure behind the head is walked through to its
// end, and texts in it are passed over. A connection is of one kind throughout.
#include "capture/protocols/framing.h"
#include "capture/protocols/lost.h"
#include "capture/protocols/meaning.h"
#include "capture/protocols/thrift_message.h"
#include "data/text_hash.h"

#include <string.h>

#define FRAME 4u // bytes of a frame's length

typedef enum { KIND_UNKNOWN, KIND_FRAMED, KIND_BARE } Kind;

// A direction of a connection without frames.
typedef struct Bare {
    BbPart part;
    BbThriftWalk walk;
    bool under_way, lost, good;
} Bare;

typedef struct Thrift {
    BbFrames frames;
    Kind kind;
    Bare bare[2];
    BbMeaning meaning[2];
    guint64 first_key[2], last_key[2]; // of calls; 0: there was none
    bool restarts[2];                  // their numbers went back to where they began
    bool read;                         // datagrams: one was
} Thrift;

// ---- what a message means -----------------------------------------------------------------------

// Many clients give each call the number 0, or any other always: then order is all there is. The
// first call may be of either kind. Those that count begin anew with each user of a pooled
// connection: what is still open under a number when it comes again was answered unseen.
static BbKeyUse key_use(Thrift *thrift, BbDirection direction, guint64 key)
{
    guint64 last = thrift->last_key[direction];
    thrift->last_key[direction] = key;
    if (!last)
        thrift->first_key[direction] = key;
    else if (key != last && key <= thrift->first_key[direction])
        thrift->restarts[direction] = true;
    if (!last || last == key) // pipelined, if they count otherwise
        return BB_KEY_QUEUED;
    return thrift->restarts[direction] ? BB_KEY_REUSED : BB_KEY_UNIQUE;
}

// A multiplexed service stands before a colon in calls, and not in their replies.
static guint32 method_of(const BbThriftHead *head)
{
    const guint8 *colon = memrchr(head->name, ':', head->name_length);
    const guint8 *method = colon ? colon + 1 : head->name;
    return bb_text_hash_short(method, head->name_length - (gsize)(method - head->name));
}

// Clients before 0.9.3 send oneway methods as calls: older ones under the number of the call that
// is answered, of other methods, will never be.
static void give_up_older(BbDialog *dialog, const BbPart *reply, guint64 key, guint32 method)
{
    const BbOpenCall *answered = bb_dialog_find_tagged(dialog, reply, key, method), *open;
    guint64 call = answered ? answered->call : 0;
    while ((open = bb_dialog_find(dialog, reply, key)) && open->call < call)
        bb_dialog_give_up(dialog, open->call);
}

static guint32 status_of(BbDialog *dialog, const BbThriftHead *head, const guint8 *body,
                         gsize length)
{
    bool exception = false;
    if (head->type == BB_THRIFT_EXCEPTION)
        return bb_dialog_status(dialog, "error", 5);
    if (bb_thrift_result_read(head, body, length, &exception) != BB_THRIFT_OK)
        return BB_NAME_NONE;
    return exception ? bb_dialog_status(dialog, "exception", 9) : bb_dialog_status(dialog, "ok", 2);
}

// data: from the head on. part: its first bytes at least.
static void understand(Thrift *thrift, BbDialog *dialog, const BbThriftHead *head,
                       const guint8 *data, gsize length, const BbPart *part)
{
    BbMeaning *meaning = &thrift->meaning[part->direction];
    *meaning = (BbMeaning){.key = (guint64)head->seqid + 1, .tag = method_of(head)};
    gsize name_length = MIN(head->name_length, BB_LABEL_MAX);
    switch (head->type) {
    case BB_THRIFT_CALL:
    case BB_THRIFT_ONEWAY:
        meaning->means = head->type == BB_THRIFT_CALL ? BB_MEANS_CALL : BB_MEANS_FREE;
        meaning->op = bb_dialog_label(dialog, (const char *)head->name, name_length);
        if (head->type == BB_THRIFT_CALL)
            meaning->use = key_use(thrift, part->direction, meaning->key);
        break;
    case BB_THRIFT_REPLY:
    case BB_THRIFT_EXCEPTION:
        give_up_older(dialog, part, meaning->key, meaning->tag);
        meaning->means = BB_MEANS_RETURN;
        meaning->status = status_of(dialog, head, data + head->length, length - head->length);
        break;
    }
    bb_meaning_begin(meaning, dialog, part);
}

// ---- with frames --------------------------------------------------------------------------------

static BbFrameVerdict measure(const void *state, BbDirection direction, const guint8 *data,
                              gsize length, BbFrameSize *frame)
{
    BbCursor c = bb_cursor(data, length);
    guint32 size = bb_cursor_be32(&c);
    switch (bb_thrift_probe_framed(data, length)) {
    case BB_MATCH_NO:
        return BB_FRAME_BAD;
    case BB_MATCH_MORE:
        return BB_FRAME_MORE;
    default:
        *frame = (BbFrameSize){.length = FRAME + size, .wanted = FRAME + BB_THRIFT_HEAD_MAX};
        return BB_FRAME_OK;
    }
}

static void begin(BbDialog *dialog, void *state, const guint8 *data, gsize seen, const BbPart *part)
{
    Thrift *thrift = state;
    BbThriftHead head;
    thrift->meaning[part->direction] = (BbMeaning){0};
    if (bb_thrift_head_read(&head, data + FRAME, seen - FRAME) == BB_THRIFT_OK)
        understand(thrift, dialog, &head, data + FRAME, seen - FRAME, part);
}

static void end(BbDialog *dialog, void *state, const BbPart *part)
{
    bb_meaning_end(&((Thrift *)state)->meaning[part->direction], dialog, part);
}

static const BbFraming framing = {
    .measure = measure,
    .probe = bb_thrift_probe_framed,
    .begin = begin,
    .end = end,
    .anywhere = true,
    .sign = {true, 0, 0},
};

// ---- without ------------------------------------------------------------------------------------

static void end_bare(BbDialog *dialog, Thrift *thrift, BbDirection direction)
{
    Bare *bare = &thrift->bare[direction];
    if (bare->under_way)
        bb_meaning_end(&thrift->meaning[direction], dialog, &bare->part);
    bare->under_way = false;
    bb_part_reset(&bare->part);
}

static gssize lose_place(BbDialog *dialog, Thrift *thrift, const BbView *view)
{
    if (!thrift->bare[BB_TO_SERVER].good && !thrift->bare[BB_TO_CLIENT].good)
        return BB_PARSE_BAD;
    end_bare(dialog, thrift, view->direction);
    return bb_lost_here(&thrift->bare[view->direction].lost, dialog, view);
}

static gssize walk_on(BbDialog *dialog, Thrift *thrift, const BbView *view)
{
    Bare *bare = &thrift->bare[view->direction];
    BbCursor c = bb_cursor(view->data, view->length);
    BbThriftVerdict verdict = bb_thrift_walk_on(&bare->walk, &c);
    gsize taken = view->length - c.left;
    if (verdict == BB_THRIFT_BAD)
        return lose_place(dialog, thrift, view);
    bb_part_add(&bare->part, view, 0, taken);
    if (verdict == BB_THRIFT_OK) {
        bare->good = true;
        end_bare(dialog, thrift, view->direction);
    } else if (bare->walk.skip) {
        bb_dialog_skip(dialog, view->direction, bare->walk.skip, &bare->part);
        bare->walk.skip = 0;
    }
    return (gssize)taken;
}

static gssize read_bare(BbDialog *dialog, Thrift *thrift, const BbView *view)
{
    Bare *bare = &thrift->bare[view->direction];
    BbThriftHead head;
    bool exception;
    BbThriftVerdict verdict = bb_thrift_head_read(&head, view->data, view->length);
    if (verdict == BB_THRIFT_OK && head.type == BB_THRIFT_REPLY && !view->closed)
        verdict = bb_thrift_result_read(&head, view->data + head.length, view->length - head.length,
                                        &exception);
    if (verdict == BB_THRIFT_BAD)
        return lose_place(dialog, thrift, view);
    if (verdict == BB_THRIFT_MORE)
        return view->closed ? (gssize)view->length : 0;
    bb_part_add(&bare->part, view, 0, head.length);
    bare->under_way = true;
    bb_thrift_walk_begin(&bare->walk, head.encoding);
    understand(thrift, dialog, &head, view->data, view->length, &bare->part);
    return (gssize)head.length;
}

static gssize parse_bare(BbDialog *dialog, Thrift *thrift, const BbView *view)
{
    Bare *bare = &thrift->bare[view->direction];
    if (bare->lost) {
        gssize passed =
            bb_lost_find(&bare->lost, dialog, view, bb_thrift_probe_bare, BB_MATCH_LIKELY);
        if (passed != 0 || bare->lost)
            return passed;
    }
    if (bare->under_way)
        return walk_on(dialog, thrift, view);
    return view->length ? read_bare(dialog, thrift, view) : 0;
}

// ---- the decoder --------------------------------------------------------------------------------

static gssize parse_datagram(BbDialog *dialog, Thrift *thrift, const BbView *view)
{
    BbThriftHead head;
    BbPart part = {0};
    bool framed = bb_thrift_probe_framed(view->data, view->length) >= BB_MATCH_LIKELY;
    gsize skip = framed ? FRAME : 0;
    if (bb_thrift_head_read(&head, view->data + skip, view->length - skip) != BB_THRIFT_OK) {
        if (!thrift->read)
            return BB_PARSE_BAD;
        bb_dialog_resynced(dialog);
        return (gssize)view->length;
    }
    thrift->read = true;
    bb_part_add(&part, view, 0, view->length);
    understand(thrift, dialog, &head, view->data + skip, view->length - skip, &part);
    bb_meaning_end(&thrift->meaning[view->direction], dialog, &part);
    return (gssize)view->length;
}

static BbMatch probe(const guint8 *data, gsize length)
{
    BbMatch framed = bb_thrift_probe_framed(data, length);
    BbMatch bare = bb_thrift_probe_bare(data, length);
    return MAX(framed, bare);
}

static gssize parse(BbDialog *dialog, void *state, const BbView *view)
{
    Thrift *thrift = state;
    if (view->datagram)
        return view->length ? parse_datagram(dialog, thrift, view) : 0;
    if (thrift->kind == KIND_UNKNOWN && view->length) {
        BbMatch framed = bb_thrift_probe_framed(view->data, view->length);
        BbMatch bare = bb_thrift_probe_bare(view->data, view->length);
        if (MAX(framed, bare) == BB_MATCH_MORE && !view->closed)
            return 0;
        if (MAX(framed, bare) <= BB_MATCH_MORE)
            return BB_PARSE_BAD;
        thrift->kind = framed > bare ? KIND_FRAMED : KIND_BARE;
    }
    if (thrift->kind == KIND_FRAMED)
        return bb_frames_parse(dialog, state, view);
    return parse_bare(dialog, thrift, view);
}

static void gap(BbDialog *dialog, void *state, BbDirection direction)
{
    Thrift *thrift = state;
    if (thrift->kind == KIND_FRAMED) {
        bb_frames_gap(dialog, state, direction);
    } else if (thrift->kind == KIND_BARE) {
        end_bare(dialog, thrift, direction);
        thrift->bare[direction].lost = true;
    }
}

static void finish(BbDialog *dialog, void *state)
{
    Thrift *thrift = state;
    bb_frames_finish(dialog, state);
    end_bare(dialog, thrift, BB_TO_SERVER);
    end_bare(dialog, thrift, BB_TO_CLIENT);
}

const BbDecoder bb_decoder_thrift = {
    .name = "thrift",
    .about = "Apache Thrift, binary and compact, framed or not: by sequence number, else order",
    .tcp = true,
    .udp = true,
    .ports = {9090, 6831, 6832},
    .state_size = sizeof(Thrift),
    .framing = &framing,
    .probe = probe,
    .parse = parse,
    .gap = gap,
    .finish = finish,
};
