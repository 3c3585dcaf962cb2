// SPDX-License-Identifier: Apache-2.0
// In: the first bytes of a FastCGI record, the content of PARAMS. Out: what it is, the variables.
#include "capture/protocols/fastcgi_record.h"

#include "capture/cursor.h"
#include "capture/protocols/cgi_head.h"

#define ROLE_MAX 3u   // FILTER
#define STATUS_MAX 3u // UNKNOWN_ROLE

bool bb_fastcgi_record_read(BbFastcgiRecord *record, const guint8 *data)
{
    BbCursor c = bb_cursor(data, BB_FASTCGI_HEAD);
    guint8 version = bb_cursor_u8(&c), type = bb_cursor_u8(&c);
    record->type = (BbFastcgiType)type;
    record->id = bb_cursor_be16(&c);
    record->content = bb_cursor_be16(&c);
    record->length = BB_FASTCGI_HEAD + record->content + bb_cursor_u8(&c);
    bool management = type >= BB_FASTCGI_GET_VALUES;
    return version == 1 && type >= BB_FASTCGI_BEGIN_REQUEST && type <= BB_FASTCGI_UNKNOWN_TYPE &&
           management == (record->id == 0);
}

bool bb_fastcgi_record_fits(const BbFastcgiRecord *record, BbDirection direction)
{
    switch (record->type) {
    case BB_FASTCGI_END_REQUEST:
    case BB_FASTCGI_STDOUT:
    case BB_FASTCGI_STDERR:
    case BB_FASTCGI_GET_VALUES_RESULT:
    case BB_FASTCGI_UNKNOWN_TYPE:
        return direction == BB_TO_CLIENT;
    default:
        return direction == BB_TO_SERVER;
    }
}

// ---- the first record ---------------------------------------------------------------------------

static bool is_zero(const guint8 *data, gsize length)
{
    for (gsize i = 0; i < length; i++)
        if (data[i])
            return false;
    return true;
}

// Section 5.1: role, flags, reserved.
static BbMatch match_begin(const BbFastcgiRecord *record, const guint8 *content)
{
    bool good = record->content == 8 && content[0] == 0 && content[1] >= 1 &&
                content[1] <= ROLE_MAX && content[2] <= 1 && is_zero(content + 3, 5);
    return good ? BB_MATCH_REQUEST : BB_MATCH_NO;
}

// Section 5.5: appStatus, protocolStatus, reserved. (Some servers leave rubbish in the last bytes.)
static BbMatch match_end(const BbFastcgiRecord *record, const guint8 *content)
{
    bool good = record->content == 8 && content[4] <= STATUS_MAX && is_zero(content, 2);
    return good ? BB_MATCH_REPLY : BB_MATCH_NO;
}

// Section 4.1: pairs whose names begin with FCGI_.
static BbMatch match_values(const BbFastcgiRecord *record, const guint8 *content)
{
    if (record->content < 8 || memcmp(content + 2, "FCGI_", 5) != 0)
        return BB_MATCH_NO;
    return record->type == BB_FASTCGI_GET_VALUES ? BB_MATCH_REQUEST : BB_MATCH_REPLY;
}

BbMatch bb_fastcgi_match(const guint8 *data, gsize length)
{
    BbFastcgiRecord record;
    if (length < BB_FASTCGI_HEAD)
        return length == 0 || data[0] == 1 ? BB_MATCH_MORE : BB_MATCH_NO;
    if (!bb_fastcgi_record_read(&record, data) || data[7] != 0)
        return BB_MATCH_NO;
    if (record.content < 8) // too little for any of these
        return BB_MATCH_NO;
    const guint8 *content = data + BB_FASTCGI_HEAD;
    gsize there = MIN(length - BB_FASTCGI_HEAD, record.content);
    if (there < 8)
        return BB_MATCH_MORE;
    switch (record.type) {
    case BB_FASTCGI_BEGIN_REQUEST:
        return match_begin(&record, content);
    case BB_FASTCGI_END_REQUEST:
        return match_end(&record, content);
    case BB_FASTCGI_GET_VALUES:
    case BB_FASTCGI_GET_VALUES_RESULT:
        return match_values(&record, content);
    case BB_FASTCGI_STDOUT:
        if (bb_cgi_head_begins(content, there))
            return BB_MATCH_REPLY;
        return there < MIN(record.content, 16) ? BB_MATCH_MORE : BB_MATCH_NO;
    default:
        return BB_MATCH_NO;
    }
}

// ---- name-value pairs ---------------------------------------------------------------------------

// One byte, or four with the highest bit set.
static void read_length(BbFastcgiParams *params, guint8 byte)
{
    if (params->number_left == 0 && byte & 0x80) {
        params->number = byte & 0x7f;
        params->number_left = 3;
        return;
    }
    if (params->number_left) {
        params->number = params->number << 8 | byte;
        if (--params->number_left)
            return;
    } else {
        params->number = byte;
    }
    params->left[params->lengths++] = params->number;
}

static void read_name(BbFastcgiParams *params, guint8 byte)
{
    params->left[0]--;
    if (params->name_length < BB_CGI_NAME)
        params->name[params->name_length++] = byte;
}

static gsize read_value(BbFastcgiParams *params, const guint8 *data, gsize length)
{
    gsize count = MIN(length, params->left[1]);
    bb_cgi_vars_value(&params->vars, data, count);
    params->left[1] -= (guint32)count;
    return count;
}

// Name, then value: who has none of either is over at once.
static void turn(BbFastcgiParams *params)
{
    if (params->lengths != 2 || params->left[0])
        return;
    if (params->name_length) {
        bb_cgi_vars_name(&params->vars, params->name, params->name_length);
        params->name_length = 0;
    }
    if (params->left[1] == 0)
        params->lengths = 0;
}

void bb_fastcgi_params_feed(BbFastcgiParams *params, const guint8 *data, gsize length)
{
    for (gsize at = 0; at < length && !params->broken;) {
        if (params->lengths < 2)
            read_length(params, data[at++]);
        else if (params->left[0])
            read_name(params, data[at++]);
        else
            at += read_value(params, data + at, length - at);
        turn(params);
    }
}
