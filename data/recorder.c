// SPDX-License-Identifier: Apache-2.0
// In: messages. Out: a ring of sub-buffers in a file that is mapped into memory (bbtrace-ring(5)).
#include "data/recorder.h"

#include "data/recorder_form.h"
#include "data/trace_bbt_keys.h"

#include <errno.h>
#include <fcntl.h>
#include <sys/file.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#define SUB_WRITE_MAX ((guint64)1 << 20)
#define SUB_SHARE 64u       // of the ring
#define CONN_RECORDS_MIN 20 // bytes of a connection and of a message on it, at least

typedef struct {
    guint32 sub_size, count;
} Shape;

// A name of the run: its number in a sub-buffer, if epoch is the present one.
typedef struct {
    guint64 epoch;
    guint32 number;
} Known;

struct BbRecorder {
    const BbNames *names;
    int fd;
    guint8 *map;
    Shape shape;
    guint32 place;         // of the sub-buffer that is written
    guint64 sequence, run; // of it
    guint32 used;          // bytes of it, committed; 0 before the first one of the run
    guint32 seed;          // of its checksums
    gint64 before_ns;      // time of the message before, in it
    guint64 epoch;         // counts whatever makes known names and connections unknown
    guint32 names_count;   // in it
    GArray *known;         // of Known, by name
    BbBbtKeys *conns;      // in it
    GByteArray *records;   // of one message, with the names that are new
    bool too_long;         // it has a name that is too long; then there are names only
    guint64 messages, left_out;
};

static gsize file_size(Shape shape)
{
    return BB_RING_PAGE + (gsize)shape.sub_size * shape.count;
}

static guint8 *sub_at(const BbRecorder *recorder)
{
    return recorder->map + BB_RING_PAGE + (gsize)recorder->shape.sub_size * recorder->place;
}

// ---- sub-buffers --------------------------------------------------------------------------------

// What is known of names and connections no longer holds.
static void forget_known(BbRecorder *recorder)
{
    recorder->epoch++;
    recorder->names_count = 0;
    recorder->before_ns = 0;
    bb_bbt_keys_clear(recorder->conns);
}

static void set_magic(guint8 *at, guint32 magic)
{
    __atomic_store_n((guint32 *)(gpointer)at, GUINT32_TO_LE(magic), __ATOMIC_RELEASE);
    __atomic_thread_fence(__ATOMIC_SEQ_CST);
}

static void commit(BbRecorder *recorder, guint32 used)
{
    recorder->used = used;
    __atomic_store_n((guint32 *)(gpointer)(sub_at(recorder) + 4), GUINT32_TO_LE(used),
                     __ATOMIC_RELEASE);
}

// While its head is written the sub-buffer is none.
static void begin_sub(BbRecorder *recorder)
{
    recorder->place = (recorder->place + 1) % recorder->shape.count;
    recorder->sequence++;
    recorder->seed = bb_ring_seed(recorder->sequence);
    guint8 *at = sub_at(recorder);
    const BbRingSub sub = {.sequence = recorder->sequence,
                           .first = recorder->messages,
                           .run = recorder->run,
                           .size = recorder->shape.sub_size};
    set_magic(at, 0);
    bb_ring_sub_write(at, &sub);
    commit(recorder, BB_RING_SUB_HEAD);
    set_magic(at, BB_RING_SUB_MAGIC);
    forget_known(recorder);
}

// ---- records ------------------------------------------------------------------------------------

static gsize begin_record(GByteArray *out)
{
    gsize begin = out->len;
    g_byte_array_set_size(out, out->len + BB_RING_RECORD_HEAD);
    return begin;
}

static void append_text(BbRecorder *recorder, guint type, const char *text)
{
    gsize begin = begin_record(recorder->records);
    g_byte_array_append(recorder->records, (const guint8 *)text, (guint)strlen(text));
    bb_ring_record_end(recorder->records, begin, type, recorder->seed);
}

// The number of a name in the sub-buffer; a record says it where it is new.
static guint32 number_of(BbRecorder *recorder, guint32 name)
{
    if (name == BB_NAME_NONE)
        return 0;
    if (name >= recorder->known->len)
        g_array_set_size(recorder->known, name + 1);
    Known *known = &g_array_index(recorder->known, Known, name);
    if (known->epoch != recorder->epoch) {
        const char *text = bb_names_text(recorder->names, name);
        if (strnlen(text, BB_RING_TEXT_MAX + 1) > BB_RING_TEXT_MAX) {
            recorder->too_long = true;
            return 0;
        }
        *known = (Known){recorder->epoch, ++recorder->names_count};
        append_text(recorder, BB_RING_NAME, text);
    }
    return known->number;
}

static BbId id_of(BbRecorder *recorder, BbId id)
{
    if (id.form > BB_ID_STEM)
        id.form = BB_ID_STEM + number_of(recorder, id.form - BB_ID_STEM);
    return id;
}

static guint64 conn_of(BbRecorder *recorder, const char *conn)
{
    if (!conn)
        return 0;
    guint32 known = bb_bbt_keys_count(recorder->conns);
    guint32 number = bb_bbt_keys_add(recorder->conns, conn, strlen(conn));
    if (number == known)
        append_text(recorder, BB_RING_CONN, conn);
    return 1 + (guint64)number;
}

