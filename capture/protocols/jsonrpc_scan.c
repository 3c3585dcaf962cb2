// SPDX-License-Identifier: Apache-2.0
// In: bytes of JSON texts. Out: where messages begin and end, and what their members are.
#include "capture/protocols/jsonrpc_scan.h"

#include "data/text_hash.h"

#include <string.h>

#define HEADER_MAX 512u

typedef enum {
    MEMBER_OTHER,
    MEMBER_ID,
    MEMBER_METHOD,
    MEMBER_RESULT,
    MEMBER_ERROR,
    MEMBER_VERSION,
    MEMBER_CODE,
} Member;

static bool is_text(const BbJsonrpcScan *scan, const char *text)
{
    gsize length = strlen(text);
    return scan->text_length == length && memcmp(scan->text, text, length) == 0;
}

static Member member_of(const BbJsonrpcScan *scan)
{
    static const char *const names[] = {
        [MEMBER_OTHER] = "",        [MEMBER_ID] = "id",       [MEMBER_METHOD] = "method",
        [MEMBER_RESULT] = "result", [MEMBER_ERROR] = "error", [MEMBER_VERSION] = "jsonrpc",
    };
    if (scan->error_depth && scan->depth == scan->error_depth)
        return is_text(scan, "code") ? MEMBER_CODE : MEMBER_OTHER;
    if (scan->depth != scan->base + 1)
        return MEMBER_OTHER;
    for (guint i = 1; i < G_N_ELEMENTS(names); i++)
        if (is_text(scan, names[i]))
            return (Member)i;
    return MEMBER_OTHER;
}

static void begin_text(BbJsonrpcScan *scan)
{
    scan->hash = BB_TEXT_HASH_START;
    scan->text_length = 0;
}

static void add_text(BbJsonrpcScan *scan, guint8 byte)
{
    scan->hash = (scan->hash ^ byte) * BB_TEXT_HASH_PRIME;
    if (scan->text_length < sizeof scan->text)
        scan->text[scan->text_length] = (char)byte;
    scan->text_length++;
}

static bool is_own_value(const BbJsonrpcScan *scan)
{
    return scan->depth == scan->base + 1 || scan->member == MEMBER_CODE;
}

// A string (quoted), number or word is over: the value of the member that was named.
static void end_value(BbJsonrpcScan *scan, bool quoted)
{
    BbJsonrpcMessage *message = &scan->message;
    bool null = !quoted && is_text(scan, "null");
    gsize length = MIN(scan->text_length, sizeof scan->text);
    scan->is_value = false;
    if (!is_own_value(scan))
        return;
    switch ((Member)scan->member) {
    case MEMBER_ID:
        message->id = null ? 0 : MAX((scan->hash ^ quoted) * BB_TEXT_HASH_PRIME, 1);
        break;
    case MEMBER_METHOD:
        memcpy(message->method, scan->text, length);
        message->method_length = quoted ? (guint8)length : 0;
        break;
    case MEMBER_RESULT:
        message->has_result = true;
        break;
    case MEMBER_ERROR:
        message->has_error = !null;
        break;
    case MEMBER_VERSION:
        message->has_version = quoted && is_text(scan, "2.0");
        break;
    case MEMBER_CODE:
        length = MIN(length, sizeof message->code);
        memcpy(message->code, scan->text, length);
        message->code_length = quoted || null ? 0 : (guint8)length;
        break;
    case MEMBER_OTHER:
        break;
    }
    scan->member = MEMBER_OTHER;
}

static void end_scalar(BbJsonrpcScan *scan)
{
    if (scan->in_scalar)
        end_value(scan, false);
    scan->in_scalar = false;
}

static bool in_object(const BbJsonrpcScan *scan)
{
    return scan->objects >> scan->depth & 1;
}

static BbScanStep open_container(BbJsonrpcScan *scan, bool object)
{
    if (is_own_value(scan) && scan->member == MEMBER_RESULT)
        scan->message.has_result = true;
    if (is_own_value(scan) && scan->member == MEMBER_ERROR) {
        scan->message.has_error = true;
        scan->error_depth = scan->depth + 1;
    }
    scan->member = MEMBER_OTHER;
    scan->is_value = false;
    if (scan->depth == BB_JSONRPC_DEPTH - 1) {
        scan->deeper = 1;
        return BB_SCAN_ON;
    }
    scan->depth++;
    guint64 bit = G_GUINT64_CONSTANT(1) << scan->depth;
    scan->objects = object ? scan->objects | bit : scan->objects & ~bit;
    return BB_SCAN_ON;
}

static BbScanStep close_container(BbJsonrpcScan *scan, bool object)
{
    end_scalar(scan);
    if (in_object(scan) != object)
        return BB_SCAN_BAD;
    if (scan->depth == scan->error_depth)
        scan->error_depth = 0;
    scan->depth--;
    if (scan->depth == scan->base && object)
        return BB_SCAN_END;
    if (scan->depth == 0) { // the end of a batch
        scan->base = 0;
        return BB_SCAN_SPACE;
    }
    return BB_SCAN_ON;
}

