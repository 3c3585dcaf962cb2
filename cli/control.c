// SPDX-License-Identifier: Apache-2.0
// In: lines from clients of a Unix socket; answers of the capture. Out: requests to the capture;
// answers to the clients.
#include "cli/control.h"

#include "data/caption.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <string.h>
#include <sys/eventfd.h>
#include <sys/file.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#define TURN_MS 1000   // how often patience is looked at
#define QUEUE_MAX 64   // requests that nobody has taken yet
#define REASON_MAX 200 // bytes

typedef struct {
    int fd;
    guint ticket; // 0 until a command was understood
    gint64 since_us;
    gsize used;
    char line[BB_CONTROL_LINE];
} Client;

typedef struct {
    guint ticket;
    char *text; // reason or answer; may be NULL
} Slip;

struct BbControl {
    char *path, *lock_path;
    int lock; // who holds it has the path
    int listener, wake;
    bool bound;
    dev_t device; // of the socket, if bound
    ino_t inode;
    GThread *thread;
    GAsyncQueue *requests, *answers; // of Slip
    gint asked;                      // atomic: requests may be there
    gint over;                       // atomic: the thread is to end

    // Of the thread.
    Client clients[BB_CONTROL_CLIENTS];
    guint count, tickets;
};

// ---- commands -----------------------------------------------------------------------------------

bool bb_control_parse(const char *line, char **reason)
{
    *reason = NULL;
    if (strcmp(line, "snap") == 0)
        return true;
    if (!g_str_has_prefix(line, "snap "))
        return false;
    g_autofree char *rest = g_strstrip(g_strdup(line + strlen("snap ")));
    if (*rest == '\0')
        return true;
    GString *said = g_string_new(NULL);
    bb_caption_append_plain(said, rest, REASON_MAX);
    *reason = g_string_free(said, FALSE);
    return true;
}

static void slip_free(gpointer data)
{
    Slip *slip = data;
    g_free(slip->text);
    g_free(slip);
}

static void put_slip(GAsyncQueue *queue, guint ticket, char *text)
{
    Slip *slip = g_new(Slip, 1);
    *slip = (Slip){ticket, text};
    g_async_queue_push(queue, slip);
}

// ---- clients ------------------------------------------------------------------------------------

static void drop_client(BbControl *control, guint index)
{
    close(control->clients[index].fd);
    control->clients[index] = control->clients[--control->count];
}

// A line is less than what any socket holds: where it does not fit at once, nobody reads.
static void tell(const Client *client, const char *text)
{
    g_autofree char *line = g_strdup_printf("%s\n", text);
    (void)send(client->fd, line, strlen(line), MSG_DONTWAIT | MSG_NOSIGNAL);
}

static void accept_client(BbControl *control)
{
    int fd = accept4(control->listener, NULL, NULL, SOCK_CLOEXEC | SOCK_NONBLOCK);
    if (fd < 0)
        return;
    Client *client = &control->clients[control->count++];
    client->fd = fd;
    client->ticket = 0;
    client->used = 0;
    client->since_us = g_get_monotonic_time();
}

// Returns false where the client is to go.
static bool take_line(BbControl *control, Client *client)
{
    char *reason = NULL;
    if (!bb_control_parse(client->line, &reason)) {
        tell(client, "error unknown command: send `snap`, or `snap REASON`");
        return false;
    }
    if (g_async_queue_length(control->requests) >= QUEUE_MAX) {
        g_free(reason);
        tell(client, "error too many requests: try again later");
        return false;
    }
    client->ticket = ++control->tickets;
    put_slip(control->requests, client->ticket, reason);
    g_atomic_int_set(&control->asked, 1);
    return true;
}

static bool read_client(BbControl *control, Client *client)
{
    gsize room = sizeof client->line - client->used;
    gssize got = recv(client->fd, client->line + client->used, room, MSG_DONTWAIT);
    if (got < 0)
        return errno == EAGAIN || errno == EINTR;
    if (got == 0)
        return false;
    char *end = memchr(client->line + client->used, '\n', (gsize)got);
    client->used += (gsize)got;
    if (end) {
        *end = '\0';
        return take_line(control, client);
    }
    if (client->used < sizeof client->line)
        return true;
    tell(client, "error the line is too long");
    return false;
}

