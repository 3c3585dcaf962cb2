// SPDX-License-Identifier: Apache-2.0
// What the forms of files of names share. A form takes entry by entry (a line, an object) and says
// what it names. Inside of host_names only.
#pragma once

#include "data/host.h"
#include "merge/host_names.h"

#include <json-glib/json-glib.h>

typedef struct BbHostReading {
    const BbHostNamesOptions *options;
    BbHostSink sink;
    gpointer user;
    BbHostNamesCounts *counts;
    bool useful;         // the entry in hand names something
    GHashTable *settled; // BbAddress -> itself: who it is has been said
    GPtrArray *deferred; // names that count for addresses which nothing else settles
    GString *origin;     // DNS: what is behind a name without a dot at its end; empty for nothing
    GString *owner;      // DNS: of the record before
    guint parentheses;   // DNS: open ones, of a record over several lines
} BbHostReading;

// Names an address (text), at a port or at all (0). False where it is no address, or the name is
// empty or too long.
bool bb_host_reading_name(BbHostReading *reading, const char *address, guint16 port,
                          const char *name);
// The address is shared by several, so that nothing but its ports can have names.
void bb_host_reading_settle(BbHostReading *reading, const char *address);
// The same as name, at the end, unless the address is settled by then.
void bb_host_reading_defer(BbHostReading *reading, const char *address, guint16 port,
                           const char *name);
// Hands on what was parsed elsewhere.
void bb_host_reading_give(BbHostReading *reading, const BbHost *host);

// Forms of lines. The first line that is neither empty nor a comment decides which one it is.
typedef struct BbHostTextForm {
    const char *wanted; // how a line should look, for errors
    bool (*is_one)(const char *line);
    // Takes a line, which it may change. Returns NULL, or the reason why it makes no sense, yours.
    char *(*take)(BbHostReading *reading, char *line);
} BbHostTextForm;

extern const BbHostTextForm bb_host_form_lines, bb_host_form_records;

// Forms of JSON objects.
typedef struct BbHostJsonForm {
    const char *wanted; // what it is, for errors
    bool (*is_one)(JsonObject *object);
    void (*take)(BbHostReading *reading, JsonObject *object);
} BbHostJsonForm;

extern const BbHostJsonForm bb_host_form_kubernetes, bb_host_form_docker, bb_host_form_consul;
