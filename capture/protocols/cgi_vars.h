// SPDX-License-Identifier: Apache-2.0
// The meta-variables of a request (RFC 3875, section 4.1) as gateways hand them on: what the label
// and the end of the body need.
#pragma once

#include "capture/dialog.h"

#define BB_CGI_NAME 24u // bytes of a variable's name that are looked at
#define BB_CGI_PATH 192u

typedef enum { BB_CGI_NONE, BB_CGI_METHOD, BB_CGI_TARGET, BB_CGI_LENGTH } BbCgiVar;

typedef struct BbCgiVars {
    BbCgiVar under_way; // whose value comes
    guint8 rank;        // of the variable that path is of
    bool query;         // the rest of path's value is
    bool has_length;
    guint64 length; // of the body
    guint8 method_length, path_length;
    guint8 method[24], path[BB_CGI_PATH];
} BbCgiVars;

// A variable of that name begins.
void bb_cgi_vars_name(BbCgiVars *vars, const guint8 *name, gsize length);
// More of its value.
void bb_cgi_vars_value(BbCgiVars *vars, const guint8 *value, gsize length);
// REQUEST_METHOD with the path of REQUEST_URI, SCRIPT_NAME or PATH_INFO, as of HTTP; `?` for what
// is not known.
guint32 bb_cgi_vars_label(const BbCgiVars *vars, BbDialog *dialog);
// How a request of text names them: capitals, digits and underlines.
bool bb_cgi_vars_is_name(const guint8 *name, gsize length);
