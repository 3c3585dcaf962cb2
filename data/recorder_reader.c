// SPDX-License-Identifier: Apache-2.0
// In: a ring (bbtrace-ring(5)), whole or damaged, at rest or being written. Out: its messages, from
// the oldest sub-buffer to the newest, and what is missing.
//
// Sub-buffers are found by the head of the file; where that is damaged, by their own heads.
#include "data/recorder.h"

#include "data/recorder_form.h"

#include <errno.h>
#include <sys/stat.h>
#include <unistd.h>

// Where a sub-buffer is, as it was when the reader was opened.
typedef struct {
    guint64 place;
    BbRingSub sub;
} Found;

struct BbRecorderReader {
    int fd;
    char *name;
    guint64 file_size;
    GArray *subs; // of Found, the oldest first
    BbRecorderEnd end;
    BbRecorderFindings findings;

    // The sub-buffer that is being read.
    guint next; // the one behind it
    Found at;
    guint8 *bytes;
    gsize size, used; // of bytes: there, taken
    guint32 seed;
    gint64 before_ns;
    guint64 messages; // taken of it
    GArray *names;    // its numbers -> names of the caller
    GPtrArray *conns; // texts; NULL as the first
    GString *prefix;  // of ids, for stems
    guint64 run;      // that messages were last read of
    guint64 expected; // number of the next message of that run
};

static bool fail(const BbRecorderReader *reader, const char *what, const char *remedy, int reason,
                 GError **error)
{
    g_set_error(error, G_FILE_ERROR, (gint)g_file_error_from_errno(reason), "%s: %s%s%s: %s",
                reader->name, what, reason ? ": " : "", reason ? g_strerror(reason) : "", remedy);
    return false;
}

// Reads up to size bytes; fewer at the end of the file. Returns -1 with an error.
static gssize read_at(const BbRecorderReader *reader, guint64 place, gpointer to, gsize size,
                      GError **error)
{
    gsize done = 0;
    while (done < size) {
        gssize got = pread(reader->fd, (guint8 *)to + done, size - done, (off_t)(place + done));
        if (got < 0 && errno == EINTR)
            continue;
        if (got < 0) {
            (void)fail(reader, "cannot read it",
                       "copy the file from a healthy disk, if there is one", errno, error);
            return -1;
        }
        if (got == 0)
            break;
        done += (gsize)got;
    }
    return (gssize)done;
}

// ---- finding the sub-buffers --------------------------------------------------------------------

typedef enum { SUB_GOOD, SUB_NONE, SUB_BAD, SUB_FAILED } SubState;

// A place that was never written to, or is just being begun, is none and not bad.
static SubState look_at(BbRecorderReader *reader, guint64 place, BbRingSub *sub, GError **error)
{
    guint8 head[BB_RING_SUB_HEAD] = {0};
    gssize got = read_at(reader, place, head, sizeof head, error);
    if (got < 0)
        return SUB_FAILED;
    if (got == sizeof head && bb_ring_sub_read(head, sub))
        return SUB_GOOD;
    BbBytes magic = {.at = head, .left = sizeof head};
    return bb_bytes_u32(&magic) == 0 ? SUB_NONE : SUB_BAD;
}

static void add_sub(BbRecorderReader *reader, guint64 place, const BbRingSub *sub)
{
    const Found found = {place, *sub};
    g_array_append_val(reader->subs, found);
}

static bool take_shape(BbRecorderReader *reader, guint32 *size, guint32 *count, GError **error)
{
    guint8 head[BB_RING_HEAD_SIZE] = {0};
    *size = *count = 0;
    if (read_at(reader, 0, head, sizeof head, error) < 0)
        return false;
    BbBytes bytes = {.at = head + BB_RING_MAGIC_SIZE, .left = sizeof head - BB_RING_MAGIC_SIZE};
    guint32 version = bb_bytes_u32(&bytes);
    guint32 sub_size = bb_bytes_u32(&bytes), subs = bb_bytes_u32(&bytes);
    if (bb_bytes_u32(&bytes) != bb_crc32c(0, head, BB_RING_HEAD_SIZE - 4) ||
        sub_size < BB_RING_SUB_MIN || sub_size > BB_RING_SUB_MAX || sub_size % BB_RING_PAGE != 0) {
        reader->findings.headless = true;
        return true;
    }
    if (version != BB_RING_VERSION)
        return fail(reader, "a ring of a version that this program does not know",
                    "use the bbtrace that wrote it, or a newer one", 0, error);
    *size = sub_size;
    *count = subs;
    return true;
}

static bool find_by_shape(BbRecorderReader *reader, guint32 size, guint32 count, GError **error)
{
    for (guint32 i = 0; i < count; i++) {
        guint64 place = BB_RING_PAGE + (guint64)i * size;
        if (place >= reader->file_size)
            break;
        BbRingSub sub;
        SubState state = look_at(reader, place, &sub, error);
        if (state == SUB_FAILED)
            return false;
        if (state == SUB_GOOD && sub.size == size)
            add_sub(reader, place, &sub);
        else if (state != SUB_NONE)
            reader->findings.damaged++;
    }
    return true;
}

