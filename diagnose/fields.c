// SPDX-License-Identifier: Apache-2.0
// In: figures. Out: keys and values of JSON.
#include "diagnose/fields.h"

#include <math.h>

void bb_field_name(BbJson *json, const char *key, const BbNames *names, guint32 name)
{
    bb_json_put_string(json, key, bb_names_text(names, name));
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
    bb_json_put_uint(json, "right", right.right);
    bb_json_put_uint(json, "of", right.all);
    bb_json_put_share(json, "share", bb_right_share(right));
    bb_json_end_object(json);
}

void bb_field_calibration(BbJson *json, const char *key, const BbCalibration *calibration)
{
    bb_json_newline(json);
    bb_field_object(json, key);
    bb_json_put_uint(json, "stated", calibration->stated);
    bb_json_put_uint(json, "not_stated", calibration->not_stated);
    bb_json_put_share(json, "calibration_error", bb_calibration_error(calibration));
    bb_field_array(json, "bins");
    for (guint i = 0; i < BB_CALIBRATION_BINS; i++) {
        const BbCalibrationBin *bin = &calibration->bins[i];
        double count = bin->count ? (double)bin->count : (double)NAN;
        bb_json_newline(json);
        bb_json_begin_object(json);
        bb_json_put_share(json, "from", bb_calibration_bound(i));
        bb_json_put_share(json, "to", bb_calibration_bound(i + 1));
        bb_json_put_uint(json, "count", bin->count);
        bb_json_put_share(json, "stated", bin->sum / count);
        bb_json_put_share(json, "right", (double)bin->right / count);
        bb_json_end_object(json);
    }
    bb_json_end_array(json);
    bb_json_end_object(json);
}
