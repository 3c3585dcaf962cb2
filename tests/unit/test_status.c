// SPDX-License-Identifier: Apache-2.0
// Status codes of many protocols: which are failures.
#include "data/status.h"

#include "tests/unit/test.h"

typedef struct {
    const char *proto, *status;
} Case;

static const Case failures[] = {
    {"", "error"},
    {"", "unread"},
    {"http", "unread"},
    {"mysql", "unread"},
    {NULL, "Error"},
    {"http", "400"},
    {"http", "404"},
    {"http2", "503"},
    {"sip", "486"},
    {"", "500"},
    {"smtp", "550"},
    {"tls", "handshake_failure"},
    {"tls", "close_notify"},
    {"redis", "-ERR"},
    {"redis", "-MOVED 1"},
    {"redis", "-NOSCRIPT"},
    {"redis", "error"},
    {"", "-"},
    {"dns", "NXDOMAIN"},
    {"dns", "SERVFAIL"},
    {"dns", "RCODE17"},
    {"dns", "2"},
    {"", "NXDOMAIN"},
    {"postgresql", "42P01"},
    {"postgresql", "23505"},
    {"postgresql", "XX000"},
    {"mysql", "42S02"},
    {"mysql", "1146"},
    {"memcached", "ERROR"},
    {"memcached", "CLIENT_ERROR bad"},
    {"memcached", "SERVER_ERROR"},
    {"grpc", "14"},
    {"grpc", "UNAVAILABLE"},
    {"grpc", "503"},
    {"http2", "REFUSED_STREAM"},
    {"grpc", "1"},
    {"diameter", "5012"},
    {"diameter", "3002"},
    {"ldap", "49"},
    {"mqtt", "128"},
    {"amqp", "312"},
    {"thrift", "exception"},
    {"dcerpc", "fault"},
    {"fastcgi", "OVERLOADED"},
    {"dcerpc", "op_rng_error"},
    {"dcerpc", "0x000006D9"},
    {"ldap", "noSuchObject"},
    {"smb2", "ACCESS_DENIED"},
    {"smb2", "0xC0000FFF"},
    {"radius", "Access-Reject"},
    {"radius", "CoA-NAK"},
    {"snmp", "noSuchName"},
    {"snmp", "wrongDigests"},
    {"ntp", "RATE"},
    {"oncrpc", "NFS3ERR_NOENT"},
    {"oncrpc", "PROG_UNAVAIL"},
    {"oncrpc", "LCK_DENIED"},
    {"oncrpc", "13"},
    {"giop", "USER_EXCEPTION"},
    {"giop", "UNKNOWN_OBJECT"},
    {"afsrx", "-1"},
    {"afsrx", "49733378"},
};

static const Case successes[] = {
    {"", NULL},
    {"", ""},
    {NULL, NULL},
    {"", "ok"},
    {"", "OK"},
    {"http", "100"},
    {"http", "200"},
    {"http", "302"},
    {"http", "399"},
    {"sip", "180"},
    {"redis", "+OK"},
    {"dns", "NOERROR"},
    {"oncrpc", "LCK_BLOCKED"},
    {"oncrpc", "0"},
    {"giop", "LOCATION_FORWARD"},
    {"giop", "LOC_NEEDS_ADDRESSING_MODE"},
    {"ldap", "referral"},
    {"ldap", "saslBindInProgress"},
    {"smb2", "NO_MORE_FILES"},
    {"smb2", "0x80000FFF"},
    {"radius", "Access-Challenge"},
    {"radius", "CoA-ACK"},
    {"snmp", "unknownEngineIDs"},
    {"diameter", "2001"},
    {"ntp", "ok"},
    {"dns", "0"},
    {"postgresql", "00000"},
    {"postgresql", "01000"},
    {"postgresql", "02000"},
    {"grpc", "0"},
    {"diameter", "2001"},
    {"smtp", "250"},
    {"smtp", "354"},
    {"memcached", "NOT_FOUND"},
    {"memcached", "STORED"},
    {"memcached", "VALUE"},
    {"memcached", "NF"},
    {"memcached", "EXISTS"},
    {"postgresql", "N"},
    {"", "errors_none"},
    {"", "READY"},
    {"http", "20000000000000000000x"},
};

START_TEST(known_codes)
{
    for (gsize i = 0; i < G_N_ELEMENTS(failures); i++)
        ck_assert_msg(bb_status_is_error(failures[i].proto, failures[i].status), "%s %s",
                      failures[i].proto, failures[i].status);
    for (gsize i = 0; i < G_N_ELEMENTS(successes); i++)
        ck_assert_msg(!bb_status_is_error(successes[i].proto, successes[i].status), "%s %s",
                      successes[i].proto, successes[i].status);
}
END_TEST

TEST_MAIN("status", known_codes)
