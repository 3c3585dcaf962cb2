// SPDX-License-Identifier: Apache-2.0
// In: encrypted records of a TLS connection, and its keys. Out: their content, in a dialog of its
// own.
#include "capture/protocols/tls_inner.h"

#include "capture/cursor.h"
#include "capture/feed.h"

#include <openssl/crypto.h>

#define RECORD_LEAST 22u  // bytes of the smallest record: head, tag, type
#define PLACES 32u        // ends of records that are remembered, to translate acknowledgements
#define OVERHEAD_MOST 96u // and at most so many are no content: head, IV, MAC, padding
#define FIRST_TRIES 16u   // numbers that the first record may have where its number is not known

#define MESSAGE_HEAD 4u // of the handshake: type, length

// RFC 8446, 4.6.3. Its only byte is 0 or 1.
static const guint8 key_update[MESSAGE_HEAD] = {24, 0, 0, 1};

// Where a record ended, in the connection and in its content.
typedef struct Place {
    guint64 outer, inner;
} Place;

typedef struct Way {
    BbTlsKey *key;
    guint64 number;  // of the record that comes next
    guint64 next;    // position where it begins, if none is missing
    guint64 content; // position of the content that comes next
    Place places[PLACES];
    guint32 n_places; // put there by now
    guint32 seen;     // bytes of the handshake message under way, of TLS 1.3; 0: there is none
    guint8 message[MESSAGE_HEAD]; // its head
    bool begun;                   // number and next are known
} Way;

struct BbTlsInner {
    BbDialog *dialog;
    BbTlsKeylog *keylog;
    BbTlsAgreed agreed; // in the last handshake
    Way way[2];
    bool is_1_3;
};

// A record that was opened.
typedef struct Opened {
    gsize length;
    guint64 lost; // records that are missing before it
    guint8 type;
    guint8 text[BB_TLS_BODY_MAX];
} Opened;

// ---- keys ---------------------------------------------------------------------------------------

static bool make_key(BbTlsInner *inner, BbDirection direction)
{
    static const BbTlsSecretKind kinds[] = {
        [BB_TO_SERVER] = BB_TLS_SECRET_CLIENT, [BB_TO_CLIENT] = BB_TLS_SECRET_SERVER};
    const BbTlsAgreed *agreed = &inner->agreed;
    BbTlsKey **key = &inner->way[direction].key;
    BbTlsSecret secret;
    g_clear_pointer(key, bb_tls_key_free);
    if (!agreed->suite ||
        !bb_tls_keylog_find(inner->keylog, agreed->client_random,
                            inner->is_1_3 ? kinds[direction] : BB_TLS_SECRET_MASTER, &secret))
        return false;
    *key = inner->is_1_3
               ? bb_tls_key_new_1_3(agreed->suite, &secret)
               : bb_tls_key_new_1_2(agreed->suite, &secret, agreed->client_random,
                                    agreed->server_random, direction, agreed->encrypt_then_mac);
    OPENSSL_cleanse(&secret, sizeof secret);
    return *key;
}

BbTlsInner *bb_tls_inner_new(const BbDialog *outer, BbTlsKeylog *keylog, guint16 version,
                             const BbTlsAgreed *agreed)
{
    BbTlsInner *inner = g_new0(BbTlsInner, 1);
    inner->keylog = keylog;
    inner->agreed = *agreed;
    inner->is_1_3 = version == BB_TLS_1_3;
    if (!make_key(inner, BB_TO_SERVER) || !make_key(inner, BB_TO_CLIENT)) {
        bb_tls_inner_free(inner);
        return NULL;
    }
    inner->dialog = bb_dialog_new_inner(outer);
    return inner;
}

void bb_tls_inner_free(BbTlsInner *inner)
{
    if (!inner)
        return;
    bb_dialog_free(inner->dialog);
    bb_tls_key_free(inner->way[BB_TO_SERVER].key);
    bb_tls_key_free(inner->way[BB_TO_CLIENT].key);
    g_free(inner);
}

// ---- positions ----------------------------------------------------------------------------------

static void begin(Way *way, guint64 seq)
{
    way->begun = true;
    way->next = way->content = seq;
    way->places[0] = (Place){seq, seq};
    way->n_places = 1;
}

void bb_tls_inner_begin(BbTlsInner *inner, BbDirection direction, guint64 seq)
{
    begin(&inner->way[direction], seq);
}

