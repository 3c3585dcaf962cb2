// SPDX-License-Identifier: Apache-2.0
// What bbtrace capture says of connections that were seen on both sides of a NAT
// (capture/translation.h), on standard error and in the trace.
#pragma once

#include "capture/translation.h"

#define BB_CAPTURE_NAT_NOTES 8u // of pairs of addresses; one more counts the others

// Reads the word of --nat, NULL for the default. Returns false where it is none.
bool bb_capture_nat_parse(const char *word, BbTranslationMode *mode);

// Adds sentences, char * to be freed: what is called what behind a NAT, and how often.
void bb_capture_nat_notes(const BbTranslations *translations, BbTranslationMode mode,
                          GPtrArray *notes);
// Says the same, and how much was joined.
void bb_capture_nat_say(const BbTranslations *translations, BbTranslationMode mode,
                        const BbLoss *loss);
