// SPDX-License-Identifier: Apache-2.0
// The table of decoders, in order of probing: those with the strictest signature first.
#include "capture/decoder.h"

#include <string.h>

const BbDecoder *const bb_decoders[] = {
    &bb_decoder_http,  &bb_decoder_dns,       &bb_decoder_postgres,
    &bb_decoder_redis, &bb_decoder_memcached, NULL,
};

const BbDecoder *bb_decoder_find(const char *name)
{
    for (guint i = 0; bb_decoders[i]; i++)
        if (strcmp(bb_decoders[i]->name, name) == 0)
            return bb_decoders[i];
    return strcmp(name, bb_decoder_turns.name) == 0 ? &bb_decoder_turns : NULL;
}
