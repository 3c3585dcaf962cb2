// SPDX-License-Identifier: Apache-2.0
// In: what the DNS answered, line by line: records (RFC 1035, section 5.1) as dig prints them,
// lines as host prints them. Out: the addresses that have names.
//   www.example.com. 300 IN A 192.0.2.1
//   1.2.0.192.in-addr.arpa. 300 IN PTR www.example.com.
//   www.example.com has address 192.0.2.1
#include "merge/host_form.h"

#define WORDS 8u // of a record; behind the first ones there is only data

static const char blanks[] = " \t\r\v\f";

// ---- names --------------------------------------------------------------------------------------

// The name in full, in lower case, without the dot at its end. Yours.
static char *full_name(const BbHostReading *reading, const char *text)
{
    gsize length = strlen(text);
    const char *origin = reading->origin->str;
    if (strcmp(text, "@") == 0)
        return g_strdup(origin);
    if (length > 0 && text[length - 1] == '.')
        return g_ascii_strdown(text, (gssize)length - 1);
    g_autofree char *name = g_ascii_strdown(text, -1);
    return *origin ? g_strconcat(name, ".", origin, NULL) : g_steal_pointer(&name);
}

// "4.3.2.1.in-addr.arpa" (RFC 1035, section 3.5) as an address.
static bool parse_reverse_v4(char **labels, guint count, char *address)
{
    if (count != 6 || strcmp(labels[4], "in-addr") != 0)
        return false;
    return g_snprintf(address, BB_ADDRESS_TEXT, "%s.%s.%s.%s", labels[3], labels[2], labels[1],
                      labels[0]) < (gint)BB_ADDRESS_TEXT;
}

// The same of 32 nibbles below ip6.arpa (RFC 3596, section 2.5).
static bool parse_reverse_v6(char **labels, guint count, char *address)
{
    char *at = address;
    if (count != 34 || strcmp(labels[32], "ip6") != 0)
        return false;
    for (guint i = 0; i < 32; i++) {
        const char *nibble = labels[31 - i];
        if (!g_ascii_isxdigit(nibble[0]) || nibble[1])
            return false;
        *at++ = nibble[0];
        if (i % 4 == 3 && i < 31)
            *at++ = ':';
    }
    *at = '\0';
    return true;
}

// Whether name is below in-addr.arpa or ip6.arpa, and what address it stands for.
static bool parse_reverse(const char *name, char address[BB_ADDRESS_TEXT])
{
    g_auto(GStrv) labels = g_strsplit(name, ".", -1);
    guint count = g_strv_length(labels);
    return count > 0 && strcmp(labels[count - 1], "arpa") == 0 &&
           (parse_reverse_v4(labels, count, address) || parse_reverse_v6(labels, count, address));
}

static char *take_address(BbHostReading *reading, const char *owner, const char *address)
{
    BbAddress parsed;
    if (!bb_address_parse(address, &parsed))
        return g_strdup_printf("\"%s\" is no IP address", address);
    g_autofree char *name = full_name(reading, owner);
    if (!strchr(name, '*')) // a wildcard is no host's name
        (void)bb_host_reading_name(reading, address, 0, name);
    return NULL;
}

static char *take_pointer(BbHostReading *reading, const char *owner, const char *target)
{
    g_autofree char *reverse = full_name(reading, owner);
    g_autofree char *name = full_name(reading, target);
    char address[BB_ADDRESS_TEXT];
    if (parse_reverse(reverse, address))
        (void)bb_host_reading_name(reading, address, 0, name);
    return NULL;
}

// ---- records ------------------------------------------------------------------------------------

// Cuts a comment off, blanks quoted text, and keeps count of the parentheses.
static void strip(BbHostReading *reading, char *line)
{
    bool quoted = false;
    for (char *at = line; *at; at++) {
        if (*at == '\\' && at[1]) {
            at++;
        } else if (*at == '"') {
            quoted = !quoted;
        } else if (quoted) {
            *at = '-';
        } else if (*at == ';') {
            *at = '\0';
            return;
        } else if (*at == '(') {
            reading->parentheses++;
        } else if (*at == ')') {
            reading->parentheses -= reading->parentheses > 0;
        }
    }
}

static guint split(char *line, char *words[WORDS])
{
    guint count = 0;
    for (char *at = line + strspn(line, blanks); *at && count < WORDS; at += strspn(at, blanks)) {
        words[count++] = at;
        at += strcspn(at, blanks);
        if (*at)
            *at++ = '\0';
    }
    return count;
}

static bool is_class(const char *word)
{
    return g_ascii_strcasecmp(word, "IN") == 0 || g_ascii_strcasecmp(word, "CH") == 0 ||
           g_ascii_strcasecmp(word, "HS") == 0;
}

// 300, or 1h30m as a zone file may have it.
static bool is_lifetime(const char *word)
{
    return g_ascii_isdigit(word[0]) && strspn(word, "0123456789smhdwSMHDW") == strlen(word);
}

static bool is_type(const char *word)
{
    static const char *const types[] = {
        "A",    "AAAA",  "PTR",   "CNAME", "NS",    "SOA",     "MX",     "TXT",
        "SRV",  "CAA",   "HTTPS", "SVCB",  "DS",    "RRSIG",   "NSEC",   "NSEC3",
        "TLSA", "SSHFP", "OPT",   "NAPTR", "DNAME", "DNSKEY",  "SPF",    "HINFO",
        "CDS",  "LOC",   "RP",    "URI",   "ANY",   "CDNSKEY", "TSIG",   "TKEY",
        "APL",  "CERT",  "DHCID", "KX",    "SIG",   "KEY",     "ZONEMD", "NSEC3PARAM"};
    for (gsize i = 0; i < G_N_ELEMENTS(types); i++)
        if (g_ascii_strcasecmp(word, types[i]) == 0)
            return true;
    return g_ascii_strncasecmp(word, "TYPE", 4) == 0 && g_ascii_isdigit(word[4]); // RFC 3597
}

