// SPDX-License-Identifier: Apache-2.0
// The blocks of a .bbt file (bbt(5), BLOCKS): reads the whole ones, steps over the others.
// Memory: a buffer of a block, at most BB_BBT_BLOCK_MAX. Inside data/ only.
#pragma once

#include "data/bytes.h"
#include "data/trace_bbt.h"

typedef struct BbBbtBlocks BbBbtBlocks;

// Reads from input, which is lent, behind the head of the file. Fails where the head names a
// version that we do not know.
BbBbtBlocks *bb_bbt_blocks_open(BbInput *input, GError **error);
void bb_bbt_blocks_free(BbBbtBlocks *blocks);

// Reads the next whole block: its type, and its bytes, lent until the next call.
// Returns false at the end, or with an error when reading fails.
bool bb_bbt_blocks_next(BbBbtBlocks *blocks, guint32 *type, BbBytes *bytes, GError **error);

// Blocks that were stepped over because they are damaged, or have flags that we do not know.
guint64 bb_bbt_blocks_damaged(const BbBbtBlocks *blocks);
// Bytes of these, and of what was no block at all.
guint64 bb_bbt_blocks_skipped(const BbBbtBlocks *blocks);
// Did the end come because the head of another .bbt stands where a block should?
bool bb_bbt_blocks_met_another(const BbBbtBlocks *blocks);
// Do more bytes come?
bool bb_bbt_blocks_more(BbBbtBlocks *blocks);
