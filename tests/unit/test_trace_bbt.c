// SPDX-License-Identifier: Apache-2.0
// The .bbt file: what bbt(5) says by hand is read; cut or damaged anywhere, what is whole comes
// out, in order, and the rest is counted.
#include "data/crc32c.h"
#include "tests/unit/traces.h"

#define BLOCK_HEAD 20

static void put(GByteArray *out, guint64 value, guint size)
{
    for (guint i = 0; i < size; i++) {
        guint8 byte = (guint8)(value >> 8 * i);
        g_byte_array_append(out, &byte, 1);
    }
}

static void put_text(GByteArray *out, const char *text)
{
    g_byte_array_append(out, (const guint8 *)text, (guint)strlen(text) + 1);
}

static void put_head(GByteArray *out, guint version, guint size)
{
    guint begin = out->len;
    g_byte_array_append(out,
                        (const guint8 *)"\x89"
                                        "BBT\r\n\x1a\n",
                        8);
    put(out, version, 2);
    put(out, size, 2);
    put(out, bb_crc32c(0, out->data + begin, 12), 4);
    for (guint i = 16; i < size; i++)
        put(out, 0xee, 1);
}

static void put_block(GByteArray *out, const char *type, guint flags, const GByteArray *content)
{
    guint begin = out->len;
    g_byte_array_append(out, (const guint8 *)type, 4);
    put(out, flags, 4);
    put(out, content->len, 4);
    put(out, bb_crc32c(0, content->data, content->len), 4);
    put(out, bb_crc32c(0, out->data + begin, 16), 4);
    g_byte_array_append(out, content->data, content->len);
}

// A column whose planes are plain. bytes: planes[i] of width * count.
static void put_column(GByteArray *out, guint id, guint transform, guint width, guint64 base,
                       guint64 start, const char *planes, guint count)
{
    put(out, id, 1);
    put(out, transform, 1);
    put(out, width, 1);
    put(out, 0, 1);
    put(out, width * (4 + count), 4);
    put(out, base, 8);
    put(out, start, 8);
    for (guint plane = 0; plane < width; plane++) {
        put(out, count, 4);
        g_byte_array_append(out, (const guint8 *)planes + plane * count, count);
    }
}

static void put_list(GByteArray *out, guint id, const char *texts, guint size)
{
    put(out, id, 1);
    put(out, 0, 3);
    put(out, 4 + size, 4);
    put(out, 0, 8);
    put(out, size, 8);
    put(out, size, 4);
    g_byte_array_append(out, (const guint8 *)texts, size);
}

static void put_names(GByteArray *out, guint first, const char *texts, guint size)
{
    g_autoptr(GByteArray) block = g_byte_array_new();
    put(block, first, 4);
    put_list(block, 22, texts, size);
    put_block(out, "NAME", 0, block);
}

static void put_done(GByteArray *out, guint64 total)
{
    g_autoptr(GByteArray) block = g_byte_array_new();
    put(block, total, 8);
    put_block(out, "DONE", 0, block);
}

static GByteArray *messages_head(guint64 first, guint rows, guint classes)
{
    GByteArray *block = g_byte_array_new();
    put(block, first, 8);
    put(block, rows, 4);
    put(block, classes, 4);
    return block;
}

static Messages *read_array(const GByteArray *file)
{
    return read_bytes(file->data, file->len);
}

static void check_says(const Messages *got, const char *says)
{
    ck_assert_ptr_null(got->error);
    ck_assert_ptr_nonnull(got->damage);
    ck_assert_msg(strstr(got->damage, says) != NULL, "%s", got->damage);
}

// ---- by hand ------------------------------------------------------------------------------------

