// SPDX-License-Identifier: Apache-2.0
// In: LDAP (RFC 4511) over TCP, CLDAP (MS-ADTS, 6.3.3) over UDP. Out: operations with their final
// responses, by messageID. What a search finds belongs to its return; so do intermediate responses.
//
// StartTLS hands the connection on. A SASL bind may agree on a security layer: what follows is
// wrapped, with a length of its own in front (RFC 4422, 3.7) and no SEQUENCE. Where it is signed
// only, messages lie in it in the clear: then the wrapping is passed over like another frame. Of
// what is encrypted only the turns are known (hidden.h).
#include "capture/protocols/ber.h"
#include "capture/protocols/framing.h"
#include "capture/protocols/gather.h"
#include "capture/protocols/hidden.h"
#include "capture/protocols/label.h"
#include "capture/protocols/ldap_message.h"
#include "capture/protocols/ldap_wrap.h"
#include "capture/protocols/recent_calls.h"

#include <string.h>

#define ABANDONED 8u // operations whose last messages may be on their way; the oldest is forgotten

enum { TAG_PLAIN, TAG_SASL, TAG_START_TLS };

typedef enum { KIND_MESSAGE, KIND_REST, KIND_WRAPPING, KIND_HIDDEN } Kind;

typedef struct Ldap {
    BbFrames frames;
    BbLdapMessage message[2]; // under way
    BbPart part[2];           // of it, in the buffers of a security layer that were read
    BbLdapWrap wrap[2];
    Kind kind[2];
    guint64 call;    // that message[BB_TO_SERVER] opened
    guint32 last_id; // of requests
    BbGather found;  // by searches whose requests were not seen
    guint32 abandoned[ABANDONED];
    guint32 abandons; // ever
    guint64 hidden;   // encrypted call that waits for its answer
    bool sasl;        // a SASL bind succeeded: a security layer may follow
    bool read;        // datagrams: one was
} Ldap;

// ---- what a message means ---------------------------------------------------------------------

static guint32 label_of(BbDialog *dialog, const BbLdapMessage *message)
{
    char text[BB_LABEL_MAX + 1];
    return bb_dialog_label(dialog, text, bb_ldap_message_label(message, text));
}

static guint32 status_of(BbDialog *dialog, const BbLdapMessage *message)
{
    char number[16];
    if (!message->has_result)
        return BB_NAME_NONE;
    const char *name = bb_ldap_result_name(message->result);
    if (!name) {
        g_snprintf(number, sizeof number, "%u", message->result);
        name = number;
    }
    return bb_dialog_status(dialog, name, strlen(name));
}

static bool is_one_way(const BbLdapMessage *message)
{
    return message->operation == BB_LDAP_UNBIND || message->operation == BB_LDAP_ABANDON;
}

// The open call of this id that was sent in the direction of part; NULL if there is none.
static const BbOpenCall *open_call(BbDialog *dialog, const BbPart *part, guint32 id)
{
    BbPart reply = {.direction = bb_direction_other(part->direction)};
    const BbOpenCall *open = bb_dialog_find(dialog, &reply, id);
    return open && open->key == id ? open : NULL;
}

// The search of this id, whose request was not seen, is over, but its end was not seen either.
static void end_search_of(BbDialog *dialog, Ldap *ldap, guint32 id)
{
    const BbPart none = {0};
    BbPart found = bb_gather_take(&ldap->found, id, &none);
    if (found.begun)
        bb_dialog_return(dialog, 0, &found, BB_NAME_NONE);
}

// RFC 4511, 4.11: an operation that is abandoned has no response any more.
static void abandon(BbDialog *dialog, Ldap *ldap, guint32 id, const BbPart *part)
{
    const BbOpenCall *open = open_call(dialog, part, id);
    if (open)
        bb_dialog_give_up(dialog, open->call);
    end_search_of(dialog, ldap, id);
    ldap->abandoned[ldap->abandons++ % ABANDONED] = id;
}

