// SPDX-License-Identifier: Apache-2.0
// In: figures. Out: keys and values of JSON.
#include "diagnose/fields.h"

#include <math.h>

void bb_field_uint(BbJson *json, const char *key, guint64 value)
{
    bb_json_key(json, key);
    bb_json_uint(json, value);
}

void bb_field_share(BbJson *json, const char *key, double share)
{
    bb_json_key(json, key);
    bb_json_share(json, share);
}

void bb_field_seconds(BbJson *json, const char *key, gint64 ns)
{
    bb_json_key(json, key);
    bb_json_seconds(json, ns);
}

void bb_field_name(BbJson *json, const char *key, const BbNames *names, guint32 name)
{
    bb_json_key(json, key);
    bb_json_string(json, bb_names_text(names, name));
}

void bb_field_object(BbJson *json, const char *key)
{
    bb_json_key(json, key);
    bb_json_begin_object(json);
}

void bb_field_array(BbJson *json, const char *key)
{
    bb_json_newline(json);
    bb_json_key(json, key);
    bb_json_begin_array(json);
}

void bb_field_right(BbJson *json, const char *key, BbRight right)
{
    bb_field_object(json, key);
    bb_field_uint(json, "right", right.right);
    bb_field_uint(json, "of", right.all);
    bb_field_share(json, "share", bb_right_share(right));
    bb_json_end_object(json);
}

void bb_field_calibration(BbJson *json, const char *key, const BbCalibration *calibration)
{
    bb_json_newline(json);
    bb_field_object(json, key);
    bb_field_uint(json, "stated", calibration->stated);
    bb_field_uint(json, "not_stated", calibration->not_stated);
    bb_field_share(json, "calibration_error", bb_calibration_error(calibration));
    bb_field_array(json, "bins");
    for (guint i = 0; i < BB_CALIBRATION_BINS; i++) {
        const BbCalibrationBin *bin = &calibration->bins[i];
        double count = bin->count ? (double)bin->count : (double)NAN;
        bb_json_newline(json);
        bb_json_begin_object(json);
        bb_field_share(json, "from", bb_calibration_bound(i));
        bb_field_share(json, "to", bb_calibration_bound(i + 1));
        bb_field_uint(json, "count", bin->count);
        bb_field_share(json, "stated", bin->sum / count);
        bb_field_share(json, "right", (double)bin->right / count);
        bb_json_end_object(json);
    }
    bb_json_end_array(json);
    bb_json_end_object(json);
}
