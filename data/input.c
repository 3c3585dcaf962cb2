// SPDX-License-Identifier: Apache-2.0
// In: a file, a pipe or standard input. Out: its bytes, unpacked where they are gzip, xz or zstd.
// Memory: one buffer of RAW_BYTES and what the unpacker needs (data/unpack.h).
#include "data/input.h"

#include "data/foreign.h"
#include "data/unpack.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#define RAW_BYTES ((gsize)256 * 1024)
#define PEEK_BYTES 64
#define READ_BYTES ((gsize)64 * 1024)   // of a whole file, at once
#define REST_BYTES ((guint64)256 << 20) // that are looked at for damage

struct BbInput {
    char *name;
    char *damage;
    GError *failure; // met while peeking, to be told by the next read
    int fd;
    bool regular;
    bool doubtful;              // packed data turned out to be damaged
    bool raw_ended;             // read(2) said that no more bytes come
    bool ended;                 // nothing follows what is in peeked
    bool between;               // one packed stream has ended, the next has not begun
    guint8 *raw;                // bytes of the file itself that were not taken yet
    gsize raw_at;               // first of them
    gsize raw_left;             // how many
    guint64 raw_taken;          // position in the file of raw[raw_at]
    const BbUnpacker *unpacker; // NULL: plain
    gpointer unpacking;
    guint8 peeked[PEEK_BYTES];
    gsize peeked_at, peeked_left;
    guint64 given; // bytes that the FILE has read
};

// ---- the file's own bytes ---------------------------------------------------------------------

static const char *open_remedy(int code)
{
    switch (code) {
    case ENOENT:
        return "check the name";
    case EACCES:
    case EPERM:
        return "ask its owner for the permission to read it, or use sudo";
    default:
        return "check the file and the disk it is on";
    }
}

static gssize read_some(const BbInput *input, guint8 *buffer, gsize size, GError **error)
{
    gssize got = 0;
    do
        got = read(input->fd, buffer, size);
    while (got < 0 && errno == EINTR);
    if (got < 0) {
        int code = errno;
        g_set_error(error, G_FILE_ERROR, (gint)g_file_error_from_errno(code),
                    "cannot read %s at byte %" G_GUINT64_FORMAT ": %s; check the disk it is on",
                    input->name, input->raw_taken + input->raw_left, g_strerror(code));
    }
    return got;
}

// Reads on until at least `wanted` bytes are in raw, or the file ends.
static bool raw_fill(BbInput *input, gsize wanted, GError **error)
{
    while (input->raw_left < wanted && !input->raw_ended) {
        memmove(input->raw, input->raw + input->raw_at, input->raw_left);
        input->raw_at = 0;
        gssize got =
            read_some(input, input->raw + input->raw_left, RAW_BYTES - input->raw_left, error);
        if (got < 0)
            return false;
        input->raw_ended = got == 0;
        input->raw_left += (gsize)got;
    }
    return true;
}

static void raw_take(BbInput *input, gsize count)
{
    input->raw_at += count;
    input->raw_left -= count;
    input->raw_taken += count;
}

// ---- bytes as they were before packing ----------------------------------------------------------

static void break_off(BbInput *input, const char *what, const char *reason)
{
    input->ended = true;
    input->damage = g_strdup_printf("%s: the %s data %s byte %" G_GUINT64_FORMAT "%s%s%s",
                                    input->name, input->unpacker->name, what, input->raw_taken,
                                    reason ? " (" : "", reason ? reason : "", reason ? ")" : "");
}

// Between two streams: zeros are padding (of tapes, and of xz), anything else must begin a stream.
static bool next_stream(BbInput *input, GError **error)
{
    while (true) {
        if (!raw_fill(input, BB_UNPACK_MAGIC, error))
            return false;
        const guint8 *raw = input->raw + input->raw_at;
        if (input->raw_left == 0 || raw[0] != 0)
            break;
        raw_take(input, 1);
    }
    if (input->raw_left == 0)
        input->ended = true;
    else if (input->unpacker->begins(input->raw + input->raw_at, input->raw_left))
        input->unpacker->restart(input->unpacking);
    else
        break_off(input, "is followed by something else at", NULL);
    input->between = false;
    return true;
}

// Unpacks at least one byte, unless the end is reached.
static gssize unpack_some(BbInput *input, guint8 *buffer, gsize size, GError **error)
{
    BbUnpackFlow flow = {.out = buffer, .out_left = size};
    while (flow.out_left == size && !input->ended) {
        if (input->between) {
            if (!next_stream(input, error))
                return -1;
            continue;
        }
        if (!raw_fill(input, 1, error))
            return -1;
        flow.in = input->raw + input->raw_at;
        flow.in_left = input->raw_left;
        const char *reason = NULL;
        BbUnpackStatus status = input->unpacker->run(input->unpacking, &flow, &reason);
        bool stuck = flow.in_left == input->raw_left && flow.out_left == size;
        raw_take(input, input->raw_left - flow.in_left);
        input->doubtful |= status == BB_UNPACK_BAD;
        if (status == BB_UNPACK_BAD)
            break_off(input, "is damaged at", reason);
        else if (status == BB_UNPACK_END)
            input->between = true;
        else if (stuck)
            break_off(input, "breaks off at", NULL);
    }
    return (gssize)(size - flow.out_left);
}

