// SPDX-License-Identifier: Apache-2.0
// Lines of a file of names: hosts(5), and besides addresses also prefixes and addresses with a
// port.
//   10.0.0.2 db1 db1.local      # aliases are ignored
//   10.0.0.2:5432 orders-db
//   [2001:db8::2]:5432 orders-db
//   10.1.0.0/16 office
#pragma once

#include "capture/address.h"

typedef struct BbHost {
    BbAddress address; // of a prefix: the bits beyond it are 0
    guint8 prefix;     // of 128 bits (IPv4: 96 + what was written); 128 is one address
    guint16 port;      // 0: any
    const char *name;  // lent: inside the line
} BbHost;

typedef enum {
    BB_HOSTS_ENTRY,
    BB_HOSTS_NOTHING, // an empty line or a comment
    BB_HOSTS_BAD,     // *reason says why; the caller's to g_free
} BbHostsStatus;

#define BB_HOSTS_NAME_MAX 255

// Reads a line (NUL-terminated, without its end of line), which is changed.
BbHostsStatus bb_hosts_parse(char *line, BbHost *host, char **reason);

// Sets the bits of address beyond the first `prefix` to 0.
void bb_hosts_mask(BbAddress *address, guint prefix);
