// SPDX-License-Identifier: Apache-2.0
// Members of JSON objects that scores are told in: a key with its value.
#pragma once

#include "data/json.h"
#include "diagnose/score.h"

void bb_field_name(BbJson *json, const char *key, const BbNames *names, guint32 name);
void bb_field_right(BbJson *json, const char *key, BbRight right);
void bb_field_calibration(BbJson *json, const char *key, const BbCalibration *calibration);

// Begins an object; an array, on a line of its own.
void bb_field_object(BbJson *json, const char *key);
void bb_field_array(BbJson *json, const char *key);
