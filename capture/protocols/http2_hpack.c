// SPDX-License-Identifier: Apache-2.0
// In: header blocks (RFC 7541). Out: method, path, status code, gRPC status, or that they cannot be
// known.
#include "capture/protocols/http2_hpack.h"

#include "capture/protocols/http2_grpc.h"

#include <nghttp2/nghttp2.h>
#include <string.h>

#define STATIC_ENTRIES 61u // RFC 7541, appendix A
#define ENTRY_BYTES 128u   // about what the library allocates for an entry, its text excepted
#define BASE_BYTES 2048u   // and for an inflater

// The placeholder: `from` with an empty value, index 37 of the static table, literal with
// incremental indexing (6.2.1). It is 36 bytes of the table's 4096 (4.1); hardly an entry is
// smaller, so that at least as many placeholders fit as there can be unknown entries.
static const guint8 placeholder[] = {0x40 | 37, 0};
#define PLACEHOLDERS (4096u / 36u)

struct BbHttp2Hpack {
    nghttp2_hd_inflater *inflater; // NULL: this block cannot be read any further
    bool filled;                   // with placeholders
    BbHttp2Fields fields;
};

// ---- fields -----------------------------------------------------------------------------------

static bool is_name(const nghttp2_nv *field, const char *name)
{
    return field->namelen == strlen(name) && memcmp(field->name, name, field->namelen) == 0;
}

static void note_method(BbHttp2Fields *fields, const nghttp2_nv *field)
{
    if (fields->method_length || field->valuelen > BB_HTTP2_METHOD_MAX)
        return;
    fields->method_length = (guint8)field->valuelen;
    memcpy(fields->method, field->value, field->valuelen);
}

static void note_target(BbHttp2Fields *fields, const nghttp2_nv *field, bool is_path)
{
    gsize length = field->valuelen;
    if (fields->has_path || length == 0 || (!is_path && fields->target_length))
        return;
    const guint8 *query = is_path ? memchr(field->value, '?', length) : NULL;
    if (query)
        length = (gsize)(query - field->value);
    fields->has_path = is_path;
    fields->target_length = (guint16)MIN(length, BB_HTTP2_TARGET_MAX);
    memcpy(fields->target, field->value, fields->target_length);
    if (length <= BB_HTTP2_TARGET_MAX)
        return;
    fields->target_length--;
    while (fields->target_length > 0 && fields->target[fields->target_length - 1] != '/')
        fields->target_length--;
    fields->target[fields->target_length++] = '*';
}

// RFC 9113, 8.3.2: three digits.
static void note_code(BbHttp2Fields *fields, const nghttp2_nv *field)
{
    guint code = 0;
    for (gsize i = 0; i < field->valuelen && field->valuelen == 3; i++)
        code = g_ascii_isdigit(field->value[i]) ? code * 10 + field->value[i] - '0' : 10000;
    if (code >= 100 && code < 1000)
        fields->code = (guint16)code;
}

static void note_type(BbHttp2Fields *fields, const nghttp2_nv *field)
{
    static const char grpc[] = "application/grpc";
    gsize length = sizeof grpc - 1;
    fields->has_type = true;
    // application/grpc+proto and the like; grpc-web is another protocol.
    fields->is_grpc = field->valuelen >= length && memcmp(field->value, grpc, length) == 0 &&
                      (field->valuelen == length || field->value[length] != '-');
}

static void note(BbHttp2Hpack *hpack, const nghttp2_nv *field)
{
    BbHttp2Fields *fields = &hpack->fields;
    if (is_name(field, ":method"))
        note_method(fields, field);
    else if (is_name(field, ":path"))
        note_target(fields, field, true);
    else if (is_name(field, ":authority"))
        note_target(fields, field, false);
    else if (is_name(field, ":status"))
        note_code(fields, field);
    else if (is_name(field, "content-type"))
        note_type(fields, field);
    else if (is_name(field, "grpc-status"))
        fields->grpc_status = (gint)bb_grpc_status_read(field->value, field->valuelen);
    else if (hpack->filled && is_name(field, "from"))
        fields->unknown = true;
}