bool bb_tls_inner_renew(BbTlsInner *inner, BbDirection direction, guint64 seq)
{
    Way *way = &inner->way[direction];
    way->number = 0;
    way->next = seq;
    return make_key(inner, direction);
}

// How far the content's positions go on over so many bytes of the connection that were not
// (or not yet) opened: not zero, so that what was said before and after can be told apart, and less
// than the content of a record of which only the end is missing.
static guint64 step_over(guint64 bytes)
{
    return bytes ? MAX(bytes, OVERHEAD_MOST + 1) - OVERHEAD_MOST : 0;
}

// The content of way that an acknowledgement by the other side covers. False where that is too
// long ago, or nothing was said yet.
static bool translate_ack(const Way *way, guint64 ack, guint64 *content)
{
    for (guint32 i = 1; i <= MIN(way->n_places, PLACES); i++) {
        const Place *place = &way->places[(way->n_places - i) % PLACES];
        if (ack < place->outer)
            continue;
        *content = place->inner + (i == 1 ? step_over(ack - place->outer) : 0);
        return true;
    }
    return false;
}

// ---- records ------------------------------------------------------------------------------------

// Bytes of the connection that are missing before the record at seq.
static guint64 missing_before(const Way *way, guint64 seq)
{
    return way->begun && seq > way->next ? seq - way->next : 0;
}

static gsize tries_for(const Way *way, guint64 missing)
{
    return way->begun ? MIN(missing / RECORD_LEAST + 1, BB_TLS_INNER_TRIES) : FIRST_TRIES;
}

static bool open_record(const Way *way, const BbTlsHead *head, const guint8 *body, gsize tries,
                        Opened *opened)
{
    gssize length = -1;
    for (opened->lost = 0; opened->lost < tries; opened->lost++) {
        length = bb_tls_key_open(way->key, way->number + opened->lost, head, body, opened->text,
                                 &opened->type);
        if (length >= 0)
            break;
    }
    opened->length = (gsize)MAX(length, 0);
    return length >= 0;
}

static guint side_of(const BbDialog *outer, BbDirection direction)
{
    guint client = bb_dialog_client(outer);
    return direction == BB_TO_SERVER ? client : !client;
}

// What the missing records held; exactly where their number tells how much was not content. TLS
// 1.2's first record is the end of the handshake.
static void tell_gap(BbTlsInner *inner, Way *way, guint side, guint64 missing, guint64 lost)
{
    guint64 overhead = lost * bb_tls_key_overhead(way->key);
    bool finished_only = !inner->is_1_3 && way->number == 0 && lost <= 1;
    guint32 content = missing > overhead ? (guint32)MIN(missing - overhead, G_MAXUINT32) : 0;
    way->content += step_over(missing);
    if (content && !finished_only)
        bb_dialog_gap(inner->dialog, side, way->content - content, content);
}

// The content, with the stamps of the packets in which it came.
static void feed(BbTlsInner *inner, Way *way, guint side, const BbView *view, const Opened *opened)
{
    const Way *other = &inner->way[bb_direction_other(view->direction)];
    gsize before = BB_TLS_HEAD + bb_tls_key_prefix(way->key), from = 0;
    for (guint i = 0; i < view->n_marks && from < opened->length; i++) {
        const BbMark *mark = &view->marks[i];
        gsize to = mark->end > before ? MIN(mark->end - before, opened->length) : 0;
        if (to <= from)
            continue;
        BbPiece piece = {
            .data = opened->text + from,
            .length = (guint32)(to - from),
            .seq = way->content,
            .time_ns = mark->time_ns,
            .place = mark->place,
        };
        piece.has_ack = mark->has_ack && translate_ack(other, mark->ack, &piece.ack);
        bb_dialog_feed(inner->dialog, side, &piece);
        way->content += piece.length;
        from = to;
    }
}

// Bytes of the message under way, those of its head as long as that is not whole.
static guint32 message_size(const Way *way)
{
    BbCursor c = bb_cursor(way->message, MESSAGE_HEAD);
    guint32 body = bb_cursor_be32(&c) & 0xffffff;
    return way->seen < MESSAGE_HEAD ? MESSAGE_HEAD : MESSAGE_HEAD + body;
}

