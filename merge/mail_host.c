// SPDX-License-Identifier: Apache-2.0
// In: a word of a mail header. Out: a host in one form, and what kind of name it is.
// RFC 5321, 4.1.3 (address literals), RFC 1035 (names), RFC 6890 (addresses of special use).
#include "merge/mail_host.h"

#include <arpa/inet.h>
#include <string.h>

#define LABEL_MAX 63

// Blocks that mean other hosts elsewhere, or the host itself. Addresses as numbers.
static const struct {
    guint32 block, mask;
    BbMailHostKind kind;
} blocks4[] = {
    {0x7f000000, 0xff000000, BB_MAIL_HOST_LOCAL},   // 127/8
    {0x00000000, 0xff000000, BB_MAIL_HOST_NONE},    // 0/8: "this" network
    {0x0a000000, 0xff000000, BB_MAIL_HOST_PRIVATE}, // 10/8
    {0xac100000, 0xfff00000, BB_MAIL_HOST_PRIVATE}, // 172.16/12
    {0xc0a80000, 0xffff0000, BB_MAIL_HOST_PRIVATE}, // 192.168/16
    {0xa9fe0000, 0xffff0000, BB_MAIL_HOST_PRIVATE}, // 169.254/16
    {0x64400000, 0xffc00000, BB_MAIL_HOST_PRIVATE}, // 100.64/10
    {0xe0000000, 0xe0000000, BB_MAIL_HOST_NONE},    // 224/3: no host's own
};

static BbMailHostKind kind4(const guint8 *bytes)
{
    guint32 address = (guint32)bytes[0] << 24 | (guint32)bytes[1] << 16 | (guint32)bytes[2] << 8 |
                      (guint32)bytes[3];
    for (gsize i = 0; i < G_N_ELEMENTS(blocks4); i++)
        if ((address & blocks4[i].mask) == blocks4[i].block)
            return blocks4[i].kind;
    return BB_MAIL_HOST_ADDRESS;
}

static BbMailHostKind kind6(const guint8 *bytes)
{
    static const guint8 zeros[15] = {0};
    bool low = memcmp(bytes, zeros, 15) == 0;
    if (low && bytes[15] <= 1)
        return bytes[15] ? BB_MAIL_HOST_LOCAL : BB_MAIL_HOST_NONE;
    if ((bytes[0] & 0xfe) == 0xfc || (bytes[0] == 0xfe && (bytes[1] & 0xc0) == 0x80))
        return BB_MAIL_HOST_PRIVATE; // fc00::/7, fe80::/10
    return bytes[0] == 0xff ? BB_MAIL_HOST_NONE : BB_MAIL_HOST_ADDRESS;
}

// An IPv4 address in IPv6 dress (::ffff:a.b.c.d)
static bool is_mapped(const guint8 *bytes)
{
    static const guint8 prefix[12] = {[10] = 0xff, [11] = 0xff};
    return memcmp(bytes, prefix, sizeof prefix) == 0;
}

static bool read_address(BbMailHost *host, const char *text)
{
    guint8 bytes[16];
    const guint8 *four = NULL;
    if (inet_pton(AF_INET, text, bytes) == 1)
        four = bytes;
    else if (inet_pton(AF_INET6, text, bytes) != 1)
        return false;
    else if (is_mapped(bytes))
        four = bytes + 12;
    host->kind = four ? kind4(four) : kind6(bytes);
    (void)inet_ntop(four ? AF_INET : AF_INET6, four ? four : bytes, host->text, sizeof host->text);
    if (host->kind == BB_MAIL_HOST_NONE)
        host->text[0] = '\0';
    return true;
}

// Labels of letters, digits, - and _; the last has a letter, else it is a number or a version.
static bool is_name(const char *text)
{
    gsize label = 0;
    bool letter = false;
    for (const char *at = text; *at; at++) {
        if (*at == '.') {
            if (label == 0)
                return false;
            label = 0;
            letter = false;
            continue;
        }
        if ((!g_ascii_isalnum(*at) && *at != '-' && *at != '_') || ++label > LABEL_MAX)
            return false;
        letter = letter || g_ascii_isalpha(*at);
    }
    return letter && label > 0;
}

static BbMailHostKind kind_of_name(const char *text)
{
    if (strcmp(text, "unknown") == 0)
        return BB_MAIL_HOST_NONE;
    if (!is_name(text))
        return BB_MAIL_HOST_ODD;
    if (strcmp(text, "localhost") == 0 || g_str_has_prefix(text, "localhost.") ||
        g_str_has_suffix(text, ".localhost") || g_str_has_suffix(text, ".localdomain"))
        return BB_MAIL_HOST_LOCAL;
    return strchr(text, '.') ? BB_MAIL_HOST_NAME : BB_MAIL_HOST_SHORT;
}

// What is around the host itself: user@, brackets, "IPv6:", a final dot.
static void strip(const char **text, gsize *length)
{
    const char *at = memrchr(*text, '@', *length);
    if (at) {
        *length -= (gsize)(at + 1 - *text);
        *text = at + 1;
    }
    if (*length > 0 && **text == '[') {
        const char *close = memchr(*text, ']', *length);
        *length = close ? (gsize)(close - *text) - 1 : *length - 1;
        ++*text;
    }
    if (*length > 5 && g_ascii_strncasecmp(*text, "IPv6:", 5) == 0) {
        *text += 5;
        *length -= 5;
    }
    while (*length > 0 && strchr(".,", (*text)[*length - 1]))
        --*length;
}

BbMailHost bb_mail_host_read(const char *text, gsize length)
{
    BbMailHost host = {.kind = BB_MAIL_HOST_NONE};
    strip(&text, &length);
    if (length == 0)
        return host;
    if (length >= sizeof host.text || memchr(text, '\0', length)) {
        host.kind = BB_MAIL_HOST_ODD;
        return host;
    }
    char word[BB_MAIL_HOST_MAX];
    for (gsize i = 0; i < length; i++)
        word[i] = g_ascii_tolower(text[i]);
    word[length] = '\0';
    if (read_address(&host, word))
        return host;
    host.kind = kind_of_name(word);
    if (host.kind != BB_MAIL_HOST_NONE && host.kind != BB_MAIL_HOST_ODD)
        memcpy(host.text, word, length + 1);
    return host;
}

bool bb_mail_host_is_address(const BbMailHost *host)
{
    return host->kind == BB_MAIL_HOST_ADDRESS || host->kind == BB_MAIL_HOST_PRIVATE ||
           (host->kind == BB_MAIL_HOST_LOCAL && strpbrk(host->text, ":0123456789") &&
            !g_ascii_isalpha(host->text[0]));
}
