// SPDX-License-Identifier: Apache-2.0
// Input: plain and packed bytes come out whole, cut and damaged ones up to where they are good, and
// every way (read, peek, FILE, pipe, standard input) gives the same.
#include "data/input.h"
#include "tests/unit/pack.h"
#include "tests/unit/scratch.h"

#include <fcntl.h>
#include <stdbool.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#define SAMPLE_BYTES 700000 // more than two of the reader's buffers

// Bytes that pack, but not to nothing.
static guint8 *sample(gsize size)
{
    guint8 *bytes = g_malloc(size);
    guint32 state = 1;
    for (gsize i = 0; i < size; i++) {
        state = state * 1664525u + 1013904223u;
        bytes[i] = (guint8)("abcdefghijklmnop"[state >> 28]);
    }
    return bytes;
}

static GByteArray *read_all(BbInput *input, gsize portion)
{
    GByteArray *all = g_byte_array_new();
    g_autofree guint8 *buffer = g_malloc(portion);
    g_autoptr(GError) error = NULL;
    gssize got = 0;
    do {
        got = bb_input_read(input, buffer, portion, &error);
        ck_assert_int_ge(got, 0);
        g_byte_array_append(all, buffer, (guint)got);
    } while (got == (gssize)portion);
    ck_assert_int_eq(bb_input_read(input, buffer, portion, &error), 0);
    ck_assert_ptr_null(error);
    return all;
}

static GByteArray *file_all(FILE *file)
{
    GByteArray *all = g_byte_array_new();
    guint8 buffer[1000];
    gsize got = 0;
    while ((got = fread(buffer, 1, sizeof buffer, file)) > 0)
        g_byte_array_append(all, buffer, (guint)got);
    ck_assert(!ferror(file));
    return all;
}

static void assert_bytes(const GByteArray *got, const guint8 *wanted, gsize size)
{
    ck_assert_uint_eq(got->len, size);
    ck_assert(size == 0 || memcmp(got->data, wanted, size) == 0);
}

static BbInput *open_good(const char *path)
{
    g_autoptr(GError) error = NULL;
    BbInput *input = bb_input_open(path, &error);
    ck_assert_msg(input != NULL, "%s", error ? error->message : "no reason");
    return input;
}

START_TEST(every_form_in_every_portion)
{
    g_autoptr(Scratch) scratch = scratch_new();
    g_autofree guint8 *bytes = sample(SAMPLE_BYTES);
    static const gsize portions[] = {997, 65536, SAMPLE_BYTES + 1};
    for (int form = 0; form < PACK_COUNT; form++) {
        g_autoptr(GByteArray) packed = g_byte_array_new();
        pack_append(packed, (PackForm)form, bytes, SAMPLE_BYTES);
        const char *path = scratch_file(scratch, "sample", packed->data, packed->len);
        for (gsize i = 0; i < G_N_ELEMENTS(portions); i++) {
            g_autoptr(BbInput) input = open_good(path);
            ck_assert_str_eq(bb_input_name(input), path);
            g_autoptr(GByteArray) all = read_all(input, portions[i]);
            assert_bytes(all, bytes, SAMPLE_BYTES);
            ck_assert_ptr_null(bb_input_damage(input));
        }
    }
}
END_TEST

START_TEST(several_streams_and_padding)
{
    g_autoptr(Scratch) scratch = scratch_new();
    g_autofree guint8 *bytes = sample(5000);
    static const guint8 zeros[512] = {0};
    for (int form = PACK_GZIP; form < PACK_COUNT; form++) {
        g_autoptr(GByteArray) packed = g_byte_array_new();
        pack_append(packed, (PackForm)form, bytes, 2000);
        pack_append(packed, (PackForm)form, bytes + 2000, 0);
        pack_append(packed, (PackForm)form, bytes + 2000, 3000);
        g_byte_array_append(packed, zeros, sizeof zeros);
        const char *path = scratch_file(scratch, "several", packed->data, packed->len);
        g_autoptr(BbInput) input = open_good(path);
        g_autoptr(GByteArray) all = read_all(input, 64);
        assert_bytes(all, bytes, 5000);
        ck_assert_ptr_null(bb_input_damage(input));
    }
}
END_TEST