START_TEST(written_by_hand)
{
    g_autoptr(GByteArray) file = g_byte_array_new();
    put_head(file, 1, 20); // a longer head, of a later version 1
    put_names(file, 1, "a\0b\0GET /", 10);
    g_autoptr(GByteArray) later = g_byte_array_new();
    put_text(later, "unknown types are stepped over");
    put_block(file, "XTRA", 0, later);
    g_autoptr(GByteArray) block = messages_head(0, 3, 2);
    put_column(block, 1, 1, 1, 10, 990, "\0\5\1", 3);         // time: 1000, 1015, 1026
    put_column(block, 2, 2, 1, (guint64)-5, 0, "\0\1\12", 3); // recv: none, 1010, 1030
    put_column(block, 4, 0, 2, 256, 0, "\0\1\2\0\0\1", 3);    // bytes: 256, 257, 514
    put_column(block, 5, 0, 0, 7, 0, "", 3);                  // id: 7
    put_column(block, 8, 0, 1, 0, 0, "\0\1\0", 3);            // class
    put_column(block, 9, 0, 0, 1, 0, "", 3);                  // connection
    put_column(block, 10, 3, 2, 0, 0, "\1\2\0\0\1\0", 3);     // offset: 1, 258, 257
    put_column(block, 200, 9, 200, 0, 0, "", 0);              // of a later version
    put_column(block, 11, 0, 1, 0, 0, "\0\5", 2);             // call; return at receiver
    put_column(block, 12, 0, 1, 0, 0, "\1\2", 2);             // sender a, b
    put_column(block, 13, 0, 1, 0, 0, "\2\1", 2);             // receiver b, a
    put_column(block, 14, 2, 1, 3, 0, "\1\0", 2);             // op GET /, none
    put_column(block, 18, 0, 0, 3, 0, "", 2);                 // ids are plain numbers
    put_list(block, 21, "x-y", 4);
    put_block(file, "MESG", 0, block);
    g_autoptr(GByteArray) losses = g_byte_array_new();
    put(losses, 4, 8);
    put_text(losses, "drops");
    put(losses, 2, 8);
    put_text(losses, "drops");
    put_block(file, "LOSS", 0, losses);
    put_done(file, 3);

    g_autoptr(Messages) got = read_array(file);
    g_autoptr(Messages) text = read_text(
        "# bbtrace text 1\n"
        "0.000001 CALL_SENT a b 7 bytes=256 conn=x-y off=1 op=GET%20/\n"
        "0.000001015 RET_RECV b a 7 recv=0.00000101 bytes=257 conn=x-y off=258\n"
        "0.000001026 CALL_SENT a b 7 recv=0.00000103 bytes=514 conn=x-y off=257 op=GET%20/\n");
    check_same(text, got, true);
    ck_assert_ptr_null(got->damage);
    ck_assert_uint_eq(bb_counters_get(got->counters, "drops"), 6);
}
END_TEST

START_TEST(versions)
{
    g_autoptr(GByteArray) file = g_byte_array_new();
    put_head(file, 2, 16);
    g_autoptr(Messages) newer = read_array(file);
    ck_assert(g_error_matches(newer->error, BB_TRACE_ERROR, BB_TRACE_ERROR_FORM));
    ck_assert_ptr_nonnull(strstr(newer->error->message, ".bbt of version 2, but"));
    file->data[8] = 3; // its checksum is wrong now: damage, not a version
    g_autoptr(Messages) damaged = read_array(file);
    check_says(damaged, "0 messages recovered");
}
END_TEST

// ---- contents that make no sense ----------------------------------------------------------------

// A file of one message that a block of a kind of nonsense follows.
static Messages *read_with(const char *type, const GByteArray *content)
{
    g_autoptr(GByteArray) file = g_byte_array_new();
    put_head(file, 1, 16);
    g_autoptr(GByteArray) good = messages_head(0, 1, 1);
    put_column(good, 1, 0, 0, 1000, 0, "", 1);
    put_block(file, "MESG", 0, good);
    put_block(file, type, 0, content);
    put_done(file, 1);
    return read_array(file);
}

static void check_nonsense(const char *type, GByteArray *content)
{
    g_autoptr(GByteArray) taken = content;
    g_autoptr(Messages) got = read_with(type, taken);
    ck_assert_uint_eq(got->messages->len, 1);
    check_says(got, "1 message recovered; 1 damaged block skipped");
}

static GByteArray *one_column(guint rows, guint classes, guint id, guint transform, guint width,
                              const char *planes)
{
    GByteArray *block = messages_head(1, rows, classes);
    put_column(block, 1, 0, 0, 1000, 0, "", rows);
    put_column(block, id, transform, width, 0, 0, planes, id > 10 ? classes : rows);
    return block;
}