static gssize plain_some(BbInput *input, guint8 *buffer, gsize size, GError **error)
{
    if (input->raw_left > 0) {
        gsize count = MIN(size, input->raw_left);
        memcpy(buffer, input->raw + input->raw_at, count);
        raw_take(input, count);
        return (gssize)count;
    }
    gssize got = read_some(input, buffer, size, error);
    if (got == 0)
        input->ended = true;
    else if (got > 0)
        input->raw_taken += (guint64)got;
    return got;
}

gssize bb_input_some(BbInput *input, void *buffer, gsize size, GError **error)
{
    if (input->peeked_left > 0) {
        gsize count = MIN(size, input->peeked_left);
        memcpy(buffer, input->peeked + input->peeked_at, count);
        input->peeked_at += count;
        input->peeked_left -= count;
        return (gssize)count;
    }
    if (input->failure) {
        g_propagate_error(error, g_steal_pointer(&input->failure));
        return -1;
    }
    if (input->ended || size == 0)
        return 0;
    return input->unpacker ? unpack_some(input, buffer, size, error)
                           : plain_some(input, buffer, size, error);
}

// ---- the contract -------------------------------------------------------------------------------

static int open_descriptor(const char *path)
{
    if (strcmp(path, "-") == 0)
        return fcntl(STDIN_FILENO, F_DUPFD_CLOEXEC, 3);
    return open(path, O_RDONLY | O_CLOEXEC);
}

// Opens the file and looks at what kind it is and how it is packed.
static bool input_begin(BbInput *input, const char *path, GError **error)
{
    struct stat about = {0};
    input->fd = open_descriptor(path);
    if (input->fd < 0 || fstat(input->fd, &about) < 0) {
        int code = errno;
        g_set_error(error, G_FILE_ERROR, (gint)g_file_error_from_errno(code),
                    "cannot open %s: %s; %s", input->name, g_strerror(code), open_remedy(code));
        return false;
    }
    if (S_ISDIR(about.st_mode)) {
        g_set_error(error, G_FILE_ERROR, G_FILE_ERROR_ISDIR,
                    "%s is a directory; name the files in it", input->name);
        return false;
    }
    input->regular = S_ISREG(about.st_mode);
    if (!raw_fill(input, BB_UNPACK_MAGIC, error))
        return false;
    input->unpacker = bb_unpacker_find(input->raw, input->raw_left);
    if (input->unpacker)
        input->unpacking = input->unpacker->begin();
    return true;
}

static void pass_byte_order_mark(BbInput *input)
{
    static const guint8 mark[] = {0xef, 0xbb, 0xbf};
    guint8 head[sizeof mark];
    if (bb_input_peek(input, head, sizeof head) < sizeof head ||
        memcmp(head, mark, sizeof mark) != 0)
        return;
    input->peeked_at += sizeof mark;
    input->peeked_left -= sizeof mark;
}

BbInput *bb_input_open(const char *path, GError **error)
{
    BbInput *input = g_new0(BbInput, 1);
    input->name = g_strdup(bb_input_name_of(path));
    input->raw = g_malloc(RAW_BYTES);
    if (!input_begin(input, path, error))
        g_clear_pointer(&input, bb_input_free);
    else
        pass_byte_order_mark(input);
    return input;
}

// Why the input is no text at all, NULL if nothing speaks against it.
static char *find_no_text(BbInput *input, const char *path)
{
    char head[BB_FOREIGN_PEEK] = {0};
    gsize size = bb_input_peek(input, head, sizeof head);
    if (input->failure || (size == 0 && input->damage))
        return g_strdup(input->damage); // a failure is told by the next read
    g_autofree char *foreign = bb_foreign_tell(path, head, size, true);
    const char *why = size == 0 ? "there is nothing in it; see what was to write it" : foreign;
    return why ? g_strdup_printf("%s: %s", input->name, why) : NULL;
}

BbInput *bb_input_open_text(const char *path, GError **error)
{
    BbInput *input = bb_input_open(path, error);
    g_autofree char *why = input ? find_no_text(input, path) : NULL;
    if (why) {
        g_set_error(error, G_FILE_ERROR, G_FILE_ERROR_INVAL, "%s", why);
        g_clear_pointer(&input, bb_input_free);
    }
    return input;
}

void bb_input_free(BbInput *input)
{
    if (!input)
        return;
    if (input->unpacker)
        input->unpacker->end(input->unpacking);
    if (input->fd >= 0)
        close(input->fd);
    g_clear_error(&input->failure);
    g_free(input->raw);
    g_free(input->damage);
    g_free(input->name);
    g_free(input);
}

gssize bb_input_read(BbInput *input, void *buffer, gsize size, GError **error)
{
    gsize got = 0;
    while (got < size) {
        gssize some = bb_input_some(input, (guint8 *)buffer + got, size - got, error);
        if (some < 0)
            return -1;
        if (some == 0)
            break;
        got += (gsize)some;
    }
    return (gssize)got;
}