static bool is_late(const Client *client)
{
    return !client->ticket && g_get_monotonic_time() - client->since_us > BB_CONTROL_PATIENCE_US;
}

static void give_answers(BbControl *control)
{
    for (Slip *slip = g_async_queue_try_pop(control->answers); slip;
         slip = g_async_queue_try_pop(control->answers)) {
        for (guint i = control->count; i-- > 0;)
            if (control->clients[i].ticket == slip->ticket) {
                tell(&control->clients[i], slip->text);
                drop_client(control, i);
            }
        slip_free(slip);
    }
}

// ---- the thread ---------------------------------------------------------------------------------

// Of a client that waits for its answer only hanging up is of interest.
static guint list_descriptors(const BbControl *control, struct pollfd *list)
{
    bool room = control->count < BB_CONTROL_CLIENTS;
    list[0] = (struct pollfd){.fd = control->wake, .events = POLLIN};
    list[1] = (struct pollfd){.fd = room ? control->listener : -1, .events = POLLIN};
    for (guint i = 0; i < control->count; i++)
        list[2 + i] = (struct pollfd){.fd = control->clients[i].fd,
                                      .events = control->clients[i].ticket ? 0 : POLLIN};
    return 2 + control->count;
}

static void serve(BbControl *control, const struct pollfd *list)
{
    for (guint i = control->count; i-- > 0;) {
        Client *client = &control->clients[i];
        short events = list[2 + i].revents;
        bool stays = !is_late(client);
        if (stays && events & POLLIN)
            stays = read_client(control, client);
        else if (events)
            stays = false;
        if (!stays)
            drop_client(control, i);
    }
    if (list[1].revents & POLLIN)
        accept_client(control);
}

static gpointer run(gpointer data)
{
    BbControl *control = data;
    struct pollfd list[2 + BB_CONTROL_CLIENTS];
    while (!g_atomic_int_get(&control->over)) {
        guint count = list_descriptors(control, list);
        if (poll(list, count, TURN_MS) < 0)
            continue;
        guint64 woken;
        if (list[0].revents & POLLIN)
            (void)!read(control->wake, &woken, sizeof woken);
        serve(control, list);
        give_answers(control);
    }
    give_answers(control);
    while (control->count > 0) {
        if (control->clients[0].ticket)
            tell(&control->clients[0], "error the capture ended");
        drop_client(control, 0);
    }
    return NULL;
}

static void wake(const BbControl *control)
{
    const guint64 one = 1;
    (void)!write(control->wake, &one, sizeof one);
}

// ---- from outside -------------------------------------------------------------------------------

static bool fail(const char *path, const char *what, const char *remedy, int reason, GError **error)
{
    g_set_error(error, G_FILE_ERROR, (gint)g_file_error_from_errno(reason), "%s: %s%s%s: %s", path,
                what, reason ? ": " : "", reason ? g_strerror(reason) : "", remedy);
    return false;
}

static bool is_at(const char *path, dev_t device, ino_t inode)
{
    struct stat info;
    return lstat(path, &info) == 0 && info.st_dev == device && info.st_ino == inode;
}

// Locks PATH.lock, an empty file: whether somebody answers cannot be asked, as a capture that is
// confined may not connect. One that was removed meanwhile by its former holder is made anew.
static bool take_lock(BbControl *control, GError **error)
{
    struct stat info;
    control->lock_path = g_strconcat(control->path, ".lock", NULL);
    for (;;) {
        int fd =
            open(control->lock_path, O_RDWR | O_CREAT | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC, 0600);
        if (fd < 0 || fstat(fd, &info) != 0 || !S_ISREG(info.st_mode) || info.st_size > 0) {
            int reason = fd < 0 ? errno : 0;
            if (fd >= 0)
                close(fd);
            return fail(control->lock_path, "cannot use it as a lock of the control socket",
                        "give another --socket, or change the rights there", reason, error);
        }
        if (flock(fd, LOCK_EX | LOCK_NB) != 0) {
            int reason = errno == EWOULDBLOCK ? 0 : errno;
            close(fd);
            return fail(control->path, "another capture listens there", "give another --socket",
                        reason, error);
        }
        control->lock = fd;
        if (is_at(control->lock_path, info.st_dev, info.st_ino))
            return true;
        close(fd);
        control->lock = -1;
    }
}