// Whether an operation of this id, of which none is open, was abandoned: the server had answered
// before it knew.
static bool was_abandoned(const Ldap *ldap, guint32 id)
{
    for (guint i = 0; i < MIN(ldap->abandons, ABANDONED); i++)
        if (ldap->abandoned[i] == id)
            return true;
    return false;
}

// RFC 4511, 4.1.1.1: an id is free again once it is answered. Some clients have one only.
static BbKeyUse key_use(BbDialog *dialog, Ldap *ldap, guint32 id, const BbPart *part)
{
    bool reused = id == ldap->last_id || open_call(dialog, part, id);
    ldap->last_id = id;
    if (!reused)
        return BB_KEY_UNIQUE;
    end_search_of(dialog, ldap, id);
    return BB_KEY_REUSED;
}

static guint64 begin_request(BbDialog *dialog, Ldap *ldap, const BbLdapMessage *message,
                             const BbPart *part)
{
    guint32 tag = message->start_tls ? TAG_START_TLS : message->sasl ? TAG_SASL : TAG_PLAIN;
    if (is_one_way(message))
        return 0;
    const BbOpenCall *open =
        part->is_tcp ? NULL : bb_recent_calls_open(dialog, part, part->direction, message->id);
    if (open && open->key == message->id) { // datagrams are sent again
        bb_dialog_sent_again(dialog, open->call, part);
        return 0;
    }
    BbKeyUse use = part->is_tcp ? key_use(dialog, ldap, message->id, part) : BB_KEY_UNIQUE;
    return bb_dialog_open_by(dialog, part, label_of(dialog, message), message->id, tag, use);
}

static void end_request(BbDialog *dialog, Ldap *ldap, const BbLdapMessage *message,
                        const BbPart *part)
{
    if (!is_one_way(message)) {
        bb_dialog_sent(dialog, ldap->call, part);
        return;
    }
    bb_dialog_message(dialog, part, label_of(dialog, message), BB_NAME_NONE);
    if (message->abandoned)
        abandon(dialog, ldap, message->abandoned, part);
}

// One of several messages that a search is answered by.
static void add_found(BbDialog *dialog, Ldap *ldap, const BbOpenCall *open, guint32 id,
                      const BbPart *part)
{
    if (open)
        bb_dialog_answering(dialog, open->call, part);
    else
        bb_gather_add(&ldap->found, dialog, id, part);
}

// The open call that a response answers.
static const BbOpenCall *find_asked(BbDialog *dialog, const BbPart *part, guint32 id)
{
    if (part->is_tcp)
        return bb_dialog_find(dialog, part, id);
    return bb_recent_calls_open(dialog, part, bb_direction_other(part->direction), id);
}

static void end_response(BbDialog *dialog, Ldap *ldap, const BbLdapMessage *message,
                         const BbPart *part)
{
    if (message->id == 0) { // RFC 4511, 4.4: unsolicited, as the notice of disconnection
        bb_dialog_message(dialog, part, label_of(dialog, message), status_of(dialog, message));
        return;
    }
    const BbOpenCall *open = find_asked(dialog, part, message->id);
    if (!open && was_abandoned(ldap, message->id)) {
        bb_dialog_passed_rest(dialog, part, true);
        return;
    }
    if (!message->final) {
        add_found(dialog, ldap, open, message->id, part);
        return;
    }
    BbPart whole = bb_gather_take(&ldap->found, message->id, part);
    bool success = message->has_result && message->result == 0;
    guint32 tag = open ? open->tag : TAG_PLAIN;
    bb_dialog_return(dialog, open ? open->call : 0, &whole, status_of(dialog, message));
    ldap->sasl |= success && tag == TAG_SASL;
    if (success && tag == TAG_START_TLS)
        bb_dialog_switch(dialog);
}

// ---- frames -----------------------------------------------------------------------------------

