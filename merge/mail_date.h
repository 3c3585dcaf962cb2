// SPDX-License-Identifier: Apache-2.0
// The date of a mail header (RFC 5322, 3.3 and 4.3), and what the real world writes instead.
#pragma once

#include <glib.h>

typedef enum {
    BB_MAIL_DATE_BAD,  // none, or not to be read without guessing
    BB_MAIL_DATE_GOOD, // with a zone
    BB_MAIL_DATE_ZONE, // without, or with a name of no one meaning: taken as UTC (RFC 5322, 4.3)
} BbMailDate;

// Reads text[0 .. length). Comments are passed over, and so is what follows the zone. Any of these,
// with or without the name of the day, seconds, and zone:
//   Thu, 22 Aug 2002 07:46:38 -0400 (EDT)     22-Aug-02 7:46 EDT     Thu Aug 22 07:46:38 2002
//   Aug, 22 2002 7:46:38 AM -04:00
// Day and month are never told apart by their size: 22/08/2002 is bad. *time_ns is nanoseconds
// since 1970, up to the end of 2261; unchanged where bad.
BbMailDate bb_mail_date_read(const char *text, gsize length, gint64 *time_ns);
