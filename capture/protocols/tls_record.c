// SPDX-License-Identifier: Apache-2.0
// In: bytes that may be TLS records (RFC 8446, 5246). Out: heads, names of alerts, whether and
// where records begin.
#include "capture/protocols/tls_record.h"

#include "capture/cursor.h"
#include "capture/protocols/tls_hello.h"

#define ALERT_BODY 2u

static bool is_version(guint16 version)
{
    return version >= 0x0300 && version <= BB_TLS_1_3;
}

bool bb_tls_head(const guint8 *data, BbTlsHead *head)
{
    BbCursor c = bb_cursor(data, BB_TLS_HEAD);
    head->type = bb_cursor_u8(&c);
    head->version = bb_cursor_be16(&c);
    head->length = bb_cursor_be16(&c);
    guint16 least = head->type == BB_TLS_ALERT       ? ALERT_BODY
                    : head->type == BB_TLS_HANDSHAKE ? BB_TLS_HANDSHAKE_HEAD
                                                     : 1;
    return head->type >= BB_TLS_CHANGE_CIPHER && head->type <= BB_TLS_HEARTBEAT &&
           is_version(head->version) && head->length >= least && head->length <= BB_TLS_BODY_MAX;
}

// ---- after a gap ------------------------------------------------------------------------------

// Whether a packet ends, and so the next one begins, at this place.
static bool is_packet_end(const BbView *view, gsize at)
{
    for (guint i = 0; i < view->n_marks && view->marks[i].end <= at; i++)
        if (view->marks[i].end == at)
            return true;
    return false;
}

static bool is_packet_start(const BbView *view, gsize at)
{
    return at == 0 || is_packet_end(view, at);
}

// A head has some 24 bits. Another one behind the record, or the end of a packet there, or the
// beginning of one here, makes it certain enough.
static BbMatch match_at(const BbView *view, gsize at)
{
    BbTlsHead head, next;
    gsize left = view->length - at;
    if (left < BB_TLS_HEAD)
        return is_packet_start(view, at) ? BB_MATCH_MORE : BB_MATCH_NO;
    if (!bb_tls_head(view->data + at, &head))
        return BB_MATCH_NO;
    gsize whole = BB_TLS_HEAD + head.length;
    if (left >= whole + BB_TLS_HEAD)
        return bb_tls_head(view->data + at + whole, &next) ? BB_MATCH_REQUEST : BB_MATCH_NO;
    if (is_packet_end(view, at + whole) || is_packet_start(view, at))
        return BB_MATCH_REQUEST;
    return view->closed ? BB_MATCH_NO : BB_MATCH_MORE;
}

gsize bb_tls_search(const BbView *view, bool *found)
{
    *found = false;
    for (gsize at = 0; at < view->length; at++) {
        BbMatch match = match_at(view, at);
        *found = match == BB_MATCH_REQUEST;
        if (*found || (match == BB_MATCH_MORE && !view->closed))
            return at;
    }
    return view->length;
}

// ---- alerts -----------------------------------------------------------------------------------

const char *bb_tls_alert_name(guint8 description)
{
    static const struct {
        guint8 number;
        const char *name;
    } alerts[] = {
        {0, "close_notify"},
        {10, "unexpected_message"},
        {20, "bad_record_mac"},
        {21, "decryption_failed"},
        {22, "record_overflow"},
        {30, "decompression_failure"},
        {40, "handshake_failure"},
        {41, "no_certificate"},
        {42, "bad_certificate"},
        {43, "unsupported_certificate"},
        {44, "certificate_revoked"},
        {45, "certificate_expired"},
        {46, "certificate_unknown"},
        {47, "illegal_parameter"},
        {48, "unknown_ca"},
        {49, "access_denied"},
        {50, "decode_error"},
        {51, "decrypt_error"},
        {52, "too_many_cids_requested"},
        {60, "export_restriction"},
        {70, "protocol_version"},
        {71, "insufficient_security"},
        {80, "internal_error"},
        {86, "inappropriate_fallback"},
        {90, "user_canceled"},
        {100, "no_renegotiation"},
        {109, "missing_extension"},
        {110, "unsupported_extension"},
        {111, "certificate_unobtainable"},
        {112, "unrecognized_name"},
        {113, "bad_certificate_status_response"},
        {114, "bad_certificate_hash_value"},
        {115, "unknown_psk_identity"},
        {116, "certificate_required"},
        {120, "no_application_protocol"},
        {121, "ech_required"},
    };
    for (gsize i = 0; i < G_N_ELEMENTS(alerts); i++)
        if (alerts[i].number == description)
            return alerts[i].name;
    return NULL;
}

