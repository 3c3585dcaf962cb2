// SPDX-License-Identifier: Apache-2.0
// A DNS message (RFC 1035) as far as pairing and labels need it: header, first question, and
// whether the rest is what it says it is.
#pragma once

#include "data/address.h"

#define BB_DNS_HEADER 12u
#define BB_DNS_NAME_TEXT 1024u // 255 bytes on the wire, at most 4 characters each, and a NUL
#define BB_DNS_TYPE_TEXT 12u   // "TYPE65535"

enum { BB_DNS_QUERY = 0, BB_DNS_STATUS = 2, BB_DNS_NOTIFY = 4, BB_DNS_UPDATE = 5, BB_DNS_DSO = 6 };
enum { BB_DNS_TYPE_A = 1, BB_DNS_TYPE_SOA = 6, BB_DNS_TYPE_AAAA = 28 };
enum { BB_DNS_TYPE_IXFR = 251, BB_DNS_TYPE_AXFR = 252 };

typedef enum { BB_DNS_ANSWERS = 1, BB_DNS_AUTHORITY = 2 } BbDnsSection; // places in counts

typedef struct BbDnsMessage {
    guint16 id;
    guint16 rcode;     // with its upper bits from EDNS (RFC 6891, 6.1.3) where they were reached
    guint16 type;      // of the first question
    guint16 counts[4]; // questions, answers, authority, additional
    guint8 opcode;
    bool response;
    bool multicast;    // has the marks of mDNS (RFC 6762, 18): id 0, a query, no RD, no RA. So have
                       // others
    bool has_question; // false: there is none, or it is cut off
    bool plain_query;  // by its header: asks one question, says nothing else. Set for all verdicts
    guint32 answers;   // where they begin
    guint64 hash;      // of the first question: name in lower case, type, class; 48 bits
    char name[BB_DNS_NAME_TEXT]; // of the first question: lower case, escaped (RFC 4343), no last
                                 // dot
} BbDnsMessage;

typedef enum {
    BB_DNS_BAD,   // no DNS message
    BB_DNS_SHORT, // the bytes end in the header or the first question
    BB_DNS_CUT,   // the first question is whole, the bytes end after it
    BB_DNS_ODD,   // the same, but bytes are left over or something is not as it should be
    BB_DNS_EXACT, // all of it is as it should be, to the last byte
} BbDnsVerdict;

// Reads a message. For SHORT the header's fields are set where the header is whole, and for the
// better verdicts all are.
BbDnsVerdict bb_dns_message_read(BbDnsMessage *message, const guint8 *data, gsize length);

// Mnemonic of a type ("A", or "TYPE%u" by RFC 3597) and of a response code (or "RCODE%u").
void bb_dns_type_format(guint16 type, char out[BB_DNS_TYPE_TEXT]);
void bb_dns_rcode_format(guint16 rcode, char out[BB_DNS_TYPE_TEXT]);

// Calls found for each A and AAAA record among the answers, with the name that was asked for, or
// the record's own where nothing was asked (mDNS).
typedef void (*BbDnsAddressFound)(gpointer user, const BbAddress *address, const char *name);
void bb_dns_message_addresses(const BbDnsMessage *message, const guint8 *data, gsize length,
                              BbDnsAddressFound found, gpointer user);

// Calls found for each record of these sections; serial: of an SOA, NULL for others.
typedef void (*BbDnsRecordFound)(gpointer user, BbDnsSection section, const guint32 *serial);
void bb_dns_message_records(const BbDnsMessage *message, const guint8 *data, gsize length,
                            BbDnsRecordFound found, gpointer user);