START_TEST(cut_anywhere)
{
    g_autoptr(Scratch) scratch = scratch_new();
    g_autofree guint8 *bytes = sample(20000);
    for (int form = PACK_GZIP; form < PACK_COUNT; form++) {
        g_autoptr(GByteArray) packed = g_byte_array_new();
        pack_append(packed, (PackForm)form, bytes, 20000);
        for (guint cut = 8; cut < packed->len; cut += 1 + packed->len / 50) {
            const char *path = scratch_file(scratch, "cut", packed->data, cut);
            g_autoptr(BbInput) input = open_good(path);
            g_autoptr(GByteArray) all = read_all(input, 4096);
            ck_assert_uint_le(all->len, 20000);
            ck_assert(memcmp(all->data ? all->data : bytes, bytes, all->len) == 0);
            const char *damage = bb_input_damage(input);
            ck_assert_ptr_nonnull(damage);
            g_autofree char *where = g_strdup_printf("%s: the ", path);
            g_autofree char *byte = g_strdup_printf("breaks off at byte %u", cut);
            ck_assert(g_str_has_prefix(damage, where));
            ck_assert_msg(g_str_has_suffix(damage, byte), "%s", damage);
        }
    }
}
END_TEST

START_TEST(damage_in_the_middle)
{
    static const char *const kinds[] = {[PACK_GZIP] = "the gzip data is damaged at byte",
                                        [PACK_XZ] = "the xz data is damaged at byte",
                                        [PACK_ZSTD] = "the zstd data is damaged at byte"};
    g_autoptr(Scratch) scratch = scratch_new();
    g_autofree guint8 *bytes = sample(SAMPLE_BYTES);
    for (int form = PACK_GZIP; form < PACK_COUNT; form++) {
        g_autoptr(GByteArray) packed = g_byte_array_new();
        pack_append(packed, (PackForm)form, bytes, SAMPLE_BYTES);
        memset(packed->data + packed->len / 2, 0xff, 300);
        const char *path = scratch_file(scratch, "damaged", packed->data, packed->len);
        g_autoptr(BbInput) input = open_good(path);
        g_autoptr(GByteArray) all = read_all(input, 4096);
        ck_assert_mem_eq(all->data, bytes, SAMPLE_BYTES / 4);
        ck_assert_ptr_nonnull(bb_input_damage(input));
        ck_assert_msg(strstr(bb_input_damage(input), kinds[form]) != NULL, "%s",
                      bb_input_damage(input));
    }
}
END_TEST

START_TEST(something_else_behind)
{
    g_autoptr(Scratch) scratch = scratch_new();
    for (int form = PACK_GZIP; form < PACK_COUNT; form++) {
        g_autoptr(GByteArray) packed = g_byte_array_new();
        pack_append(packed, (PackForm)form, "good", 4);
        guint length = packed->len;
        g_byte_array_append(packed, (const guint8 *)"and then this", 13);
        const char *path = scratch_file(scratch, "behind", packed->data, packed->len);
        g_autoptr(BbInput) input = open_good(path);
        g_autoptr(GByteArray) all = read_all(input, 100);
        assert_bytes(all, (const guint8 *)"good", 4);
        g_autofree char *where =
            g_strdup_printf("is followed by something else at byte %u", length);
        ck_assert_ptr_nonnull(bb_input_damage(input));
        ck_assert_ptr_nonnull(strstr(bb_input_damage(input), where));
    }
}
END_TEST

// What would take more memory than BB_UNPACK_MEMORY is refused, and the remedy is said.
START_TEST(memory_is_bounded)
{
    g_autoptr(Scratch) scratch = scratch_new();
    // A frame header of zstd: no checksum, no content size, window of 2^31 bytes; one empty raw
    // block.
    static const guint8 zstd[] = {0x28, 0xb5, 0x2f, 0xfd, 0x00, 21 << 3, 0x01, 0x00, 0x00};
    const char *path = scratch_file(scratch, "window.zst", zstd, sizeof zstd);
    g_autoptr(BbInput) large_zstd = open_good(path);
    g_autoptr(GByteArray) none = read_all(large_zstd, 100);
    ck_assert_uint_eq(none->len, 0);
    ck_assert_ptr_nonnull(strstr(bb_input_damage(large_zstd), "unpack it with zstd -d --long=31"));

    if (sizeof(gsize) < 8)
        return; // who packs with the dictionary below takes ten times its memory
    lzma_options_lzma options;
    ck_assert(!lzma_lzma_preset(&options, 0));
    options.dict_size = 1u << 30;
    lzma_filter filters[] = {{LZMA_FILTER_LZMA2, &options}, {LZMA_VLI_UNKNOWN, NULL}};
    guint8 xz[512];
    gsize length = 0;
    ck_assert_int_eq(lzma_stream_buffer_encode(filters, LZMA_CHECK_CRC32, NULL,
                                               (const guint8 *)"text", 4, xz, &length, sizeof xz),
                     LZMA_OK);
    path = scratch_file(scratch, "dictionary.xz", xz, length);
    g_autoptr(BbInput) large_xz = open_good(path);
    g_autoptr(GByteArray) nothing = read_all(large_xz, 100);
    ck_assert_uint_eq(nothing->len, 0);
    ck_assert_ptr_nonnull(strstr(bb_input_damage(large_xz), "unpack it with xz -d"));
}
END_TEST