// The next page from place on that has been written to, of a file with holes.
static guint64 skip_hole(const BbRecorderReader *reader, guint64 place)
{
    off_t data = lseek(reader->fd, (off_t)place, SEEK_DATA);
    if (data < 0)
        return errno == ENXIO ? reader->file_size : place;
    return MAX(place, (guint64)data - (guint64)data % BB_RING_PAGE);
}

static bool find_by_heads(BbRecorderReader *reader, GError **error)
{
    for (guint64 place = BB_RING_PAGE; place < reader->file_size;) {
        BbRingSub sub;
        SubState state = look_at(reader, place, &sub, error);
        if (state == SUB_FAILED)
            return false;
        if (state == SUB_GOOD)
            add_sub(reader, place, &sub);
        place += state == SUB_GOOD ? sub.size : BB_RING_PAGE;
        if (state == SUB_NONE)
            place = skip_hole(reader, place);
    }
    return true;
}

static gint by_sequence(gconstpointer a, gconstpointer b)
{
    const Found *x = a, *y = b;
    if (x->sub.sequence != y->sub.sequence)
        return x->sub.sequence < y->sub.sequence ? -1 : 1;
    return (x->place > y->place) - (x->place < y->place);
}

static bool find_subs(BbRecorderReader *reader, GError **error)
{
    guint32 size, count;
    if (!take_shape(reader, &size, &count, error))
        return false;
    if (reader->findings.headless ? !find_by_heads(reader, error)
                                  : !find_by_shape(reader, size, count, error))
        return false;
    g_array_sort(reader->subs, by_sequence);
    if (reader->subs->len > 0) {
        const Found *last = &g_array_index(reader->subs, Found, reader->subs->len - 1);
        reader->end =
            (BbRecorderEnd){last->sub.run, last->sub.sequence, last->place, last->sub.size};
    }
    return true;
}

BbRecorderReader *bb_recorder_reader_open(int fd, const char *name, GError **error)
{
    struct stat info;
    g_autoptr(BbRecorderReader) reader = g_new0(BbRecorderReader, 1);
    reader->fd = fd;
    reader->name = g_strdup(name);
    reader->subs = g_array_new(FALSE, FALSE, sizeof(Found));
    reader->names = g_array_new(FALSE, FALSE, sizeof(guint32));
    reader->conns = g_ptr_array_new_with_free_func(g_free);
    reader->prefix = g_string_new(NULL);
    if (fd < 0 || fstat(fd, &info) != 0) {
        (void)fail(reader, "cannot open it", "look at its name and its rights", errno, error);
        return NULL;
    }
    if (!S_ISREG(info.st_mode)) {
        (void)fail(reader, "a ring is read from a plain file only", "copy it to one", 0, error);
        return NULL;
    }
    reader->file_size = MIN((guint64)info.st_size, BB_RING_PAGE + BB_RECORDER_SIZE_MAX);
    return find_subs(reader, error) ? g_steal_pointer(&reader) : NULL;
}

void bb_recorder_reader_free(BbRecorderReader *reader)
{
    if (!reader)
        return;
    if (reader->fd >= 0)
        close(reader->fd);
    g_free(reader->name);
    g_array_unref(reader->subs);
    g_free(reader->bytes);
    g_array_unref(reader->names);
    g_ptr_array_unref(reader->conns);
    g_string_free(reader->prefix, TRUE);
    g_free(reader);
}

// ---- sub-buffers, one after the other -----------------------------------------------------------

static void begin_sub(BbRecorderReader *reader)
{
    const guint32 none = BB_NAME_NONE;
    const BbRingSub *sub = &reader->at.sub;
    reader->used = BB_RING_SUB_HEAD;
    reader->seed = bb_ring_seed(sub->sequence);
    reader->before_ns = 0;
    reader->messages = 0;
    g_array_set_size(reader->names, 0);
    g_array_append_val(reader->names, none);
    g_ptr_array_set_size(reader->conns, 0);
    g_ptr_array_add(reader->conns, NULL);
    if (sub->run == reader->run && sub->first > reader->expected)
        reader->findings.lost += sub->first - reader->expected;
    reader->findings.runs += sub->run != reader->run;
    reader->run = sub->run;
}

// Loads the next sub-buffer. What was begun anew since the heads were read is no longer there.
static bool next_sub(BbRecorderReader *reader, GError **error)
{
    while (reader->next < reader->subs->len) {
        reader->at = g_array_index(reader->subs, Found, reader->next++);
        BbRingSub now;
        reader->bytes = g_realloc(reader->bytes, reader->at.sub.size);
        gssize got = read_at(reader, reader->at.place, reader->bytes, reader->at.sub.size, error);
        if (got < 0)
            return false;
        reader->size = (gsize)got;
        if (reader->size >= BB_RING_SUB_HEAD && bb_ring_sub_read(reader->bytes, &now) &&
            now.sequence == reader->at.sub.sequence) {
            reader->at.sub = now;
            begin_sub(reader);
            return true;
        }
        reader->findings.overwritten++;
    }
    return false;
}

