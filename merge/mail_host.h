// SPDX-License-Identifier: Apache-2.0
// What a mail header calls a host, brought to one form: lower case, no final dot, no brackets, no
// user before it; addresses as inet_ntop(3) writes them, IPv4 ones also where mapped to IPv6.
#pragma once

#include <glib.h>
#include <stdbool.h>

typedef enum {
    BB_MAIL_HOST_NONE,    // nothing, or a word that says so ("unknown")
    BB_MAIL_HOST_NAME,    // a name with a domain
    BB_MAIL_HOST_ADDRESS, // an address that is unique in the world
    BB_MAIL_HOST_PRIVATE, // an address that each site has its own of (RFC 1918, 6598, 3927, 4193)
    BB_MAIL_HOST_LOCAL,   // the host itself: localhost, 127.0.0.1, ::1
    BB_MAIL_HOST_SHORT,   // a name without domain: means another host at each site
    BB_MAIL_HOST_ODD,     // no name of a host at all
} BbMailHostKind;

#define BB_MAIL_HOST_MAX 254 // RFC 1035, 2.3.4: 253 characters

typedef struct BbMailHost {
    BbMailHostKind kind;
    char text[BB_MAIL_HOST_MAX]; // empty for NONE and ODD
} BbMailHost;

// Reads the word text[0 .. length).
BbMailHost bb_mail_host_read(const char *text, gsize length);

// Whether it is an address, in text form: also one of BB_MAIL_HOST_LOCAL.
bool bb_mail_host_is_address(const BbMailHost *host);
