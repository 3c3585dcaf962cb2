// SPDX-License-Identifier: Apache-2.0
// In: the uwsgi protocol over TCP (uWSGI's documentation, "The uwsgi Protocol"): requests of
// variables. Out: a call each, ended by the HTTP reply until the server closes.
#include "capture/cursor.h"
#include "capture/protocols/cgi_exchange.h"

#define HEAD 4u           // modifier1, size, modifier2
#define CERTAIN 8u        // bytes of names that are certain not to be by chance
#define NAME_LONGEST 128u // bytes of a variable's name

typedef struct Pair {
    const guint8 *name, *value;
    gsize name_length, value_length;
} Pair;

// The next variable; false at the end of what is there (then c is broken) or of all.
static bool next_pair(BbCursor *c, Pair *pair)
{
    if (!c->left)
        return false;
    pair->name_length = bb_cursor_le16(c);
    pair->name = bb_cursor_take(c, pair->name_length);
    pair->value_length = bb_cursor_le16(c);
    pair->value = bb_cursor_take(c, pair->value_length);
    return bb_cursor_ok(c);
}

static gsize size_of(const guint8 *data)
{
    return (gsize)(data[1] | data[2] << 8);
}

static gsize measure(const guint8 *data, gsize length)
{
    return length < HEAD ? 0 : HEAD + size_of(data);
}

static void read_vars(BbCgiVars *vars, const guint8 *data, gsize seen)
{
    if (seen < HEAD)
        return;
    BbCursor c = bb_cursor(data + HEAD, seen - HEAD);
    Pair pair;
    while (next_pair(&c, &pair)) {
        bb_cgi_vars_name(vars, pair.name, pair.name_length);
        bb_cgi_vars_value(vars, pair.value, pair.value_length);
    }
}

// Whether all that is there of the block at c, of which rest bytes are still to come, can be
// variables; named: bytes of their names.
static bool is_block(BbCursor c, gsize rest, gsize *named)
{
    *named = 0;
    while (c.left >= 2) {
        gsize name = bb_cursor_le16(&c);
        gsize there = MIN(name, c.left);
        if (name == 0 || name > NAME_LONGEST || name + 2 > c.left + rest ||
            !bb_cgi_vars_is_name(c.at, there))
            return there == 0 && name > 0 && name <= NAME_LONGEST && rest > 0;
        *named += there;
        bb_cursor_skip(&c, name);
        gsize value = bb_cursor_le16(&c);
        if (!bb_cursor_ok(&c))
            return rest > 0;
        if (value > c.left + rest)
            return false;
        bb_cursor_skip(&c, MIN(value, c.left));
    }
    return true;
}

// Modifiers: of many kinds, most requests have 0; those of the first 30 are requests of variables.
static BbMatch probe(const guint8 *data, gsize length)
{
    gsize named;
    if (length && data[0] > 30)
        return BB_MATCH_NO;
    if (length < HEAD + 2)
        return BB_MATCH_MORE;
    gsize size = size_of(data), there = MIN(size, length - HEAD);
    if (size < CERTAIN || !is_block(bb_cursor(data + HEAD, there), size - there, &named))
        return BB_MATCH_NO;
    if (named >= CERTAIN)
        return BB_MATCH_REQUEST;
    return there < size ? BB_MATCH_MORE : BB_MATCH_NO;
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

const BbDecoder bb_decoder_uwsgi = {
    .name = "uwsgi",
    .about = "uwsgi: a request a connection, answered until it closes",
    .tcp = true,
    .ports = {3031},
    .state_size = sizeof(BbCgiExchange),
    .probe = probe,
    .parse = parse,
    .gap = gap,
    .finish = finish,
};
