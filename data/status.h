// SPDX-License-Identifier: Apache-2.0
// What the status of a return means: each protocol has its own codes, and only failures count.
#pragma once

#include <stdbool.h>

// Of a return that nobody took: its caller had closed the connection when it came (capture/hold.h).
// Whatever the protocol, it is a failure.
#define BB_STATUS_UNREAD "unread"
// Of a free message with the id of a call that has no return: its sender closes the connection. The
// caller waits no more, or waits in vain.
#define BB_STATUS_CLOSED "closed"
bool bb_status_is_closed(const char *status);

// Whether status, as a trace has it (`status=`), tells of a failure. proto is the protocol's name
// as in `proto=`; "" or NULL where it is not known. No status ("" or NULL) is no failure.
//   any       "error", "fault", "exception" and a leading `-` (redis, POP3) are one, "ok" is none
//   memcached ERROR, CLIENT_ERROR and SERVER_ERROR; a miss (NOT_FOUND, NF, EXISTS ...) is none
//   numbers   400 and above (HTTP, SIP, SMTP, FastCGI ...); for grpc, ldap, kafka, mysql and the
//             like any but 0; for diameter 3000 and above
//   dns       a response code other than NOERROR, RCODE17 and the like too
//   words     for ldap, smb2, radius, snmp, dcerpc, ntp, oncrpc, giop any but a few (referral,
//             Access-Challenge, warnings such as NO_MORE_FILES, LOCATION_FORWARD)
//   tls       any alert
//   SQLSTATE  five of 0-9 A-Z, in a class other than 00, 01 and 02 (success, warning, no data)
bool bb_status_is_error(const char *proto, const char *status);
