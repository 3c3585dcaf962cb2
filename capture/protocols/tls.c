// SPDX-License-Identifier: Apache-2.0
// In: TLS records (RFC 8446, 5246; server name RFC 6066). Out: the handshake as one call, a
// ClientHello with the ServerHello or the alert that refuses it, labelled with the server's name;
// then turns of application data.
//
// A HelloRetryRequest does not end the call, nor does the second ClientHello begin one. The rest of
// the handshake is no message. After a gap each side looks for the head of a record again; one
// inside of a record does no harm.
//
// Where the key log has the secrets (TLS 1.2 and 1.3), the application data is decrypted and is a
// dialog of its own. Not where a client sent early data (0-RTT): its keys are others, and what was
// said with them would be missing.
#include "capture/protocols/label.h"
#include "capture/protocols/tls_derive.h"
#include "capture/protocols/tls_hello.h"
#include "capture/protocols/tls_inner.h"
#include "capture/protocols/tls_record.h"
#include "capture/protocols/tls_turns.h"

#include <string.h>

#define NAME_MAX_SIZE 256u // RFC 1035: 255 bytes
#define HASH_LENGTH 32u    // of the cipher suites of TLS 1.3 that are not known
#define TAG_LENGTH 16u     // likewise
#define ALERT_BODY 2u
#define ALERT_FATAL 2u
// Records of a client's encrypted handshake up to its Finished, certificate and signature among
// them; further ones are application data.
#define SEALED_MAX 4u
// Encrypted records up to which the key log is asked again: it may be written a little later.
#define LOOKUPS_MAX 16u
// Records of TLS 1.3's handshake up to which the application's keys are tried in vain, and damaged
// ones in a row after which it is no use.
#define EARLIER_MAX 64u
#define CLOSED_MAX 4u

typedef struct Side {
    BbPart record;      // under way
    BbPart hello;       // client: of so many records
    BbTlsHead head;     // of the record under way
    guint64 end_seq;    // passing: position behind it
    guint32 hello_left; // bytes of the hello in records to come
    guint64 call;       // client: that of a hello which is not complete
    guint8 message;     // type of the hello in the record under way, or 0
    guint8 alert_level; // of the alert in it; 0: none that can be read
    guint8 alert;
    guint8 sealed;         // records of TLS 1.3's encrypted handshake
    guint8 failed;         // records in a row that could not be decrypted
    guint64 ciphered_from; // TLS 1.2: position; ciphered_known
    bool ciphered_known;
    bool passing;  // the rest of the record is being skipped
    bool lost;     // does not know where the next record begins
    bool known;    // a record was read
    bool closed;   // no more bytes follow, or bytes are missing
    bool ciphered; // what this side sends is encrypted
    bool finished; // client: the encrypted handshake is over
    bool changed;  // its last record was a ChangeCipherSpec
} Side;

typedef struct Tls {
    Side side[2];
    BbTlsTurns turns;
    guint16 version;         // by ServerHello; 0: not seen
    guint16 finished_length; // TLS 1.3: of a record that holds a Finished
    bool unsure;             // that was cut off: the version may be TLS 1.3
    bool retrying;           // a HelloRetryRequest was seen
    bool early;              // the client sent data before the server said a word
    bool hopeless;           // nothing will be decrypted (any more)
    bool has_random;         // of the client
    guint8 lookups;          // in the key log
    BbTlsAgreed agreed;      // where there is a key log
    BbTlsInner *inner;       // NULL: not decrypted
} Tls;

// ---- handshake --------------------------------------------------------------------------------

