// SPDX-License-Identifier: Apache-2.0
// In: edges, one behind the other. Out: numbers of chains, from 0 in order of first appearance.
#include "diagnose/strands.h"

void bb_strands_init(BbStrands *strands)
{
    bb_tally_init(&strands->numbers);
    strands->strands = g_array_new(FALSE, TRUE, sizeof(BbEdgeChain));
}

void bb_strands_clear(BbStrands *strands)
{
    bb_tally_clear(&strands->numbers);
    g_clear_pointer(&strands->strands, g_array_unref);
}

guint32 bb_strands_find(BbStrands *strands, guint32 up, guint32 sender, guint32 receiver)
{
    guint64 *number = bb_tally_at(&strands->numbers, (BbTallyKey){up, sender, receiver});
    if (*number == 0) {
        guint32 hops = up == BB_STRAND_NONE ? 1 : bb_strand_at(strands, up)->hops + 1;
        BbEdgeChain strand = {.up = up, .sender = sender, .receiver = receiver, .hops = hops};
        g_array_append_val(strands->strands, strand);
        *number = strands->strands->len;
    }
    return (guint32)(*number - 1);
}
