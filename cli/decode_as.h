// SPDX-License-Identifier: Apache-2.0
// What --decode says: at this server port, this protocol; at this UDP port, this tunnel.
#pragma once

#include "capture/decoder.h"
#include "capture/layers/layer.h"

typedef struct BbDecodings {
    GArray *protocols; // of BbDecodeAs
    GArray *tunnels;   // of BbTunnelAt; they lend their names from the words
} BbDecodings;

// Reads "PORT=PROTOCOL" words, which end with NULL (words may be NULL). Returns false with an error
// at the first that is none.
bool bb_decodings_parse(BbDecodings *decodings, const char *const *words, GError **error);
void bb_decodings_clear(BbDecodings *decodings);
