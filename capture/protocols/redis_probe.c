// SPDX-License-Identifier: Apache-2.0
// In: the first bytes of a message. Out: whether they are RESP or a command of Redis typed inline.
#include "capture/protocols/redis_probe.h"

#include "capture/cursor.h"
#include "capture/protocols/redis_command.h"
#include "capture/protocols/resp.h"

#define PROBE_ARGUMENTS (1024 * 1024)
#define PROBE_LINE 256u

// highest: the largest byte that is text.
static bool is_text(const guint8 *data, gsize length, guint8 highest)
{
    for (gsize i = 0; i < length; i++)
        if ((data[i] < ' ' && data[i] != '\t') || data[i] > highest)
            return false;
    return true;
}

static BbMatch probe_inline(const guint8 *data, gsize length)
{
    gsize word = 0;
    bool whole;
    while (word < length && (g_ascii_isalpha(data[word]) || data[word] == '_'))
        word++;
    if (!bb_redis_command_begins(data, word, &whole))
        return BB_MATCH_NO;
    if (word == length)
        return BB_MATCH_MORE;
    const guint8 *end = memchr(data, '\n', length);
    gsize line = end ? (gsize)(end - data) : length;
    if (line > word && data[line - 1] == '\r')
        line--;
    if (!whole || (line > word && data[word] != ' ') || !is_text(data, line, 0xff))
        return BB_MATCH_NO;
    return BB_MATCH_MAYBE;
}

// An array of strings that begins with a command is a command; an array of other things, a reply.
static BbMatch probe_array(const guint8 *data, gsize length)
{
    BbResp resp = {0};
    BbRespItem array, first, second;
    bool whole = false;
    gssize head = bb_resp_next(&resp, data, length, 0, &array);
    if (head <= 0 || array.number > PROBE_ARGUMENTS)
        return head == 0 ? BB_MATCH_MORE : BB_MATCH_NO;
    if (resp.done || array.number < 0)
        return BB_MATCH_MAYBE;
    data += head;
    length -= (gsize)head;
    head = bb_resp_next(&resp, data, length, BB_REDIS_WORD, &first);
    if (head <= 0)
        return head == 0 ? BB_MATCH_MORE : BB_MATCH_NO;
    if (first.type == '$') {
        if (first.text && first.number < BB_REDIS_WORD)
            (void)bb_redis_command_begins(first.text, first.length, &whole);
        return whole ? BB_MATCH_REQUEST : BB_MATCH_MAYBE;
    }
    bool more =
        !resp.done && bb_resp_next(&resp, data + head, length - (gsize)head, 0, &second) > 0;
    return more ? BB_MATCH_REPLY : BB_MATCH_MAYBE;
}

// What no other text protocol's server says.
static bool is_redis_text(const guint8 *line, gsize length)
{
    static const char *const own[] = {"+PONG\r",     "-NOAUTH ",   "-WRONGPASS ", "-NOPERM ",
                                      "-WRONGTYPE ", "-MOVED ",    "-ASK ",       "-LOADING ",
                                      "-NOSCRIPT ",  "-BUSYKEY ",  "-READONLY ",  "-CLUSTERDOWN ",
                                      "-CROSSSLOT ", "-TRYAGAIN ", "-MISCONF ",   "-EXECABORT ",
                                      "-DENIED ",    "-NOPROTO ",  "-MASTERDOWN "};
    for (gsize i = 0; i < G_N_ELEMENTS(own); i++)
        if (bb_bytes_begin(line, length, own[i]))
            return true;
    return false;
}

static BbMatch probe_reply(const guint8 *data, gsize length)
{
    static const char hello[] = "$6\r\nserver\r\n", types[] = "+-:$*%~>|_#,(=!";
    BbResp resp = {0};
    BbRespItem item;
    const guint8 *end = memchr(data, '\n', MIN(length, PROBE_LINE));
    gsize line = end ? (gsize)(end - data) : length;
    gsize text = line > 1 && data[line - 1] == '\r' ? line - 1 : line;
    if (!is_text(data, text, '~') || (!end && length >= PROBE_LINE))
        return BB_MATCH_NO;
    gssize head = bb_resp_next(&resp, data, length, 0, &item);
    if (head <= 0)
        return head == 0 ? BB_MATCH_MORE : BB_MATCH_NO;
    if (item.type == ':' && !(item.length && g_ascii_isdigit(item.text[item.length - 1])))
        return BB_MATCH_NO;
    BbCursor rest = bb_cursor(data + line + 1, length - line - 1);
    if (resp.done && !item.number && rest.left && !memchr(types, rest.at[0], strlen(types)))
        return BB_MATCH_NO; // the next reply is none
    const guint8 *first = bb_cursor_take(&rest, strlen(hello));
    if (item.type == '%' && first && memcmp(first, hello, strlen(hello)) == 0)
        return BB_MATCH_REPLY;
    return is_redis_text(data, line) ? BB_MATCH_REPLY : BB_MATCH_MAYBE;
}

BbMatch bb_redis_probe(const guint8 *data, gsize length)
{
    if (length == 0)
        return BB_MATCH_MORE;
    if (g_ascii_isalpha(data[0]))
        return probe_inline(data, length);
    return data[0] == '*' ? probe_array(data, length) : probe_reply(data, length);
}
