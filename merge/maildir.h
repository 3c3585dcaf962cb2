// SPDX-License-Identifier: Apache-2.0
// A Maildir: a folder whose folders cur and new hold one message a file.
#pragma once

#include <glib.h>

// Paths of its messages: those of cur, then those of new, each in order of their names; names that
// begin with a dot are none. Fails when path is no Maildir or cannot be read. The result is yours.
GPtrArray *bb_maildir_list(const char *path, GError **error);
