// SPDX-License-Identifier: Apache-2.0
// A file that is written beside the one that it is to replace, and takes its name when it is whole:
// until then, and whatever ends the program, what was there stays. It gets the rights of what it
// replaces, and its owner where that may be given. A link to a file stays a link.
#pragma once

#include <glib.h>
#include <stdbool.h>

typedef struct BbDraft BbDraft;

// Whether path may be replaced: it is a regular file that we may write, or nothing yet. What stands
// for an open file (/dev/stdout, /proc/self/fd/1) is none, nor is a pipe or a device: there bytes
// are to go to what is there.
bool bb_draft_may_replace(const char *path);

// named: others have to open it by name (bb_draft_name) while it is written. Without, it has none
// where the file system can do that, and nothing is left of it when the program is killed. NULL
// where nothing can be written beside path: errno says why.
BbDraft *bb_draft_new(const char *path, bool named);
void bb_draft_free(BbDraft *draft); // not published: nothing is left of it

int bb_draft_fd(const BbDraft *draft); // to write; lent
const char *bb_draft_name(const BbDraft *draft);

// Gives it its name. After it, only free. Returns false with errno, and what was there stays.
bool bb_draft_publish(BbDraft *draft);

G_DEFINE_AUTOPTR_CLEANUP_FUNC(BbDraft, bb_draft_free)