// ---- blocks -----------------------------------------------------------------------------------

static void make_inflater(BbHttp2Hpack *hpack)
{
    if (nghttp2_hd_inflate_new(&hpack->inflater) != 0)
        g_error("no memory for a header table");
    // What the receiver's SETTINGS allow need not be known: size updates tell what the sender uses.
    nghttp2_hd_inflate_change_table_size(hpack->inflater, BB_HTTP2_TABLE_MAX);
}

static void drop_inflater(BbHttp2Hpack *hpack)
{
    g_clear_pointer(&hpack->inflater, nghttp2_hd_inflate_del);
}

// Returns false when the block makes no sense, or refers to what is beyond the table.
static bool inflate(BbHttp2Hpack *hpack, const guint8 *data, gsize length, bool final)
{
    for (;;) {
        nghttp2_nv field;
        int flags = 0;
        ssize_t read = nghttp2_hd_inflate_hd2(hpack->inflater, &field, &flags, data, length, final);
        if (read < 0)
            return false;
        data += read;
        length -= (gsize)read;
        if (flags & NGHTTP2_HD_INFLATE_EMIT)
            note(hpack, &field);
        else if (flags & NGHTTP2_HD_INFLATE_FINAL || length == 0)
            return true;
    }
}

static void reset_fields(BbHttp2Fields *fields)
{
    fields->code = fields->target_length = fields->method_length = 0;
    fields->grpc_status = BB_HTTP2_NO_GRPC_STATUS;
    fields->has_type = fields->is_grpc = fields->unknown = fields->has_path = false;
}

static void fill(BbHttp2Hpack *hpack)
{
    make_inflater(hpack);
    for (guint i = 0; i < PLACEHOLDERS; i++)
        inflate(hpack, placeholder, sizeof placeholder, false);
    inflate(hpack, placeholder, 0, true);
    nghttp2_hd_inflate_end_headers(hpack->inflater);
    hpack->filled = true;
}

BbHttp2Hpack *bb_http2_hpack_new(bool whole)
{
    BbHttp2Hpack *hpack = g_new0(BbHttp2Hpack, 1);
    if (whole)
        make_inflater(hpack);
    return hpack;
}

void bb_http2_hpack_free(BbHttp2Hpack *hpack)
{
    if (!hpack)
        return;
    drop_inflater(hpack);
    g_free(hpack);
}

void bb_http2_hpack_lose(BbHttp2Hpack *hpack)
{
    drop_inflater(hpack);
    hpack->fields.unknown = true;
}

void bb_http2_hpack_begin(BbHttp2Hpack *hpack)
{
    if (!hpack->inflater)
        fill(hpack);
    reset_fields(&hpack->fields);
}

void bb_http2_hpack_feed(BbHttp2Hpack *hpack, const guint8 *data, gsize length)
{
    if (hpack->inflater && !inflate(hpack, data, length, false))
        bb_http2_hpack_lose(hpack);
}

const BbHttp2Fields *bb_http2_hpack_end(BbHttp2Hpack *hpack)
{
    if (hpack->inflater && !inflate(hpack, placeholder, 0, true))
        bb_http2_hpack_lose(hpack);
    if (hpack->inflater)
        nghttp2_hd_inflate_end_headers(hpack->inflater);
    return &hpack->fields;
}

gsize bb_http2_hpack_held(const BbHttp2Hpack *hpack)
{
    if (!hpack->inflater)
        return sizeof *hpack;
    gsize entries = nghttp2_hd_inflate_get_num_table_entries(hpack->inflater) - STATIC_ENTRIES;
    return sizeof *hpack + BASE_BYTES + entries * ENTRY_BYTES +
           nghttp2_hd_inflate_get_dynamic_table_size(hpack->inflater);
}
