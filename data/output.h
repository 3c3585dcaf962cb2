// SPDX-License-Identifier: Apache-2.0
// A file, a pipe or standard output that grows by whole parts. What is written goes out part by
// part, so that the end of the file is the end of a part whatever happens: where the disk is full,
// the file is cut back to its last whole part, and room that was set aside takes an end. Or it is
// there once it is complete.
// Memory: parts are collected up to 64 KiB, and the part that is being put together.
#pragma once

#include <glib.h>
#include <stdbool.h>

typedef struct BbOutput BbOutput;

typedef struct BbOutputOptions {
    bool fresh;    // refuse a file that is there already (G_FILE_ERROR_EXIST)
    bool whole;    // what is there stays until close (data/draft.h), but for pipes and devices
    gsize reserve; // bytes behind the end of the file that are set aside for its last ones; where
                   // the file system cannot do that, they are not
    // Called before bytes are written, if set; lacking says that they found no room on the disk.
    // Returns whether there is more room now, and the write is tried again.
    bool (*room)(gpointer user, gsize bytes, bool lacking);
    gpointer user;
} BbOutputOptions;

// "-" is standard output. options may be NULL. A file that is there is replaced, unless fresh.
// Where a function fails for want of room, on the disk or in a quota, its error is
// G_FILE_ERROR_NOSPC.
BbOutput *bb_output_open(const char *path, const BbOutputOptions *options, GError **error);
void bb_output_free(BbOutput *output); // what is not written yet is lost; of whole, all is

// For messages: the path, or "standard output". Lent.
const char *bb_output_name(const BbOutput *output);

// What to do where a file cannot be opened or written for this reason (errno), besides writing to
// another place: "free space or rights there". Static.
const char *bb_output_remedy(int reason);

// Appends to the part that is being put together.
void bb_output_put(BbOutput *output, gconstpointer bytes, gsize size);
// The part is whole. May write out, as does the second one, all that is whole.
bool bb_output_part(BbOutput *output, GError **error);
bool bb_output_flush(BbOutput *output, GError **error);
// Whether all that was put is written.
bool bb_output_is_flushed(const BbOutput *output);
// Bytes of the file, with those that are not written yet.
guint64 bb_output_size(const BbOutput *output);
// Flushes, and waits until the disk has all of it. Nothing is waited for where there is no disk.
bool bb_output_sync(BbOutput *output, GError **error);

// After a failed write: drops what was not written, and gives the room set aside to what is put
// now. Returns false where the end of the file is not known to be that of a part (no regular file).
bool bb_output_cut_back(BbOutput *output);

// Writes what is whole, gives back what was set aside, waits for the disk if sync, and closes:
// after it, only free. The folder of the file is waited for, too.
bool bb_output_close(BbOutput *output, bool sync, GError **error);

// Waits until the disk has the folder of path, so that the file is found after a loss of power.
bool bb_output_sync_folder(const char *path, GError **error);

G_DEFINE_AUTOPTR_CLEANUP_FUNC(BbOutput, bb_output_free)
