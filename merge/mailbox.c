// SPDX-License-Identifier: Apache-2.0
// In: an mbox, or one message. Out: mail by mail, its Received headers and its Message-ID.
//
// A mail of an mbox begins with a line "From SENDER DATE". Writers quote such lines in bodies in
// several ways or not at all, and Content-Length counts what somebody else once had; neither is
// asked. A line begins a mail if it begins with "From ", has a time of day, and a header follows.
// In a body an empty line must be before it, too.
#include "merge/mailbox.h"

#include "data/input.h"

#include <string.h>

#define BUFFER_BYTES ((gsize)64 * 1024)
#define NAME_MAX_LENGTH 76 // of a header
// One byte too many tells that a header is too long. A line has its name, too.
#define FIELD_MAX_LENGTH ((gsize)BB_MAIL_HEADER_MAX + 1)
#define LINE_MAX_LENGTH (FIELD_MAX_LENGTH + 2 * NAME_MAX_LENGTH)

typedef enum { FIELD_OTHER, FIELD_RECEIVED, FIELD_ID } FieldKind;

struct BbMailbox {
    BbInput *input;
    BbCounters *counters;
    GError *failure; // of reading; the lines before it are good
    guint8 *buffer;
    gsize at, left;
    GString *line, *next; // the line in hand and the one behind it
    bool has_line, has_next;
    bool is_mbox;   // else one message, in which no line begins another
    FieldKind kind; // of the header in hand
    GString *field; // the same unfolded, without its name; empty for FIELD_OTHER
    bool is_mail;   // a header said so
    BbMail mail;
};

// ---- lines ------------------------------------------------------------------------------------

static bool fill(BbMailbox *box)
{
    gssize got =
        box->failure ? 0 : bb_input_read(box->input, box->buffer, BUFFER_BYTES, &box->failure);
    box->at = 0;
    box->left = (gsize)MAX(got, 0);
    return box->left > 0;
}

// Appends what has room in most. NUL becomes white space.
static void append(GString *text, gsize most, const char *bytes, gsize count)
{
    gsize from = text->len;
    g_string_append_len(text, bytes, (gssize)MIN(count, most - from));
    for (gsize i = from; i < text->len; i++)
        if (text->str[i] == '\0')
            text->str[i] = ' ';
}

// Reads a line without its LF or CRLF. Returns false where there is none.
static bool read_line(BbMailbox *box, GString *line)
{
    bool some = false, ended = false;
    g_string_truncate(line, 0);
    while (!ended && (box->left > 0 || fill(box))) {
        const guint8 *from = box->buffer + box->at;
        const guint8 *end = memchr(from, '\n', box->left);
        gsize count = end ? (gsize)(end - from) : box->left;
        some = true;
        ended = end != NULL;
        append(line, LINE_MAX_LENGTH, (const char *)from, count);
        box->at += count + ended;
        box->left -= count + ended;
    }
    if (line->len && line->str[line->len - 1] == '\r')
        g_string_truncate(line, line->len - 1);
    return some;
}

static void advance(BbMailbox *box)
{
    if (!box->has_next) {
        box->has_line = read_line(box, box->line);
        return;
    }
    GString *used = box->line;
    box->line = box->next;
    box->next = used;
    box->has_next = false;
}

static bool look_ahead(BbMailbox *box)
{
    box->has_next = box->has_next || read_line(box, box->next);
    return box->has_next;
}

// ---- what a line is ---------------------------------------------------------------------------

// Length of the name of the header that begins here, 0 if none does (RFC 5322, 2.2; white space
// before the colon: 4.5).
static gsize name_length(const GString *line)
{
    gsize length = 0;
    while (line->str[length] > 32 && line->str[length] < 127 && line->str[length] != ':')
        length++;
    gsize colon = length + strspn(line->str + length, " \t");
    return length <= NAME_MAX_LENGTH && line->str[colon] == ':' ? length : 0;
}

static bool has_time_of_day(const char *text)
{
    for (const char *at = strchr(text, ':'); at; at = strchr(at + 1, ':'))
        if (at > text && g_ascii_isdigit(at[-1]) && g_ascii_isdigit(at[1]) &&
            g_ascii_isdigit(at[2]))
            return true;
    return false;
}

static bool begins_mail(BbMailbox *box)
{
    return g_str_has_prefix(box->line->str, "From ") && has_time_of_day(box->line->str) &&
           look_ahead(box) &&
           (name_length(box->next) || g_str_has_prefix(box->next->str, ">From "));
}

// ---- headers ----------------------------------------------------------------------------------

static void finish_field(BbMailbox *box)
{
    FieldKind kind = box->kind;
    box->kind = FIELD_OTHER;
    g_strstrip(box->field->str);
    if (kind != FIELD_OTHER && box->field->len > BB_MAIL_HEADER_MAX)
        bb_counters_add(box->counters, "mail_headers_cut", 1);
    else if (kind == FIELD_RECEIVED && box->mail.received->len >= BB_MAIL_RECEIVED_MAX)
        bb_counters_add(box->counters, "mail_headers_left_out", 1);
    else if (kind == FIELD_RECEIVED)
        g_ptr_array_add(box->mail.received, g_strdup(box->field->str));
    else if (kind == FIELD_ID && !box->mail.id && box->field->str[0])
        box->mail.id = g_strdup(box->field->str);
    g_string_truncate(box->field, 0);
}

