// SPDX-License-Identifier: Apache-2.0
// What bbtrace doctor says, as text for people or as one JSON object.
#pragma once

#include "capture/doctor.h"

// input: what was looked at, as people call it; watched_ns: for how long, for where no frame tells
// it, 0: of files. Both write to standard output.
void bb_doctor_print_text(const BbDoctor *doctor, const GArray *findings, const char *input,
                          gint64 watched_ns);
void bb_doctor_print_json(const BbDoctor *doctor, const GArray *findings, const char *input);
