// SPDX-License-Identifier: Apache-2.0
// What bbtrace capture gives up before it decodes the first packet (cli/confine.h).
#pragma once

#include "capture/sources/source.h"
#include "cli/capture_arguments.h"

// The user to become: who was asked for, or who says sudo; NULL: stay. Lent.
const char *bb_capture_confine_user(const BbCaptureArguments *arguments);

// To be added to an error: what to do about rights over files that were given up. NULL where that
// is not its cause. Yours.
char *bb_capture_confine_remedy(const BbCaptureArguments *arguments, const GError *error);

// source is what is open already, of interfaces always, or NULL. Says what was done if that was
// asked for (-v). Returns false with an error where rights cannot be given up.
bool bb_capture_confine(const BbCaptureArguments *arguments, const BbSource *source,
                        GError **error);