START_TEST(blocks_of_messages_without_sense)
{
    check_nonsense("MESG", g_byte_array_new());
    check_nonsense("MESG", messages_head(1, 1, 1));                 // no time
    check_nonsense("MESG", one_column(0, 0, 4, 0, 0, ""));          // no rows
    check_nonsense("MESG", one_column(2, 0, 4, 0, 0, ""));          // no classes
    check_nonsense("MESG", one_column(1, 2, 4, 0, 0, ""));          // more classes than rows
    check_nonsense("MESG", one_column(65537, 1, 4, 0, 0, ""));      // too many rows
    check_nonsense("MESG", one_column(1, 1, 1, 0, 0, ""));          // a column twice
    check_nonsense("MESG", one_column(1, 1, 4, 4, 0, ""));          // unknown transform
    check_nonsense("MESG", one_column(1, 1, 4, 3, 0, ""));          // stream, but no offset
    check_nonsense("MESG", one_column(1, 1, 4, 0, 9, "123456789")); // too wide
    GByteArray *early = messages_head(0, 1, 1);                     // not the next message
    put_column(early, 1, 0, 0, 1000, 0, "", 1);
    check_nonsense("MESG", early);
    GByteArray *short_plane = one_column(2, 1, 4, 0, 1, "12");
    short_plane->data[short_plane->len - 6] = 1; // of two
    check_nonsense("MESG", short_plane);
    GByteArray *cut = one_column(2, 1, 4, 0, 1, "12");
    g_byte_array_set_size(cut, cut->len - 1);
    check_nonsense("MESG", cut);
    GByteArray *no_nul = messages_head(1, 1, 1);
    put_column(no_nul, 1, 0, 0, 1000, 0, "", 1);
    put_list(no_nul, 21, "abc", 3);
    check_nonsense("MESG", no_nul);
    GByteArray *many_conns = messages_head(1, 1, 1);
    put_column(many_conns, 1, 0, 0, 1000, 0, "", 1);
    put_list(many_conns, 21, "a\0b", 4);
    check_nonsense("MESG", many_conns);
}
END_TEST

START_TEST(other_blocks_without_sense)
{
    check_nonsense("DONE", g_byte_array_new());
    GByteArray *few = g_byte_array_new();
    put(few, 0, 8);
    check_nonsense("DONE", few); // fewer messages than there were
    GByteArray *counter = g_byte_array_new();
    put(counter, 1, 8);
    put_text(counter, "Upper Case");
    check_nonsense("LOSS", counter);
    GByteArray *open = g_byte_array_new();
    put(open, 1, 8);
    put(open, 'a', 1);
    check_nonsense("LOSS", open);
    check_nonsense("NAME", g_byte_array_new());
    const char *const lists[] = {"\0", "a\0\0"};
    for (guint i = 0; i < G_N_ELEMENTS(lists); i++) {
        GByteArray *names = g_byte_array_new();
        put(names, 1, 4);
        put_list(names, 22, lists[i], i ? 3 : 1); // an empty name
        check_nonsense("NAME", names);
    }
    GByteArray *far = g_byte_array_new();
    put(far, 0x3ffffff, 4);
    put_list(far, 22, "a", 2);
    check_nonsense("NAME", far);
    GByteArray *zero = g_byte_array_new();
    put(zero, 0, 4);
    put_list(zero, 22, "a", 2);
    check_nonsense("NAME", zero);
}
END_TEST

// Rows that make no sense are lost; others of their block are not.
static void check_lost_rows(guint id, guint transform, guint64 base, const char *plane, guint count)
{
    g_autoptr(GByteArray) file = g_byte_array_new();
    put_head(file, 1, 16);
    g_autoptr(GByteArray) block = messages_head(0, 3, 3);
    put_column(block, 1, 0, 0, 1000, 0, "", 3);
    put_column(block, id, transform, 1, base, 0, plane, 3);
    if (id != 8)
        put_column(block, 8, 0, 1, 0, 0, "\0\1\2", 3);
    put_block(file, "MESG", 0, block);
    put_done(file, 3);
    g_autoptr(Messages) got = read_array(file);
    g_autofree char *says = g_strdup_printf("%u message%s recovered; %u known to be lost",
                                            3 - count, count == 2 ? "" : "s", count);
    check_says(got, says);
    ck_assert_uint_eq(got->messages->len, 3 - count);
}

START_TEST(rows_without_sense)
{
    check_lost_rows(2, 2, (guint64)-1002, "\0\1\5", 1);      // a recv before 1970
    check_lost_rows(3, 0, (guint64)G_MAXINT64, "\0\0\0", 3); // an end after 2262
    check_lost_rows(8, 0, 0, "\0\3\2", 1);                   // no such class
    check_lost_rows(9, 0, 0, "\0\1\0", 1);                   // no such connection
    check_lost_rows(9, 0, (guint64)-1, "\0\0\1", 2);
    check_lost_rows(11, 0, 0, "\3\1\7", 2); // no such kind
    check_lost_rows(11, 0, 0, "\6\1\xff", 1);
    check_lost_rows(12, 0, 0, "\0\1\0", 1); // no such name
    check_lost_rows(17, 0, 0, "\0\1\2", 2);
    check_lost_rows(18, 0, 0, "\3\4\2", 1); // no such stem
    check_lost_rows(20, 0, 0xfffffffe, "\0\1\2", 3);
}
END_TEST