// Walks on through the messages in a record, which may begin and end in others. Returns whether the
// last one is a KeyUpdate: with it the record ends (RFC 8446, 5.1).
static bool ends_with_key_update(Way *way, const guint8 *data, gsize length)
{
    bool update = false;
    while (length) {
        gsize count = MIN(message_size(way) - way->seen, length);
        if (way->seen < MESSAGE_HEAD)
            memcpy(way->message + way->seen, data, count);
        way->seen += (guint32)count;
        data += count;
        length -= count;
        if (way->seen < message_size(way))
            continue;
        way->seen = 0;
        update = !length && memcmp(way->message, key_update, MESSAGE_HEAD) == 0 && data[-1] <= 1;
    }
    return update;
}

// TLS 1.2: a new handshake under the keys of the one before (RFC 5246, 7.4.1).
static void note_hello(BbTlsAgreed *agreed, const Opened *opened)
{
    BbTlsHello hello;
    BbMatch match = bb_tls_match_hello(opened->text, opened->length, opened->length);
    if (match == BB_MATCH_REQUEST && bb_tls_client_hello(&hello, opened->text, opened->length))
        memcpy(agreed->client_random, hello.random, BB_TLS_RANDOM);
    if (match != BB_MATCH_REPLY || !bb_tls_server_hello(&hello, opened->text, opened->length))
        return;
    memcpy(agreed->server_random, hello.random, BB_TLS_RANDOM);
    agreed->suite = bb_tls_suite_find(hello.suite);
    agreed->encrypt_then_mac = hello.encrypt_then_mac;
}

static BbTlsInnerVerdict take_handshake(BbTlsInner *inner, Way *way, const Opened *opened)
{
    if (!inner->is_1_3) {
        note_hello(&inner->agreed, opened);
        return BB_TLS_INNER_OPENED;
    }
    // Where records are missing, what was taken for the head of a message may have been none.
    if (opened->length == MESSAGE_HEAD + 1 && memcmp(opened->text, key_update, MESSAGE_HEAD) == 0)
        way->seen = 0;
    if (!ends_with_key_update(way, opened->text, opened->length))
        return BB_TLS_INNER_OPENED;
    way->number = 0;
    return bb_tls_key_update(way->key) ? BB_TLS_INNER_OPENED : BB_TLS_INNER_CLOSED;
}

static BbTlsInnerVerdict take_content(BbTlsInner *inner, Way *way, guint side, const BbView *view,
                                      const Opened *opened, guint8 alert[2])
{
    if (opened->lost || opened->type != BB_TLS_HANDSHAKE)
        way->seen = 0; // nothing comes between the records of a message
    if (opened->type == BB_TLS_DATA) {
        feed(inner, way, side, view, opened);
    } else if (opened->type == BB_TLS_ALERT && opened->length == 2) {
        memcpy(alert, opened->text, 2);
        return BB_TLS_INNER_ALERT;
    } else if (opened->type == BB_TLS_HANDSHAKE && opened->length) {
        return take_handshake(inner, way, opened);
    }
    return BB_TLS_INNER_OPENED;
}

BbTlsInnerVerdict bb_tls_inner_take(BbTlsInner *inner, const BbDialog *outer, const BbView *view,
                                    const BbTlsHead *head, guint8 alert[2])
{
    Way *way = &inner->way[view->direction];
    guint side = side_of(outer, view->direction);
    guint64 missing = missing_before(way, view->seq);
    Opened opened;
    if (!open_record(way, head, view->data + BB_TLS_HEAD, tries_for(way, missing), &opened))
        return way->begun ? BB_TLS_INNER_CLOSED : BB_TLS_INNER_EARLIER;
    if (!way->begun)
        begin(way, view->seq);
    tell_gap(inner, way, side, missing, opened.lost);
    way->number += opened.lost + 1;
    way->next = view->seq + BB_TLS_HEAD + head->length;
    BbTlsInnerVerdict verdict = take_content(inner, way, side, view, &opened, alert);
    way->places[way->n_places++ % PLACES] = (Place){way->next, way->content};
    return verdict;
}

void bb_tls_inner_close(BbTlsInner *inner, const BbDialog *outer, BbDirection direction)
{
    bb_dialog_close(inner->dialog, side_of(outer, direction));
}

gsize bb_tls_inner_held(const BbTlsInner *inner)
{
    return bb_dialog_held(inner->dialog);
}

void bb_tls_inner_let_go(BbTlsInner *inner)
{
    bb_dialog_drop_held(inner->dialog);
}
