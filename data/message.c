// SPDX-License-Identifier: Apache-2.0
// In: texts of identifiers. Out: identifiers of 16 bytes that give the very same text back. What a
// message is.
#include "data/message.h"

#include "data/status.h"

#include <string.h>

#define HEX16_LENGTH 16

bool bb_message_ends_call(const BbMessage *message, const BbNames *names)
{
    return message->kind == BB_FREE && bb_id_is_known(message->id) &&
           bb_status_is_closed(bb_names_text(names, message->status));
}

BbId bb_id_number(guint64 number)
{
    g_return_val_if_fail(number != BB_ID_BARE, (BbId){0});
    return (BbId){.number = number, .form = BB_ID_STEM};
}

// Sixteen lower-case hex digits, unless they are the plain text of a decimal number: each text has
// one id only.
static bool is_hex16(const char *text, gsize length)
{
    if (length != HEX16_LENGTH)
        return false;
    bool decimal = text[0] != '0';
    for (gsize i = 0; i < length; i++) {
        if (!g_ascii_isdigit(text[i])) {
            decimal = false;
            if (text[i] < 'a' || text[i] > 'f')
                return false;
        }
    }
    return !decimal;
}

// Returns the length of the stem: what stands before the longest run of final digits that is a
// number below BB_ID_BARE without leading zeros. *number is BB_ID_BARE where there is no such run.
static gsize split_number(const char *text, gsize length, guint64 *number)
{
    gsize stem = length;
    guint64 value = 0, power = 1; // power is 0 once it does not fit any more
    *number = BB_ID_BARE;
    for (gsize i = length; i-- > 0 && g_ascii_isdigit(text[i]);) {
        guint64 digit = (guint64)(text[i] - '0');
        guint64 part = 0, sum = 0;
        if (digit > 0) {
            if (power == 0 || __builtin_mul_overflow(digit, power, &part) ||
                __builtin_add_overflow(value, part, &sum) || sum == BB_ID_BARE)
                break;
            *number = value = sum;
            stem = i;
        } else if (i == length - 1) {
            *number = 0;
            stem = i;
        }
        power = power > G_MAXUINT64 / 10 ? 0 : power * 10;
    }
    return stem;
}

BbId bb_id_parse(BbNames *names, const char *text)
{
    gsize length = strlen(text);
    if (length == 0)
        return (BbId){.form = BB_ID_ABSENT};
    if (length == 1 && text[0] == '-')
        return (BbId){.form = BB_ID_DASH};
    if (is_hex16(text, length))
        return (BbId){.number = g_ascii_strtoull(text, NULL, 16), .form = BB_ID_HEX16};
    BbId id = {0};
    gsize stem = split_number(text, length, &id.number);
    id.form = BB_ID_STEM + (stem ? bb_names_intern_len(names, text, stem) : BB_NAME_NONE);
    return id;
}

static void append_decimal(GString *out, guint64 number)
{
    char digits[20];
    gsize at = sizeof digits;
    do {
        digits[--at] = (char)('0' + number % 10);
        number /= 10;
    } while (number > 0);
    g_string_append_len(out, digits + at, (gssize)(sizeof digits - at));
}

void bb_id_append(GString *out, const BbNames *names, BbId id)
{
    if (id.form == BB_ID_STEM && id.number == BB_ID_BARE)
        id.form = BB_ID_ABSENT; // the empty text, as only a damaged trace has it
    switch (id.form) {
    case BB_ID_ABSENT:
    case BB_ID_DASH:
        g_string_append_c(out, '-');
        return;
    case BB_ID_HEX16:
        g_string_append_printf(out, "%016" G_GINT64_MODIFIER "x", id.number);
        return;
    default:
        if (id.form != BB_ID_STEM)
            g_string_append(out, bb_names_text(names, id.form - BB_ID_STEM));
        if (id.number != BB_ID_BARE)
            append_decimal(out, id.number);
    }
}
