// SPDX-License-Identifier: Apache-2.0
// In: the bytes of a .bbt file (bbt(5)), whole or damaged. Out: its whole blocks.
//
// The head of a block has a checksum of its own: where it is good, the block's size can be trusted
// even if its content is damaged. Where it is not, the next good head is looked for byte by byte.
#include "data/trace_bbt_blocks.h"

#include "data/crc32c.h"

#define SCAN_SIZE ((gsize)64 << 10)

struct BbBbtBlocks {
    BbInput *input;
    guint8 *buffer;
    gsize start, end, room; // buffer[start .. end) is read, but not yet taken
    bool at_end;            // of the input
    guint64 damaged, skipped;
    bool another; // the head of another file was met in place of a block
};

typedef struct {
    guint32 type, flags, size, checksum;
} BlockHead;

void bb_bbt_blocks_free(BbBbtBlocks *blocks)
{
    if (!blocks)
        return;
    g_free(blocks->buffer);
    g_free(blocks);
}

guint64 bb_bbt_blocks_damaged(const BbBbtBlocks *blocks)
{
    return blocks->damaged;
}

guint64 bb_bbt_blocks_skipped(const BbBbtBlocks *blocks)
{
    return blocks->skipped;
}

bool bb_bbt_blocks_met_another(const BbBbtBlocks *blocks)
{
    return blocks->another;
}

static gsize available(const BbBbtBlocks *blocks)
{
    return blocks->end - blocks->start;
}

// Sees to it that size bytes are there; fewer only at the end of the input.
static bool fill(BbBbtBlocks *blocks, gsize size, GError **error)
{
    if (available(blocks) >= size || blocks->at_end)
        return true;
    if (blocks->start > 0)
        memmove(blocks->buffer, blocks->buffer + blocks->start, available(blocks));
    blocks->end -= blocks->start;
    blocks->start = 0;
    if (size > blocks->room) {
        blocks->room = MAX(size, SCAN_SIZE);
        blocks->buffer = g_realloc(blocks->buffer, blocks->room);
    }
    gsize want = size - blocks->end;
    gssize got = bb_input_read(blocks->input, blocks->buffer + blocks->end, want, error);
    if (got < 0)
        return false;
    blocks->end += (gsize)got;
    blocks->at_end = (gsize)got < want;
    return true;
}

static void skip(BbBbtBlocks *blocks, gsize size)
{
    blocks->start += size;
    blocks->skipped += size;
}

bool bb_bbt_blocks_more(BbBbtBlocks *blocks)
{
    return fill(blocks, 1, NULL) && available(blocks) > 0;
}

static bool read_head(BbBbtBlocks *blocks, GError **error)
{
    if (!fill(blocks, BB_BBT_HEAD_SIZE, error))
        return false;
    if (available(blocks) < BB_BBT_HEAD_SIZE) {
        skip(blocks, available(blocks));
        return true;
    }
    const guint8 *at = blocks->buffer + blocks->start;
    BbBytes head = {.at = at + BB_TRACE_BBT_MAGIC_SIZE, .left = 8};
    guint16 version = bb_bytes_u16(&head), size = bb_bytes_u16(&head);
    if (bb_bytes_u32(&head) != bb_crc32c(0, at, BB_BBT_HEAD_SIZE - 4) || size < BB_BBT_HEAD_SIZE) {
        blocks->damaged++; // the version is unknown: blocks with good checksums are still ours
        skip(blocks, BB_TRACE_BBT_MAGIC_SIZE);
        return true;
    }
    if (version != BB_BBT_VERSION) {
        g_set_error(error, BB_TRACE_ERROR, BB_TRACE_ERROR_FORM,
                    "%s: .bbt of version %u, but this program reads version %u: use a newer "
                    "bbtrace, or `bbtrace cat` of the one that wrote it",
                    bb_input_name(blocks->input), version, BB_BBT_VERSION);
        return false;
    }
    if (!fill(blocks, size, error))
        return false;
    blocks->start += MIN(size, available(blocks));
    return true;
}

BbBbtBlocks *bb_bbt_blocks_open(BbInput *input, GError **error)
{
    BbBbtBlocks *blocks = g_new0(BbBbtBlocks, 1);
    blocks->input = input;
    if (read_head(blocks, error))
        return blocks;
    bb_bbt_blocks_free(blocks);
    return NULL;
}

static bool is_type(guint32 type)
{
    for (guint shift = 0; shift < 32; shift += 8) {
        if (!g_ascii_isupper((char)(type >> shift)))
            return false;
    }
    return true;
}

static bool parse_head(const guint8 *at, BlockHead *head)
{
    BbBytes bytes = {.at = at, .left = BB_BBT_BLOCK_HEAD_SIZE};
    head->type = bb_bytes_u32(&bytes);
    if (!is_type(head->type)) // most places of a scan end here
        return false;
    head->flags = bb_bytes_u32(&bytes);
    head->size = bb_bytes_u32(&bytes);
    head->checksum = bb_bytes_u32(&bytes);
    return head->size <= BB_BBT_BLOCK_MAX &&
           bb_bytes_u32(&bytes) == bb_crc32c(0, at, BB_BBT_BLOCK_HEAD_SIZE - 4);
}

// Steps to the next good head of a block, *head. Returns false at the end, where another file
// begins (its names are others), or when reading fails.
static bool find_head(BbBbtBlocks *blocks, BlockHead *head, GError **error)
{
    gsize ahead = BB_BBT_BLOCK_HEAD_SIZE;
    for (;;) {
        if (!fill(blocks, ahead, error))
            return false;
        if (available(blocks) < BB_BBT_BLOCK_HEAD_SIZE) {
            skip(blocks, available(blocks));
            return false;
        }
        while (available(blocks) >= BB_BBT_BLOCK_HEAD_SIZE) {
            const guint8 *at = blocks->buffer + blocks->start;
            blocks->another = memcmp(at, BB_TRACE_BBT_MAGIC, BB_TRACE_BBT_MAGIC_SIZE) == 0;
            if (blocks->another)
                return false;
            if (parse_head(at, head))
                return true;
            skip(blocks, 1);
        }
        ahead = SCAN_SIZE;
    }
}

bool bb_bbt_blocks_next(BbBbtBlocks *blocks, guint32 *type, BbBytes *bytes, GError **error)
{
    BlockHead head;
    while (find_head(blocks, &head, error)) {
        gsize size = BB_BBT_BLOCK_HEAD_SIZE + (gsize)head.size;
        if (!fill(blocks, size, error))
            return false;
        if (available(blocks) < size) {
            skip(blocks, available(blocks));
            return false;
        }
        const guint8 *content = blocks->buffer + blocks->start + BB_BBT_BLOCK_HEAD_SIZE;
        if (head.flags == 0 && bb_crc32c(0, content, head.size) == head.checksum) {
            blocks->start += size;
            *type = head.type;
            *bytes = (BbBytes){.at = content, .left = head.size};
            return true;
        }
        blocks->damaged++;
        skip(blocks, size);
    }
    return false;
}