static void append_message(BbRecorder *recorder, const BbMessage *message)
{
    BbRingMessage record = {.message = *message, .before_ns = recorder->before_ns};
    BbMessage *m = &record.message;
    g_byte_array_set_size(recorder->records, 0);
    recorder->too_long = false;
    m->sender = number_of(recorder, m->sender);
    m->receiver = number_of(recorder, m->receiver);
    m->op = number_of(recorder, m->op);
    m->status = number_of(recorder, m->status);
    m->proto = number_of(recorder, m->proto);
    m->observer = number_of(recorder, m->observer);
    m->file = number_of(recorder, m->file);
    m->id = id_of(recorder, m->id);
    m->path = id_of(recorder, m->path);
    m->parent = id_of(recorder, m->parent);
    record.conn = conn_of(recorder, message->conn);
    if (recorder->too_long)
        return;
    gsize begin = begin_record(recorder->records);
    bb_ring_message_append(recorder->records, &record);
    bb_ring_record_end(recorder->records, begin, BB_RING_MESSAGE, recorder->seed);
}

// A sub-buffer has room for any message with its texts.
G_STATIC_ASSERT(11 * (BB_RING_TEXT_MAX + BB_RING_RECORD_HEAD) + 256 <
                BB_RING_SUB_MIN - BB_RING_SUB_HEAD);

static bool fits(const BbRecorder *recorder)
{
    return recorder->records->len <= recorder->shape.sub_size - recorder->used;
}

// Whether its times and its connection can be recorded.
static bool is_recordable(const BbMessage *message)
{
    return message->time_ns >= 0 && (message->recv_ns >= 0 || message->recv_ns == BB_TIME_NONE) &&
           (message->end_ns >= 0 || message->end_ns == BB_TIME_NONE) &&
           (!message->conn || strnlen(message->conn, BB_RING_TEXT_MAX + 1) <= BB_RING_TEXT_MAX);
}

void bb_recorder_push(BbRecorder *recorder, const BbMessage *message)
{
    if (!is_recordable(message)) {
        recorder->left_out++;
        return;
    }
    if (recorder->used == 0)
        begin_sub(recorder);
    append_message(recorder, message);
    if (!fits(recorder)) {
        begin_sub(recorder);
        append_message(recorder, message);
    }
    const GByteArray *records = recorder->records;
    memcpy(sub_at(recorder) + recorder->used, records->data, records->len);
    commit(recorder, recorder->used + records->len);
    if (recorder->too_long) {
        recorder->left_out++;
        return;
    }
    recorder->before_ns = message->time_ns;
    recorder->messages++;
}

// ---- the file -----------------------------------------------------------------------------------

static Shape shape_of(guint64 size)
{
    guint64 sub = CLAMP(size / SUB_SHARE, BB_RING_SUB_MIN, SUB_WRITE_MAX);
    sub -= sub % BB_RING_SUB_MIN;
    return (Shape){(guint32)sub, (guint32)(size / sub)};
}

static bool fail(const char *path, const char *what, const char *remedy, int reason, GError **error)
{
    g_set_error(error, G_FILE_ERROR, (gint)g_file_error_from_errno(reason), "%s: %s%s%s: %s", path,
                what, reason ? ": " : "", reason ? g_strerror(reason) : "", remedy);
    return false;
}

static const char save_it[] = "save it with `bbtrace snap --recover` and remove it";

static void write_head(BbRecorder *recorder)
{
    guint8 *at = recorder->map;
    g_autoptr(GByteArray) head = g_byte_array_new();
    g_byte_array_append(head, (const guint8 *)BB_RING_MAGIC, BB_RING_MAGIC_SIZE);
    bb_bytes_append(head, BB_RING_VERSION, 2);
    bb_bytes_append(head, 0, 2);
    bb_bytes_append(head, recorder->shape.sub_size, 4);
    bb_bytes_append(head, recorder->shape.count, 4);
    bb_bytes_append(head, bb_crc32c(0, head->data, head->len), 4);
    g_assert(head->len == BB_RING_HEAD_SIZE);
    memcpy(at, head->data, head->len);
}

// Goes on behind the last run. Heads of newer sub-buffers may be lost: so many numbers are left out
// that none of their records has the seed of a new one.
static bool go_on(BbRecorder *recorder, const char *path, GError **error)
{
    g_autoptr(BbRecorderReader) reader =
        bb_recorder_reader_open(fcntl(recorder->fd, F_DUPFD_CLOEXEC, 0), path, error);
    if (!reader)
        return false;
    BbRecorderEnd end = bb_recorder_reader_end(reader);
    recorder->sequence = end.sequence + recorder->shape.count;
    if (end.sequence == 0)
        return true;
    guint64 behind = end.place - BB_RING_PAGE;
    if (end.size != recorder->shape.sub_size || behind % end.size != 0 ||
        behind / end.size >= recorder->shape.count)
        return fail(path, "a ring of another size is there, with a damaged head", save_it, 0,
                    error);
    if (end.sequence > G_MAXINT64 || end.run > G_MAXINT64)
        return fail(path, "a ring whose numbers are used up is there", save_it, 0, error);
    recorder->run = end.run;
    recorder->place = (guint32)(behind / end.size);
    return true;
}

