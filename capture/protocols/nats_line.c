// SPDX-License-Identifier: Apache-2.0
// In: bytes of a NATS connection. Out: one control line, taken apart.
#include "capture/protocols/nats_line.h"

#include <string.h>

#define LINE_MAX_SHORT 4096u        // the server's limit by default
#define LINE_MAX_JSON (32u * 1024u) // INFO of a large cluster, CONNECT with a token
#define PAYLOAD_MAX (64u << 20)     // the largest that can be configured
#define WORDS 64u                   // a routed message names the queue groups that get it

typedef struct Verb {
    const char *word;
    BbNatsVerb verb;
    bool from_client, from_server;
    bool rest;         // what follows is not words
    guint least, most; // words that follow
} Verb;

static const Verb verbs[] = {
    {"INFO", BB_NATS_INFO, true, true, true, 0, 0},
    {"CONNECT", BB_NATS_CONNECT, true, true, true, 0, 0},
    {"PUB", BB_NATS_PUB, true, false, false, 2, 3},
    {"HPUB", BB_NATS_HPUB, true, false, false, 3, 4},
    {"SUB", BB_NATS_SUB, true, false, false, 2, 3},
    {"UNSUB", BB_NATS_UNSUB, true, false, false, 1, 2},
    {"MSG", BB_NATS_MSG, false, true, false, 3, 4},
    {"HMSG", BB_NATS_HMSG, false, true, false, 3, WORDS}, // or ROUTED
    {"PING", BB_NATS_PING, true, true, false, 0, 0},
    {"PONG", BB_NATS_PONG, true, true, false, 0, 0},
    {"+OK", BB_NATS_OK, false, true, false, 0, 0},
    {"-ERR", BB_NATS_ERROR, true, true, true, 0, 0},
    // Routes and gateways (R, A: of a whole account), leaf nodes (L).
    {"RS+", BB_NATS_INTEREST, true, true, false, 1, 5},
    {"RS-", BB_NATS_INTEREST, true, true, false, 1, 4},
    {"LS+", BB_NATS_INTEREST, true, true, false, 1, 5},
    {"LS-", BB_NATS_INTEREST, true, true, false, 1, 4},
    {"A+", BB_NATS_INTEREST, true, true, false, 1, 1},
    {"A-", BB_NATS_INTEREST, true, true, false, 1, 1},
    {"RMSG", BB_NATS_ROUTED, true, true, false, 2, WORDS},
    {"LMSG", BB_NATS_ROUTED, true, true, false, 2, WORDS},
};

static bool is_blank(guint8 c)
{
    return c == ' ' || c == '\t';
}

static bool is_line_end(guint8 c)
{
    return c == '\r' || c == '\n';
}

// The verb that data begins with; more: it may be the beginning of one.
static const Verb *find_verb(const guint8 *data, gsize length, bool *more)
{
    *more = false;
    for (gsize i = 0; i < G_N_ELEMENTS(verbs); i++) {
        gsize word = strlen(verbs[i].word);
        if (g_ascii_strncasecmp((const char *)data, verbs[i].word, MIN(word, length)) != 0)
            continue;
        if (length <= word)
            *more = true;
        else if (is_blank(data[word]) || is_line_end(data[word]))
            return &verbs[i];
    }
    return NULL;
}

typedef struct Word {
    const guint8 *at;
    gsize length;
} Word;

// Cuts [at, end) at blanks. Returns how many words there are, WORDS + 1 when too many.
static guint cut_words(const guint8 *at, const guint8 *end, Word words[WORDS])
{
    guint count = 0;
    while (at < end) {
        const guint8 *from = at;
        while (at < end && !is_blank(*at))
            at++;
        if (at > from && count == WORDS)
            return WORDS + 1;
        if (at > from)
            words[count++] = (Word){from, (gsize)(at - from)};
        while (at < end && is_blank(*at))
            at++;
    }
    return count;
}

static bool read_size(const Word *word, gsize *size)
{
    *size = 0;
    for (gsize i = 0; i < word->length; i++) {
        if (!g_ascii_isdigit(word->at[i]) || *size > PAYLOAD_MAX)
            return false;
        *size = *size * 10 + (gsize)(word->at[i] - '0');
    }
    return *size <= PAYLOAD_MAX;
}

static bool is_number(const Word *word)
{
    for (gsize i = 0; i < word->length; i++)
        if (!g_ascii_isdigit(word->at[i]))
            return false;
    return true;
}

// Of a client, who knows its subscriptions by number.
static bool is_client_message(const BbNatsLine *line, const Word *words, guint count)
{
    return line->verb == BB_NATS_MSG ||
           (line->verb == BB_NATS_HMSG && count >= 4 && count <= 5 && is_number(&words[1]));
}

// A reply and queue groups follow, or queue groups.
static bool is_mark(const Word *word)
{
    return word->length == 1 && (*word->at == '+' || *word->at == '|');
}

// Between servers the account precedes the subject, and the cluster of origin that; leaf nodes, and
// routes of one account, name none. Which it is was settled when they met: names of accounts have
// no dots as a rule.
static const Word *routed_subject(const BbNatsLine *line, const Word *words, guint names)
{
    bool leaf = g_str_equal(line->word, "LMSG");
    if (names < 2 || is_mark(&words[1]))
        return &words[0];
    if (leaf)
        return names >= 3 ? &words[2] : &words[0];
    return memchr(words[0].at, '.', words[0].length) ? &words[0] : &words[1];
}