// The lock goes last, while it is held.
static void leave_path(BbControl *control)
{
    if (control->bound && is_at(control->path, control->device, control->inode))
        (void)unlink(control->path);
    if (control->lock < 0)
        return;
    (void)unlink(control->lock_path);
    close(control->lock);
}

// A socket of a capture that is gone, as the lock is ours.
static bool remove_former(const char *path, GError **error)
{
    struct stat info;
    if (lstat(path, &info) != 0)
        return true;
    if (!S_ISSOCK(info.st_mode))
        return fail(path, "something else than a socket is there", "give another --socket", 0,
                    error);
    return unlink(path) == 0 ||
           fail(path, "cannot remove the former socket", "remove it", errno, error);
}

static bool bind_to(BbControl *control, const struct sockaddr_un *address)
{
    struct stat info;
    if (bind(control->listener, (const struct sockaddr *)address, sizeof *address) != 0 ||
        lstat(control->path, &info) != 0)
        return false;
    control->device = info.st_dev;
    control->inode = info.st_ino;
    control->bound = true;
    return true;
}

static bool start_listening(BbControl *control, GError **error)
{
    struct sockaddr_un address = {.sun_family = AF_UNIX};
    if (g_strlcpy(address.sun_path, control->path, sizeof address.sun_path) >=
        sizeof address.sun_path)
        return fail(control->path, "too long for the path of a socket", "give a shorter --socket",
                    0, error);
    if (!take_lock(control, error) || !remove_former(control->path, error))
        return false;
    control->listener = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
    // The mode that the file will have: there is no moment with another one.
    if (control->listener < 0 || fchmod(control->listener, 0600) != 0 ||
        !bind_to(control, &address) || chmod(control->path, 0600) != 0 ||
        listen(control->listener, (int)BB_CONTROL_CLIENTS) != 0)
        return fail(control->path, "cannot make the control socket",
                    "give another --socket, or change the rights there", errno, error);
    return true;
}

BbControl *bb_control_open(const char *path, GError **error)
{
    BbControl *control = g_new0(BbControl, 1);
    control->path = g_strdup(path);
    control->listener = control->lock = -1;
    control->wake = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
    control->requests = g_async_queue_new_full(slip_free);
    control->answers = g_async_queue_new_full(slip_free);
    if (control->wake >= 0 && start_listening(control, error)) {
        control->thread = g_thread_new("control", run, control);
        return control;
    }
    if (control->wake < 0)
        (void)fail(path, "no descriptor is left", "raise the limit of open files", errno, error);
    bb_control_free(control);
    return NULL;
}

void bb_control_free(BbControl *control)
{
    if (!control)
        return;
    if (control->thread) {
        g_atomic_int_set(&control->over, 1);
        wake(control);
        g_thread_join(control->thread);
    }
    leave_path(control);
    if (control->listener >= 0)
        close(control->listener);
    if (control->wake >= 0)
        close(control->wake);
    g_async_queue_unref(control->requests);
    g_async_queue_unref(control->answers);
    g_free(control->path);
    g_free(control->lock_path);
    g_free(control);
}

bool bb_control_next(BbControl *control, guint *ticket, char **reason)
{
    if (G_LIKELY(!g_atomic_int_get(&control->asked)))
        return false;
    g_atomic_int_set(&control->asked, 0); // before looking: what comes after sets it again
    Slip *slip = g_async_queue_try_pop(control->requests);
    if (!slip)
        return false;
    g_atomic_int_set(&control->asked, 1);
    *ticket = slip->ticket;
    *reason = g_steal_pointer(&slip->text);
    slip_free(slip);
    return true;
}

void bb_control_answer(BbControl *control, guint ticket, const char *line)
{
    put_slip(control->answers, ticket, g_strdup(line));
    wake(control);
}
