// SPDX-License-Identifier: Apache-2.0
// What the status of a return means: each protocol has its own codes, and only failures count.
#pragma once

#include <stdbool.h>

// Whether status, as a trace has it (`status=`), tells of a failure. proto is the protocol's name
// as in `proto=`; "" or NULL where it is not known. No status ("" or NULL) is no failure.
//   any       "error" is one, "ok" is none; so is a leading `-` (redis, POP3), and an error reply
//   of
//             memcached: ERROR, CLIENT_ERROR ..., SERVER_ERROR ... (a miss is none)
//   numbers   400 and above (HTTP, SIP, SMTP, FastCGI ...); for grpc, ldap, kafka, mysql and the
//             like any but 0; for diameter 3000 and above
//   dns       a response code other than NOERROR
//   SQLSTATE  five of 0-9 A-Z, in a class other than 00, 01 and 02 (success, warning, no data)
bool bb_status_is_error(const char *proto, const char *status);