static guint32 label_of(BbDialog *dialog, const BbTlsHello *hello)
{
    char name[NAME_MAX_SIZE], label[BB_LABEL_MAX + 1];
    if (!hello->name || !hello->name_length || hello->name_length >= sizeof name)
        return BB_NAME_NONE;
    for (gsize i = 0; i < hello->name_length; i++) {
        name[i] = g_ascii_tolower((char)hello->name[i]);
        if (!g_ascii_isalnum(name[i]) && name[i] != '-' && name[i] != '.' && name[i] != '_')
            return BB_NAME_NONE; // RFC 6066: a host name in ASCII
    }
    name[hello->name_length] = '\0';
    gsize length = bb_label_dns(label, "", name);
    return bb_dialog_label(dialog, label + 1, length - 1); // without the blank before the name
}

static void begin_client_hello(BbDialog *dialog, Tls *tls, const BbTlsHello *hello, gsize record)
{
    Side *side = &tls->side[BB_TO_SERVER];
    if (side->call || tls->retrying)
        return;
    side->message = BB_TLS_CLIENT_HELLO;
    side->hello_left = hello->size > record ? hello->size - (guint32)record : 0;
    side->call = bb_dialog_open(dialog, &side->record, label_of(dialog, hello), 0, 0);
    tls->has_random = true;
    memcpy(tls->agreed.client_random, hello->random, BB_TLS_RANDOM);
    bb_part_reset(&side->hello);
}

// A record with the hello, or with more of it, is over.
static void end_client_hello(BbDialog *dialog, Side *side)
{
    if (!side->call)
        return;
    if (side->message != BB_TLS_CLIENT_HELLO)
        side->hello_left -= MIN(side->hello_left, side->head.length);
    bb_part_join(&side->hello, &side->record);
    if (side->hello_left)
        return;
    bb_dialog_sent(dialog, side->call, &side->hello);
    side->call = 0;
}

// What is said encrypted looks like data from here on: some of it is told by its length.
static void begin_1_3(Tls *tls)
{
    const BbTlsSuite *suite = tls->agreed.suite;
    gsize hash = suite ? bb_tls_hash_size(suite->hash) : HASH_LENGTH;
    gsize tag = suite ? suite->tag_length : TAG_LENGTH;
    tls->version = BB_TLS_1_3;
    tls->finished_length = (guint16)(BB_TLS_HANDSHAKE_HEAD + hash + 1 + tag);
    tls->turns.alert_length = (guint16)(ALERT_BODY + 1 + tag);
    tls->turns.expects_tickets = true;
}

static void learn_version(Tls *tls, const BbTlsHello *hello)
{
    tls->version = hello->version;
    tls->unsure = hello->cut;
    tls->agreed.suite = bb_tls_suite_find(hello->suite);
    tls->agreed.encrypt_then_mac = hello->encrypt_then_mac;
    memcpy(tls->agreed.server_random, hello->random, BB_TLS_RANDOM);
    if (tls->version == BB_TLS_1_3)
        begin_1_3(tls);
}

// Behind a ChangeCipherSpec stands a Finished. One that looks like data is of TLS 1.3 (RFC 8446,
// D.4), and so is the handshake.
static void learn_late(Tls *tls)
{
    begin_1_3(tls);
    tls->unsure = false;
    tls->side[BB_TO_SERVER].finished = false;
}

static void answer_hello(BbDialog *dialog, const BbPart *reply, const char *status)
{
    const BbOpenCall *open = bb_dialog_oldest(dialog, reply);
    bb_dialog_return(dialog, open ? open->call : 0, reply,
                     bb_dialog_status(dialog, status, strlen(status)));
}

static void read_server_hello(Tls *tls, const BbTlsHello *hello)
{
    tls->retrying = hello->retry;
    if (hello->retry)
        return;
    tls->side[BB_TO_CLIENT].message = BB_TLS_SERVER_HELLO;
    learn_version(tls, hello);
}