// ---- cut and damaged anywhere -------------------------------------------------------------------

static Messages *small_trace(void)
{
    return random_messages(77, 12);
}

// Are those of got some of all, in their order?
static bool is_part(const Messages *all, const Messages *got)
{
    guint at = 0;
    for (guint i = 0; i < got->messages->len; i++) {
        while (at < all->messages->len &&
               !same_message(all, message_at(all, at), got, message_at(got, i), true))
            at++;
        if (at++ == all->messages->len)
            return false;
    }
    return true;
}

START_TEST(cut_at_every_byte)
{
    g_autoptr(Messages) all = small_trace();
    gsize size = 0;
    g_autofree char *bytes = write_bytes(BB_TRACE_BBT, all, 3, &size);
    guint before = 0;
    for (gsize cut = 0; cut < size; cut++) {
        g_autoptr(Messages) got = read_bytes(bytes, cut);
        check_says(got, "no end mark");
        ck_assert(is_part(all, got));
        g_autofree char *says = g_strdup_printf(" %u message%s recovered", got->messages->len,
                                                got->messages->len == 1 ? "" : "s");
        check_says(got, says);
        ck_assert_uint_ge(got->messages->len, before); // more bytes, no fewer messages
        ck_assert_uint_le(got->messages->len, before + 3);
        before = got->messages->len;
    }
    ck_assert_uint_eq(before, all->messages->len);
}
END_TEST

START_TEST(every_byte_changed)
{
    g_autoptr(Messages) all = small_trace();
    gsize size = 0;
    g_autofree char *bytes = write_bytes(BB_TRACE_BBT, all, 3, &size);
    const char masks[] = {1, 0x20, (char)0x80, (char)0xff};
    for (gsize at = 0; at < size; at++) {
        char mask = masks[at % G_N_ELEMENTS(masks)];
        bytes[at] ^= mask;
        g_autoptr(Messages) got = read_bytes(bytes, size);
        if (at < 8) {
            ck_assert(g_error_matches(got->error, BB_TRACE_ERROR, BB_TRACE_ERROR_FORM));
        } else {
            ck_assert_ptr_null(got->error);
            ck_assert_ptr_nonnull(got->damage);
            ck_assert(is_part(all, got));
        }
        bytes[at] ^= mask;
    }
}
END_TEST

// Where the blocks of that type begin.
static GArray *find_blocks(const char *bytes, gsize size, const char *type)
{
    GArray *found = g_array_new(FALSE, FALSE, sizeof(gsize));
    for (gsize at = 16; at < size;) {
        const guint8 *head = (const guint8 *)bytes + at;
        if (memcmp(head, type, 4) == 0)
            g_array_append_val(found, at);
        at += BLOCK_HEAD + (gsize)(head[8] | head[9] << 8 | head[10] << 16);
    }
    return found;
}

START_TEST(a_lost_block_of_messages)
{
    g_autoptr(Messages) all = random_messages(5, 100);
    gsize size = 0;
    g_autofree char *bytes = write_bytes(BB_TRACE_BBT, all, 10, &size);
    g_autoptr(GArray) blocks = find_blocks(bytes, size, "MESG");
    ck_assert_uint_eq(blocks->len, 10);
    // In the content; in the size, so that the next block must be looked for; in the last one.
    const gsize places[] = {BLOCK_HEAD + 3, 8, 9, 16};
    for (guint i = 0; i < G_N_ELEMENTS(places); i++) {
        gsize at = g_array_index(blocks, gsize, i == 3 ? 9 : 4) + places[i];
        bytes[at] ^= 0x10;
        g_autoptr(Messages) got = read_bytes(bytes, size);
        check_says(got, "90 messages recovered; 10 known to be lost");
        check_says(got, i == 0 ? "1 damaged block" : " skipped");
        ck_assert(is_part(all, got));
        bytes[at] ^= 0x10;
    }
}
END_TEST

// Messages that name what only the lost block named are lost; others are not, and none is wrong.
START_TEST(a_lost_block_of_names)
{
    g_autoptr(Messages) all = messages_new();
    for (gint64 i = 0; i < 40; i++) {
        g_autofree char *op = g_strdup_printf("op %" G_GINT64_FORMAT, i / 10);
        BbMessage message = bb_message_empty();
        message.time_ns = i;
        message.sender = bb_names_intern(all->names, "a");
        message.op = bb_names_intern(all->names, i % 2 ? op : "op 0");
        message.id = bb_id_number((guint64)i);
        messages_keep(all, message);
    }
    gsize size = 0;
    g_autofree char *bytes = write_bytes(BB_TRACE_BBT, all, 10, &size);
    g_autoptr(GArray) blocks = find_blocks(bytes, size, "NAME");
    ck_assert_uint_eq(blocks->len, 4);
    bytes[g_array_index(blocks, gsize, 2) + BLOCK_HEAD + 30] ^= 1; // of "op 2"
    g_autoptr(Messages) got = read_bytes(bytes, size);
    check_says(got, "35 messages recovered; 5 known to be lost; 1 damaged block skipped");
    ck_assert(is_part(all, got));
}
END_TEST

