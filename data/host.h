// SPDX-License-Identifier: Apache-2.0
// What a file of names says of one thing: how an address, an address with a port or a prefix is
// called.
#pragma once

#include "data/address.h"

typedef struct BbHost {
    BbAddress address; // of a prefix: the bits beyond it are 0
    guint8 prefix;     // of 128 bits (IPv4: 96 + what was written); 128 is one address
    guint16 port;      // 0: any
    const char *name;  // lent; not empty, at most BB_HOST_NAME_MAX bytes
} BbHost;

#define BB_HOST_NAME_MAX 255u

typedef void (*BbHostSink)(const BbHost *host, gpointer user);