// PUB subject [reply] size, MSG subject sid [reply] size; with headers, their size goes before.
static bool read_message(BbNatsLine *line, const Word *words, guint count)
{
    bool headers = line->verb == BB_NATS_HPUB || line->verb == BB_NATS_HMSG;
    bool publish = line->verb == BB_NATS_PUB || line->verb == BB_NATS_HPUB;
    guint sizes = headers ? 2 : 1, before = count - sizes;
    const Word *subject = &words[0];
    if (!publish && !is_client_message(line, words, count)) {
        line->verb = BB_NATS_ROUTED;
        subject = routed_subject(line, words, before);
    } else if (before > (publish ? 1u : 2u)) {
        line->reply = words[before - 1].at;
        line->reply_length = words[before - 1].length;
    }
    line->subject = subject->at;
    line->subject_length = subject->length;
    line->has_payload = true;
    if (headers && !read_size(&words[before], &line->head))
        return false;
    return read_size(&words[count - 1], &line->payload) && line->head <= line->payload;
}

static bool is_message(BbNatsVerb verb)
{
    return verb == BB_NATS_PUB || verb == BB_NATS_HPUB || verb == BB_NATS_MSG ||
           verb == BB_NATS_HMSG || verb == BB_NATS_ROUTED;
}

static bool read_words(BbNatsLine *line, const Verb *verb, const guint8 *at, const guint8 *end)
{
    Word words[WORDS];
    guint count = cut_words(at, end, words);
    if (verb->rest)
        return true;
    if (count < verb->least || count > verb->most)
        return false;
    if (count == 0)
        return true;
    line->subject = words[0].at;
    line->subject_length = words[0].length;
    return !is_message(verb->verb) || read_message(line, words, count);
}

BbFrameVerdict bb_nats_line(const guint8 *data, gsize length, BbNatsLine *line)
{
    bool more;
    const Verb *verb = find_verb(data, length, &more);
    if (!verb)
        return more ? BB_FRAME_MORE : BB_FRAME_BAD;
    gsize limit = verb->rest ? LINE_MAX_JSON : LINE_MAX_SHORT;
    const guint8 *newline = memchr(data, '\n', MIN(length, limit));
    if (!newline)
        return length < limit ? BB_FRAME_MORE : BB_FRAME_BAD;
    const guint8 *end = newline > data && newline[-1] == '\r' ? newline - 1 : newline;
    *line =
        (BbNatsLine){.verb = verb->verb, .word = verb->word, .length = (gsize)(newline - data) + 1};
    return read_words(line, verb, data + strlen(verb->word), end) ? BB_FRAME_OK : BB_FRAME_BAD;
}

bool bb_nats_may_say(BbDirection direction, BbNatsVerb verb)
{
    for (gsize i = 0; i < G_N_ELEMENTS(verbs); i++)
        if (verbs[i].verb == verb)
            return direction == BB_TO_SERVER ? verbs[i].from_client : verbs[i].from_server;
    return false;
}

gsize bb_nats_status(const guint8 *headers, gsize length, const guint8 **digits)
{
    static const char version[] = "NATS/1.0 ";
    gsize count = 0, before = sizeof version - 1;
    if (length < before || memcmp(headers, version, before) != 0)
        return 0;
    while (count < 3 && before + count < length && g_ascii_isdigit(headers[before + count]))
        count++;
    *digits = headers + before;
    return count;
}

// ---- the probe ----------------------------------------------------------------------------------

// Both are JSON objects; the server's has an id.
static BbMatch probe_object(const BbNatsLine *line, const guint8 *data)
{
    gsize verb = line->verb == BB_NATS_INFO ? 4 : 7;
    const guint8 *at = data + verb, *end = data + line->length;
    while (at < end && is_blank(*at))
        at++;
    if (at == end || *at != '{')
        return BB_MATCH_NO;
    if (line->verb == BB_NATS_CONNECT)
        return end - at > 1 && at[1] == '"' ? BB_MATCH_REQUEST : BB_MATCH_MAYBE;
    return memmem(at, (gsize)(end - at), "\"server_id\"", 11) ? BB_MATCH_REPLY : BB_MATCH_MAYBE;
}

// A message whose end is seen where it must be is certain.
static BbMatch probe_message(const BbNatsLine *line, const guint8 *data, gsize length)
{
    if (length - line->length < line->payload + 2)
        return BB_MATCH_LIKELY;
    if (memcmp(data + line->length + line->payload, "\r\n", 2) != 0)
        return BB_MATCH_NO;
    if (line->verb == BB_NATS_ROUTED) // either side may have said it
        return BB_MATCH_LIKELY;
    bool from_client = line->verb == BB_NATS_PUB || line->verb == BB_NATS_HPUB;
    return from_client ? BB_MATCH_REQUEST : BB_MATCH_REPLY;
}

BbMatch bb_nats_probe(const guint8 *data, gsize length)
{
    BbNatsLine line;
    if (!length)
        return BB_MATCH_MORE;
    BbFrameVerdict verdict = bb_nats_line(data, length, &line);
    if (verdict != BB_FRAME_OK)
        return verdict == BB_FRAME_MORE ? BB_MATCH_MORE : BB_MATCH_NO;
    if (line.verb == BB_NATS_INFO || line.verb == BB_NATS_CONNECT)
        return probe_object(&line, data);
    return line.has_payload ? probe_message(&line, data, length) : BB_MATCH_MAYBE;
}