// pzstd puts a skippable frame in front of each frame.
START_TEST(skippable_frame_first)
{
    g_autoptr(Scratch) scratch = scratch_new();
    g_autoptr(GByteArray) packed = g_byte_array_new();
    static const guint8 skippable[] = {0x50, 0x2a, 0x4d, 0x18, 4, 0, 0, 0, 1, 2, 3, 4};
    for (int i = 0; i < 2; i++) {
        g_byte_array_append(packed, skippable, sizeof skippable);
        pack_append(packed, PACK_ZSTD, "part", 4);
    }
    const char *path = scratch_file(scratch, "pzstd", packed->data, packed->len);
    g_autoptr(BbInput) input = open_good(path);
    g_autoptr(GByteArray) all = read_all(input, 100);
    assert_bytes(all, (const guint8 *)"partpart", 8);
    ck_assert_ptr_null(bb_input_damage(input));
}
END_TEST

START_TEST(short_and_empty_files_are_plain)
{
    g_autoptr(Scratch) scratch = scratch_new();
    static const guint8 magic[] = {0x1f, 0x8b};
    for (gsize size = 0; size <= sizeof magic; size++) {
        const char *path = scratch_file(scratch, "short", magic, size);
        g_autoptr(BbInput) input = open_good(path);
        g_autoptr(GByteArray) all = read_all(input, 10);
        assert_bytes(all, magic, size);
        ck_assert_ptr_null(bb_input_damage(input));
    }
}
END_TEST

// Of UTF-8, once, in front of all; whatever else begins with its bytes is none.
START_TEST(a_byte_order_mark_is_no_part)
{
    static const struct {
        const char *bytes, *wanted;
    } cases[] = {{"\xef\xbb\xbf", ""},
                 {"\xef\xbb\xbfx", "x"},
                 {"\xef\xbb\xbf\xef\xbb\xbfx", "\xef\xbb\xbfx"},
                 {"\xef\xbb", "\xef\xbb"},
                 {"x\xef\xbb\xbf", "x\xef\xbb\xbf"}};
    g_autoptr(Scratch) scratch = scratch_new();
    for (int form = 0; form < PACK_COUNT; form++) {
        for (gsize i = 0; i < G_N_ELEMENTS(cases); i++) {
            g_autoptr(GByteArray) packed = g_byte_array_new();
            pack_append(packed, (PackForm)form, (const guint8 *)cases[i].bytes,
                        strlen(cases[i].bytes));
            const char *path = scratch_file(scratch, "mark", packed->data, packed->len);
            g_autoptr(BbInput) input = open_good(path);
            g_autoptr(GByteArray) all = read_all(input, 10);
            assert_bytes(all, (const guint8 *)cases[i].wanted, strlen(cases[i].wanted));
        }
    }
}
END_TEST

START_TEST(all_that_is_left)
{
    g_autoptr(Scratch) scratch = scratch_new();
    g_autofree guint8 *bytes = sample(SAMPLE_BYTES);
    static const gsize most[] = {0, 100, SAMPLE_BYTES - 1, SAMPLE_BYTES, SAMPLE_BYTES + 1};
    const char *path = scratch_file(scratch, "all", bytes, SAMPLE_BYTES);
    for (gsize i = 0; i < G_N_ELEMENTS(most); i++) {
        g_autoptr(BbInput) input = open_good(path);
        gsize size = 0;
        g_autofree char *all = bb_input_read_all(input, most[i], &size, NULL);
        ck_assert_uint_eq(size, MIN(most[i] + 1, SAMPLE_BYTES));
        ck_assert(memcmp(all, bytes, size) == 0 && all[size] == '\0');
    }
}
END_TEST

