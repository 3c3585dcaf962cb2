// SPDX-License-Identifier: Apache-2.0
// Members of JSON objects that scores are told in: a key with its value.
#pragma once

#include "data/json.h"
#include "diagnose/score.h"

void bb_field_uint(BbJson *json, const char *key, guint64 value);
void bb_field_share(BbJson *json, const char *key, double share);
void bb_field_seconds(BbJson *json, const char *key, gint64 ns);
void bb_field_name(BbJson *json, const char *key, const BbNames *names, guint32 name);
void bb_field_right(BbJson *json, const char *key, BbRight right);
void bb_field_calibration(BbJson *json, const char *key, const BbCalibration *calibration);

// Begins an object; an array, on a line of its own.
void bb_field_object(BbJson *json, const char *key);
void bb_field_array(BbJson *json, const char *key);
