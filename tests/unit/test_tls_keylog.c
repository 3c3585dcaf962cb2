// SPDX-License-Identifier: Apache-2.0
// Key logs: lines of all kinds, files that grow, are cut or begun again, the limit.
#include "capture/protocols/tls_keylog.h"
#include "tests/unit/scratch.h"

#include <string.h>

#define ZEROS "0000000000000000000000000000000000000000000000000000000000000000"
#define ONES "1111111111111111111111111111111111111111111111111111111111111111"

static const guint8 zeros[32] = {0};
static const guint8 ones[32] = {0x11, 0x11, 0x11, 0x11, 0x11, 0x11, 0x11, 0x11, 0x11, 0x11, 0x11,
                                0x11, 0x11, 0x11, 0x11, 0x11, 0x11, 0x11, 0x11, 0x11, 0x11, 0x11,
                                0x11, 0x11, 0x11, 0x11, 0x11, 0x11, 0x11, 0x11, 0x11, 0x11};

static void append(const char *path, const char *text)
{
    FILE *file = fopen(path, "a");
    ck_assert_ptr_nonnull(file);
    fputs(text, file);
    fclose(file);
}

START_TEST(lines)
{
    BbTlsSecret secret;
    g_autoptr(Scratch) scratch = scratch_new();
    static const char text[] = "# comment\n\n"
                               "CLIENT_RANDOM " ZEROS " a1a2a3\r\n"
                               "CLIENT_HANDSHAKE_TRAFFIC_SECRET " ZEROS " aa\n"
                               "CLIENT_TRAFFIC_SECRET_0 " ZEROS " B1b2\n"
                               "SERVER_TRAFFIC_SECRET_0 " ZEROS " c1\n"
                               "CLIENT_TRAFFIC_SECRET_1 " ZEROS " d1\n";
    g_autoptr(BbTlsKeylog) log =
        bb_tls_keylog_open(scratch_file(scratch, "log", text, strlen(text)), NULL);
    ck_assert_ptr_nonnull(log);
    ck_assert(bb_tls_keylog_find(log, zeros, BB_TLS_SECRET_MASTER, &secret));
    ck_assert_uint_eq(secret.length, 3);
    ck_assert_mem_eq(secret.bytes, "\xa1\xa2\xa3", 3);
    ck_assert(bb_tls_keylog_find(log, zeros, BB_TLS_SECRET_CLIENT, &secret));
    ck_assert_uint_eq(secret.length, 2);
    ck_assert_mem_eq(secret.bytes, "\xb1\xb2", 2);
    ck_assert(bb_tls_keylog_find(log, zeros, BB_TLS_SECRET_SERVER, &secret));
    ck_assert_uint_eq(secret.length, 1);
    ck_assert(!bb_tls_keylog_find(log, ones, BB_TLS_SECRET_MASTER, &secret));
    ck_assert_uint_eq(bb_tls_keylog_odd(log), 0);
}
END_TEST

START_TEST(odd_lines)
{
    BbTlsSecret secret;
    static const char *const odd[] = {
        "CLIENT_RANDOM\n",
        "CLIENT_RANDOM 00 aa\n",
        "CLIENT_RANDOM " ZEROS "\n",
        "CLIENT_RANDOM " ZEROS " \n",
        "CLIENT_RANDOM " ZEROS " xx\n",
        "CLIENT_RANDOM " ZEROS " a\n",
        "CLIENT_RANDOM " ZEROS "00 aa\n",
        "CLIENT_RANDOM " ZEROS " " ONES ONES "\n", // more than a secret has
        "client_random " ZEROS " aa\n",
        " CLIENT_RANDOM " ZEROS " aa\n",
        "CLIENT_RANDOM  " ZEROS " aa\n",
        "CLIENT_RANDOM " ZEROS " " ONES ONES ONES ONES ONES ONES ONES ONES "\n",
        "\x01\n",
    };
    for (guint i = 0; i < G_N_ELEMENTS(odd); i++) {
        g_autoptr(Scratch) scratch = scratch_new();
        g_autofree char *text = g_strconcat(odd[i], "CLIENT_RANDOM " ONES " bb\n", NULL);
        g_autoptr(BbTlsKeylog) log =
            bb_tls_keylog_open(scratch_file(scratch, "log", text, strlen(text)), NULL);
        ck_assert(!bb_tls_keylog_find(log, zeros, BB_TLS_SECRET_MASTER, &secret));
        ck_assert(bb_tls_keylog_find(log, ones, BB_TLS_SECRET_MASTER, &secret));
        ck_assert_msg(bb_tls_keylog_odd(log) == 1, "%s", odd[i]);
    }
}
END_TEST

