// SPDX-License-Identifier: Apache-2.0
// --names and --names-by, of all commands that name nodes.
#pragma once

#include "capture/nodes.h"

#define BB_NAMES_ABOUT                                                                          \
    "Names of nodes: lines as in hosts(5), answers of the DNS, or JSON of kubectl get, docker " \
    "inspect or Consul; may be given again"
#define BB_NAMES_BY_ABOUT                                                                      \
    "A name of --names is of each instance (a pod, a container), or of its service (default: " \
    "instance)"

// instance, service or NULL, which is instance. False where it is none of them.
bool bb_parse_names_by(const char *word, bool *by_service);

// Reads files (NULL at the end; may be NULL) into nodes. Says how many entries name nothing, unless
// quiet.
bool bb_load_host_names(BbNodes *nodes, char **files, bool by_service, bool quiet, GError **error);

// Warns where there were names, and none was a node's. nodes may be NULL. Once messages were seen.
void bb_say_unused_names(const BbNodes *nodes);
