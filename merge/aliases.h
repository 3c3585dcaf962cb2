// SPDX-License-Identifier: Apache-2.0
// One host, many names: what it calls itself when it sends and when it receives, what the DNS calls
// it, its address. Finds which of them mean one host, from who was seen with which address.
//
//   A name is at home at the address with which more than half of its sightings were.
//   Of each kind, an address has the name that more than half of its sightings of that kind had.
//   A name and an address that are each other's are one host. So is every DNS name that is at home
//   at the address: renaming a host does not make it another.
//   The host is called by its DNS name, else by what it calls itself as receiver, else as sender.
//
// Nothing follows over more than one address, so one forged name cannot join two hosts: a name that
// is said at many addresses, and an address behind which many names are, stay as they are.
#pragma once

#include "data/names.h"

typedef enum {
    BB_ALIAS_FOUND, // the name that the DNS has for the address
    BB_ALIAS_BY,    // how the host that had the mail before calls itself
    BB_ALIAS_GOT,   // how it called itself when it got the mail from another
    BB_ALIAS_SAID,  // how the sender calls itself
    BB_ALIAS_KINDS,
} BbAliasKind;

typedef struct BbAliases BbAliases;

BbAliases *bb_aliases_new(void);
void bb_aliases_free(BbAliases *aliases);

// name (not BB_NAME_NONE) was seen with address, once. 12 bytes until settled.
void bb_aliases_add(BbAliases *aliases, BbAliasKind kind, guint32 name, guint32 address);

// Ends the adding, begins the asking.
void bb_aliases_settle(BbAliases *aliases);

// What the host of this name or address is called; the same integer where nothing better is known.
guint32 bb_aliases_find(const BbAliases *aliases, guint32 name);

// Names and addresses that are now called otherwise.
guint bb_aliases_count(const BbAliases *aliases);

G_DEFINE_AUTOPTR_CLEANUP_FUNC(BbAliases, bb_aliases_free)