// ---- the first bytes --------------------------------------------------------------------------

// Handshake messages other than hellos: their type, and a length that the record's head agrees
// with.
static bool is_handshake(const guint8 *body, gsize length, gsize record)
{
    static const guint8 types[] = {0, 4, 11, 12, 13, 14, 15, 16, 20, 21, 22};
    BbCursor c = bb_cursor(body, length);
    guint32 head = bb_cursor_be32(&c);
    if (!memchr(types, (int)(head >> 24), sizeof types))
        return false;
    return (head & 0xffffff) + BB_TLS_HANDSHAKE_HEAD <= record;
}

// A record whose body is encrypted is told by its head alone.
static BbMatch probe_other(const guint8 *data, gsize length, const BbTlsHead *head)
{
    const guint8 *body = data + BB_TLS_HEAD;
    gsize have = MIN(length - BB_TLS_HEAD, head->length), whole = BB_TLS_HEAD + head->length;
    BbTlsHead next;
    if (head->version > BB_TLS_1_2)
        return BB_MATCH_NO;
    if (length >= whole + BB_TLS_HEAD && !bb_tls_head(data + whole, &next))
        return BB_MATCH_NO;
    if (head->type == BB_TLS_DATA)
        return BB_MATCH_LIKELY;
    if (have < MIN(head->length, BB_TLS_HANDSHAKE_HEAD))
        return BB_MATCH_MORE;
    if (head->type == BB_TLS_HANDSHAKE)
        return is_handshake(body, have, head->length) ? BB_MATCH_LIKELY : BB_MATCH_NO;
    if (head->type == BB_TLS_CHANGE_CIPHER)
        return head->length == 1 && body[0] == 1 ? BB_MATCH_LIKELY : BB_MATCH_NO;
    bool alert = head->type == BB_TLS_ALERT && head->length == ALERT_BODY &&
                 (body[0] == 1 || body[0] == 2) && bb_tls_alert_name(body[1]);
    return alert ? BB_MATCH_LIKELY : BB_MATCH_NO;
}

// Fewer bytes than a head: whether they can begin one.
static bool can_begin(const guint8 *data, gsize length)
{
    return (data[0] >= BB_TLS_CHANGE_CIPHER && data[0] <= BB_TLS_DATA) &&
           (length < 2 || data[1] == 3) && (length < 3 || data[2] <= 3);
}

BbMatch bb_tls_probe(const guint8 *data, gsize length)
{
    BbTlsHead head;
    if (length == 0)
        return BB_MATCH_MORE;
    if (data[0] & 0x80)
        return bb_tls_match_old_hello(data, length);
    if (length < BB_TLS_HEAD)
        return can_begin(data, length) ? BB_MATCH_MORE : BB_MATCH_NO;
    if (!bb_tls_head(data, &head) || head.type > BB_TLS_DATA)
        return BB_MATCH_NO;
    if (head.type != BB_TLS_HANDSHAKE)
        return probe_other(data, length, &head);
    BbMatch match = bb_tls_match_hello(data + BB_TLS_HEAD, length - BB_TLS_HEAD, head.length);
    return match == BB_MATCH_NO ? probe_other(data, length, &head) : match;
}
