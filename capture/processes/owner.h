// SPDX-License-Identifier: Apache-2.0
// What a process belongs to, from its control groups (cgroups(7), version 1 and 2): a container, or
// a unit of systemd. Their names are written by whoever made them: not trusted.
#pragma once

#include <glib.h>
#include <stdbool.h>

#define BB_OWNER_NAME 96u // bytes of a name, NUL included; longer ones are cut

typedef enum {
    BB_OWNER_NONE,
    BB_OWNER_UNIT,      // nginx.service
    BB_OWNER_CONTAINER, // 12 digits of its id; or the name of a machine (systemd-nspawn, LXC)
} BbOwnerKind;

typedef struct BbOwner {
    BbOwnerKind kind;
    char name[BB_OWNER_NAME]; // empty for NONE
} BbOwner;

// Reads the text of /proc/PID/cgroup. A container counts more than a unit, of several of a kind the
// innermost. Sessions of users and their manager (user@1000.service) are none, a user's own unit
// inside of it is.
BbOwner bb_owner_parse(const char *text, gsize length);
bool bb_owner_equal(const BbOwner *a, const BbOwner *b);

// Writes a name that is fit for a node: letters, digits, and what stands in names of units and
// programs (_ - . : @ + and bytes of UTF-8); anything else becomes `_`. `\x2d` of systemd is what
// it stands for (systemd.unit(5)). An empty name is `_`.
void bb_owner_clean(const char *text, gsize length, char out[BB_OWNER_NAME]);
// Likewise of a program, which may call itself what it likes: where that looks like a unit or the
// id of a container, `+comm` comes behind.
void bb_owner_clean_program(const char *text, gsize length, char out[BB_OWNER_NAME]);
