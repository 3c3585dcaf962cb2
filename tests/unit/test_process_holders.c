// SPDX-License-Identifier: Apache-2.0
// Who holds a socket, from a /proc that is made for it: the oldest process, not the first number;
// looked at again; programs that call themselves like units.
#include "capture/processes/holders.h"
#include "tests/unit/test.h"

#include <fcntl.h>
#include <glib/gstdio.h>
#include <string.h>
#include <unistd.h>

static const BbSocketKey listens = {.port = 80, .protocol = BB_SOCKET_TCP};

typedef struct Proc {
    char *path;
    int fd;
} Proc;

static Proc proc_new(void)
{
    Proc proc = {.path = g_dir_make_tmp("holders-XXXXXX", NULL)};
    ck_assert_ptr_nonnull(proc.path);
    proc.fd = open(proc.path, O_RDONLY | O_DIRECTORY);
    ck_assert_int_ge(proc.fd, 0);
    return proc;
}

static void write_file(const Proc *proc, int pid, const char *file, const char *text)
{
    g_autofree char *path = g_strdup_printf("%s/%d/%s", proc->path, pid, file);
    ck_assert(g_file_set_contents(path, text, -1, NULL));
}

// A process that began then, and holds socket 77.
static void add(const Proc *proc, int pid, const char *comm, guint start)
{
    g_autofree char *fds = g_strdup_printf("%s/%d/fd", proc->path, pid);
    g_autofree char *link = g_strdup_printf("%s/3", fds);
    g_autofree char *stat = g_strdup_printf(
        "%d (%s) S 1 1 1 0 -1 4194560 1 0 0 0 0 0 0 0 20 0 1 0 %u 1 1", pid, comm, start);
    ck_assert_int_eq(g_mkdir_with_parents(fds, 0700), 0);
    ck_assert_int_eq(symlink("socket:[77]", link), 0);
    write_file(proc, pid, "stat", stat);
    write_file(proc, pid, "comm", comm);
    write_file(proc, pid, "cgroup", "0::/\n");
}

static void drop(const Proc *proc, int pid)
{
    static const char *const all[] = {"fd/3", "fd", "stat", "comm", "cgroup", ""};
    for (gsize i = 0; i < G_N_ELEMENTS(all); i++) {
        g_autofree char *path = g_strdup_printf("%s/%d/%s", proc->path, pid, all[i]);
        (void)g_remove(path);
    }
}

static void proc_free(Proc *proc)
{
    for (int pid = 1; pid < 10; pid++)
        drop(proc, pid);
    (void)close(proc->fd);
    ck_assert_int_eq(g_rmdir(proc->path), 0);
    g_free(proc->path);
}

static const char *find(BbHolders *holders)
{
    if (!bb_holders_find(holders, 77, &listens))
        (void)bb_holders_search(holders, true);
    const char *name = bb_holders_find(holders, 77, &listens);
    return name ? name : "-";
}

static const char *review(BbHolders *holders)
{
    bb_holders_review(holders);
    return find(holders);
}

START_TEST(the_oldest_holds_it_and_the_first_of_all_last)
{
    Proc proc = proc_new();
    add(&proc, 1, "init", 1);
    add(&proc, 3, "young ) child", 500);
    add(&proc, 9, "old", 400);
    g_autoptr(BbHolders) holders = bb_holders_new(proc.fd);
    ck_assert_str_eq(find(holders), "old");
    proc_free(&proc);
}
END_TEST

START_TEST(who_holds_it_is_looked_at_again)
{
    Proc proc = proc_new();
    g_autoptr(BbHolders) holders = bb_holders_new(proc.fd);
    for (guint i = 0; i < 5; i++)
        ck_assert_str_eq(find(holders), "-");
    add(&proc, 1, "init", 1); // after it was given up
    ck_assert_str_eq(review(holders), "init");
    add(&proc, 5, "service", 300); // socket activation
    ck_assert_str_eq(review(holders), "service");
    write_file(&proc, 5, "comm", "other\n"); // exec
    ck_assert_str_eq(find(holders), "service");
    ck_assert_str_eq(review(holders), "other");
    drop(&proc, 5);
    add(&proc, 5, "next", 900); // the same number
    ck_assert_str_eq(review(holders), "next");
    drop(&proc, 5);
    drop(&proc, 1);
    ck_assert_str_eq(review(holders), "next"); // nobody else: it stays
    proc_free(&proc);
}
END_TEST

START_TEST(programs_do_not_pass_for_units)
{
    static const char *const names[][2] = {
        {"nginx.service", "nginx.service+comm"},
        {"a.scope", "a.scope+comm"},
        {"a.slice", "a.slice+comm"},
        {"0123456789ab", "0123456789ab+comm"},
        {"0123456789aB", "0123456789aB"},
        {"nginx", "nginx"},
        {"a/.service", "a_.service+comm"},
    };
    for (gsize i = 0; i < G_N_ELEMENTS(names); i++) {
        char name[BB_OWNER_NAME];
        bb_owner_clean_program(names[i][0], strlen(names[i][0]), name);
        ck_assert_str_eq(name, names[i][1]);
    }
    g_autofree char *endless = g_strnfill(200, 'x');
    char name[BB_OWNER_NAME];
    bb_owner_clean_program(endless, 200, name);
    ck_assert_uint_lt(strlen(name), BB_OWNER_NAME);
}
END_TEST

TEST_MAIN("process_holders", the_oldest_holds_it_and_the_first_of_all_last,
          who_holds_it_is_looked_at_again, programs_do_not_pass_for_units)
