// SPDX-License-Identifier: Apache-2.0
// The beginning of what was compressed, for protocols that compress their bodies: enough for a
// label. Each writes at most room bytes to out and returns how many: as far as the input goes, or
// as it makes sense.
#pragma once

#include <glib.h>

// A block of LZ4 (lz4_Block_format.md), without a frame around it.
gsize bb_unpack_lz4(guint8 *out, gsize room, const guint8 *data, gsize length);
// Snappy (format_description.txt), without framing.
gsize bb_unpack_snappy(guint8 *out, gsize room, const guint8 *data, gsize length);
// RFC 1950. Allocates and frees some 40 KiB.
gsize bb_unpack_zlib(guint8 *out, gsize room, const guint8 *data, gsize length);
// RFC 8878. Blocks (of up to 128 KiB) that are not all there give nothing. Allocates and frees some
// 250 KiB, and the window, which is refused beyond 2 MiB.
gsize bb_unpack_zstd(guint8 *out, gsize room, const guint8 *data, gsize length);