static void begin_field(BbMailbox *box, gsize length)
{
    static const char *const telling[] = {"received", "message-id", "date",        "from",
                                          "to",       "subject",    "return-path", "delivered-to"};
    const char *name = box->line->str;
    const char *body = strchr(name, ':') + 1;
    gsize which = 0;
    while (which < G_N_ELEMENTS(telling) &&
           (strlen(telling[which]) != length || g_ascii_strncasecmp(name, telling[which], length)))
        which++;
    finish_field(box);
    box->is_mail = box->is_mail || which < G_N_ELEMENTS(telling);
    if (which > 1)
        return;
    box->kind = which == 0 ? FIELD_RECEIVED : FIELD_ID;
    append(box->field, FIELD_MAX_LENGTH, body, box->line->len - (gsize)(body - name));
}

static void take_header_line(BbMailbox *box)
{
    const GString *line = box->line;
    gsize length = name_length(line);
    if (line->str[0] == ' ' || line->str[0] == '\t') {
        if (box->kind != FIELD_OTHER)
            append(box->field, FIELD_MAX_LENGTH, line->str,
                   line->len); // its white space is what unfolding leaves
    } else if (length) {
        begin_field(box, length);
    } else if (!g_str_has_prefix(line->str, ">From ")) {
        finish_field(box);
        bb_counters_add(box->counters, "mail_bad_lines", 1);
    }
}

static void read_header(BbMailbox *box)
{
    while (box->has_line && box->line->len && !(box->is_mbox && begins_mail(box))) {
        take_header_line(box);
        advance(box);
    }
    finish_field(box);
}

// Up to the first header of the next mail. The header before may have ended without empty line.
static void pass_body(BbMailbox *box)
{
    bool after_empty = true;
    for (; box->has_line; advance(box)) {
        if (box->is_mbox && after_empty && begins_mail(box)) {
            advance(box);
            return;
        }
        after_empty = box->line->len == 0;
    }
}

// ---- the contract -----------------------------------------------------------------------------

static bool fail_form(const BbMailbox *box, const char *why, GError **error)
{
    g_set_error(error, G_FILE_ERROR, G_FILE_ERROR_INVAL,
                "%s is no mail: %s; give an mbox, a Maildir (the folder that holds cur and new), "
                "or a message with its headers",
                bb_input_name(box->input), why);
    return false;
}

static bool begin_box(BbMailbox *box, GError **error)
{
    advance(box);
    while (box->has_line && box->line->len == 0)
        advance(box);
    box->is_mbox = box->has_line && begins_mail(box);
    if (box->is_mbox)
        advance(box);
    else if (box->has_line && !name_length(box->line))
        return fail_form(box, "it begins with neither a \"From \" line nor a header", error);
    return true;
}

BbMailbox *bb_mailbox_open(const char *path, BbCounters *counters, GError **error)
{
    BbInput *input = bb_input_open_text(path, error);
    if (!input)
        return NULL;
    BbMailbox *box = g_new0(BbMailbox, 1);
    box->input = input;
    box->counters = counters;
    box->buffer = g_malloc(BUFFER_BYTES);
    box->line = g_string_new(NULL);
    box->next = g_string_new(NULL);
    box->field = g_string_new(NULL);
    box->mail.received = g_ptr_array_new_with_free_func(g_free);
    if (!begin_box(box, error))
        g_clear_pointer(&box, bb_mailbox_free);
    return box;
}

void bb_mailbox_free(BbMailbox *box)
{
    if (!box)
        return;
    bb_input_free(box->input);
    g_clear_error(&box->failure);
    g_free(box->buffer);
    g_string_free(box->line, TRUE);
    g_string_free(box->next, TRUE);
    g_string_free(box->field, TRUE);
    g_ptr_array_unref(box->mail.received);
    g_free(box->mail.id);
    g_free(box);
}

const BbMail *bb_mailbox_next(BbMailbox *box, GError **error)
{
    g_ptr_array_set_size(box->mail.received, 0);
    g_clear_pointer(&box->mail.id, g_free);
    if (box->has_line) {
        read_header(box);
        pass_body(box);
        if (!box->is_mbox && !box->is_mail && !box->failure) {
            (void)fail_form(box, "none of its headers is one of a mail", error);
            return NULL;
        }
        bb_counters_add(box->counters, "mails", 1);
        return &box->mail;
    }
    if (box->failure)
        g_propagate_error(error, g_steal_pointer(&box->failure));
    return NULL;
}

const char *bb_mailbox_damage(const BbMailbox *box)
{
    return bb_input_damage(box->input);
}
