// SPDX-License-Identifier: Apache-2.0
// Roles: their names, files of them, and what such a file may not be.
#include "data/roles.h"

#include <string.h>

#include "tests/unit/scratch.h"

static guint32 *intern_all(BbNames *names, const char *const *texts, guint *count)
{
    GArray *nodes = g_array_new(FALSE, FALSE, sizeof(guint32));
    for (; *texts; texts++) {
        guint32 node = bb_names_intern(names, *texts);
        g_array_append_val(nodes, node);
    }
    *count = nodes->len;
    return (guint32 *)(void *)g_array_free(nodes, FALSE);
}

static void check_text(const char *const *texts, const char *expected)
{
    g_autoptr(BbNames) names = bb_names_new();
    guint count = 0;
    g_autofree guint32 *nodes = intern_all(names, texts, &count);
    g_autofree char *text = bb_roles_text(names, nodes, count);
    ck_assert_str_eq(text, expected);
}

#define TEXTS(...) ((const char *const[]){__VA_ARGS__, NULL})

START_TEST(names_of_roles)
{
    check_text(TEXTS("app2", "app1", "app3"), "app{1,2,3}");
    check_text(TEXTS("app10", "app9", "app11"), "app{9,10,11}");
    check_text(TEXTS("app10", "app11"), "app{10,11}"); // no number is cut
    check_text(TEXTS("db-a.example", "db-b.example"), "db-{a,b}.example");
    check_text(TEXTS("db1.r2", "db2.r2", "db12.r2"), "db{1,2,12}.r2");
    check_text(TEXTS("h1a12", "h2a22"), "h{1a12,2a22}");
    check_text(TEXTS("auth", "db"), "{auth,db}");
    check_text(TEXTS("app", "app2"), "app{,2}");
    check_text(TEXTS("aa", "aaa"), "aa{,a}");
    check_text(TEXTS("10.0.0.7:80", "10.0.0.12:80"), "10.0.0.{7,12}:80");
    check_text(TEXTS("\xc3\xa9", "\xc3\xa8"), "{\xc3\xa8,\xc3\xa9}"); // no letter is cut
    check_text(TEXTS("x\xa9", "y\xa9"), "{x\xa9,y\xa9}");
    check_text(TEXTS("one"), "one");
    check_text(TEXTS("n1", "n2", "n3", "n4", "n5", "n6"), "n{1,2,3,4,5,6}");
    check_text(TEXTS("n1", "n2", "n3", "n4", "n5", "n6", "n7", "n64"), "n{1,2,3,4,5,...,64}");
    check_text(TEXTS("n9", "n3", "n4", "n5", "n6", "n7", "n8"), "n{3..9}");
    check_text(TEXTS("n08", "n09", "n10", "n11", "n12", "n13", "n14"), "n{08,09,10,11,12,...,14}");
}
END_TEST

START_TEST(joined_nodes)
{
    g_autoptr(BbNames) names = bb_names_new();
    g_autoptr(BbRoles) roles = bb_roles_new(names);
    guint32 a = bb_names_intern(names, "app1"), b = bb_names_intern(names, "app2"),
            c = bb_names_intern(names, "app3"), taken = bb_names_intern(names, "app{1,2}");
    ck_assert_uint_eq(bb_roles_of(roles, a), a);
    const guint32 nodes[] = {a, b};
    bb_roles_join(roles, nodes, 2);
    ck_assert_uint_eq(bb_roles_count(roles), 1);
    ck_assert_uint_eq(bb_roles_of(roles, a), bb_roles_of(roles, b));
    ck_assert_uint_eq(bb_roles_of(roles, c), c);
    ck_assert_uint_eq(bb_roles_of(roles, taken), taken); // a node that has the role's name
    ck_assert_str_eq(bb_names_text(names, bb_roles_of(roles, a)), "app{1,2}~");
    ck_assert(bb_roles_is_role(roles, bb_roles_of(roles, a)));
    ck_assert(!bb_roles_is_role(roles, a) && !bb_roles_is_role(roles, taken));
    guint32 later = bb_names_intern(names, "later");
    ck_assert_uint_eq(bb_roles_of(roles, later), later);
}
END_TEST

static BbRoles *read_text(BbNames *names, const char *text, gsize size, GError **error)
{
    g_autoptr(Scratch) scratch = scratch_new();
    return bb_roles_read(scratch_file(scratch, "roles", text, size), names, error);
}

