// SPDX-License-Identifier: Apache-2.0
// HTTP/2 connections written down frame by frame, for tests; played in segments of several sizes.
#pragma once

#include "capture/protocols/http2_frame.h"
#include "tests/unit/converse.h"
#include "tests/unit/test.h"

#include <string.h>

#define END_STREAM BB_HTTP2_END_STREAM
#define END_HEADERS BB_HTTP2_END_HEADERS
#define END_BOTH (END_STREAM | END_HEADERS)

typedef enum { TALK_SAID, TALK_LOST, TALK_CLOSED } TalkWhat;

typedef struct TalkStep {
    TalkWhat what;
    BbDirection direction;
    GByteArray *bytes;
} TalkStep;

typedef struct Talk {
    GArray *steps;
    BbDirection direction; // who speaks
    bool lost;             // unseen by the capture
    bool midstream;
    guint16 port;   // of the server
    gsize max_held; // bytes the capture may hold; 0: the default
} Talk;

static inline void talk_step_clear(gpointer step)
{
    g_byte_array_unref(((TalkStep *)step)->bytes);
}

static inline Talk *talk_new(void)
{
    Talk *t = g_new0(Talk, 1);
    t->steps = g_array_new(FALSE, FALSE, sizeof(TalkStep));
    g_array_set_clear_func(t->steps, talk_step_clear);
    t->port = 50000;
    return t;
}

static inline void talk_free(Talk *t)
{
    g_array_unref(t->steps);
    g_free(t);
}

G_DEFINE_AUTOPTR_CLEANUP_FUNC(Talk, talk_free)

// What comes from here on begins with a packet of its own.
static inline void talk_cut(Talk *t)
{
    TalkStep step = {t->lost ? TALK_LOST : TALK_SAID, t->direction, g_byte_array_new()};
    g_array_append_val(t->steps, step);
}

static inline void talk_by(Talk *t, BbDirection direction, bool lost)
{
    if (t->steps->len && t->direction == direction && t->lost == lost)
        return;
    t->direction = direction;
    t->lost = lost;
    talk_cut(t);
}

static inline void talk_close(Talk *t, BbDirection direction)
{
    TalkStep step = {TALK_CLOSED, direction, g_byte_array_new()};
    g_array_append_val(t->steps, step);
    t->direction = bb_direction_other(direction);
    talk_cut(t);
}

static inline void talk_put(Talk *t, const void *bytes, gsize length)
{
    TalkStep *step = &g_array_index(t->steps, TalkStep, t->steps->len - 1);
    g_byte_array_append(step->bytes, bytes, (guint)length);
}

static inline void talk_text(Talk *t, const char *text)
{
    talk_put(t, text, strlen(text));
}

static inline void talk_head(Talk *t, guint32 length, guint8 type, guint8 flags, guint32 stream)
{
    guint8 head[BB_HTTP2_HEAD] = {
        (guint8)(length >> 16), (guint8)(length >> 8),  (guint8)length,        type,          flags,
        (guint8)(stream >> 24), (guint8)(stream >> 16), (guint8)(stream >> 8), (guint8)stream};
    talk_put(t, head, sizeof head);
}

static inline void talk_frame(Talk *t, guint8 type, guint8 flags, guint32 stream,
                              const void *payload, gsize length)
{
    talk_head(t, (guint32)length, type, flags, stream);
    talk_put(t, payload, length);
}

// ---- header blocks ------------------------------------------------------------------------------

static inline gsize talk_hex(const char *text, gsize length, guint8 *out)
{
    for (gsize i = 0; i + 1 < length; i += 2)
        out[i / 2] =
            (guint8)(g_ascii_xdigit_value(text[i]) << 4 | g_ascii_xdigit_value(text[i + 1]));
    return length / 2;
}

