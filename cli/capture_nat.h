// SPDX-License-Identifier: Apache-2.0
// What bbtrace capture says of connections that were seen on both sides of a NAT
// (capture/translation.h), on standard error and in the trace.
#pragma once

#include "capture/translation.h"

// Of services and of clients that have a note or a line of their own; one more counts the others.
#define BB_CAPTURE_NAT_SERVICES 8u
#define BB_CAPTURE_NAT_CLIENTS 2u

typedef struct BbCaptureNat BbCaptureNat;

// Reads the word of --nat, NULL for the default. Returns false where it is none.
bool bb_capture_nat_parse(const char *word, BbTranslationMode *mode);

// no_names: notes would tell addresses, and there are none.
BbCaptureNat *bb_capture_nat_new(BbTranslationMode mode, bool no_names);
void bb_capture_nat_free(BbCaptureNat *nat);

// A note on a service or client that was found and has none yet, as far as there are notes for
// them, services first; yours to free, NULL where there is nothing new.
char *bb_capture_nat_next(BbCaptureNat *nat, const BbTranslations *translations);
// Adds all of these to notes (of char *), and that on the rest: for a trace of its own.
void bb_capture_nat_notes(const BbCaptureNat *nat, const BbTranslations *translations,
                          GPtrArray *notes);
// A note on those that have none of their own, yours to free; NULL where there are none.
char *bb_capture_nat_rest(const BbCaptureNat *nat, const BbTranslations *translations);

// Says what is called what behind a NAT, services first, most connections first; and how much was
// joined.
void bb_capture_nat_say(const BbTranslations *translations, BbTranslationMode mode,
                        const BbLoss *loss);
