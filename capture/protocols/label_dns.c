// SPDX-License-Identifier: Apache-2.0
// In: type and name of a DNS question. Out: a label with few values: names of hosts below a domain
// that are numbered or generated become `*`.
#include "capture/protocols/label.h"

#include <stdbool.h>
#include <string.h>

#define LABELS 128u      // RFC 1035: 255 bytes of name hold 127 labels
#define LONG_LABEL 20u   // longer ones are generated
#define DOMAIN_LABEL 63u // of the registered domain, which is kept as it is

typedef struct Piece {
    const char *text;
    gsize length;
} Piece;

static const Piece any = {"*", 1};

// Splits name at its dots; a backslash guards the byte after it (RFC 1035, 5.1).
static guint split(const char *name, Piece pieces[LABELS])
{
    guint count = 0;
    const char *start = name;
    for (const char *at = name; *name && count < LABELS; at++) {
        if (*at == '.' || *at == '\0') {
            if (at > start)
                pieces[count++] = (Piece){start, (gsize)(at - start)};
            start = at + 1;
        }
        if (*at == '\0')
            break;
        if (*at == '\\' && at[1])
            at++;
    }
    return count;
}

static bool ends_with(const Piece *pieces, guint count, const char *domain)
{
    const Piece *last = &pieces[count - 1];
    gsize length = strlen(domain);
    const char *end = last->text + last->length;
    return (gsize)(end - pieces[0].text) >= length && memcmp(end - length, domain, length) == 0;
}

// Labels at the end that are no hosts: two, or three below domains like co.uk and com.au. There
// is no list of public suffixes here; one that is missed only makes a label more.
static guint domain_labels(const Piece *pieces, guint count)
{
    static const char *const second[] = {"ac",  "co", "com", "edu", "go",
                                         "gov", "ne", "net", "or",  "org"};
    if (count < 3 || pieces[count - 1].length != 2)
        return MIN(count, 2);
    const Piece *piece = &pieces[count - 2];
    for (gsize i = 0; i < G_N_ELEMENTS(second); i++)
        if (strlen(second[i]) == piece->length &&
            memcmp(second[i], piece->text, piece->length) == 0)
            return 3;
    return 2;
}

static bool varies(const Piece *piece)
{
    bool digits = false;
    for (gsize i = 0; i < piece->length; i++)
        digits |= g_ascii_isdigit(piece->text[i]);
    return digits || piece->length > LONG_LABEL;
}

// Replaces what varies, neighbours by one `*`. Returns how many pieces are left.
static guint generalize(Piece *pieces, guint count)
{
    bool reverse =
        count && (ends_with(pieces, count, "in-addr.arpa") || ends_with(pieces, count, "ip6.arpa"));
    guint hosts = count - domain_labels(pieces, count), kept = 0;
    for (guint i = 0; i < count; i++) {
        Piece piece = pieces[i];
        bool star = i < hosts ? reverse || varies(&piece) : piece.length > DOMAIN_LABEL;
        if (star && kept && pieces[kept - 1].text == any.text)
            continue;
        pieces[kept++] = star ? any : piece;
    }
    return kept;
}

// The first piece from which on the rest, with a `*` before it where something is dropped, fits.
static guint first_that_fits(const Piece *pieces, guint count, gsize room)
{
    gsize used = 0;
    guint first = count;
    while (first > 0) {
        gsize more = pieces[first - 1].length + (first < count);
        if (used + more + (first > 1 ? 2 : 0) > room)
            break;
        used += more;
        first--;
    }
    return first;
}

static void append(char *out, gsize *length, const char *text, gsize size)
{
    size = MIN(size, BB_LABEL_MAX - *length);
    memcpy(out + *length, text, size);
    *length += size;
}

gsize bb_label_dns(char *out, const char *type, const char *name)
{
    Piece pieces[LABELS];
    gsize length = 0;
    append(out, &length, type, MIN(strlen(type), 24));
    append(out, &length, " ", 1);
    guint count = generalize(pieces, split(name, pieces));
    guint first = first_that_fits(pieces, count, BB_LABEL_MAX - length);
    if (first > 0 || count == 0)
        append(out, &length, count ? "*" : ".", 1);
    for (guint i = first; i < count; i++) {
        if (i > 0)
            append(out, &length, ".", 1);
        append(out, &length, pieces[i].text, pieces[i].length);
    }
    out[length] = '\0';
    return length;
}