// Where a former run ended. A file that is empty, or was never begun, is a new ring.
static bool take_former(BbRecorder *recorder, const char *path, guint64 found, GError **error)
{
    guint8 head[BB_RING_HEAD_SIZE] = {0};
    static const guint8 nothing[BB_RING_HEAD_SIZE] = {0};
    if (found == 0)
        return true;
    if (pread(recorder->fd, head, sizeof head, 0) < 0)
        return fail(path, "cannot read it", "choose another place", errno, error);
    if (memcmp(head, nothing, sizeof head) == 0 && found <= file_size(recorder->shape))
        return go_on(recorder, path, error); // the head may be lost
    if (memcmp(head, BB_RING_MAGIC, BB_RING_MAGIC_SIZE) != 0)
        return fail(path, "a file of another kind is there", "choose another place", 0, error);
    BbBytes bytes = {.at = head + BB_RING_MAGIC_SIZE, .left = sizeof head - BB_RING_MAGIC_SIZE};
    bool known = bb_bytes_u32(&bytes) == BB_RING_VERSION;
    Shape shape = {.sub_size = bb_bytes_u32(&bytes)};
    shape.count = bb_bytes_u32(&bytes);
    if (!known || bb_bytes_u32(&bytes) != bb_crc32c(0, head, BB_RING_HEAD_SIZE - 4) ||
        shape.sub_size != recorder->shape.sub_size || shape.count != recorder->shape.count)
        return fail(path, "a ring of another size or version is there",
                    "give its size, or save it with `bbtrace snap --recover` and remove it", 0,
                    error);
    return go_on(recorder, path, error);
}

// All of the file is set aside at once: a full disk shows here, and not as SIGBUS later, where the
// file system writes in place.
static bool map_file(BbRecorder *recorder, const char *path, GError **error)
{
    static const char remedy[] =
        "free space or rights there, give a smaller size, or another place";
    gsize size = file_size(recorder->shape);
    int reason = posix_fallocate(recorder->fd, 0, (off_t)size);
    if (reason)
        return fail(path, "cannot set the ring aside", remedy, reason, error);
    void *map = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_SHARED, recorder->fd, 0);
    if (map == MAP_FAILED)
        return fail(path, "cannot map the ring", remedy, errno, error);
    recorder->map = map;
    write_head(recorder);
    return true;
}

static bool open_file(BbRecorder *recorder, const char *path, GError **error)
{
    struct stat info;
    recorder->fd = open(path, O_RDWR | O_CREAT | O_CLOEXEC, 0666);
    if (recorder->fd < 0)
        return fail(path, "cannot open it", "choose another place, or change its rights", errno,
                    error);
    if (flock(recorder->fd, LOCK_EX | LOCK_NB) != 0)
        return fail(path, "another capture records there", "choose another place",
                    errno == EWOULDBLOCK ? 0 : errno, error);
    if (fstat(recorder->fd, &info) != 0 || !S_ISREG(info.st_mode)) // its size only once it is ours
        return fail(path, "no plain file", "choose another place", 0, error);
    if (take_former(recorder, path, (guint64)info.st_size, error) &&
        map_file(recorder, path, error))
        return true;
    if (info.st_size == 0) // nothing was in it; while it is locked, nobody else begins it
        (void)unlink(path);
    return false;
}

BbRecorder *bb_recorder_open(const char *path, guint64 size, const BbNames *names, GError **error)
{
    g_return_val_if_fail(size >= BB_RECORDER_SIZE_MIN && size <= BB_RECORDER_SIZE_MAX, NULL);
    g_autoptr(BbRecorder) recorder = g_new0(BbRecorder, 1);
    recorder->names = names;
    recorder->shape = shape_of(size);
    recorder->place = recorder->shape.count - 1;
    recorder->known = g_array_new(FALSE, TRUE, sizeof(Known));
    recorder->conns = bb_bbt_keys_new(recorder->shape.sub_size / CONN_RECORDS_MIN + 2);
    recorder->records = g_byte_array_new();
    if (!open_file(recorder, path, error))
        return NULL;
    recorder->run++;
    return g_steal_pointer(&recorder);
}

void bb_recorder_free(BbRecorder *recorder)
{
    if (!recorder)
        return;
    if (recorder->map)
        (void)munmap(recorder->map, file_size(recorder->shape));
    if (recorder->fd >= 0)
        close(recorder->fd);
    g_array_unref(recorder->known);
    bb_bbt_keys_free(recorder->conns);
    g_byte_array_unref(recorder->records);
    g_free(recorder);
}

guint64 bb_recorder_messages(const BbRecorder *recorder)
{
    return recorder->messages;
}

guint64 bb_recorder_left_out(const BbRecorder *recorder)
{
    return recorder->left_out;
}

guint64 bb_recorder_size(const BbRecorder *recorder)
{
    return file_size(recorder->shape);
}