// One word of a block: `#82be` is bytes in hex, `+name=value` a literal that goes into the table,
// `name=value` one that does not.
static inline void talk_field(GByteArray *block, const char *word, gsize length)
{
    guint8 bytes[64], kind = word[0] == '+' ? 0x40 : 0;
    if (word[0] == '#') {
        g_byte_array_append(block, bytes, (guint)talk_hex(word + 1, length - 1, bytes));
        return;
    }
    word += kind ? 1 : 0;
    length -= kind ? 1 : 0;
    gsize name = (gsize)((const char *)memchr(word, '=', length) - word);
    guint8 name_head[] = {kind, (guint8)name};
    guint8 value_head = (guint8)(length - name - 1);
    g_assert(name < 127 && length - name - 1 < 127);
    g_byte_array_append(block, name_head, 2);
    g_byte_array_append(block, (const guint8 *)word, (guint)name);
    g_byte_array_append(block, &value_head, 1);
    g_byte_array_append(block, (const guint8 *)word + name + 1, value_head);
}

// Words with a blank between them.
static inline GByteArray *talk_block(const char *words)
{
    GByteArray *block = g_byte_array_new();
    while (*words) {
        gsize length = strcspn(words, " ");
        talk_field(block, words, length);
        words += length;
        words += strspn(words, " ");
    }
    return block;
}

static inline void talk_headers(Talk *t, guint32 stream, guint8 flags, const char *words)
{
    g_autoptr(GByteArray) block = talk_block(words);
    talk_frame(t, BB_HTTP2_HEADERS, flags, stream, block->data, block->len);
}

static inline void talk_data(Talk *t, guint32 stream, guint8 flags, const char *text)
{
    talk_frame(t, BB_HTTP2_DATA, flags, stream, text, strlen(text));
}

// A gRPC message of so many bytes, in one DATA frame.
static inline void talk_message(Talk *t, guint32 stream, guint8 flags, guint8 length)
{
    guint8 message[5 + 255] = {0, 0, 0, 0, length};
    talk_frame(t, BB_HTTP2_DATA, flags, stream, message, 5u + length);
}

static inline void talk_code(Talk *t, guint8 type, guint32 stream, guint32 code)
{
    guint8 bytes[] = {(guint8)(code >> 24), (guint8)(code >> 16), (guint8)(code >> 8),
                      (guint8)code};
    talk_frame(t, type, 0, stream, bytes, sizeof bytes);
}

static inline void talk_settings(Talk *t)
{
    static const guint8 settings[] = {0, 3, 0, 0, 0, 100};
    talk_frame(t, BB_HTTP2_SETTINGS, 0, 0, settings, sizeof settings);
}

// Both sides' beginning.
static inline void talk_begin(Talk *t)
{
    talk_by(t, BB_TO_SERVER, false);
    talk_text(t, BB_HTTP2_PREFACE);
    talk_settings(t);
    talk_by(t, BB_TO_CLIENT, false);
    talk_settings(t);
}

#define UP(t) talk_by(t, BB_TO_SERVER, false)
#define DOWN(t) talk_by(t, BB_TO_CLIENT, false)
#define UP_LOST(t) talk_by(t, BB_TO_SERVER, true)
#define DOWN_LOST(t) talk_by(t, BB_TO_CLIENT, true)

// ---- playing ------------------------------------------------------------------------------------

static inline Converse *talk_play(const Talk *t, gsize segment)
{
    Converse *c = t->midstream  ? converse_tcp_midstream(t->port)
                  : t->max_held ? converse_tcp_held(t->port, t->max_held)
                                : converse_tcp(t->port);
    converse_segment_size(c, segment);
    for (guint i = 0; i < t->steps->len; i++) {
        const TalkStep *step = &g_array_index(t->steps, TalkStep, i);
        if (step->what == TALK_CLOSED)
            converse_close(c, step->direction);
        else if (step->what == TALK_LOST)
            converse_lose(c, step->direction, step->bytes->len);
        else
            converse_say(c, step->direction, step->bytes->data, step->bytes->len);
    }
    return c;
}

// Whole and in small segments: the same messages.
static inline void talk_check(const Talk *t, const char *expected)
{
    static const gsize segments[] = {65000, 1460, 1, 2, 7, 64};
    for (guint i = 0; i < G_N_ELEMENTS(segments); i++) {
        g_autoptr(Converse) c = talk_play(t, segments[i]);
        ck_assert_msg(strcmp(converse_result(c), expected) == 0, "%zu bytes a segment:\n%s",
                      segments[i], converse_result(c));
    }
}
