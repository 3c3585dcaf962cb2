// SPDX-License-Identifier: Apache-2.0
// Times as foreign records write them.
#pragma once

#include <glib.h>
#include <stdbool.h>

typedef enum {
    BB_STAMP_ANY, // a number of seconds, or ISO 8601
    BB_STAMP_S,   // numbers since 1970, with or without decimals
    BB_STAMP_MS,
    BB_STAMP_US,
    BB_STAMP_NS,
    BB_STAMP_ISO, // ISO 8601: date, time of day, zone; UTC where it names none. Also as our views
                  // write it ("2026-11-20 08:54:30.385 UTC"), without seconds, or a date alone
} BbStampUnit;

// "s", "ms", "us", "ns", "iso". Returns false for any other word.
bool bb_stamp_unit_find(const char *word, BbStampUnit *unit);

// Nanoseconds since 1970, exactly; what is smaller is cut off. Returns NULL, or the static reason
// why text is no time of this unit: not of its form, before 1970 or after 2262.
const char *bb_stamp_parse(const char *text, BbStampUnit unit, gint64 *time_ns);
