// SPDX-License-Identifier: Apache-2.0
// FastCGI 1.0: records (section 3.3) and streams of name-value pairs (section 3.4).
#pragma once

#include "capture/decoder.h"
#include "capture/protocols/cgi_vars.h"

#define BB_FASTCGI_HEAD 8u

typedef enum {
    BB_FASTCGI_BEGIN_REQUEST = 1,
    BB_FASTCGI_ABORT_REQUEST,
    BB_FASTCGI_END_REQUEST,
    BB_FASTCGI_PARAMS,
    BB_FASTCGI_STDIN,
    BB_FASTCGI_STDOUT,
    BB_FASTCGI_STDERR,
    BB_FASTCGI_DATA,
    BB_FASTCGI_GET_VALUES,
    BB_FASTCGI_GET_VALUES_RESULT,
    BB_FASTCGI_UNKNOWN_TYPE,
} BbFastcgiType;

typedef struct BbFastcgiRecord {
    BbFastcgiType type;
    guint16 id;    // of the request, 0: of the connection
    gsize content; // bytes after the header
    gsize length;  // of it all, with padding
} BbFastcgiRecord;

// data has BB_FASTCGI_HEAD bytes at least. False: it is no record.
bool bb_fastcgi_record_read(BbFastcgiRecord *record, const guint8 *data);
// Whether its type is one of that direction.
bool bb_fastcgi_record_fits(const BbFastcgiRecord *record, BbDirection direction);
// Whether bytes are the first of a dialog, or of a reply: as in BbDecoder.
BbMatch bb_fastcgi_match(const guint8 *data, gsize length);

// The stream of PARAMS, which is read as it comes.
typedef struct BbFastcgiParams {
    BbCgiVars vars;
    guint32 left[2];    // bytes of name and value that are still to come
    guint32 number;     // length being read
    guint8 lengths;     // of the pair that are read: 0 to 2
    guint8 number_left; // bytes of number still to come
    guint8 name_length;
    bool broken; // bytes were missed: what comes cannot be read
    guint8 name[BB_CGI_NAME];
} BbFastcgiParams;

void bb_fastcgi_params_feed(BbFastcgiParams *params, const guint8 *data, gsize length);
