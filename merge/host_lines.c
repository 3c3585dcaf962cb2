// SPDX-License-Identifier: Apache-2.0
// In: lines of hosts(5), also with prefixes and ports. Out: what each names, or why it makes no
// sense.
//   10.0.0.2 db1 db1.local      # aliases are ignored
//   10.0.0.2:5432 orders-db
//   [2001:db8::2]:5432 orders-db
//   10.1.0.0/16 office
#include "merge/host_form.h"

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

// "fe80::1%eth0": the zone (RFC 4007, section 11) means nothing where packets are looked at.
static bool parse_address(char *text, BbAddress *address)
{
    char *zone = strchr(text, '%');
    if (zone && strchr(text, ':'))
        *zone = '\0';
    return bb_address_parse(text, address);
}

static char *parse_prefix(char *text, char *slash, BbHost *host)
{
    *slash = '\0';
    if (!parse_address(text, &host->address))
        return g_strdup_printf("\"%s\" is no IP address", text);
    // What is written as IPv6 counts all 128 bits, an IPv4-mapped address too.
    int base = strchr(text, ':') ? 0 : 96;
    int bits = parse_number(slash + 1, 128 - base);
    if (bits < 0)
        return g_strdup_printf("\"%s\" is no prefix length from 0 to %d", slash + 1, 128 - base);
    host->prefix = (guint8)(base + bits);
    bb_address_mask(&host->address, host->prefix);
    return NULL;
}

static char *parse_endpoint(char *text, BbHost *host)
{
    g_autofree char *whole = g_strdup(text);
    char *address = NULL, *port = bb_address_split_port(text, &address);
    if (!parse_address(address, &host->address))
        return g_strdup_printf("\"%s\" is no IP address", whole);
    int number = port ? parse_number(port, G_MAXUINT16) : 0;
    if (port && number <= 0)
        return g_strdup_printf("\"%s\" is no port from 1 to 65535", port);
    host->port = (guint16)number;
    return NULL;
}

static bool is_line(const char *line)
{
    return true;
}

static char *take_line(BbHostReading *reading, char *line)
{
    line[strcspn(line, "#")] = '\0';
    char *rest = line, *where = next_word(&rest);
    reading->useful = true;
    if (!where)
        return NULL;
    BbHost host = {.prefix = 128, .name = next_word(&rest)};
    char *slash = strchr(where, '/');
    char *reason = slash ? parse_prefix(where, slash, &host) : parse_endpoint(where, &host);
    if (reason)
        return reason;
    if (!host.name)
        return g_strdup("there is no name after the address");
    if (strlen(host.name) > BB_HOST_NAME_MAX)
        return g_strdup_printf("the name is longer than %u bytes", BB_HOST_NAME_MAX);
    bb_host_reading_give(reading, &host);
    return NULL;
}

const BbHostTextForm bb_host_form_lines = {
    .wanted = "a line is an address (10.0.0.2, 10.0.0.2:5432, [2001:db8::2]:80 or 10.1.0.0/16), "
              "then a name",
    .is_one = is_line,
    .take = take_line,
};