static const char *role_of(BbRoles *roles, BbNames *names, const char *node)
{
    return bb_names_text(names, bb_roles_of(roles, bb_names_intern(names, node)));
}

START_TEST(file)
{
    static const char text[] = "# replicas of the shop\n"
                               "\n"
                               "app app1 app2\t app3\r\n"
                               "  db db-?  my%20db\n"
                               "app late-app\n"
                               "any a*\n"
                               "last z";
    g_autoptr(BbNames) names = bb_names_new();
    g_autoptr(GError) error = NULL;
    g_autoptr(BbRoles) roles = read_text(names, text, strlen(text), &error);
    ck_assert_msg(roles, "%s", error ? error->message : "");
    ck_assert_uint_eq(bb_roles_count(roles), 4);
    ck_assert(bb_roles_is_role(roles, bb_names_find(names, "db")));
    ck_assert_str_eq(role_of(roles, names, "app1"), "app");
    ck_assert_str_eq(role_of(roles, names, "app3"), "app");
    ck_assert_str_eq(role_of(roles, names, "late-app"), "app");
    ck_assert_str_eq(role_of(roles, names, "app"), "app");  // a node of the role's name is in it
    ck_assert_str_eq(role_of(roles, names, "app4"), "any"); // the first that fits
    ck_assert_str_eq(role_of(roles, names, "db-7"), "db");
    ck_assert_str_eq(role_of(roles, names, "db-77"), "db-77");
    ck_assert_str_eq(role_of(roles, names, "my db"), "db");
    ck_assert_str_eq(role_of(roles, names, "z"), "last");
}
END_TEST

START_TEST(file_of_nothing)
{
    g_autoptr(BbNames) names = bb_names_new();
    g_autoptr(BbRoles) roles = read_text(names, "", 0, NULL);
    ck_assert_ptr_nonnull(roles);
    ck_assert_uint_eq(bb_roles_count(roles), 0);
    ck_assert_str_eq(role_of(roles, names, "a"), "a");
}
END_TEST

// A node of that name is none of the role, but would be taken for one.
START_TEST(roles_with_names_of_nodes)
{
    const char text[] = "lb app1 app2\ndb db1 db*\nweb web\ncache c1\n";
    g_autoptr(BbNames) names = bb_names_new();
    g_autoptr(BbRoles) roles = read_text(names, text, sizeof text - 1, NULL);
    const bool listed[] = {false, true, true, false};
    ck_assert_uint_eq(bb_roles_count(roles), G_N_ELEMENTS(listed));
    ck_assert_str_eq(bb_names_text(names, bb_roles_name(roles, 3)), "cache");
    for (guint i = 0; i < G_N_ELEMENTS(listed); i++)
        ck_assert(bb_roles_lists_itself(roles, bb_roles_name(roles, i)) == listed[i]);
}
END_TEST

static void expect_error(const char *text, gsize size, const char *words)
{
    g_autoptr(BbNames) names = bb_names_new();
    g_autoptr(GError) error = NULL;
    g_autoptr(BbRoles) roles = read_text(names, text, size, &error);
    ck_assert_ptr_null(roles);
    ck_assert(g_error_matches(error, G_FILE_ERROR, G_FILE_ERROR_INVAL));
    ck_assert_msg(strstr(error->message, words), "%s", error->message);
}

START_TEST(refused_files)
{
    expect_error("app app1\ndb\n", 12, "roles:2: the role has no nodes");
    expect_error("app app%2\n", 10, "roles:1: ");
    expect_error("a%zz b\n", 7, "roles:1: ");
    expect_error("a b\0c", 5, "a NUL byte");
    g_autofree char *large = g_strnfill((16u << 20) + 1, '\n');
    expect_error(large, (16u << 20) + 1, "more than 16 MB");
    g_autoptr(BbNames) names = bb_names_new();
    g_autoptr(GError) error = NULL;
    ck_assert_ptr_null(bb_roles_read("/nowhere/roles", names, &error));
    ck_assert(g_error_matches(error, G_FILE_ERROR, G_FILE_ERROR_NOENT));
    ck_assert_ptr_nonnull(strstr(error->message, "/nowhere/roles"));
    ck_assert_ptr_nonnull(strstr(error->message, "check the name"));
}
END_TEST

TEST_MAIN("roles", names_of_roles, joined_nodes, file, file_of_nothing, roles_with_names_of_nodes,
          refused_files)