// The records end where one is not good. That is damage where more was committed, unless the
// recorder has begun the sub-buffer anew meanwhile.
static void end_sub(BbRecorderReader *reader)
{
    BbRingSub now;
    if (reader->used == 0)
        return;
    if (reader->used < reader->at.sub.committed || reader->at.sub.committed < BB_RING_SUB_HEAD) {
        bool same = look_at(reader, reader->at.place, &now, NULL) == SUB_GOOD &&
                    now.sequence == reader->at.sub.sequence;
        reader->findings.damaged += same;
        reader->findings.overwritten += !same;
    }
    reader->expected = reader->at.sub.first + reader->messages;
    reader->used = reader->size = 0;
}

// ---- records ------------------------------------------------------------------------------------

static bool take_record(BbRecorderReader *reader, guint *type, BbBytes *content)
{
    const guint8 *at = reader->bytes + reader->used;
    BbBytes bytes = {.at = at, .left = reader->size - reader->used};
    guint32 checksum = bb_bytes_u32(&bytes), word = bb_bytes_u32(&bytes);
    gsize size = word & 0xffffff;
    if (bytes.failed || size < BB_RING_RECORD_HEAD || size > reader->size - reader->used ||
        bb_crc32c(reader->seed, at + 4, size - 4) != checksum)
        return false;
    *type = word >> 24;
    *content = (BbBytes){.at = bytes.at, .left = size - BB_RING_RECORD_HEAD};
    reader->used += size;
    return true;
}

static bool take_name(BbRecorderReader *reader, BbNames *names, const BbBytes *content)
{
    if (content->left == 0 || content->left > BB_RING_TEXT_MAX ||
        memchr(content->at, 0, content->left))
        return false;
    guint32 name = bb_names_intern_len(names, (const char *)content->at, content->left);
    g_array_append_val(reader->names, name);
    return true;
}

static bool take_conn(BbRecorderReader *reader, const BbBytes *content)
{
    if (content->left > BB_RING_TEXT_MAX || memchr(content->at, 0, content->left))
        return false;
    g_ptr_array_add(reader->conns, g_strndup((const char *)content->at, content->left));
    return true;
}

static bool map_name(const BbRecorderReader *reader, guint32 *name)
{
    if (*name >= reader->names->len)
        return false;
    *name = g_array_index(reader->names, guint32, *name);
    return true;
}

// Ids of a run before the last one are told apart from those of the others.
static bool map_id(BbRecorderReader *reader, BbNames *names, bool former, BbId *id)
{
    if (id->form < BB_ID_STEM)
        return true;
    guint32 stem = id->form - BB_ID_STEM;
    if (!map_name(reader, &stem) || stem > G_MAXUINT32 - BB_ID_STEM)
        return false;
    if (former) {
        g_string_printf(reader->prefix, "run%" G_GUINT64_FORMAT "-%s", reader->run,
                        bb_names_text(names, stem));
        stem = bb_names_intern(names, reader->prefix->str);
    }
    id->form = BB_ID_STEM + stem;
    return true;
}

static bool take_message(BbRecorderReader *reader, BbNames *names, BbBytes *content, BbMessage *m)
{
    BbRingMessage record = {.before_ns = reader->before_ns};
    if (!bb_ring_message_take(content, &record) || record.conn >= reader->conns->len)
        return false;
    *m = record.message;
    bool former = reader->run != reader->end.run;
    if (!map_name(reader, &m->sender) || !map_name(reader, &m->receiver) ||
        !map_name(reader, &m->op) || !map_name(reader, &m->status) ||
        !map_name(reader, &m->proto) || !map_name(reader, &m->observer) ||
        !map_name(reader, &m->file) || !map_id(reader, names, former, &m->id) ||
        !map_id(reader, names, false, &m->path) || !map_id(reader, names, former, &m->parent))
        return false;
    m->conn = g_ptr_array_index(reader->conns, record.conn);
    reader->before_ns = m->time_ns;
    reader->messages++;
    return true;
}

bool bb_recorder_read(BbRecorderReader *reader, BbNames *names, BbMessage *message, GError **error)
{
    for (;;) {
        guint type = 0;
        BbBytes content;
        gsize before = reader->used;
        bool good = reader->used > 0 && take_record(reader, &type, &content);
        if (good && type == BB_RING_NAME)
            good = take_name(reader, names, &content);
        else if (good && type == BB_RING_CONN)
            good = take_conn(reader, &content);
        else if (good && type == BB_RING_MESSAGE &&
                 (good = take_message(reader, names, &content, message)))
            return true;
        if (good)
            continue;
        reader->used = before;
        GError *failure = NULL;
        end_sub(reader);
        if (next_sub(reader, &failure))
            continue;
        if (failure)
            g_propagate_error(error, failure);
        return false;
    }
}

BbRecorderFindings bb_recorder_reader_findings(const BbRecorderReader *reader)
{
    return reader->findings;
}

BbRecorderEnd bb_recorder_reader_end(const BbRecorderReader *reader)
{
    return reader->end;
}
