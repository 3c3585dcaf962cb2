// SPDX-License-Identifier: Apache-2.0
// The table of decoders, in order of probing: those with the strictest signature first.
#include "capture/decoder.h"

const BbDecoder *const bb_decoders[] = {
    &bb_decoder_http,  &bb_decoder_dns,       &bb_decoder_postgres,
    &bb_decoder_redis, &bb_decoder_memcached, NULL,
};