// The place of the type among words, past time to live and class; 0 where there is none.
static guint find_type(char **words, guint count, guint from)
{
    guint at = from;
    while (at < count && at < from + 2 && (is_class(words[at]) || is_lifetime(words[at])))
        at++;
    return at > 0 && at < count && is_type(words[at]) ? at : 0;
}

static char *take_words(BbHostReading *reading, char **words, guint count, bool has_owner)
{
    if (has_owner)
        g_string_assign(reading->owner, words[0]);
    // A record of the owner before may begin with its type.
    guint type = find_type(words, count, has_owner);
    bool bare = !has_owner && is_type(words[0]);
    if (!type && !bare)
        return g_strdup_printf("\"%s\" is followed by no type of record", words[0]);
    const char *data = type + 1 < count ? words[type + 1] : "";
    if (!*reading->owner->str)
        return g_strdup("there is no name in front of the record");
    if (g_ascii_strcasecmp(words[type], "A") == 0 || g_ascii_strcasecmp(words[type], "AAAA") == 0)
        return take_address(reading, reading->owner->str, data);
    if (g_ascii_strcasecmp(words[type], "PTR") == 0)
        return take_pointer(reading, reading->owner->str, data);
    return NULL;
}

// $ORIGIN, $TTL and others (RFC 1035, section 5.1).
static char *take_directive(BbHostReading *reading, char **words, guint count)
{
    reading->useful = true;
    if (g_ascii_strcasecmp(words[0], "$INCLUDE") == 0)
        return g_strdup("other files are not read: give them by themselves");
    if (g_ascii_strcasecmp(words[0], "$ORIGIN") != 0 || count < 2)
        return NULL;
    g_autofree char *origin = full_name(reading, words[1]);
    g_string_assign(reading->origin, origin);
    return NULL;
}

// ---- lines of host ------------------------------------------------------------------------------

typedef enum { SAYS_ADDRESS, SAYS_POINTER, SAYS_OTHER } Says;

// What stands between two things in a line that host prints.
static const struct {
    const char *phrase;
    Says says;
} phrases[] = {
    {" has address ", SAYS_ADDRESS},
    {" has IPv6 address ", SAYS_ADDRESS},
    {" domain name pointer ", SAYS_POINTER},
    {" is an alias for ", SAYS_OTHER},
    {" mail is handled by ", SAYS_OTHER},
    {" has no ", SAYS_OTHER},
    {" not found: ", SAYS_OTHER},
    {" descriptive text ", SAYS_OTHER},
    {" name server ", SAYS_OTHER},
    {" has SOA record ", SAYS_OTHER},
    {" has HTTP service bindings ", SAYS_OTHER},
    {"Using domain server:", SAYS_OTHER},
    {"Name: ", SAYS_OTHER},
    {"Address: ", SAYS_OTHER},
    {"Aliases:", SAYS_OTHER},
};

// The phrase in a line, and its place among phrases; NULL where there is none.
static char *find_phrase(const char *line, gsize *which)
{
    for (gsize i = 0; i < G_N_ELEMENTS(phrases); i++) {
        char *found = strstr(line, phrases[i].phrase);
        if (!found)
            continue;
        bool begins = phrases[i].phrase[0] != ' ', says = phrases[i].says != SAYS_OTHER;
        gsize name = says ? strcspn(line, blanks) : (gsize)(found - line); // is one word
        if ((found == line) == begins && (gsize)(found - line) == name) {
            *which = i;
            return found;
        }
    }
    return NULL;
}

static char *take_phrase(BbHostReading *reading, char *line, char *found, gsize which)
{
    char *behind = g_strstrip(found + strlen(phrases[which].phrase));
    *found = '\0';
    if (phrases[which].says == SAYS_ADDRESS)
        return take_address(reading, line, behind);
    if (phrases[which].says == SAYS_POINTER)
        return take_pointer(reading, line, behind);
    return NULL;
}

// ---- the form -----------------------------------------------------------------------------------

static bool is_record(const char *line)
{
    gsize which = 0;
    if (line[0] == ';' || line[0] == '$' || find_phrase(line, &which))
        return true;
    g_autofree char *copy = g_strdup(line);
    char *words[WORDS], *address = NULL;
    BbAddress parsed;
    guint count = split(copy, words);
    if (count < 3 || !find_type(words, count, 1))
        return false;
    (void)bb_address_split_port(words[0], &address);
    return !bb_address_parse(address, &parsed);
}

static char *take_record(BbHostReading *reading, char *line)
{
    gsize which = 0;
    char *words[WORDS];
    bool goes_on = reading->parentheses > 0;
    char *found = goes_on ? NULL : find_phrase(line, &which);
    if (found)
        return take_phrase(reading, line, found, which);
    strip(reading, line);
    bool has_owner = !strchr(blanks, line[0]); // also of an empty line, which has no words
    guint count = split(line, words);
    if (goes_on || count == 0) {
        reading->useful = true;
        return NULL;
    }
    return words[0][0] == '$' ? take_directive(reading, words, count)
                              : take_words(reading, words, count, has_owner);
}

const BbHostTextForm bb_host_form_records = {
    .wanted = "a line is a record as dig prints it (www.example.com. 300 IN A 192.0.2.1), or one "
              "that host prints (www.example.com has address 192.0.2.1)",
    .is_one = is_record,
    .take = take_record,
};
