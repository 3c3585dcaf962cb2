// SPDX-License-Identifier: Apache-2.0
// What a file is that is not what was asked for, told by its first bytes, and what to do with it.
#pragma once

#include <glib.h>
#include <stdbool.h>

// First bytes that are looked at.
#define BB_FOREIGN_PEEK 64

// "it is a packet capture (pcap): run `...` first"; NULL where nothing is known of such bytes. path
// is as the user gave it ("-" is standard input). binary: only of what is no text. The caller
// frees.
char *bb_foreign_tell(const char *path, const char *head, gsize size, bool binary);
