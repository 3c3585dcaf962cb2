// SPDX-License-Identifier: Apache-2.0
// Requests and responses of HTTP/1 for tests, and scripts of them.
#pragma once

#include "tests/unit/script.h"

#define SCRIPT(...) SCRIPT_AT(80, __VA_ARGS__)
#define MIDSTREAM(...) MIDSTREAM_AT(80, __VA_ARGS__)

#define GET "GET /a HTTP/1.1\r\nHost: x\r\n\r\n"                 // 28 bytes
#define GET2 "GET /b HTTP/1.1\r\n\r\n"                           // 19
#define OK "HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nhello"   // 43
#define NOT_FOUND "HTTP/1.1 404 No\r\nContent-Length: 0\r\n\r\n" // 38