// inside: bytes that there are of the message before a security layer interrupts it.
static BbFrameVerdict measure_message(BbDirection direction, const guint8 *data, gsize length,
                                      gsize inside, BbFrameSize *frame)
{
    gsize total, seen = MIN(length, inside);
    BbFrameVerdict more = length < inside ? BB_FRAME_MORE : BB_FRAME_BAD;
    if (!bb_ldap_message_length(data, seen, &total))
        return BB_FRAME_BAD;
    *frame = (BbFrameSize){.length = MIN(total, inside), .wanted = BB_LDAP_WANTED};
    if (!total)
        return more;
    BbLdapMessage message;
    gsize there = MIN(seen, total);
    switch (bb_ldap_message_read(&message, data, there, total - there)) {
    case BB_LDAP_BAD:
        return BB_FRAME_BAD;
    case BB_LDAP_CUT:
        return more;
    default:
        return message.request == (direction == BB_TO_SERVER) ? BB_FRAME_OK : BB_FRAME_BAD;
    }
}

static BbFrameVerdict measure_wrapping(const BbLdapWrap *wrap, const guint8 *data, gsize length,
                                       BbFrameSize *frame)
{
    gsize size;
    switch (bb_ldap_wrap_read(wrap, data, length, &size)) {
    case BB_LDAP_BAD:
        return BB_FRAME_BAD;
    case BB_LDAP_CUT:
        return BB_FRAME_MORE;
    default:
        *frame = (BbFrameSize){.length = size, .wanted = BB_LDAP_WRAP_WANTED};
        return BB_FRAME_OK;
    }
}

// Whether a wrapping is next, and not a message in the clear.
static bool is_wrapping(const Ldap *ldap, BbDirection direction, const guint8 *data)
{
    const BbLdapWrap *wrap = &ldap->wrap[direction];
    if (!ldap->sasl || wrap->inside)
        return false;
    return data[0] != BB_BER_SEQUENCE || bb_ldap_wrap_ended(wrap) || wrap->rest;
}

static BbFrameVerdict measure(const void *state, BbDirection direction, const guint8 *data,
                              gsize length, BbFrameSize *frame)
{
    const Ldap *ldap = state;
    const BbLdapWrap *wrap = &ldap->wrap[direction];
    if (is_wrapping(ldap, direction, data))
        return measure_wrapping(wrap, data, length, frame);
    if (wrap->rest) {
        *frame = (BbFrameSize){.length = MIN(wrap->rest, wrap->inside)};
        return BB_FRAME_OK;
    }
    gsize inside = wrap->inside ? wrap->inside : G_MAXSIZE;
    return measure_message(direction, data, length, inside, frame);
}

static void end_message(BbDialog *dialog, Ldap *ldap, BbDirection direction)
{
    const BbLdapMessage *message = &ldap->message[direction];
    BbPart part = ldap->part[direction];
    bb_part_reset(&ldap->part[direction]);
    if (!part.begun)
        return;
    if (message->request)
        end_request(dialog, ldap, message, &part);
    else
        end_response(dialog, ldap, message, &part);
}

static void begin_wrapping(BbDialog *dialog, Ldap *ldap, const guint8 *data, gsize seen,
                           BbDirection direction)
{
    BbLdapWrap *wrap = &ldap->wrap[direction];
    bb_ldap_wrap_begin(wrap, data, seen);
    ldap->kind[direction] = wrap->sealed ? KIND_HIDDEN : KIND_WRAPPING;
    if (!wrap->rest)
        end_message(dialog, ldap, direction); // it does not go on as it said
}

static void begin(BbDialog *dialog, void *state, const guint8 *data, gsize seen, const BbPart *part)
{
    Ldap *ldap = state;
    BbLdapWrap *wrap = &ldap->wrap[part->direction];
    BbLdapMessage *message = &ldap->message[part->direction];
    if (is_wrapping(ldap, part->direction, data)) {
        begin_wrapping(dialog, ldap, data, seen, part->direction);
        return;
    }
    ldap->kind[part->direction] = wrap->rest ? KIND_REST : KIND_MESSAGE;
    if (wrap->rest) {
        bb_ldap_wrap_pass(wrap, wrap->rest);
        return;
    }
    (void)bb_ldap_message_read(message, data, seen, BB_LDAP_MESSAGE_MAX);
    bb_ldap_wrap_pass(wrap, message->length);
    if (message->request)
        ldap->call = begin_request(dialog, ldap, message, part);
}

