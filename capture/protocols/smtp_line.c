// SPDX-License-Identifier: Apache-2.0
// In: the bytes of a line. Out: which command or which reply it is.
#include "capture/protocols/smtp_line.h"

#include <string.h>

#define CHUNK_MAX (G_GUINT64_CONSTANT(1) << 40)

static const struct {
    const char *name;
    BbSmtpVerb verb;
    const char *then; // what follows it, "": the end of the line
} verbs[] = {
    {"EHLO", BB_SMTP_HELLO, " "},        {"HELO", BB_SMTP_HELLO, " "},
    {"LHLO", BB_SMTP_LMTP_HELLO, " "},   {"MAIL", BB_SMTP_MAIL, " FROM:"},
    {"RCPT", BB_SMTP_RCPT, " TO:"},      {"DATA", BB_SMTP_DATA, ""},
    {"BDAT", BB_SMTP_CHUNK, " "},        {"RSET", BB_SMTP_RESET, ""},
    {"AUTH", BB_SMTP_AUTH, " "},         {"STARTTLS", BB_SMTP_TLS, ""},
    {"NOOP", BB_SMTP_OTHER, ""},         {"QUIT", BB_SMTP_OTHER, ""},
    {"VRFY", BB_SMTP_OTHER, " "},        {"EXPN", BB_SMTP_OTHER, " "},
    {"HELP", BB_SMTP_OTHER, ""},         {"ETRN", BB_SMTP_OTHER, " "},
    {"TURN", BB_SMTP_OTHER, ""},         {"ATRN", BB_SMTP_OTHER, " "},
    {"SEND", BB_SMTP_OTHER, " FROM:"},   {"SOML", BB_SMTP_OTHER, " FROM:"},
    {"SAML", BB_SMTP_OTHER, " FROM:"},   {"BURL", BB_SMTP_OTHER, " "},
    {"XCLIENT", BB_SMTP_OTHER, " "},     {"XFORWARD", BB_SMTP_OTHER, " "},
    {"X-ANONYMOUSTLS", BB_SMTP_TLS, ""}, // this and the next are of Exchange
    {"X-EXPS", BB_SMTP_AUTH, " "},
};

static bool is_blank(guint8 c)
{
    return c == ' ' || c == '\t';
}

// RFC 3030, section 2: "BDAT 1000 LAST".
static void read_chunk(BbSmtpCommand *command, const guint8 *line, gsize length)
{
    gsize at = 4;
    while (at < length && is_blank(line[at]))
        at++;
    for (; at < length && g_ascii_isdigit(line[at]) && command->chunk <= CHUNK_MAX; at++)
        command->chunk = command->chunk * 10 + (line[at] - '0');
    while (at < length && is_blank(line[at]))
        at++;
    command->last =
        length - at >= 4 && g_ascii_strncasecmp((const char *)line + at, "LAST", 4) == 0;
}

// Whether line begins with text, but for the case of its letters; as far as it is there.
static bool begins(const guint8 *line, gsize length, const char *text)
{
    gsize size = MIN(strlen(text), length);
    return g_ascii_strncasecmp((const char *)line, text, size) == 0;
}

// rest: what follows the verb.
static bool is_in_place(const guint8 *rest, gsize length, const char *then)
{
    gsize size = strlen(then);
    if (size)
        return length >= size && begins(rest, length, then);
    for (gsize at = 0; at < length && rest[at] != '\n'; at++)
        if (!is_blank(rest[at]) && rest[at] != '\r')
            return false;
    return true;
}

BbSmtpCommand bb_smtp_command(const guint8 *line, gsize length)
{
    BbSmtpCommand command = {0};
    for (gsize i = 0; i < G_N_ELEMENTS(verbs) && !command.name; i++) {
        gsize size = strlen(verbs[i].name);
        if (length < size || g_ascii_strncasecmp((const char *)line, verbs[i].name, size) != 0)
            continue;
        if (length > size && !is_blank(line[size]) && line[size] != '\r' && line[size] != '\n')
            continue;
        command.verb = verbs[i].verb;
        command.name = verbs[i].name;
        command.sure = is_in_place(line + size, length - size, verbs[i].then);
    }
    if (command.verb == BB_SMTP_CHUNK)
        read_chunk(&command, line, length);
    return command;
}

guint bb_smtp_reply(const guint8 *line, gsize length, bool known, bool *more)
{
    *more = false;
    if (length < BB_SMTP_REPLY_HEAD || line[0] < '2' || line[0] > '5' ||
        !g_ascii_isdigit(line[1]) || (line[1] > '5' && !known) || !g_ascii_isdigit(line[2]))
        return 0;
    if (line[3] != ' ' && line[3] != '-' && line[3] != '\r' && line[3] != '\n')
        return 0;
    *more = line[3] == '-';
    return (line[0] - '0') * 100u + (line[1] - '0') * 10u + (line[2] - '0');
}

// ---- the first bytes --------------------------------------------------------------------------

bool bb_smtp_is_text(const guint8 *data, gsize length)
{
    for (gsize i = 0; i < length; i++)
        if ((data[i] < 0x20 && data[i] != '\t' && data[i] != '\r' && data[i] != '\n') ||
            data[i] == 0x7f)
            return false;
    return true;
}

static bool holds(const guint8 *line, gsize length, const char *word)
{
    gsize size = strlen(word);
    for (gsize at = 0; at + size <= length; at++)
        if (g_ascii_strncasecmp((const char *)line + at, word, size) == 0)
            return true;
    return false;
}

// FTP greets and answers the same way: only the word tells.
static BbMatch match_reply(const guint8 *line, gsize length, bool whole)
{
    bool more;
    if (length < BB_SMTP_REPLY_HEAD)
        return whole ? BB_MATCH_NO : BB_MATCH_MORE;
    guint code = bb_smtp_reply(line, length, false, &more);
    if (!code)
        return BB_MATCH_NO;
    if (code == 220 && (holds(line, length, "SMTP") || holds(line, length, "LMTP")))
        return BB_MATCH_REPLY;
    if (!whole)
        return BB_MATCH_MORE;
    return BB_MATCH_MAYBE;
}

static BbMatch match_command(const guint8 *line, gsize length, bool whole)
{
    static const char *const sure[] = {"EHLO ", "LHLO ", "HELO ", "MAIL FROM:", "RCPT TO:"};
    for (gsize i = 0; i < G_N_ELEMENTS(sure); i++)
        if (begins(line, length, sure[i]) && (!whole || length > strlen(sure[i])))
            return whole ? BB_MATCH_REQUEST : BB_MATCH_MORE;
    if (whole)
        return bb_smtp_command(line, length).name ? BB_MATCH_MAYBE : BB_MATCH_NO;
    for (gsize i = 0; i < G_N_ELEMENTS(verbs); i++)
        if (begins(line, length, verbs[i].name))
            return BB_MATCH_MORE;
    return BB_MATCH_NO;
}

BbMatch bb_smtp_probe(const guint8 *data, gsize length)
{
    if (length == 0)
        return BB_MATCH_MORE;
    const guint8 *newline = memchr(data, '\n', MIN(length, BB_SMTP_LINE_MAX));
    gsize size = newline ? (gsize)(newline - data) : length;
    if ((!newline && length >= BB_SMTP_LINE_MAX) || !bb_smtp_is_text(data, size))
        return BB_MATCH_NO;
    return g_ascii_isdigit(data[0]) ? match_reply(data, size, newline)
                                    : match_command(data, size, newline);
}
