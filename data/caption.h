// SPDX-License-Identifier: Apache-2.0
// Names and labels as they may be shown: they come from the network, so whatever is not UTF-8 or
// does not print (control and format characters, line ends, bidirectional overrides) is
// percent-encoded.
#pragma once

#include <glib.h>

// Appends text; an empty one as `empty`.
void bb_caption_append(GString *out, const char *text, const char *empty);

// Appends at most `most` bytes of text, for a line on a terminal: what is not UTF-8 becomes U+FFFD,
// what does not print '?'.
void bb_caption_append_plain(GString *out, const char *text, gsize most);

// Columns that a terminal with a fixed-width font gives to text (UTF-8).
guint bb_caption_width(const char *text);

// Appends blanks up to so many columns.
void bb_caption_pad(GString *caption, guint width);

// Shortens caption to `width` columns (at least 5) by "..." in its middle, for heads and tails of a
// URL tell more than its middle.
void bb_caption_elide(GString *caption, guint width);

// Breaks caption into at most `lines` lines of about `width` characters, by '\n', preferably before
// or after punctuation; what is too long even so is elided first.
void bb_caption_wrap(GString *caption, guint width, guint lines);