static void end_alert(BbDialog *dialog, Tls *tls, BbDirection direction)
{
    Side *side = &tls->side[direction];
    char label[64] = "alert ";
    const char *name = bb_tls_alert_name(side->alert);
    if (!name)
        name = "unknown";
    if (side->alert_level != ALERT_FATAL && side->alert != BB_TLS_CLOSE_NOTIFY)
        return; // a warning: the handshake goes on
    if (direction == BB_TO_CLIENT && !tls->version && bb_dialog_open_calls(dialog)) {
        answer_hello(dialog, &side->record, name);
    } else if (side->alert != BB_TLS_CLOSE_NOTIFY) {
        gsize length = g_strlcat(label, name, sizeof label);
        bb_dialog_message(dialog, &side->record, bb_dialog_label(dialog, label, length),
                          bb_dialog_status(dialog, name, strlen(name)));
    }
}

// ---- decryption -------------------------------------------------------------------------------

static bool is_encrypted(const Tls *tls, BbDirection direction, guint8 type)
{
    if (!tls->version || type == BB_TLS_CHANGE_CIPHER)
        return false;
    return tls->version == BB_TLS_1_3 ? type == BB_TLS_DATA : tls->side[direction].ciphered;
}

static void give_up_decryption(BbDialog *dialog, Tls *tls, BbLossKind why)
{
    bb_dialog_count(dialog, why);
    g_clear_pointer(&tls->inner, bb_tls_inner_free);
    tls->hopeless = true;
    tls->side[BB_TO_SERVER].finished = true;
}

static bool can_be_decrypted(const Tls *tls)
{
    return tls->has_random && tls->agreed.suite && !tls->early &&
           (tls->version == BB_TLS_1_3 || tls->version == BB_TLS_1_2);
}

// Whether this record is to be decrypted: finds the keys when they are needed.
static bool has_keys(BbDialog *dialog, Tls *tls)
{
    BbTlsKeylog *keylog = bb_dialog_keylog(dialog);
    if (tls->inner || tls->hopeless || !keylog || !tls->version)
        return tls->inner;
    if (!can_be_decrypted(tls)) {
        give_up_decryption(dialog, tls, BB_TLS_UNDECRYPTED);
        return false;
    }
    tls->inner = bb_tls_inner_new(dialog, keylog, tls->version, &tls->agreed);
    if (!tls->inner && ++tls->lookups == LOOKUPS_MAX)
        give_up_decryption(dialog, tls, BB_TLS_KEYS_UNKNOWN);
    if (!tls->inner)
        return false;
    bb_tls_turns_finish(dialog, &tls->turns); // by then, hardly anything
    for (guint direction = 0; direction < 2; direction++)
        if (tls->side[direction].ciphered_known)
            bb_tls_inner_begin(tls->inner, direction, tls->side[direction].ciphered_from);
    return true;
}

static void take_inner_alert(BbDialog *dialog, Tls *tls, BbDirection direction,
                             const guint8 alert[2])
{
    Side *side = &tls->side[direction];
    side->alert_level = tls->version == BB_TLS_1_3 ? ALERT_FATAL : alert[0];
    side->alert = alert[1];
    if (side->alert == BB_TLS_CLOSE_NOTIFY)
        bb_tls_inner_close(tls->inner, dialog, direction);
    end_alert(dialog, tls, direction);
}

// Takes a record that is whole at the front of view. False: it is not to be decrypted, and is one
// of a turn.
static bool take_inner(BbDialog *dialog, Tls *tls, const BbView *view)
{
    Side *side = &tls->side[view->direction];
    guint8 alert[2];
    switch (bb_tls_inner_take(tls->inner, dialog, view, &side->head, alert)) {
    case BB_TLS_INNER_ALERT:
        take_inner_alert(dialog, tls, view->direction, alert);
        side->failed = 0;
        return true;
    case BB_TLS_INNER_OPENED:
        side->failed = 0;
        return true;
    case BB_TLS_INNER_EARLIER:
        if (++side->failed < EARLIER_MAX)
            return true;
        break;
    case BB_TLS_INNER_CLOSED:
        if (++side->failed < CLOSED_MAX)
            return true;
        break;
    }
    give_up_decryption(dialog, tls, BB_TLS_UNDECRYPTED);
    return false;
}

