// SPDX-License-Identifier: Apache-2.0
// CRC-32C (Castagnoli; reflected polynomial 0x82f63b78, RFC 3720 appendix B.4), the checksum of the
// blocks of a .bbt file.
#pragma once

#include <glib.h>

// The checksum of bytes that follow others whose checksum is crc; crc = 0 to begin.
guint32 bb_crc32c(guint32 crc, gconstpointer bytes, gsize size);

// The same by tables alone, on processors without the instruction for it. The oracle of the other.
guint32 bb_crc32c_table(guint32 crc, gconstpointer bytes, gsize size);
