// SPDX-License-Identifier: Apache-2.0
// One line of a text trace, taken apart. Inside data/ only.
#pragma once

#include "data/message.h"
#include "data/network.h"

// Parses line (no line end, no NUL inside), which it writes over: conn of message is lent from it.
// Keys that we do not know go to extra, which message->extra then lends. Returns NULL, or the
// static reason why the line is malformed.
const char *bb_trace_line_parse(char *line, BbNames *names, GString *extra, BbMessage *message);

// Reads `# counter NAME VALUE`. Returns false for any other line.
bool bb_trace_line_counter(const char *line, char **name, guint64 *value);

// Reads `# note SENTENCE`: the sentence, decoded, is the caller's. NULL for any other line.
char *bb_trace_line_note(const char *line);

// Reads `# network CLIENT SERVER connections=3 ...`; facts that we do not know are passed over.
// Returns false for any other line.
bool bb_trace_line_network(const char *line, BbNames *names, BbNetworkEdge *edge);
