// SPDX-License-Identifier: Apache-2.0
// A file, a pipe or standard input as a stream of bytes, decompressed where its first bytes say
// gzip, xz or zstd. What every reader of files stands on. A byte order mark of UTF-8 that it begins
// with, as some editors write it, is no part of it.
#pragma once

#include <glib.h>
#include <stdbool.h>
#include <stdio.h>

typedef struct BbInput BbInput;

// Opens path ("-" is standard input). Fails with a sentence that names the path.
BbInput *bb_input_open(const char *path, GError **error);
// The same for what is to be text: fails where there is nothing in it, too, or a capture, a trace
// or the like, with the command that reads such.
BbInput *bb_input_open_text(const char *path, GError **error);
void bb_input_free(BbInput *input);

// Reads up to size bytes; fewer only at the end. Returns the number read, 0 at the end. A
// compressed stream that breaks off or is damaged ends there, and bb_input_damage() says so: what
// was good before it has been delivered. Returns -1 with an error when the operating system fails.
gssize bb_input_read(BbInput *input, void *buffer, gsize size, GError **error);

// The same, but returns as soon as there is something: what a pipe holds is not waited for to
// become more.
gssize bb_input_some(BbInput *input, void *buffer, gsize size, GError **error);

// Reads all that is left, but no more than most bytes and one. The bytes, with a NUL behind them,
// are the caller's; NULL with an error when the operating system fails.
char *bb_input_read_all(BbInput *input, gsize most, gsize *size, GError **error);

// Looks at the next bytes without taking them: up to size, at most 64. Returns how many there are.
gsize bb_input_peek(BbInput *input, void *buffer, gsize size);

// A sentence about where the stream broke off, NULL while it is whole. Lent.
const char *bb_input_damage(const BbInput *input);

// Whether it is damaged, and not just cut: packed data is checked after it is given, so what came
// before may be wrong, too.
bool bb_input_is_doubtful(const BbInput *input);

// Of a file that is packed: reads on, 256 MiB at most, for damage that explains why what was read
// makes no sense. Nothing of the rest can be read after it.
void bb_input_check_rest(BbInput *input);

// Name for messages: the path, or "standard input". Lent.
const char *bb_input_name(const BbInput *input);
const char *bb_input_name_of(const char *path);

// Whether it is a file, not a pipe; whether it is packed.
bool bb_input_is_regular(const BbInput *input);
bool bb_input_is_packed(const BbInput *input);

// Whether another program like this one writes the file now, as far as the file system tells.
bool bb_input_is_written(const BbInput *input);

// The file descriptor behind input, lent. A dup() of it shares the position in the file, and stays
// good when a FILE takes input over: that is how progress can be told.
int bb_input_descriptor(const BbInput *input);

// Turns the rest of input into a FILE for libraries that want one (libpcap). Takes input over:
// fclose frees it. A plain seekable file becomes a plain FILE, so that nothing is slower than it
// must be. damage (may be NULL) receives a copy of the sentence of bb_input_damage when the stream
// breaks off while it is read; it must outlive the FILE, and is the caller's to g_free.
FILE *bb_input_take_file(BbInput *input, char **damage, GError **error);

// Of a pipe whose FILE is open: whether who took so many bytes of that would have to wait for more
// than timeout_ms, or until a signal comes. Part of a block, packed or
// not, counts as something: whoever writes it is taken to write the rest.
bool bb_input_is_silent(const BbInput *input, guint64 taken, int timeout_ms);

G_DEFINE_AUTOPTR_CLEANUP_FUNC(BbInput, bb_input_free)