START_TEST(peek_takes_nothing)
{
    g_autoptr(Scratch) scratch = scratch_new();
    g_autofree guint8 *bytes = sample(1000);
    for (int form = 0; form < PACK_COUNT; form++) {
        g_autoptr(GByteArray) packed = g_byte_array_new();
        pack_append(packed, (PackForm)form, bytes, 1000);
        const char *path = scratch_file(scratch, "peek", packed->data, packed->len);
        g_autoptr(BbInput) input = open_good(path);
        guint8 peeked[200];
        ck_assert_uint_eq(bb_input_peek(input, peeked, 5), 5);
        ck_assert_mem_eq(peeked, bytes, 5);
        ck_assert_uint_eq(bb_input_peek(input, peeked, sizeof peeked), 64);
        ck_assert_mem_eq(peeked, bytes, 64);
        guint8 read[50];
        ck_assert_int_eq(bb_input_read(input, read, sizeof read, NULL), 50);
        ck_assert_mem_eq(read, bytes, 50);
        ck_assert_uint_eq(bb_input_peek(input, peeked, 64), 64);
        ck_assert_mem_eq(peeked, bytes + 50, 64);
        g_autoptr(GByteArray) rest = read_all(input, 7);
        assert_bytes(rest, bytes + 50, 950);
        ck_assert_uint_eq(bb_input_peek(input, peeked, 64), 0);
    }
}
END_TEST

START_TEST(peek_near_the_end)
{
    g_autoptr(Scratch) scratch = scratch_new();
    const char *path = scratch_file(scratch, "little", "123456789", 9);
    g_autoptr(BbInput) input = open_good(path);
    char peeked[64];
    ck_assert_uint_eq(bb_input_peek(input, peeked, 64), 9);
    ck_assert_int_eq(bb_input_read(input, peeked, 4, NULL), 4);
    ck_assert_uint_eq(bb_input_peek(input, peeked, 64), 5);
    ck_assert_mem_eq(peeked, "56789", 5);
}
END_TEST

START_TEST(as_a_file)
{
    g_autoptr(Scratch) scratch = scratch_new();
    g_autofree guint8 *bytes = sample(SAMPLE_BYTES);
    for (int form = 0; form < PACK_COUNT; form++) {
        g_autoptr(GByteArray) packed = g_byte_array_new();
        pack_append(packed, (PackForm)form, bytes, SAMPLE_BYTES);
        const char *path = scratch_file(scratch, "file", packed->data, packed->len);
        BbInput *input = open_good(path);
        guint8 head[40];
        ck_assert_int_eq(bb_input_read(input, head, 30, NULL), 30);
        ck_assert_uint_eq(bb_input_peek(input, head, 40), 40);
        int position = dup(bb_input_descriptor(input));
        g_autofree char *damage = NULL;
        FILE *file = bb_input_take_file(input, &damage, NULL);
        ck_assert_ptr_nonnull(file);
        // A plain file is a real one; what is packed has no descriptor.
        ck_assert((fileno(file) >= 0) == (form == PACK_PLAIN));
        g_autoptr(GByteArray) all = file_all(file);
        assert_bytes(all, bytes + 30, SAMPLE_BYTES - 30);
        ck_assert_ptr_null(damage);
        ck_assert_int_eq(lseek(position, 0, SEEK_CUR), packed->len);
        close(position);
        ck_assert_int_eq(fclose(file), 0);
    }
}
END_TEST

START_TEST(damage_is_told_through_the_file)
{
    g_autoptr(Scratch) scratch = scratch_new();
    g_autoptr(GByteArray) packed = g_byte_array_new();
    g_autofree guint8 *bytes = sample(20000);
    pack_append(packed, PACK_GZIP, bytes, 20000);
    const char *path = scratch_file(scratch, "cut.gz", packed->data, packed->len - 20);
    g_autofree char *damage = NULL;
    FILE *file = bb_input_take_file(open_good(path), &damage, NULL);
    ck_assert_ptr_null(damage);
    g_autoptr(GByteArray) all = file_all(file);
    fclose(file);
    ck_assert_uint_gt(all->len, 10000);
    ck_assert_ptr_nonnull(damage);
    ck_assert_ptr_nonnull(strstr(damage, "cut.gz: the gzip data breaks off"));
}
END_TEST

// A pipe, also one that gives a byte at a time, loses nothing to the look at its first bytes.
static void feed_pipe(int fd, const GByteArray *bytes, gsize portion)
{
    if (fork() != 0)
        return;
    for (gsize at = 0; at < bytes->len; at += portion)
        if (write(fd, bytes->data + at, MIN(portion, bytes->len - at)) < 0)
            _exit(1);
    _exit(0);
}