static void end(BbDialog *dialog, void *state, const BbPart *part)
{
    Ldap *ldap = state;
    Kind kind = ldap->kind[part->direction];
    if (kind == KIND_HIDDEN)
        bb_hidden_take(&ldap->hidden, dialog, part);
    if (kind != KIND_MESSAGE && kind != KIND_REST)
        return;
    bb_part_join(&ldap->part[part->direction], part);
    if (!ldap->wrap[part->direction].rest)
        end_message(dialog, ldap, part->direction);
}

// Of a message that goes over several buffers that is all there will be.
static void lose(BbDialog *dialog, void *state, BbDirection direction)
{
    end_message(dialog, state, direction);
}

static BbMatch find(BbDialog *dialog, const void *state, const BbView *view, gsize at)
{
    const Ldap *ldap = state;
    gsize size;
    BbLdapWrap wrap = {0};
    if (!ldap->sasl || view->data[at] != 0)
        return bb_ldap_probe(view->data + at, view->length - at);
    switch (bb_ldap_wrap_read(&wrap, view->data + at, view->length - at, &size)) {
    case BB_LDAP_BAD:
        return BB_MATCH_NO;
    case BB_LDAP_CUT:
        return BB_MATCH_MORE;
    default:
        return BB_MATCH_LIKELY;
    }
}

static const BbFraming framing = {
    .measure = measure,
    .probe = bb_ldap_probe,
    .find = find,
    .begin = begin,
    .end = end,
    .lose = lose,
    .anywhere = true,
};

// ---- the decoder ------------------------------------------------------------------------------

// One message of a datagram; CLDAP answers have two, an entry and the end.
static gssize parse_datagram(BbDialog *dialog, Ldap *ldap, const BbView *view)
{
    BbPart part = {0};
    BbLdapMessage message;
    BbLdapVerdict verdict = bb_ldap_message_read(&message, view->data, view->length, view->missing);
    if (verdict != BB_LDAP_READ) {
        if (!ldap->read)
            return BB_PARSE_BAD;
        bb_dialog_resynced(dialog);
        return (gssize)view->length;
    }
    ldap->read = true;
    gsize taken = MIN(message.length, view->length);
    bb_part_add(&part, view, 0, taken);
    begin(dialog, ldap, view->data, taken, &part);
    end(dialog, ldap, &part);
    return (gssize)taken;
}

static gssize parse(BbDialog *dialog, void *state, const BbView *view)
{
    Ldap *ldap = state;
    if (view->datagram)
        return parse_datagram(dialog, ldap, view);
    if (ldap->frames.side[view->direction].lost)
        ldap->wrap[view->direction] = (BbLdapWrap){0};
    return bb_frames_parse(dialog, state, view);
}

static void gap(BbDialog *dialog, void *state, BbDirection direction)
{
    Ldap *ldap = state;
    bb_frames_gap(dialog, state, direction);
    bb_hidden_gap(&ldap->hidden, dialog, direction);
}

// Searches of which neither request nor end was seen are answered as far as they were.
static void finish(BbDialog *dialog, void *state)
{
    Ldap *ldap = state;
    BbGathered found;
    bb_frames_finish(dialog, state);
    end_message(dialog, ldap, BB_TO_SERVER);
    end_message(dialog, ldap, BB_TO_CLIENT);
    while (bb_gather_pop(&ldap->found, &found))
        bb_dialog_return(dialog, 0, &found.part, BB_NAME_NONE);
}

const BbDecoder bb_decoder_ldap = {
    .name = "ldap",
    .about = "LDAP v3 and CLDAP: by messageID",
    .tcp = true,
    .udp = true,
    .ports = {389, 3268},
    .state_size = sizeof(Ldap),
    .framing = &framing,
    .probe = bb_ldap_probe,
    .parse = parse,
    .gap = gap,
    .finish = finish,
};
