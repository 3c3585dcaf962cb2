// SPDX-License-Identifier: Apache-2.0
// In: a protocol's name and the status of a return. Out: whether it failed.
#include "data/status.h"

#include <glib.h>
#include <string.h>

// Least number that is a failure, where it is not HTTP's 400.
static const struct {
    const char *proto;
    guint64 least;
} number_rules[] = {
    {"grpc", 1},      {"ldap", 1},        {"kafka", 1},   {"mysql", 1},     {"mongodb", 1},
    {"snmp", 1},      {"oncrpc", 1},      {"smb2", 1},    {"dcerpc", 1},    {"afsrx", 1},
    {"dns", 1},       {"thrift", 1},      {"dubbo", 21},  {"zookeeper", 1}, {"cassandra", 1},
    {"fastcgi", 400}, {"diameter", 3000}, {"jsonrpc", 1}, {"mqtt", 1},      {"amqp", 300},
};

// RFC 1035, 2136, 2845, 6891, 7873: codes other than NOERROR, as dig writes them.
static const char *const dns_failures[] = {
    "FORMERR", "SERVFAIL", "NXDOMAIN", "NOTIMP",   "REFUSED",   "YXDOMAIN",  "YXRRSET",
    "NXRRSET", "NOTAUTH",  "NOTZONE",  "BADVERS",  "BADSIG",    "BADKEY",    "BADTIME",
    "BADMODE", "BADNAME",  "BADALG",   "BADTRUNC", "BADCOOKIE", "DSOTYPENI",
};

// Words that mean a failure whatever comes after them.
static const char *const failure_words[] = {"error",     "client_error",   "server_error",  "fault",
                                            "exception", BB_STATUS_UNREAD, BB_STATUS_CLOSED};

// Protocols whose statuses are words: what is none of these is a failure. Of the security models of
// SNMP two reports are how a dialog begins (RFC 3414, 4).
static const struct {
    const char *proto;
    const char *const successes[7];
} word_rules[] = {
    {"ldap", {"success", "compareFalse", "compareTrue", "referral", "saslBindInProgress"}},
    {"smb2",
     {"PENDING", "NOTIFY_CLEANUP", "NOTIFY_ENUM_DIR", "BUFFER_OVERFLOW", "NO_MORE_FILES",
      "MORE_PROCESSING_REQUIRED"}},
    {"radius",
     {"Access-Accept", "Access-Challenge", "Accounting-Response", "CoA-ACK", "Disconnect-ACK"}},
    {"snmp", {"notInTimeWindows", "unknownEngineIDs"}},
    {"oncrpc", {"LCK_BLOCKED"}},
    {"giop",
     {"LOCATION_FORWARD", "LOCATION_FORWARD_PERM", "NEEDS_ADDRESSING_MODE", "OBJECT_FORWARD",
      "OBJECT_FORWARD_PERM", "LOC_NEEDS_ADDRESSING_MODE"}},
    {"dcerpc", {NULL}},
    {"fastcgi", {NULL}},
    {"cassandra", {NULL}},
    {"mongodb", {NULL}},
    {"grpc", {NULL}},
    {"http2", {NULL}},
    {"ntp", {NULL}},
};

static bool is_word(const char *status, const char *word)
{
    gsize length = strlen(word);
    return g_ascii_strncasecmp(status, word, length) == 0 && !g_ascii_isalnum(status[length]) &&
           status[length] != '_';
}

static bool is_number(const char *status)
{
    return strspn(status, "0123456789") == strlen(status);
}

static bool number_failed(const char *proto, const char *status)
{
    guint64 least = 400;
    for (gsize i = 0; i < G_N_ELEMENTS(number_rules); i++)
        if (strcmp(proto, number_rules[i].proto) == 0)
            least = number_rules[i].least;
    return g_ascii_strtoull(status, NULL, 10) >= least;
}

// ISO/IEC 9075: two characters of class, three of subclass. Without the protocol's name a word of
// five capitals is not taken for one.
static bool is_sqlstate(const char *proto, const char *status)
{
    if (strlen(status) != 5 || strspn(status, "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZ") != 5)
        return false;
    return strcmp(proto, "postgresql") == 0 ||
           (!is_number(status) && strpbrk(status, "0123456789"));
}

static bool sqlstate_failed(const char *status)
{
    return status[0] != '0' || status[1] > '2';
}

static bool dns_failed(const char *proto, const char *status)
{
    if (strcmp(proto, "dns") == 0)
        return g_ascii_strcasecmp(status, "NOERROR") != 0;
    for (gsize i = 0; i < G_N_ELEMENTS(dns_failures); i++)
        if (strcmp(status, dns_failures[i]) == 0)
            return true;
    return false;
}

// MS-ERREF, 2.3: the two highest bits are the severity, 3 is an error. Other hexadecimal numbers
// are codes of failures only.
static bool hex_failed(const char *proto, const char *status)
{
    return strcmp(proto, "smb2") != 0 || g_ascii_strtoull(status, NULL, 16) >> 30 == 3;
}

static bool words_failed(const char *proto, const char *status)
{
    for (gsize i = 0; i < G_N_ELEMENTS(word_rules); i++) {
        if (strcmp(proto, word_rules[i].proto) != 0)
            continue;
        if (g_str_has_prefix(status, "0x"))
            return hex_failed(proto, status);
        return !g_strv_contains(word_rules[i].successes, status);
    }
    return false;
}

bool bb_status_is_closed(const char *status)
{
    return status && strcmp(status, BB_STATUS_CLOSED) == 0;
}

bool bb_status_is_error(const char *proto, const char *status)
{
    if (!status || status[0] == '\0' || g_ascii_strcasecmp(status, "ok") == 0)
        return false;
    if (!proto)
        proto = "";
    if (strcmp(proto, "tls") == 0)
        return true; // an alert in place of an answer
    if (is_sqlstate(proto, status))
        return sqlstate_failed(status);
    if (is_number(status))
        return number_failed(proto, status);
    if (status[0] == '-')
        return true;
    for (gsize i = 0; i < G_N_ELEMENTS(failure_words); i++)
        if (is_word(status, failure_words[i]))
            return true;
    return words_failed(proto, status) || dns_failed(proto, status);
}
