// SPDX-License-Identifier: Apache-2.0
// Capture files for tests, written byte by byte (libpcap is not asked): pcap in micro- or
// nanoseconds (draft-ietf-opsawg-pcap) and pcapng (draft-ietf-opsawg-pcapng), little-endian.
#pragma once

#include "tests/unit/test.h"

#include <stdbool.h>

typedef enum { PCAPFILE_MICRO, PCAPFILE_NANO, PCAPFILE_NG } PcapFileForm;

typedef struct PcapFile {
    GByteArray *bytes; // the file so far; tests may look at it, cut it, and spoil it
    PcapFileForm form;
    guint32 interface; // pcapng: that of the packets added from now on
} PcapFile;

static inline void pcapfile_u16(PcapFile *file, guint16 value)
{
    value = GUINT16_TO_LE(value);
    g_byte_array_append(file->bytes, (const guint8 *)&value, sizeof value);
}

static inline void pcapfile_u32(PcapFile *file, guint32 value)
{
    value = GUINT32_TO_LE(value);
    g_byte_array_append(file->bytes, (const guint8 *)&value, sizeof value);
}

static inline void pcapfile_begin_pcap(PcapFile *file, int link_type)
{
    pcapfile_u32(file, file->form == PCAPFILE_NANO ? 0xa1b23c4du : 0xa1b2c3d4u);
    pcapfile_u16(file, 2); // version 2.4
    pcapfile_u16(file, 4);
    pcapfile_u32(file, 0); // reserved
    pcapfile_u32(file, 0);
    pcapfile_u32(file, 262144); // snap length
    pcapfile_u32(file, (guint32)link_type);
}

// pcapng: describes one more interface. resolution is if_tsresol: 6 microseconds, 9 nanoseconds,
// ...
static inline void pcapfile_add_interface(PcapFile *file, int link_type, guint32 snaplen,
                                          guint8 resolution)
{
    const guint8 options[8] = {9, 0, 1, 0, resolution}; // if_tsresol, padded
    pcapfile_u32(file, 1);                              // interface description block
    pcapfile_u32(file, 32);
    pcapfile_u16(file, (guint16)link_type);
    pcapfile_u16(file, 0);
    pcapfile_u32(file, snaplen);
    g_byte_array_append(file->bytes, options, sizeof options);
    pcapfile_u32(file, 0); // end of options
    pcapfile_u32(file, 32);
}

static inline void pcapfile_begin_ng(PcapFile *file, int link_type)
{
    pcapfile_u32(file, 0x0a0d0d0au); // section header block
    pcapfile_u32(file, 28);
    pcapfile_u32(file, 0x1a2b3c4du);
    pcapfile_u16(file, 1); // version 1.0
    pcapfile_u16(file, 0);
    pcapfile_u32(file, G_MAXUINT32); // length of the section: not said
    pcapfile_u32(file, G_MAXUINT32);
    pcapfile_u32(file, 28);
    pcapfile_add_interface(file, link_type, 262144, 9);
}

// link_type: 1 is Ethernet (LINKTYPE_ETHERNET), 101 IP without a link header (LINKTYPE_RAW).
static inline PcapFile *pcapfile_new_form(PcapFileForm form, int link_type)
{
    PcapFile *file = g_new(PcapFile, 1);
    *file = (PcapFile){g_byte_array_new(), form, 0};
    if (form == PCAPFILE_NG)
        pcapfile_begin_ng(file, link_type);
    else
        pcapfile_begin_pcap(file, link_type);
    return file;
}

static inline PcapFile *pcapfile_new(bool nano, int link_type)
{
    return pcapfile_new_form(nano ? PCAPFILE_NANO : PCAPFILE_MICRO, link_type);
}

// Adds a packet of which `caplen` bytes were kept and that had `len` on the wire. Microseconds drop
// the last three digits of the time.
static inline void pcapfile_add(PcapFile *file, gint64 time_ns, const void *bytes, guint32 caplen,
                                guint32 len)
{
    static const guint8 zeros[4] = {0};
    guint32 padding = (4 - caplen % 4) % 4;
    if (file->form == PCAPFILE_NG) {
        pcapfile_u32(file, 6); // enhanced packet block
        pcapfile_u32(file, 32 + caplen + padding);
        pcapfile_u32(file, file->interface);
        pcapfile_u32(file, (guint32)((guint64)time_ns >> 32));
        pcapfile_u32(file, (guint32)time_ns);
    } else {
        gint64 rest = time_ns % 1000000000;
        pcapfile_u32(file, (guint32)(time_ns / 1000000000));
        pcapfile_u32(file, (guint32)(file->form == PCAPFILE_NANO ? rest : rest / 1000));
    }
    pcapfile_u32(file, caplen);
    pcapfile_u32(file, len);
    g_byte_array_append(file->bytes, bytes, caplen);
    if (file->form == PCAPFILE_NG) {
        g_byte_array_append(file->bytes, zeros, padding);
        pcapfile_u32(file, 32 + caplen + padding);
    }
}

static inline void pcapfile_save(const PcapFile *file, const char *path)
{
    ck_assert(g_file_set_contents(path, (const char *)file->bytes->data, file->bytes->len, NULL));
}

static inline void pcapfile_free(PcapFile *file)
{
    g_byte_array_unref(file->bytes);
    g_free(file);
}

G_DEFINE_AUTOPTR_CLEANUP_FUNC(PcapFile, pcapfile_free)
