// SPDX-License-Identifier: Apache-2.0
// In: the first bytes of a gateway's reply. Out: its status.
#include "capture/protocols/cgi_head.h"

#define HEAD_MAX (64u * 1024u) // bytes after which it is no header section

static bool is_field_name(const guint8 *name, gsize length)
{
    for (gsize i = 0; i < length; i++)
        if (!g_ascii_isalnum(name[i]) && name[i] != '-' && name[i] != '_')
            return false;
    return length > 0;
}

// Three digits after blanks; 0 if there are none.
static guint16 read_code(const guint8 *text, gsize length)
{
    while (length && *text == ' ') {
        text++;
        length--;
    }
    if (length < 3 || text[0] < '1' || text[0] > '9' || !g_ascii_isdigit(text[1]) ||
        !g_ascii_isdigit(text[2]) || (length > 3 && g_ascii_isalnum(text[3])))
        return 0;
    return (guint16)((text[0] - '0') * 100 + (text[1] - '0') * 10 + (text[2] - '0'));
}

static bool is_status_line(const guint8 *line, gsize length)
{
    return length >= 12 && memcmp(line, "HTTP/1.", 7) == 0 && g_ascii_isdigit(line[7]) &&
           line[8] == ' ';
}

static bool is_named(const guint8 *name, gsize length, const char *field)
{
    return length == strlen(field) && g_ascii_strncasecmp((const char *)name, field, length) == 0;
}

static void end_line(BbCgiHead *head)
{
    const guint8 *line = head->line;
    gsize length = head->used;
    bool first = !head->in_fields;
    head->in_fields = true;
    head->used = 0;
    while (length && line[length - 1] == '\r')
        length--;
    head->done = length == 0 && !first;
    if (head->done)
        return;
    if (first && is_status_line(line, length)) {
        head->code = read_code(line + 9, length - 9);
        return;
    }
    const guint8 *colon = length ? memchr(line, ':', length) : NULL;
    gsize name = colon ? (gsize)(colon - line) : 0;
    bool cut = !colon && length == BB_CGI_LINE && is_field_name(line, length);
    if (first && !cut && !is_field_name(line, name))
        head->raw = head->done = true;
    if (!colon || head->code)
        return;
    const guint8 *value = colon + 1;
    gsize rest = length - name - 1;
    if (is_named(line, name, "Status"))
        head->code = read_code(value, rest);
    // Section 6.2.2: a path is looked up by the server itself.
    if (is_named(line, name, "Location"))
        head->redirect = memchr(value, ':', rest) != NULL;
}

void bb_cgi_head_feed(BbCgiHead *head, const guint8 *data, gsize length)
{
    for (gsize i = 0; i < length && !head->done; i++) {
        if (head->seen++ == HEAD_MAX) {
            head->raw = head->done = true;
        } else if (data[i] == '\n') {
            end_line(head);
        } else if (head->used < BB_CGI_LINE) {
            head->line[head->used++] = data[i];
        }
    }
}

void bb_cgi_head_lose(BbCgiHead *head)
{
    head->damaged |= !head->done;
    head->done = true;
}

void bb_cgi_head_end(BbCgiHead *head)
{
    if (head->done || !head->seen)
        return;
    head->raw = head->done = true;
}

guint32 bb_cgi_head_status(const BbCgiHead *head, BbDialog *dialog)
{
    guint code = head->code;
    bool whole = head->done && !head->damaged;
    if (code == 0 && whole && !head->raw)
        code = head->redirect ? 302 : 200;
    if (code == 0)
        return whole ? bb_dialog_status(dialog, "ok", 2) : BB_NAME_NONE;
    return bb_dialog_status_code(dialog, code);
}

bool bb_cgi_head_begins(const guint8 *data, gsize length)
{
    static const char *const fields[] = {
        "Status:",   "Content-",       "X-Powered-By:", "Set-Cookie:",
        "Location:", "Cache-Control:", "Expires:",      "Pragma:"};
    if (is_status_line(data, length))
        return true;
    for (gsize i = 0; i < G_N_ELEMENTS(fields); i++) {
        gsize name = strlen(fields[i]);
        if (length >= name && g_ascii_strncasecmp((const char *)data, fields[i], name) == 0)
            return true;
    }
    return false;
}