START_TEST(what_is_no_block)
{
    g_autoptr(Messages) all = random_messages(9, 30);
    gsize size = 0;
    g_autofree char *bytes = write_bytes(BB_TRACE_BBT, all, 10, &size);
    g_autoptr(GArray) blocks = find_blocks(bytes, size, "NAME");
    gsize at = g_array_index(blocks, gsize, 1);
    for (gsize stray = 1; stray < 200000; stray = stray * 3 + 1) {
        g_autoptr(GByteArray) file = g_byte_array_new();
        g_autofree char *junk = g_strnfill(stray, 'N');
        g_byte_array_append(file, (const guint8 *)bytes, (guint)at);
        g_byte_array_append(file, (const guint8 *)junk, (guint)stray);
        g_byte_array_append(file, (const guint8 *)bytes + at, (guint)(size - at));
        g_autoptr(Messages) got = read_array(file);
        check_same(all, got, true);
        g_autofree char *says =
            g_strdup_printf("30 messages recovered; %" G_GSIZE_FORMAT " byte%s skipped", stray,
                            stray == 1 ? "" : "s");
        check_says(got, says);
        ck_assert_ptr_null(strstr(got->damage, "no end mark"));
    }
}
END_TEST

START_TEST(unknown_flags)
{
    g_autoptr(GByteArray) file = g_byte_array_new();
    put_head(file, 1, 16);
    g_autoptr(GByteArray) block = messages_head(0, 1, 1);
    put_column(block, 1, 0, 0, 1000, 0, "", 1);
    put_block(file, "MESG", 1, block);
    put_done(file, 1);
    g_autoptr(Messages) got = read_array(file);
    check_says(got, "0 messages recovered; 1 known to be lost; 1 damaged block skipped");
}
END_TEST

START_TEST(more_behind_the_end)
{
    g_autoptr(Messages) all = small_trace();
    gsize size = 0;
    g_autofree char *bytes = write_bytes(BB_TRACE_BBT, all, 0, &size);
    g_autoptr(GByteArray) file = g_byte_array_new();
    g_byte_array_append(file, (const guint8 *)bytes, (guint)size);
    g_byte_array_append(file, (const guint8 *)bytes, (guint)size);
    g_autoptr(Messages) twice = read_array(file);
    check_same(all, twice, true);
    check_says(twice, "what follows the end mark is not read");
    // Without an end mark between, the second one's names must not be taken for the first one's.
    g_byte_array_set_size(file, 0);
    g_byte_array_append(file, (const guint8 *)bytes, (guint)size - BLOCK_HEAD - 8);
    g_byte_array_append(file, (const guint8 *)bytes, (guint)size);
    g_autoptr(Messages) behind = read_array(file);
    check_same(all, behind, true);
    check_says(behind, "another trace follows in the same file");
}
END_TEST

START_TEST(packed_by_a_program)
{
    g_autoptr(Messages) all = random_messages(21, 3000);
    g_autofree char *path = temp_path(), *packed = g_strconcat(path, ".gz", NULL);
    write_path(path, BB_TRACE_BBT, all, 0);
    g_autofree char *command = g_strdup_printf("gzip -c %s > %s", path, packed);
    ck_assert_int_eq(system(command), 0);
    g_autoptr(Messages) got = read_path(packed, false);
    check_same(all, got, true);
    ck_assert_ptr_null(got->damage);
    g_autofree char *bytes = NULL;
    gsize size = 0;
    ck_assert(g_file_get_contents(packed, &bytes, &size, NULL));
    g_autoptr(Messages) cut = read_bytes(bytes, size / 2);
    ck_assert(is_part(all, cut));
    check_says(cut, "gzip");
    g_unlink(path);
    g_unlink(packed);
}
END_TEST

TEST_MAIN("trace_bbt", written_by_hand, versions, blocks_of_messages_without_sense,
          other_blocks_without_sense, rows_without_sense, cut_at_every_byte, every_byte_changed,
          a_lost_block_of_messages, a_lost_block_of_names, what_is_no_block, unknown_flags,
          more_behind_the_end, packed_by_a_program)