// ---- the beginning of a record ----------------------------------------------------------------

// Looks into what is not encrypted, as far as it is there.
static void read_body(BbDialog *dialog, Tls *tls, BbDirection direction, const guint8 *body,
                      gsize length)
{
    Side *side = &tls->side[direction];
    BbTlsHello hello;
    side->message = side->alert_level = 0;
    if (side->ciphered || !length)
        return;
    if (side->head.type == BB_TLS_ALERT && side->head.length == ALERT_BODY && length == 2) {
        side->alert_level = body[0];
        side->alert = body[1];
    } else if (side->head.type == BB_TLS_HANDSHAKE && !side->hello_left) {
        BbMatch match = bb_tls_match_hello(body, length, side->head.length);
        if (match == BB_MATCH_REQUEST && direction == BB_TO_SERVER &&
            bb_tls_client_hello(&hello, body, length))
            begin_client_hello(dialog, tls, &hello, side->head.length);
        else if (match == BB_MATCH_REPLY && direction == BB_TO_CLIENT &&
                 bb_tls_server_hello(&hello, body, length))
            read_server_hello(tls, &hello);
    }
}

// Bytes of the body that are looked at: hellos as a whole, of other messages their type.
static gsize wanted(BbDialog *dialog, Tls *tls, const BbTlsHead *head, const BbView *view)
{
    const Side *side = &tls->side[view->direction];
    if (is_encrypted(tls, view->direction, head->type) && has_keys(dialog, tls))
        return head->length;
    if (side->ciphered || head->type == BB_TLS_DATA)
        return 0;
    if (head->type == BB_TLS_ALERT)
        return head->length == ALERT_BODY ? ALERT_BODY : 0;
    if (head->type != BB_TLS_HANDSHAKE || side->hello_left)
        return 0;
    guint8 type = view->length > BB_TLS_HEAD ? view->data[BB_TLS_HEAD] : BB_TLS_CLIENT_HELLO;
    bool hello = type == BB_TLS_CLIENT_HELLO || type == BB_TLS_SERVER_HELLO;
    return hello ? head->length : 1;
}

// ---- the end of a record ----------------------------------------------------------------------

// Whether the record belongs to the encrypted handshake of TLS 1.3, which looks like data. The
// server's lasts until the client says something; the client's until its Finished, whose length is
// known, or is one record.
static bool is_sealed_handshake(Tls *tls, BbDirection direction, guint16 length)
{
    Side *client = &tls->side[BB_TO_SERVER];
    if (tls->version != BB_TLS_1_3 || client->finished)
        return false;
    if (direction == BB_TO_CLIENT) {
        client->finished = client->sealed > 0;
        return !client->finished;
    }
    client->sealed++;
    client->finished = length == tls->finished_length || client->sealed == SEALED_MAX;
    if (length == tls->finished_length && client->sealed > 1)
        bb_tls_turns_forget(&tls->turns, direction);
    return length == tls->finished_length || client->sealed == 1;
}

// In TLS 1.3 it means nothing (RFC 8446, D.4). A further one ends a further handshake.
static void end_change_cipher(BbDialog *dialog, Tls *tls, BbDirection direction)
{
    Side *side = &tls->side[direction];
    guint64 end_seq = side->record.seq + BB_TLS_HEAD + side->head.length;
    bool further = side->ciphered && tls->inner && tls->version != BB_TLS_1_3;
    if (further && !bb_tls_inner_renew(tls->inner, direction, end_seq))
        give_up_decryption(dialog, tls, BB_TLS_KEYS_UNKNOWN);
    if (!tls->version || side->ciphered)
        return;
    side->ciphered = true;
    side->ciphered_known = tls->version != BB_TLS_1_3;
    side->ciphered_from = end_seq;
}

