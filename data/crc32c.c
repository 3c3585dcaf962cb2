// SPDX-License-Identifier: Apache-2.0
// In: bytes. Out: their CRC-32C.
// Eight bytes a step by eight tables ("slicing-by-8"; Kounavis and Berry, A Systematic Approach to
// Building High Performance Software-Based CRC Generators, ISCC 2005), or by the SSE 4.2
// instruction.
#include "data/crc32c.h"

#include <string.h>

#if defined(__x86_64__)
#include <nmmintrin.h>
#endif

// A CRC is linear over bits: an entry is the exclusive or of those of its index's bits, so that
// eight values make a table of 256.
#define BIT(i, bit, value) (((i) >> (bit)&1u) ? (value) : 0u)
#define ENTRY(i, b0, b1, b2, b3, b4, b5, b6, b7)                                     \
    (BIT(i, 0, b0) ^ BIT(i, 1, b1) ^ BIT(i, 2, b2) ^ BIT(i, 3, b3) ^ BIT(i, 4, b4) ^ \
     BIT(i, 5, b5) ^ BIT(i, 6, b6) ^ BIT(i, 7, b7))
#define ENTRIES_4(i, ...)                                                              \
    ENTRY(i, __VA_ARGS__), ENTRY((i) + 1u, __VA_ARGS__), ENTRY((i) + 2u, __VA_ARGS__), \
        ENTRY((i) + 3u, __VA_ARGS__)
#define ENTRIES_16(i, ...)                                                                         \
    ENTRIES_4(i, __VA_ARGS__), ENTRIES_4((i) + 4u, __VA_ARGS__), ENTRIES_4((i) + 8u, __VA_ARGS__), \
        ENTRIES_4((i) + 12u, __VA_ARGS__)
#define ENTRIES_64(i, ...)                                          \
    ENTRIES_16(i, __VA_ARGS__), ENTRIES_16((i) + 16u, __VA_ARGS__), \
        ENTRIES_16((i) + 32u, __VA_ARGS__), ENTRIES_16((i) + 48u, __VA_ARGS__)
#define SLICE(...)                                                                                \
    {                                                                                             \
        ENTRIES_64(0u, __VA_ARGS__), ENTRIES_64(64u, __VA_ARGS__), ENTRIES_64(128u, __VA_ARGS__), \
            ENTRIES_64(192u, __VA_ARGS__)                                                         \
    }

// slices[k][i]: the byte i, followed by k bytes of zero. Each line: i = 1, 2, 4, ..., 128.
static const guint32 slices[8][256] = {
    SLICE(0xf26b8303u, 0xe13b70f7u, 0xc79a971fu, 0x8ad958cfu, 0x105ec76fu, 0x20bd8edeu, 0x417b1dbcu,
          0x82f63b78u),
    SLICE(0x13a29877u, 0x274530eeu, 0x4e8a61dcu, 0x9d14c3b8u, 0x3fc5f181u, 0x7f8be302u, 0xff17c604u,
          0xfbc3faf9u),
    SLICE(0xa541927eu, 0x4f6f520du, 0x9edea41au, 0x38513ec5u, 0x70a27d8au, 0xe144fb14u, 0xc76580d9u,
          0x8b277743u),
    SLICE(0xdd45aab8u, 0xbf672381u, 0x7b2231f3u, 0xf64463e6u, 0xe964b13du, 0xd725148bu, 0xaba65fe7u,
          0x52a0c93fu),
    SLICE(0x38116facu, 0x7022df58u, 0xe045beb0u, 0xc5670b91u, 0x8f2261d3u, 0x1ba8b557u, 0x37516aaeu,
          0x6ea2d55cu),
    SLICE(0xef306b19u, 0xdb8ca0c3u, 0xb2f53777u, 0x6006181fu, 0xc00c303eu, 0x85f4168du, 0x0e045bebu,
          0x1c08b7d6u),
    SLICE(0x68032cc8u, 0xd0065990u, 0xa5e0c5d1u, 0x4e2dfd53u, 0x9c5bfaa6u, 0x3d5b83bdu, 0x7ab7077au,
          0xf56e0ef4u),
    SLICE(0x493c7d27u, 0x9278fa4eu, 0x211d826du, 0x423b04dau, 0x847609b4u, 0x0d006599u, 0x1a00cb32u,
          0x34019664u),
};

static guint32 load_le32(const guint8 *at)
{
    guint32 value;
    memcpy(&value, at, sizeof value);
    return GUINT32_FROM_LE(value);
}

guint32 bb_crc32c_table(guint32 crc, gconstpointer bytes, gsize size)
{
    const guint8 *at = bytes;
    crc = ~crc;
    for (; size >= 8; at += 8, size -= 8) {
        guint32 low = load_le32(at) ^ crc;
        guint32 high = load_le32(at + 4);
        crc = slices[7][low & 0xff] ^ slices[6][low >> 8 & 0xff] ^ slices[5][low >> 16 & 0xff] ^
              slices[4][low >> 24] ^ slices[3][high & 0xff] ^ slices[2][high >> 8 & 0xff] ^
              slices[1][high >> 16 & 0xff] ^ slices[0][high >> 24];
    }
    for (; size > 0; at++, size--)
        crc = crc >> 8 ^ slices[0][(crc ^ *at) & 0xff];
    return ~crc;
}

#if defined(__x86_64__)
__attribute__((target("sse4.2"))) static guint32 crc32c_sse42(guint32 crc, const guint8 *at,
                                                              gsize size)
{
    guint64 state = (guint32)~crc;
    for (; size >= 8; at += 8, size -= 8) {
        guint64 word;
        memcpy(&word, at, sizeof word);
        state = _mm_crc32_u64(state, word);
    }
    crc = (guint32)state;
    for (; size > 0; at++, size--)
        crc = _mm_crc32_u8(crc, *at);
    return ~crc;
}
#endif

guint32 bb_crc32c(guint32 crc, gconstpointer bytes, gsize size)
{
#if defined(__x86_64__)
    if (__builtin_cpu_supports("sse4.2"))
        return crc32c_sse42(crc, bytes, size);
#endif
    return bb_crc32c_table(crc, bytes, size);
}
