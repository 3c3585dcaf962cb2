// SPDX-License-Identifier: Apache-2.0
// In: SCGI over TCP (SCGI: A Simple Common Gateway Interface alternative, revision 1.1): a
// netstring of variables, CONTENT_LENGTH first. Out: a call each, ended by the reply until the
// server closes.
#include "capture/protocols/cgi_exchange.h"

#define FIRST "CONTENT_LENGTH" // with its NUL
#define DIGITS 6u              // of a netstring's length
#define SHORTEST 24u           // bytes of CONTENT_LENGTH, SCGI and their values

// Where the netstring's bytes begin, 0 if it has no length before that; size: how many they are.
static gsize read_length(const guint8 *data, gsize length, gsize *size)
{
    gsize digits = 0;
    *size = 0;
    while (digits < length && digits <= DIGITS && g_ascii_isdigit(data[digits]))
        *size = *size * 10 + (gsize)(data[digits++] - '0');
    bool good = digits > 0 && digits <= DIGITS && digits < length && data[digits] == ':';
    return good ? digits + 1 : 0;
}

static gsize measure(const guint8 *data, gsize length)
{
    gsize size;
    gsize begin = read_length(data, length, &size);
    return begin ? begin + size + 1 : 0;
}

// One text of the block, up to its NUL; NULL if that is not there.
static const guint8 *next_text(const guint8 **at, const guint8 *end, gsize *length)
{
    const guint8 *text = *at, *nul = text < end ? memchr(text, 0, (gsize)(end - text)) : NULL;
    if (!nul)
        return NULL;
    *length = (gsize)(nul - text);
    *at = nul + 1;
    return text;
}

static void read_vars(BbCgiVars *vars, const guint8 *data, gsize seen)
{
    gsize size, name_length, value_length;
    gsize begin = read_length(data, seen, &size);
    if (!begin)
        return;
    const guint8 *at = data + begin, *end = at + MIN(size, seen - begin), *name, *value;
    while ((name = next_text(&at, end, &name_length)) &&
           (value = next_text(&at, end, &value_length))) {
        bb_cgi_vars_name(vars, name, name_length);
        bb_cgi_vars_value(vars, value, value_length);
    }
}

static BbMatch probe(const guint8 *data, gsize length)
{
    gsize size, digits = 0;
    while (digits < MIN(length, DIGITS) && g_ascii_isdigit(data[digits]))
        digits++;
    if (digits == length && length < DIGITS)
        return BB_MATCH_MORE;
    if (digits == DIGITS && length == DIGITS)
        return BB_MATCH_MORE;
    gsize begin = read_length(data, length, &size);
    if (!begin || size < SHORTEST)
        return BB_MATCH_NO;
    gsize there = MIN(length - begin, sizeof FIRST);
    if (memcmp(data + begin, FIRST, there) != 0)
        return BB_MATCH_NO;
    return there < sizeof FIRST ? BB_MATCH_MORE : BB_MATCH_REQUEST;
}

static const BbCgiForm form = {.probe = probe, .measure = measure, .read = read_vars};

static gssize parse(BbDialog *dialog, void *state, const BbView *view)
{
    return bb_cgi_exchange_parse(state, &form, dialog, view);
}

static void gap(BbDialog *dialog, void *state, BbDirection direction)
{
    bb_cgi_exchange_gap(state, dialog, direction);
}

static void finish(BbDialog *dialog, void *state)
{
    bb_cgi_exchange_finish(state, dialog);
}

const BbDecoder bb_decoder_scgi = {
    .name = "scgi",
    .about = "SCGI 1: a request a connection, answered until it closes",
    .tcp = true,
    .ports = {4000},
    .state_size = sizeof(BbCgiExchange),
    .probe = probe,
    .parse = parse,
    .gap = gap,
    .finish = finish,
};