START_TEST(standard_input_is_a_pipe)
{
    g_autofree guint8 *bytes = sample(3000);
    for (int form = 0; form < PACK_COUNT; form++) {
        for (int as_file = 0; as_file < 2; as_file++) {
            g_autoptr(GByteArray) packed = g_byte_array_new();
            pack_append(packed, (PackForm)form, bytes, 3000);
            int ends[2];
            ck_assert_int_eq(pipe(ends), 0);
            feed_pipe(ends[1], packed, 1);
            close(ends[1]);
            ck_assert_int_eq(dup2(ends[0], STDIN_FILENO), STDIN_FILENO);
            close(ends[0]);
            BbInput *input = open_good("-");
            ck_assert_str_eq(bb_input_name(input), "standard input");
            FILE *file = as_file ? bb_input_take_file(input, NULL, NULL) : NULL;
            g_autoptr(GByteArray) all = file ? file_all(file) : read_all(input, 64);
            assert_bytes(all, bytes, 3000);
            if (file)
                fclose(file);
            else
                bb_input_free(input);
            ck_assert_int_ge(fcntl(STDIN_FILENO, F_GETFD), 0); // ours to keep
        }
    }
}
END_TEST

// What has come is given out; a reader of packets does not wait for a full buffer.
START_TEST(a_slow_pipe_is_not_waited_for)
{
    g_autoptr(Scratch) scratch = scratch_new();
    const char *path = scratch_path(scratch, "fifo");
    ck_assert_int_eq(mkfifo(path, 0600), 0);
    int keep = open(path, O_RDWR);
    ck_assert_int_eq(write(keep, "first packet", 12), 12);
    FILE *file = bb_input_take_file(open_good(path), NULL, NULL);
    char got[12];
    alarm(20);
    ck_assert_uint_eq(fread(got, 1, 6, file), 6);
    ck_assert_uint_eq(fread(got + 6, 1, 6, file), 6);
    ck_assert_mem_eq(got, "first packet", 12);
    close(keep);
    fclose(file);
}
END_TEST

START_TEST(errors_name_the_file_and_the_remedy)
{
    g_autoptr(Scratch) scratch = scratch_new();
    g_autoptr(GError) missing = NULL, folder = NULL;
    const char *path = scratch_path(scratch, "missing.pcap");
    ck_assert_ptr_null(bb_input_open(path, &missing));
    ck_assert(g_error_matches(missing, G_FILE_ERROR, G_FILE_ERROR_NOENT));
    ck_assert_ptr_nonnull(strstr(missing->message, path));
    ck_assert_ptr_nonnull(strstr(missing->message, "check the name"));

    ck_assert_ptr_null(bb_input_open(scratch->folder, &folder));
    ck_assert(g_error_matches(folder, G_FILE_ERROR, G_FILE_ERROR_ISDIR));
    ck_assert_ptr_nonnull(strstr(folder->message, "is a directory; name the files in it"));
}
END_TEST

START_TEST(no_permission)
{
    if (geteuid() == 0) {
        printf("skipped: root may read everything\n");
        return;
    }
    g_autoptr(Scratch) scratch = scratch_new();
    const char *path = scratch_file(scratch, "secret", "x", 1);
    ck_assert_int_eq(chmod(path, 0), 0);
    g_autoptr(GError) error = NULL;
    ck_assert_ptr_null(bb_input_open(path, &error));
    ck_assert_ptr_nonnull(strstr(error->message, "use sudo"));
}
END_TEST

// read(2) fails on the memory of a process at address 0: the error of the system comes through.
START_TEST(a_failing_read)
{
    g_autoptr(GError) error = NULL;
    ck_assert_ptr_null(bb_input_open("/proc/self/mem", &error));
    ck_assert_ptr_nonnull(strstr(error->message, "cannot read /proc/self/mem at byte 0"));
}
END_TEST

START_TEST(who_writes_a_file_is_known)
{
    g_autofree char *path = NULL;
    int fd = g_file_open_tmp("input-XXXXXX", &path, NULL);
    g_autoptr(BbInput) input = bb_input_open(path, NULL);
    ck_assert(!bb_input_is_written(input));
    ck_assert_int_eq(flock(fd, LOCK_EX | LOCK_NB), 0);
    ck_assert(bb_input_is_written(input));
    close(fd);
    ck_assert(!bb_input_is_written(input));
    unlink(path);
}
END_TEST

TEST_MAIN("input", every_form_in_every_portion, several_streams_and_padding, cut_anywhere,
          damage_in_the_middle, something_else_behind, memory_is_bounded, skippable_frame_first,
          short_and_empty_files_are_plain, a_byte_order_mark_is_no_part, all_that_is_left,
          peek_takes_nothing, peek_near_the_end, as_a_file, damage_is_told_through_the_file,
          standard_input_is_a_pipe, a_slow_pipe_is_not_waited_for,
          errors_name_the_file_and_the_remedy, no_permission, a_failing_read,
          who_writes_a_file_is_known)
