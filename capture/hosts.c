// SPDX-License-Identifier: Apache-2.0
// In: a line of a file of names (hosts(5) and more). Out: what it names, or why it makes no sense.
#include "capture/hosts.h"

#include <stdlib.h>

static const char blanks[] = " \t\r\v\f";

// Takes the next word off *rest; NULL when there is none.
static char *next_word(char **rest)
{
    char *word = *rest + strspn(*rest, blanks);
    if (*word == '\0')
        return NULL;
    char *end = word + strcspn(word, blanks);
    *rest = *end ? end + 1 : end;
    *end = '\0';
    return word;
}

// A number of up to five digits, at most max; -1 when text is none.
static int parse_number(const char *text, int max)
{
    gsize length = strlen(text);
    if (length == 0 || length > 5 || strspn(text, "0123456789") != length)
        return -1;
    int number = atoi(text);
    return number <= max ? number : -1;
}

void bb_hosts_mask(BbAddress *address, guint prefix)
{
    for (guint i = 0; i < sizeof address->bytes; i++) {
        guint kept = prefix > i * 8 ? MIN(prefix - i * 8, 8) : 0;
        address->bytes[i] &= (guint8)(0xff00u >> kept);
    }
}

// "fe80::1%eth0": the zone (RFC 4007, section 11) means nothing where packets are looked at.
static bool parse_address(char *text, BbAddress *address)
{
    char *zone = strchr(text, '%');
    if (zone && strchr(text, ':'))
        *zone = '\0';
    return bb_address_parse(text, address);
}

static bool parse_prefix(char *text, char *slash, BbHost *host, char **reason)
{
    *slash = '\0';
    if (!parse_address(text, &host->address)) {
        *reason = g_strdup_printf("\"%s\" is no IP address", text);
        return false;
    }
    // What is written as IPv6 counts all 128 bits, an IPv4-mapped address too.
    int base = strchr(text, ':') ? 0 : 96;
    int bits = parse_number(slash + 1, 128 - base);
    if (bits < 0) {
        *reason = g_strdup_printf("\"%s\" is no prefix length from 0 to %d", slash + 1, 128 - base);
        return false;
    }
    host->prefix = (guint8)(base + bits);
    bb_hosts_mask(&host->address, host->prefix);
    return true;
}

// Parts "[v6]:port" and "v4:port"; an address alone (also "[v6]") has no port: NULL.
static char *split_port(char *text, char **address)
{
    *address = text;
    if (text[0] == '[') {
        char *bracket = strchr(text, ']');
        if (!bracket || (bracket[1] != ':' && bracket[1] != '\0'))
            return NULL;
        *address = text + 1;
        *bracket = '\0';
        return bracket[1] == ':' ? bracket + 2 : NULL;
    }
    char *colon = strchr(text, ':');
    if (!colon || strchr(colon + 1, ':'))
        return NULL; // none, or an IPv6 address
    *colon = '\0';
    return colon + 1;
}

static bool parse_endpoint(char *text, BbHost *host, char **reason)
{
    g_autofree char *whole = g_strdup(text);
    char *address = NULL, *port = split_port(text, &address);
    if (!parse_address(address, &host->address)) {
        *reason = g_strdup_printf("\"%s\" is no IP address", whole);
        return false;
    }
    int number = port ? parse_number(port, G_MAXUINT16) : 0;
    if (port && number <= 0) {
        *reason = g_strdup_printf("\"%s\" is no port from 1 to 65535", port);
        return false;
    }
    host->port = (guint16)number;
    return true;
}

BbHostsStatus bb_hosts_parse(char *line, BbHost *host, char **reason)
{
    line[strcspn(line, "#")] = '\0';
    char *rest = line, *where = next_word(&rest);
    if (!where)
        return BB_HOSTS_NOTHING;
    *host = (BbHost){.prefix = 128, .name = next_word(&rest)};
    char *slash = strchr(where, '/');
    if (!(slash ? parse_prefix(where, slash, host, reason) : parse_endpoint(where, host, reason)))
        return BB_HOSTS_BAD;
    if (!host->name) {
        *reason = g_strdup("there is no name after the address");
        return BB_HOSTS_BAD;
    }
    if (strlen(host->name) > BB_HOSTS_NAME_MAX) {
        *reason = g_strdup_printf("the name is longer than %d bytes", BB_HOSTS_NAME_MAX);
        return BB_HOSTS_BAD;
    }
    return BB_HOSTS_ENTRY;
}
