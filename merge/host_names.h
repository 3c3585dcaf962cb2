// SPDX-License-Identifier: Apache-2.0
// Files that say how addresses are called. The form is told by the content:
//
//   text   hosts(5), also with prefixes and ports: 10.0.0.2 db, 10.0.0.2:5432 orders, 10.1.0.0/16
//   office
//          answers of the DNS: records as dig prints them or a zone file has them (RFC 1035,
//          section 5), lines as host prints them
//   JSON   kubectl get pods,services,endpoints,endpointslices,nodes -o json
//          docker inspect
//          Consul: /v1/catalog/service/NAME, /v1/catalog/nodes
//
// A file may be packed, and a pipe. JSON is read value by value, so that only names stay in memory.
#pragma once

#include "data/host.h"

typedef struct BbHostNamesOptions {
    // Name all instances of a service alike, instead of each by itself: pods by what owns them,
    // containers by their service of compose or swarm, services of Consul without their node.
    bool by_service;
} BbHostNamesOptions;

typedef struct BbHostNamesCounts {
    guint64 names;   // given to the sink
    guint64 nothing; // lines of the DNS and JSON objects that name no address
} BbHostNamesCounts;

// Reads all of path ("-" is standard input), and hands on what it names, in the order of the file;
// of several names for one thing the first is meant to stay. counts is set, also on failure. A file
// that is malformed, cut or of no known form is an error with file, line and reason; what came
// before was handed on.
bool bb_host_names_read(const char *path, const BbHostNamesOptions *options, BbHostSink sink,
                        gpointer user, BbHostNamesCounts *counts, GError **error);
