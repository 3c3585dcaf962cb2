// SPDX-License-Identifier: Apache-2.0
// The open calls of a dialog: in order, by handle, by key, from whatever place they go.
#include "capture/unanswered.h"

#include "tests/unit/test.h"

// Those of a key, oldest first, as their handles: "3 7 ".
static char *calls_of(const BbDialog *dialog, BbDirection direction, guint64 key)
{
    GString *told = g_string_new(NULL);
    const BbOpenEntry *entry = bb_unanswered_first_of(dialog, direction, key);
    for (; entry; entry = bb_unanswered_next_of(dialog, entry))
        g_string_append_printf(told, "%u ", (guint)entry->open.call);
    return g_string_free(told, FALSE);
}

static char *plain_calls_of(const GArray *plain, BbDirection direction, guint64 key)
{
    GString *told = g_string_new(NULL);
    for (guint i = 0; i < plain->len; i++) {
        const BbOpenEntry *entry = &g_array_index(plain, BbOpenEntry, i);
        if (entry->open.key == key && entry->request.direction == direction)
            g_string_append_printf(told, "%u ", (guint)entry->open.call);
    }
    return g_string_free(told, FALSE);
}

// All of them, oldest first, are those of plain.
static void check_all(const BbDialog *dialog, const GArray *plain)
{
    guint in_order[2] = {0}, n_reused = 0;
    const BbOpenEntry *entry = bb_unanswered_first(dialog);
    for (guint i = 0; i < plain->len; i++, entry = bb_unanswered_next(dialog, entry)) {
        ck_assert_ptr_nonnull(entry);
        ck_assert_uint_eq(entry->open.call, g_array_index(plain, BbOpenEntry, i).open.call);
        ck_assert_ptr_eq(bb_unanswered_find(dialog, entry->open.call), entry);
        guint64 before = i ? g_array_index(plain, BbOpenEntry, i - 1).open.call : 0;
        ck_assert_ptr_eq(bb_unanswered_from(dialog, before + 1), entry);
        ck_assert_ptr_eq(bb_unanswered_from(dialog, entry->open.call), entry);
        in_order[entry->request.direction] += bb_dialog_in_order(entry);
        n_reused += entry->use == BB_KEY_REUSED;
    }
    ck_assert_ptr_null(entry);
    ck_assert_ptr_null(bb_unanswered_from(dialog, 3001)); // nobody's
    ck_assert_uint_eq(bb_unanswered_count(dialog), plain->len);
    ck_assert_uint_eq(dialog->n_in_order[0], in_order[0]);
    ck_assert_uint_eq(dialog->n_in_order[1], in_order[1]);
    ck_assert_uint_eq(dialog->n_reused, n_reused);
    for (guint key = 0; key < 8; key++)
        for (BbDirection direction = BB_TO_SERVER; direction <= BB_TO_CLIENT; direction++) {
            g_autofree char *told = calls_of(dialog, direction, key);
            g_autofree char *wanted = plain_calls_of(plain, direction, key);
            ck_assert_str_eq(told, wanted);
        }
}

static void add(BbDialog *dialog, GArray *plain, GRand *rand, guint64 call)
{
    const BbOpenEntry entry = {
        .open = {.call = call, .key = (guint64)g_rand_int_range(rand, 0, 8)},
        .request = {.direction = g_rand_int_range(rand, 0, 4) ? BB_TO_SERVER : BB_TO_CLIENT},
        .use = (guint8)g_rand_int_range(rand, 0, 3),
    };
    ck_assert_uint_eq(bb_unanswered_add(dialog, &entry)->open.call, call);
    g_array_append_val(plain, entry);
}

static void take(BbDialog *dialog, GArray *plain, guint at)
{
    guint64 call = g_array_index(plain, BbOpenEntry, at).open.call;
    bb_unanswered_remove(dialog, bb_unanswered_find(dialog, call));
    ck_assert_ptr_null(bb_unanswered_find(dialog, call));
    g_array_remove_index(plain, at);
}

// Few and many, growing and shrinking, taken from the front, the end, and anywhere.
START_TEST(as_a_plain_list_does)
{
    g_autoptr(GRand) rand = g_rand_new_with_seed(test_seed("unanswered"));
    g_autoptr(GArray) plain = g_array_new(FALSE, FALSE, sizeof(BbOpenEntry));
    BbContext context = {.seed = 7};
    BbDialog dialog = {.context = &context};
    guint grows = 50;
    for (guint i = 1; i <= 3000; i++) {
        if (i % 300 == 0)
            grows = (guint)g_rand_int_range(rand, 20, 80);
        if (!plain->len || (guint)g_rand_int_range(rand, 0, 100) < grows)
            add(&dialog, plain, rand, i);
        else if (g_rand_int_range(rand, 0, 3) == 0)
            take(&dialog, plain, 0);
        else if (g_rand_int_range(rand, 0, 3) == 0)
            take(&dialog, plain, plain->len - 1);
        else
            take(&dialog, plain, (guint)g_rand_int_range(rand, 0, (gint32)plain->len));
        if (i % 5 == 0)
            check_all(&dialog, plain);
    }
    while (plain->len)
        take(&dialog, plain, plain->len - 1);
    ck_assert_uint_le(dialog.open_capacity, BB_DIALOG_KEPT_CALLS);
    bb_unanswered_free(&dialog);
}
END_TEST

// At the limit, with the oldest one open for ever, there is never more room than for 65,536.
START_TEST(room_is_bounded)
{
    BbContext context = {.seed = 7};
    BbDialog dialog = {.context = &context};
    guint32 most = 0;
    for (guint64 call = 1; call < 4 * BB_DIALOG_OPEN_CALLS; call++) {
        const BbOpenEntry entry = {.open = {.call = call, .key = call}};
        if (bb_unanswered_count(&dialog) == BB_DIALOG_OPEN_CALLS)
            bb_unanswered_remove(&dialog, bb_unanswered_next(&dialog, dialog.open));
        bb_unanswered_add(&dialog, &entry);
        most = MAX(most, dialog.open_capacity);
    }
    ck_assert_uint_eq(most, 65536);
    ck_assert_uint_eq(bb_unanswered_first(&dialog)->open.call, 1);
    ck_assert_ptr_nonnull(bb_unanswered_first_of(&dialog, BB_TO_SERVER, 1));
    ck_assert_ptr_null(bb_unanswered_first_of(&dialog, BB_TO_SERVER, 2));
    bb_unanswered_free(&dialog);
}
END_TEST

TEST_MAIN("unanswered", as_a_plain_list_does, room_is_bounded)