static BbScanStep scan_string(BbJsonrpcScan *scan, guint8 byte)
{
    if (byte < ' ')
        return BB_SCAN_BAD; // RFC 8259, section 7
    if (!scan->escaped && byte == '"') {
        scan->in_string = false;
        if (scan->is_key)
            scan->member = (guint8)member_of(scan);
        else
            end_value(scan, true);
        return BB_SCAN_ON;
    }
    scan->escaped = !scan->escaped && byte == '\\';
    add_text(scan, byte);
    return BB_SCAN_ON;
}

static BbScanStep scan_scalar(BbJsonrpcScan *scan, guint8 byte)
{
    if (!g_ascii_isalnum(byte) && byte != '-' && byte != '+' && byte != '.')
        return BB_SCAN_BAD;
    if (in_object(scan) && !scan->is_value)
        return BB_SCAN_BAD; // a name is a string
    if (!scan->in_scalar)
        begin_text(scan);
    scan->in_scalar = true;
    add_text(scan, byte);
    return BB_SCAN_ON;
}

// So far inside of a value that nothing is of interest but where it ends.
static BbScanStep scan_deeper(BbJsonrpcScan *scan, guint8 byte)
{
    switch (byte) {
    case '"':
        scan->in_string = true;
        scan->is_key = false;
        begin_text(scan);
        return BB_SCAN_ON;
    case '{':
    case '[':
        if (scan->deeper == BB_JSONRPC_DEEPER_MAX)
            return BB_SCAN_BAD;
        scan->deeper++;
        return BB_SCAN_ON;
    case '}':
    case ']':
        scan->deeper--;
        return BB_SCAN_ON;
    default:
        return g_ascii_isalnum(byte) || (byte && strchr("-+.:, \t\r\n", byte)) ? BB_SCAN_ON
                                                                               : BB_SCAN_BAD;
    }
}

static BbScanStep scan_value(BbJsonrpcScan *scan, guint8 byte)
{
    switch (byte) {
    case '"':
        scan->in_string = true;
        scan->is_key = in_object(scan) && !scan->is_value;
        begin_text(scan);
        return BB_SCAN_ON;
    case '{':
    case '[':
        return open_container(scan, byte == '{');
    case '}':
    case ']':
        return close_container(scan, byte == '}');
    case ':':
        scan->is_value = true;
        return in_object(scan) ? BB_SCAN_ON : BB_SCAN_BAD;
    case ',':
        end_scalar(scan);
        scan->is_value = false;
        return BB_SCAN_ON;
    case ' ':
    case '\t':
    case '\r':
    case '\n':
        end_scalar(scan);
        return BB_SCAN_ON;
    default:
        return scan_scalar(scan, byte);
    }
}

// Lines up to an empty one.
static BbScanStep scan_header(BbJsonrpcScan *scan, guint8 byte)
{
    if ((byte < ' ' && byte != '\r' && byte != '\n') || byte > '~' || scan->header == HEADER_MAX)
        return BB_SCAN_BAD;
    scan->line_ends = byte == '\n' ? scan->line_ends + 1 : byte == '\r' ? scan->line_ends : 0;
    scan->header = scan->line_ends == 2 ? 0 : scan->header + 1;
    return BB_SCAN_ON;
}

// Between messages: of a stream, or of a batch.
static BbScanStep scan_between(BbJsonrpcScan *scan, guint8 byte)
{
    bool header = scan->line_ends == 2; // one came before
    bool batch = scan->base == 1;
    scan->line_ends = 0;
    switch (byte) {
    case '{':
        scan->message = (BbJsonrpcMessage){0};
        scan->member = MEMBER_OTHER;
        scan->error_depth = 0;
        (void)open_container(scan, true);
        return header ? BB_SCAN_ON : BB_SCAN_BEGIN;
    case '[':
        if (batch)
            return BB_SCAN_BAD;
        (void)open_container(scan, false);
        scan->base = 1;
        return header ? BB_SCAN_ON : BB_SCAN_SPACE;
    case ']':
        return batch ? close_container(scan, false) : BB_SCAN_BAD;
    case 'C':
        scan->header = 1;
        return batch || header ? BB_SCAN_BAD : BB_SCAN_BEGIN;
    case ',':
        return batch ? BB_SCAN_SPACE : BB_SCAN_BAD;
    case ' ':
    case '\t':
    case '\r':
    case '\n':
        return BB_SCAN_SPACE;
    case '\0': // what some write behind each text
    case BB_JSONRPC_SEPARATOR:
        return batch || header ? BB_SCAN_BAD : BB_SCAN_SPACE;
    default:
        return BB_SCAN_BAD;
    }
}

BbScanStep bb_jsonrpc_scan(BbJsonrpcScan *scan, guint8 byte)
{
    if (scan->header)
        return scan_header(scan, byte);
    if (scan->depth == scan->base)
        return scan_between(scan, byte);
    if (scan->in_string)
        return scan_string(scan, byte);
    return scan->deeper ? scan_deeper(scan, byte) : scan_value(scan, byte);
}
