// SPDX-License-Identifier: Apache-2.0
// What clients and servers of Redis say in tests.
#pragma once

#include "tests/unit/script.h"

// On a port that is not known for Redis: the content must do.
#define SCRIPT(...) SCRIPT_AT(40001, __VA_ARGS__)
#define ON_PORT(...) SCRIPT_AT(6379, __VA_ARGS__)
#define MIDSTREAM(...) MIDSTREAM_AT(6379, __VA_ARGS__)

#define PING "*1\r\n$4\r\nPING\r\n"                           // 14 bytes
#define GET "*2\r\n$3\r\nGET\r\n$3\r\nkey\r\n"                // 22
#define SET "*3\r\n$3\r\nset\r\n$1\r\nk\r\n$5\r\nv\r\nv!\r\n" // 31
#define PONG "+PONG\r\n"                                      // 7
#define OK "+OK\r\n"                                          // 5

#define TOPIC2(word, rest) "*3\r\n$" word "\r\n$1\r\na\r\n" rest "\r\n"
#define MESSAGE TOPIC2("7\r\nmessage", "$1\r\nx") // 31