static void end_record(BbDialog *dialog, Tls *tls, BbDirection direction)
{
    Side *side = &tls->side[direction];
    guint8 type = side->head.type;
    side->passing = false;
    if (tls->unsure && side->changed && type == BB_TLS_DATA)
        learn_late(tls);
    side->changed = type == BB_TLS_CHANGE_CIPHER;
    tls->early |= type == BB_TLS_DATA && !tls->version && tls->has_random;
    if (tls->inner && is_encrypted(tls, direction, type)) {
        // in part only: what it held is missing
    } else if (type == BB_TLS_DATA) {
        if (!is_sealed_handshake(tls, direction, side->head.length))
            bb_tls_turns_add(dialog, &tls->turns, &side->record, side->head.length);
    } else if (type == BB_TLS_CHANGE_CIPHER) {
        end_change_cipher(dialog, tls, direction);
    } else if (type == BB_TLS_ALERT) {
        if (side->alert_level)
            end_alert(dialog, tls, direction);
        else if (side->ciphered) // which it is, and it nearly always is a close_notify
            bb_tls_turns_leave(&tls->turns, direction);
    } else if (side->message == BB_TLS_SERVER_HELLO) {
        answer_hello(dialog, &side->record, "ok");
    } else if (type == BB_TLS_HANDSHAKE && direction == BB_TO_SERVER) {
        end_client_hello(dialog, side);
    }
    bb_part_reset(&side->record);
}

// ---- records ----------------------------------------------------------------------------------

// Takes what there is of a record of so many bytes, and skips the rest.
static gssize take_record(BbDialog *dialog, Tls *tls, const BbView *view, gsize whole)
{
    Side *side = &tls->side[view->direction];
    gsize have = MIN(whole, view->length);
    side->known = true;
    bb_part_add(&side->record, view, 0, have);
    if (have >= BB_TLS_HEAD)
        read_body(dialog, tls, view->direction, view->data + BB_TLS_HEAD, have - BB_TLS_HEAD);
    if (have == whole) {
        bool encrypted = tls->inner && is_encrypted(tls, view->direction, side->head.type);
        if (encrypted && take_inner(dialog, tls, view))
            bb_part_reset(&side->record);
        else
            end_record(dialog, tls, view->direction);
        return (gssize)have;
    }
    side->passing = true;
    side->end_seq = view->seq + whole;
    bb_dialog_skip(dialog, view->direction, whole - have, &side->record);
    return (gssize)have;
}

// A hello in the form of SSL 2 is no record.
static gssize take_old_hello(BbDialog *dialog, Tls *tls, const BbView *view)
{
    Side *side = &tls->side[BB_TO_SERVER];
    BbTlsHello hello;
    if (!bb_tls_old_hello(&hello, view->data, view->length))
        return bb_tls_match_old_hello(view->data, view->length) == BB_MATCH_MORE && !view->closed
                   ? 0
                   : BB_PARSE_BAD;
    if (view->length < hello.size && !view->closed)
        return 0;
    gsize have = MIN(view->length, hello.size);
    side->known = true;
    side->head = (BbTlsHead){.type = BB_TLS_HANDSHAKE, .length = (guint16)have};
    bb_part_add(&side->record, view, 0, have);
    begin_client_hello(dialog, tls, &hello, hello.size);
    end_record(dialog, tls, BB_TO_SERVER);
    return (gssize)have;
}

static gssize lose_place(BbDialog *dialog, Tls *tls, const BbView *view)
{
    Side *side = &tls->side[view->direction];
    if (!side->known)
        return BB_PARSE_BAD;
    bb_tls_turns_gap(dialog, &tls->turns, view->direction);
    side->lost = true;
    gsize next = bb_view_next_packet(view, 0);
    bb_dialog_pass_over(dialog, view, 0, next);
    return (gssize)next;
}

// The skip is over, or no more bytes come for now: the record goes on behind a gap.
static bool goes_on(BbDialog *dialog, Side *side, const BbView *view)
{
    gint64 left = (gint64)(side->end_seq - view->seq);
    if (left <= 0 || !view->closed)
        return false;
    bb_dialog_skip(dialog, view->direction, (guint64)left, &side->record);
    return true;
}

