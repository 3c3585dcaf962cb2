// SPDX-License-Identifier: Apache-2.0
// A line of an event log: event(id, process, thread, source, act|sig, tag, value). Lines are facts
// of Prolog: a field is a bare word or a quoted text, and a period may follow.
#pragma once

#include <glib.h>
#include <stdbool.h>

// Texts are lent by the line; what is not told (-, _ or nothing) is NULL.
typedef struct BbEventLine {
    const char *id, *process; // never NULL
    const char *thread, *source;
    bool acts; // act: something came; else sig: something was sent
    const char *tag, *value;
} BbEventLine;

// Whether the line has nothing to take: empty, or a comment behind # or %.
bool bb_event_line_is_blank(const char *line);

// Takes line apart, which it writes over. Returns NULL, or the static reason why it is no event.
const char *bb_event_line_parse(char *line, BbEventLine *event);