START_TEST(growing)
{
    BbTlsSecret secret;
    g_autoptr(Scratch) scratch = scratch_new();
    const char *path = scratch_file(scratch, "log", "", 0);
    g_autoptr(BbTlsKeylog) log = bb_tls_keylog_open(path, NULL);
    ck_assert(!bb_tls_keylog_find(log, zeros, BB_TLS_SECRET_MASTER, &secret));
    append(path, "CLIENT_RANDOM " ZEROS " a1");
    ck_assert(!bb_tls_keylog_find(log, zeros, BB_TLS_SECRET_MASTER, &secret)); // half a line
    append(path, "a2\nCLIENT_RANDOM ");
    ck_assert(bb_tls_keylog_find(log, zeros, BB_TLS_SECRET_MASTER, &secret));
    ck_assert_uint_eq(secret.length, 2);
    append(path, ONES " 01\n");
    ck_assert(bb_tls_keylog_find(log, ones, BB_TLS_SECRET_MASTER, &secret));
    ck_assert_uint_eq(secret.length, 1);
    ck_assert_uint_eq(bb_tls_keylog_odd(log), 0);
}
END_TEST

// A file that was emptied and is written again.
START_TEST(begun_again)
{
    BbTlsSecret secret;
    g_autoptr(Scratch) scratch = scratch_new();
    static const char first[] = "CLIENT_RANDOM " ZEROS " a1\nCLIENT_RANDOM " ZEROS;
    const char *path = scratch_file(scratch, "log", first, strlen(first));
    g_autoptr(BbTlsKeylog) log = bb_tls_keylog_open(path, NULL);
    FILE *file = fopen(path, "w"); // the same file, shorter
    fputs("CLIENT_RANDOM " ONES " 01\n", file);
    fclose(file);
    ck_assert(bb_tls_keylog_find(log, ones, BB_TLS_SECRET_MASTER, &secret));
    ck_assert(bb_tls_keylog_find(log, zeros, BB_TLS_SECRET_MASTER, &secret));
    ck_assert_uint_eq(bb_tls_keylog_odd(log), 0);
}
END_TEST

// One that was emptied and is longer by now than it was.
START_TEST(begun_again_and_longer)
{
    BbTlsSecret secret;
    g_autoptr(Scratch) scratch = scratch_new();
    static const char first[] = "CLIENT_RANDOM " ZEROS " a1\n";
    const char *path = scratch_file(scratch, "log", first, strlen(first));
    g_autoptr(BbTlsKeylog) log = bb_tls_keylog_open(path, NULL);
    FILE *file = fopen(path, "w");
    fputs("CLIENT_RANDOM " ONES " 01\n# a line that makes it longer than it was before\n", file);
    fclose(file);
    ck_assert(bb_tls_keylog_find(log, ones, BB_TLS_SECRET_MASTER, &secret));
    ck_assert(bb_tls_keylog_find(log, zeros, BB_TLS_SECRET_MASTER, &secret));
    ck_assert_uint_eq(bb_tls_keylog_odd(log), 0);
}
END_TEST