static gssize parse(BbDialog *dialog, void *state, const BbView *view)
{
    Tls *tls = state;
    Side *side = &tls->side[view->direction];
    BbTlsHead head;
    side->closed = view->closed;
    if (view->closed && !tls->side[bb_direction_other(view->direction)].closed)
        bb_tls_turns_leave(&tls->turns, view->direction);
    if (side->passing) {
        if (goes_on(dialog, side, view))
            return 0;
        end_record(dialog, tls, view->direction);
    }
    if (side->lost && view->length) {
        bool found;
        gsize passed = bb_tls_search(view, &found);
        side->lost = !found;
        bb_dialog_pass_over(dialog, view, 0, passed);
        if (found)
            bb_dialog_resynced(dialog);
        if (passed > 0 || !found)
            return (gssize)passed;
    }
    if (view->length && !side->known && view->direction == BB_TO_SERVER && view->data[0] & 0x80)
        return take_old_hello(dialog, tls, view);
    if (view->length < BB_TLS_HEAD)
        return view->closed ? (gssize)view->length : 0;
    if (!bb_tls_head(view->data, &head))
        return lose_place(dialog, tls, view);
    if (view->length < BB_TLS_HEAD + wanted(dialog, tls, &head, view) && !view->closed)
        return 0;
    side->head = head;
    return take_record(dialog, tls, view, BB_TLS_HEAD + head.length);
}

// ---- the decoder ------------------------------------------------------------------------------

static void end_as_seen(BbDialog *dialog, Tls *tls, BbDirection direction)
{
    Side *side = &tls->side[direction];
    if (side->passing)
        end_record(dialog, tls, direction);
    side->hello_left = 0;
    bb_dialog_sent(dialog, side->call, &side->hello);
    side->call = 0;
}

static void gap(BbDialog *dialog, void *state, BbDirection direction)
{
    Tls *tls = state;
    const Side *client = &tls->side[BB_TO_SERVER];
    end_as_seen(dialog, tls, direction);
    bb_tls_turns_gap(dialog, &tls->turns, direction);
    // Tickets come behind the client's Finished.
    if (direction == BB_TO_CLIENT && tls->version == BB_TLS_1_3)
        tls->turns.expects_tickets |= !client->sealed && !client->finished;
    tls->side[direction].lost = true;
    tls->side[direction].changed = false;
    tls->side[direction].ciphered |= tls->version != 0;
    if (direction == BB_TO_SERVER) // its Finished may be missing
        tls->side[direction].finished |= tls->version != 0;
}

static void finish(BbDialog *dialog, void *state)
{
    Tls *tls = state;
    end_as_seen(dialog, tls, BB_TO_SERVER);
    end_as_seen(dialog, tls, BB_TO_CLIENT);
    bb_tls_turns_finish(dialog, &tls->turns);
    if (tls->lookups && !tls->hopeless && !tls->inner)
        bb_dialog_count(dialog, BB_TLS_KEYS_UNKNOWN);
    g_clear_pointer(&tls->inner, bb_tls_inner_free);
}

static gsize held(const void *state)
{
    const Tls *tls = state;
    return tls->inner ? bb_tls_inner_held(tls->inner) : 0;
}

static void let_go(BbDialog *dialog, void *state)
{
    bb_tls_inner_let_go(((Tls *)state)->inner);
}

const BbDecoder bb_decoder_tls = {
    .name = "tls",
    .about = "TLS and SSL 3 (RFC 8446, 5246): the handshake, then by turns",
    .tcp = true,
    .takes_turns = true,
    .ports = {443, 8443, 465, 636, 853, 993, 5061, 6380},
    .state_size = sizeof(Tls),
    .probe = bb_tls_probe,
    .parse = parse,
    .gap = gap,
    .finish = finish,
    .held = held,
    .let_go = let_go,
};
