// SPDX-License-Identifier: Apache-2.0
// What bbtrace anonymize and capture share that give other names: the key, the words of --labels.
#pragma once

#include "merge/pseudonyms.h"

#define BB_KEY_ABOUT "Pseudonyms depend on what is in this file (default: random bytes)"
#define BB_KEEP_PORTS_ABOUT "Keep the ports of nodes and connections"
#define BB_KEEP_PREFIXES_ABOUT "Addresses become addresses: which are of one network stays visible"

// The key in the file, or where path is NULL one that nobody will ever know. *key is the caller's:
// bb_pseudonym_key_free wipes it.
bool bb_pseudonym_key_read(const char *path, char **key, gsize *size, GError **error);
void bb_pseudonym_key_free(char *key, gsize size);

// keep, hash or off. Returns false where word is none of them.
bool bb_labels_parse(const char *word, BbLabels *labels);