char *bb_input_read_all(BbInput *input, gsize most, gsize *size, GError **error)
{
    g_autoptr(GByteArray) all = g_byte_array_new();
    gssize got = 0;
    do {
        gsize before = all->len, want = MIN(most + 1 - before, READ_BYTES);
        g_byte_array_set_size(all, (guint)(before + want));
        got = bb_input_read(input, all->data + before, want, error);
        g_byte_array_set_size(all, (guint)(before + (gsize)MAX(got, 0)));
    } while (got > 0 && all->len <= most);
    if (got < 0)
        return NULL;
    *size = all->len;
    g_byte_array_append(all, (const guint8 *)"", 1);
    return (char *)g_byte_array_free(g_steal_pointer(&all), FALSE);
}

gsize bb_input_peek(BbInput *input, void *buffer, gsize size)
{
    size = MIN(size, PEEK_BYTES);
    if (input->peeked_left < size && !input->failure) {
        guint8 more[PEEK_BYTES];
        gsize got = 0;
        gssize some = 0;
        do {
            some = bb_input_some(input, more + got, size - got, &input->failure);
            got += (gsize)MAX(some, 0);
        } while (some > 0 && got < size);
        memcpy(input->peeked, more, got);
        input->peeked_at = 0;
        input->peeked_left = got;
    }
    size = MIN(size, input->peeked_left);
    memcpy(buffer, input->peeked + input->peeked_at, size);
    return size;
}

const char *bb_input_damage(const BbInput *input)
{
    return input->damage;
}

bool bb_input_is_doubtful(const BbInput *input)
{
    return input->doubtful;
}

void bb_input_check_rest(BbInput *input)
{
    if (!input->unpacker || !input->regular)
        return;
    g_autofree guint8 *bytes = g_malloc(RAW_BYTES);
    for (guint64 left = REST_BYTES; left >= RAW_BYTES && !input->failure; left -= RAW_BYTES)
        if (bb_input_read(input, bytes, RAW_BYTES, &input->failure) < (gssize)RAW_BYTES)
            return;
}

const char *bb_input_name(const BbInput *input)
{
    return input->name;
}

const char *bb_input_name_of(const char *path)
{
    return strcmp(path, "-") == 0 ? "standard input" : path;
}

bool bb_input_is_regular(const BbInput *input)
{
    return input->regular;
}

bool bb_input_is_written(const BbInput *input)
{
    if (!input->regular)
        return false;
    if (flock(input->fd, LOCK_SH | LOCK_NB) != 0)
        return errno == EWOULDBLOCK;
    (void)flock(input->fd, LOCK_UN);
    return false;
}

bool bb_input_is_packed(const BbInput *input)
{
    return input->unpacker;
}

int bb_input_descriptor(const BbInput *input)
{
    return input->fd;
}

// ---- as a FILE ----------------------------------------------------------------------------------

typedef struct {
    BbInput *input;
    char **damage;
} Cookie;

static ssize_t cookie_read(void *data, char *buffer, size_t size)
{
    Cookie *cookie = data;
    BbInput *input = cookie->input;
    gssize got = bb_input_some(input, buffer, size, NULL);
    if (input->damage && cookie->damage && !*cookie->damage)
        *cookie->damage = g_strdup(input->damage);
    if (got < 0)
        errno = EIO;
    else
        input->given += (guint64)got;
    return got;
}

static int cookie_close(void *data)
{
    Cookie *cookie = data;
    bb_input_free(cookie->input);
    g_free(cookie);
    return 0;
}

// The descriptor itself, set back over the bytes that were read ahead.
static FILE *plain_file(BbInput *input)
{
    off_t ahead = (off_t)(input->raw_left + input->peeked_left);
    if (lseek(input->fd, -ahead, SEEK_CUR) < 0)
        return NULL;
    FILE *file = fdopen(input->fd, "rb");
    if (!file) {
        (void)lseek(input->fd, ahead, SEEK_CUR);
        return NULL;
    }
    input->fd = -1;
    bb_input_free(input);
    return file;
}

FILE *bb_input_take_file(BbInput *input, char **damage, GError **error)
{
    if (damage)
        *damage = NULL;
    FILE *file = NULL;
    if (!input->unpacker && input->regular)
        file = plain_file(input);
    if (file)
        return file;
    Cookie *cookie = g_new(Cookie, 1);
    *cookie = (Cookie){input, damage};
    file =
        fopencookie(cookie, "rb", (cookie_io_functions_t){cookie_read, NULL, NULL, cookie_close});
    if (!file) {
        g_set_error(error, G_FILE_ERROR, (gint)g_file_error_from_errno(errno), "cannot read %s: %s",
                    input->name, g_strerror(errno));
        g_free(cookie);
    }
    return file;
}

bool bb_input_is_silent(const BbInput *input, guint64 taken, int timeout_ms)
{
    struct pollfd wait = {.fd = input->fd, .events = POLLIN};
    if (input->given > taken || input->peeked_left || input->raw_left || input->raw_ended)
        return false;
    return poll(&wait, 1, timeout_ms) <= 0;
}