// Another file of that name, which may be of the same length.
START_TEST(replaced)
{
    BbTlsSecret secret;
    g_autoptr(Scratch) scratch = scratch_new();
    static const char first[] = "CLIENT_RANDOM " ZEROS " a1\n";
    static const char second[] = "CLIENT_RANDOM " ONES " 01\n";
    const char *path = scratch_file(scratch, "log", first, strlen(first));
    const char *aside = scratch_path(scratch, "log.1");
    g_autoptr(BbTlsKeylog) log = bb_tls_keylog_open(path, NULL);
    ck_assert_int_eq(g_rename(path, aside), 0);
    ck_assert(!bb_tls_keylog_find(log, ones, BB_TLS_SECRET_MASTER, &secret)); // there is none
    ck_assert(g_file_set_contents(path, second, -1, NULL));
    ck_assert(bb_tls_keylog_find(log, ones, BB_TLS_SECRET_MASTER, &secret));
    ck_assert(bb_tls_keylog_find(log, zeros, BB_TLS_SECRET_MASTER, &secret));
    append(path, "CLIENT_RANDOM " ONES " 0203\n");
    ck_assert(bb_tls_keylog_find(log, ones, BB_TLS_SECRET_MASTER, &secret));
    append(path, "CLIENT_TRAFFIC_SECRET_0 " ONES " 0203\n");
    ck_assert(bb_tls_keylog_find(log, ones, BB_TLS_SECRET_CLIENT, &secret));
    ck_assert_uint_eq(secret.length, 2);
    ck_assert_uint_eq(bb_tls_keylog_odd(log), 0);
}
END_TEST

START_TEST(limit)
{
    BbTlsSecret secret;
    g_autoptr(Scratch) scratch = scratch_new();
    g_autoptr(GString) text = g_string_new(NULL);
    for (guint i = 0; i <= BB_TLS_KEYLOG_CONNECTIONS; i++)
        g_string_append_printf(text, "CLIENT_RANDOM %08x%.56s aa\n", i, ZEROS);
    g_autoptr(BbTlsKeylog) log =
        bb_tls_keylog_open(scratch_file(scratch, "log", text->str, text->len), NULL);
    ck_assert_uint_eq(bb_tls_keylog_forgotten(log), 1);
    guint8 random[32] = {0};
    ck_assert(!bb_tls_keylog_find(log, random, BB_TLS_SECRET_MASTER, &secret));
    random[3] = 1;
    ck_assert(bb_tls_keylog_find(log, random, BB_TLS_SECRET_MASTER, &secret));
    random[1] = 1;
    random[3] = 0;
    ck_assert(bb_tls_keylog_find(log, random, BB_TLS_SECRET_MASTER, &secret));
}
END_TEST

// Clients choose their randoms, and many begin them with the time. Where the beginning were the
// hash each would be compared with all before it, which takes longer than a test may.
START_TEST(randoms_that_begin_alike)
{
    BbTlsSecret secret;
    g_autoptr(Scratch) scratch = scratch_new();
    g_autoptr(GString) text = g_string_new(NULL);
    for (guint i = 0; i < BB_TLS_KEYLOG_CONNECTIONS; i++)
        g_string_append_printf(text, "CLIENT_RANDOM %.56s%08x aa\n", ZEROS, i);
    g_autoptr(BbTlsKeylog) log =
        bb_tls_keylog_open(scratch_file(scratch, "log", text->str, text->len), NULL);
    guint8 random[32] = {0};
    for (guint i = 0; i < BB_TLS_KEYLOG_CONNECTIONS; i++) {
        random[30] = (guint8)(i >> 8);
        random[31] = (guint8)i;
        ck_assert(bb_tls_keylog_find(log, random, BB_TLS_SECRET_MASTER, &secret));
    }
    ck_assert_uint_eq(bb_tls_keylog_forgotten(log), 0);
}
END_TEST

START_TEST(no_file)
{
    g_autoptr(GError) error = NULL;
    ck_assert_ptr_null(bb_tls_keylog_open("/nowhere/at/all", &error));
    ck_assert(g_error_matches(error, G_FILE_ERROR, G_FILE_ERROR_NOENT));
    ck_assert(strstr(error->message, "the key log /nowhere/at/all cannot be read"));
    ck_assert(strstr(error->message, "if it is still to be written, make it, empty"));
    g_clear_error(&error);
    ck_assert_ptr_null(bb_tls_keylog_open("/", &error)); // a folder
    ck_assert(g_error_matches(error, G_FILE_ERROR, G_FILE_ERROR_ISDIR));
}
END_TEST

TEST_MAIN("tls_keylog", lines, odd_lines, growing, begun_again, begun_again_and_longer, replaced,
          limit, randoms_that_begin_alike, no_file)
