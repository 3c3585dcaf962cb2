// SPDX-License-Identifier: Apache-2.0
// In: bytes of a STOMP connection. Out: one head.
#include "capture/protocols/stomp_head.h"

#include <string.h>

#define HEAD_MAX 8192u
#define BODY_MAX (512u << 20)

typedef struct Command {
    const char *word;
    BbStompKind kind;
    BbDirection direction;
} Command;

static const Command commands[] = {
    {"CONNECT", BB_STOMP_CONNECT, BB_TO_SERVER},   {"STOMP", BB_STOMP_CONNECT, BB_TO_SERVER},
    {"SEND", BB_STOMP_OTHER, BB_TO_SERVER},        {"SUBSCRIBE", BB_STOMP_OTHER, BB_TO_SERVER},
    {"UNSUBSCRIBE", BB_STOMP_OTHER, BB_TO_SERVER}, {"ACK", BB_STOMP_OTHER, BB_TO_SERVER},
    {"NACK", BB_STOMP_OTHER, BB_TO_SERVER},        {"BEGIN", BB_STOMP_OTHER, BB_TO_SERVER},
    {"COMMIT", BB_STOMP_OTHER, BB_TO_SERVER},      {"ABORT", BB_STOMP_OTHER, BB_TO_SERVER},
    {"DISCONNECT", BB_STOMP_OTHER, BB_TO_SERVER},  {"CONNECTED", BB_STOMP_CONNECTED, BB_TO_CLIENT},
    {"MESSAGE", BB_STOMP_OTHER, BB_TO_CLIENT},     {"RECEIPT", BB_STOMP_RECEIPT, BB_TO_CLIENT},
    {"ERROR", BB_STOMP_ERROR, BB_TO_CLIENT},
};

static bool is_line_end(guint8 c)
{
    return c == '\r' || c == '\n';
}

// The command that data begins with; more: it may be the beginning of one.
static const Command *find_command(const guint8 *data, gsize length, bool *more)
{
    *more = false;
    for (gsize i = 0; i < G_N_ELEMENTS(commands); i++) {
        gsize word = strlen(commands[i].word);
        if (memcmp(data, commands[i].word, MIN(word, length)) != 0)
            continue;
        if (length <= word)
            *more = true;
        else if (is_line_end(data[word]))
            return &commands[i];
    }
    return NULL;
}

// Takes a line off *at, without its end. False: it is not all there.
static bool take_line(const guint8 **at, const guint8 *end, BbStompText *line)
{
    const guint8 *newline = *at < end ? memchr(*at, '\n', (gsize)(end - *at)) : NULL;
    if (!newline)
        return false;
    line->at = *at;
    line->length = (gsize)(newline - *at);
    if (line->length && line->at[line->length - 1] == '\r')
        line->length--;
    *at = newline + 1;
    return true;
}

static bool read_number(const BbStompText *text, gsize *number)
{
    *number = 0;
    for (gsize i = 0; i < text->length; i++) {
        if (!g_ascii_isdigit(text->at[i]) || *number > BODY_MAX)
            return false;
        *number = *number * 10 + (gsize)(text->at[i] - '0');
    }
    return text->length > 0 && *number <= BODY_MAX;
}

// Section "Repeated Header Entries" of 1.1 and 1.2: the first one counts.
static void set_first(BbStompText *header, const BbStompText *value)
{
    if (!header->at)
        *header = *value;
}

// Where the name of a header ends, which may have any bytes but those of line ends (section
// "Augmented BNF" of 1.2); length if the line is none.
static gsize name_end(const BbStompText *line)
{
    const guint8 *colon = line->length ? memchr(line->at, ':', line->length) : NULL;
    gsize name = colon ? (gsize)(colon - line->at) : 0;
    return name > 0 && !memchr(line->at, '\r', name) ? name : line->length;
}

// Whether its name is as people write them, which is how a frame is told from other text.
static bool is_usual_header(const BbStompText *line)
{
    gsize name = name_end(line);
    for (gsize i = 0; i < name; i++)
        if (line->at[i] <= ' ' || line->at[i] >= 0x7f)
            return false;
    return name < line->length;
}

static bool read_header(const BbStompText *line, BbStompHead *head)
{
    gsize name = name_end(line);
    if (name == line->length)
        return false;
    BbStompText value = {line->at + name + 1, line->length - name - 1};
    while (value.length && value.at[0] == ' ') { // 1.0 was written so
        value.at++;
        value.length--;
    }
    if (name == 11 && memcmp(line->at, "destination", name) == 0)
        set_first(&head->destination, &value);
    else if (name == 7 && memcmp(line->at, "receipt", name) == 0)
        set_first(&head->receipt, &value);
    else if (name == 10 && memcmp(line->at, "receipt-id", name) == 0)
        set_first(&head->receipt_id, &value);
    else if (name == 14 && memcmp(line->at, "content-length", name) == 0 && !head->sized)
        return head->sized = read_number(&value, &head->body);
    return true;
}

BbFrameVerdict bb_stomp_head(const guint8 *data, gsize length, BbDirection direction,
                             BbStompHead *head)
{
    bool more;
    const Command *command = find_command(data, length, &more);
    const guint8 *at = data, *end = data + MIN(length, HEAD_MAX);
    BbStompText line;
    if (!command)
        return more ? BB_FRAME_MORE : BB_FRAME_BAD;
    if (command->direction != direction)
        return BB_FRAME_BAD;
    *head = (BbStompHead){.kind = command->kind, .command = command->word};
    for (bool first = true; take_line(&at, end, &line); first = false) {
        if (!first && line.length == 0) {
            head->length = (gsize)(at - data);
            return BB_FRAME_OK;
        }
        if (first ? line.length != strlen(command->word) : !read_header(&line, head))
            return BB_FRAME_BAD;
    }
    return length < HEAD_MAX ? BB_FRAME_MORE : BB_FRAME_BAD;
}

// A command alone on its line, and a line that is a header. Frames without any are not looked for.
BbMatch bb_stomp_probe(const guint8 *data, gsize length)
{
    bool more;
    const Command *command = find_command(data, length, &more);
    const guint8 *at = data, *end = data + length;
    BbStompText line;
    BbStompHead head = {0};
    if (!command)
        return more ? BB_MATCH_MORE : BB_MATCH_NO;
    if (!take_line(&at, end, &line))
        return length < HEAD_MAX ? BB_MATCH_MORE : BB_MATCH_NO;
    if (line.length != strlen(command->word))
        return BB_MATCH_NO;
    if (!take_line(&at, end, &line))
        return length < HEAD_MAX ? BB_MATCH_MORE : BB_MATCH_NO;
    if (!is_usual_header(&line) || !read_header(&line, &head))
        return line.length == 0 && at < end && *at == '\0' ? BB_MATCH_MAYBE : BB_MATCH_NO;
    return command->direction == BB_TO_SERVER ? BB_MATCH_REQUEST : BB_MATCH_REPLY;
}
