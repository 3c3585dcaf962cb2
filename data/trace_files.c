// SPDX-License-Identifier: Apache-2.0
// In: messages, and now and then the totals of the run. Out: a file, or a series of files.
#include "data/trace_files.h"

#include <errno.h>
#include <fcntl.h>
#include <glib/gstdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define ENDING ".bbt"
#define SUFFIX_PATTERN "_00000000T000000Z_00000" // 0: a digit; more digits may follow
#define RESERVE ((gsize)16 << 10)                // counters and end mark, several times over
#define BEHIND_MAX 1024u                         // messages in a row before their file's time
#define NAMES_TRIED 100000u
#define LATE_NS (G_GINT64_CONSTANT(500) * 1000 * 1000) // what messages may be behind the clock

// A file that was made, or is being made.
typedef struct Made {
    char *path;
    struct statx status; // once it is complete; of the one in the making, when it was opened
    bool complete;
    guint64 bytes;
} Made;

struct BbTraceFiles {
    BbTraceFilesOptions options;
    bool series;
    const BbNames *names;
    BbTraceWriter *writer;  // NULL between two files of a series
    Made now;               // the file that it writes
    gint64 from_ns, end_ns; // time of that file; end_ns G_MAXINT64 where time does not end it
    gint64 closed_ns;       // the end of a file that the clock has ended, G_MININT64 after the next
    guint behind;
    gint64 last_ns;          // time of the message last pushed
    GQueue *ring;            // of Made, the oldest first
    guint64 ring_bytes;      // of these
    BbCounters *told, *used; // totals that were told last, and those that files have
    BbNetwork *told_network, *used_network;
    GPtrArray *notes; // of char *: of each file to come
    bool due;         // no file has the last of them
    guint64 kept;     // messages of files before this one
    guint number, made, deleted, early, undeleted;
};

// ---- names --------------------------------------------------------------------------------------

char *bb_trace_files_name(const char *path, gint64 time_ns, guint number)
{
    bool ending = g_str_has_suffix(path, ENDING);
    gsize stem = strlen(path) - (ending ? strlen(ENDING) : 0);
    g_autoptr(GDateTime) time = g_date_time_new_from_unix_utc(time_ns / 1000000000);
    g_autofree char *when = g_date_time_format(time, "%Y%m%dT%H%M%SZ");
    return g_strdup_printf("%.*s_%s_%05u%s", (int)stem, path, when, number, ending ? ENDING : "");
}

gsize bb_trace_files_stem(const char *text)
{
    const gsize least = strlen(SUFFIX_PATTERN);
    gsize all = strlen(text), digits = 0;
    while (digits < all && g_ascii_isdigit(text[all - digits - 1]))
        digits++;
    if (digits < 5 || digits > 10 || all < least + digits - 5)
        return all;
    const char *suffix = text + all - digits - (least - 5);
    for (gsize i = 0; i < least - 5; i++) {
        char want = SUFFIX_PATTERN[i];
        if (want == '0' ? !g_ascii_isdigit(suffix[i]) : suffix[i] != want)
            return all;
    }
    return (gsize)(suffix - text);
}

static bool is_of_series(const char *name, const char *series)
{
    bool ending = g_str_has_suffix(series, ENDING);
    gsize stem = strlen(series) - (ending ? strlen(ENDING) : 0);
    if (ending && !g_str_has_suffix(name, ENDING))
        return false;
    g_autofree char *bare = g_strndup(name, strlen(name) - (ending ? strlen(ENDING) : 0));
    return bare[stem] && bb_trace_files_stem(bare) == stem && strncmp(bare, series, stem) == 0;
}

char *bb_trace_files_find(const char *path)
{
    g_autofree char *folder = g_path_get_dirname(path), *series = g_path_get_basename(path);
    g_autofree char *found = NULL;
    g_autoptr(GDir) dir = g_dir_open(folder, 0, NULL);
    for (const char *name = NULL; dir && (name = g_dir_read_name(dir));) {
        if (strlen(name) < strlen(series) || !is_of_series(name, series) ||
            (found && strcmp(found, name) <= 0))
            continue;
        g_free(found);
        found = g_strdup(name);
    }
    return found ? g_build_filename(folder, found, NULL) : NULL;
}

// ---- the ring -----------------------------------------------------------------------------------

static void made_clear(Made *made)
{
    g_clear_pointer(&made->path, g_free);
}

static void made_free(gpointer data)
{
    made_clear(data);
    g_free(data);
}

static bool look_at(const char *path, struct statx *status)
{
    return statx(AT_FDCWD, path, AT_SYMLINK_NOFOLLOW, STATX_BASIC_STATS | STATX_BTIME, status) == 0;
}

static bool is_same_time(const struct statx_timestamp *a, const struct statx_timestamp *b)
{
    return a->tv_sec == b->tv_sec && a->tv_nsec == b->tv_nsec;
}

// A file that was deleted leaves its inode to the next one that somebody makes: when it was made
// tells them apart, or where the file system does not keep that, its size and last change. While it
// is being written nobody else can have its inode.
static bool is_still_ours(const Made *made, struct statx *now)
{
    const struct statx *then = &made->status;
    if (!look_at(made->path, now) || now->stx_ino != then->stx_ino ||
        now->stx_dev_major != then->stx_dev_major || now->stx_dev_minor != then->stx_dev_minor)
        return false;
    if (now->stx_mask & then->stx_mask & STATX_BTIME)
        return is_same_time(&now->stx_btime, &then->stx_btime);
    return !made->complete ||
           (now->stx_size == then->stx_size && is_same_time(&now->stx_mtime, &then->stx_mtime));
}

// Returns whether there was one.
static bool delete_oldest(BbTraceFiles *files)
{
    struct statx now;
    Made *oldest = g_queue_pop_head(files->ring);
    if (!oldest)
        return false;
    files->ring_bytes -= oldest->bytes;
    if (!is_still_ours(oldest, &now)) {
        // Somebody has moved it away: it is theirs now.
    } else if (g_unlink(oldest->path) == 0) {
        files->deleted++;
    } else {
        files->undeleted++;
    }
    made_free(oldest);
    return true;
}

static bool has_ring(const BbTraceFiles *files)
{
    return files->options.ring_files || files->options.ring_bytes;
}

// Before bytes are written (data/output.h): what they are too many for goes.
static bool make_room(gpointer user, gsize bytes, bool lacking)
{
    BbTraceFiles *files = user;
    guint64 limit = files->options.ring_bytes;
    guint before = files->deleted;
    if (lacking) {
        bool room = has_ring(files) && delete_oldest(files);
        files->early += files->deleted - before;
        return room;
    }
    guint64 now = files->writer ? bb_trace_writer_size(files->writer) : bytes;
    while (limit && files->ring_bytes + now > limit && delete_oldest(files))
        continue;
    return true;
}

// ---- one file of the series ---------------------------------------------------------------------

static void remember_file(BbTraceFiles *files, char *path)
{
    files->now = (Made){.path = path};
    (void)look_at(path, &files->now.status);
}

static bool is_full(const GError *error)
{
    return error->domain == G_FILE_ERROR && error->code == G_FILE_ERROR_NOSPC;
}

static BbTraceWriter *open_file(BbTraceFiles *files, const char *path, bool fresh, GError **error)
{
    const BbTraceWriterOptions options = {
        .form = files->options.form,
        .sync = files->options.sync,
        .output = {.fresh = fresh,
                   .reserve = files->options.form == BB_TRACE_BBT ? RESERVE : 0,
                   .room = make_room,
                   .user = files},
    };
    return bb_trace_writer_open_with(path, &options, files->names, error);
}

// Opens the file of the next number that is free.
static BbTraceWriter *open_next(BbTraceFiles *files, gint64 time_ns, GError **error)
{
    for (guint tried = 0;; tried++) {
        g_autoptr(GError) failure = NULL;
        char *path = bb_trace_files_name(files->options.path, time_ns, ++files->number);
        BbTraceWriter *writer = open_file(files, path, true, &failure);
        if (writer) {
            remember_file(files, path);
            return writer;
        }
        bool again = g_error_matches(failure, G_FILE_ERROR, G_FILE_ERROR_EXIST) ||
                     (is_full(failure) && has_ring(files) && delete_oldest(files));
        g_free(path);
        if (!again || tried >= NAMES_TRIED) {
            g_propagate_error(error, g_steal_pointer(&failure));
            return NULL;
        }
    }
}

// The time of a file that begins with this message.
static void set_time(BbTraceFiles *files, gint64 time_ns)
{
    gint64 length = files->options.file_ns;
    files->behind = 0;
    files->from_ns = length ? time_ns - time_ns % length : 0;
    files->end_ns =
        length && files->from_ns <= G_MAXINT64 - length ? files->from_ns + length : G_MAXINT64;
}

// The first bytes are written at once, and room for the last ones is set aside.
static bool begin_file(BbTraceFiles *files, gint64 time_ns, GError **error)
{
    time_ns = MAX(time_ns, files->closed_ns); // what comes late belongs to the file of now
    guint limit = files->options.ring_files;
    while (limit && files->ring->length >= limit && delete_oldest(files))
        continue;
    files->writer = open_next(files, time_ns, error);
    if (!files->writer)
        return false;
    files->made++;
    set_time(files, time_ns);
    files->closed_ns = G_MININT64;
    if (bb_trace_writer_notes(files->writer, files->notes, error) &&
        bb_trace_writer_flush(files->writer, error)) {
        files->due = false;
        return true;
    }
    struct statx now;
    if (is_still_ours(&files->now, &now) && g_unlink(files->now.path) == 0)
        files->made--;
    g_clear_pointer(&files->writer, bb_trace_writer_free);
    return false;
}

static void use_told(BbTraceFiles *files)
{
    if (!files->told)
        return;
    g_clear_pointer(&files->used, bb_counters_free);
    g_clear_pointer(&files->used_network, bb_network_free);
    files->used = g_steal_pointer(&files->told);
    files->used_network = g_steal_pointer(&files->told_network);
}

static void note_complete(BbTraceFiles *files)
{
    struct statx now;
    if (files->series && is_still_ours(&files->now, &now))
        files->now.status = now;
    files->now.complete = true;
    files->kept += bb_trace_writer_kept(files->writer);
    files->now.bytes = bb_trace_writer_size(files->writer);
    g_clear_pointer(&files->writer, bb_trace_writer_free);
    if (has_ring(files)) {
        files->ring_bytes += files->now.bytes;
        g_queue_push_tail(files->ring, g_memdup2(&files->now, sizeof files->now));
        files->now.path = NULL;
    }
    made_clear(&files->now);
}

static bool complete_with(BbTraceFiles *files, const BbCounters *counters, const BbNetwork *network,
                          GError **error)
{
    g_autoptr(BbCounters) own = bb_counters_since(counters, files->used);
    g_autoptr(BbNetwork) edges = bb_network_since(network, files->used_network);
    if (!bb_trace_writer_network(files->writer, edges, error) ||
        !bb_trace_writer_finish(files->writer, own, error))
        return false;
    note_complete(files);
    return true;
}

static bool complete_file(BbTraceFiles *files, GError **error)
{
    if (!complete_with(files, files->told, files->told_network, error))
        return false;
    use_told(files);
    return true;
}

// ---- the series ---------------------------------------------------------------------------------

// Fails early where no file could be made later.
static bool check_folder(const char *path, GError **error)
{
    g_autofree char *folder = g_path_get_dirname(path);
    if (access(folder, W_OK | X_OK) == 0)
        return true;
    int reason = errno;
    g_set_error(error, G_FILE_ERROR, (gint)g_file_error_from_errno(reason),
                "%s: cannot make files there: %s: make the folder, give rights to it, or write to "
                "another place",
                folder, g_strerror(reason));
    return false;
}

BbTraceFiles *bb_trace_files_open(const BbTraceFilesOptions *options, const BbNames *names,
                                  GError **error)
{
    g_autoptr(BbTraceFiles) files = g_new0(BbTraceFiles, 1);
    files->options = *options;
    files->names = names;
    files->closed_ns = G_MININT64;
    files->ring = g_queue_new();
    files->notes = g_ptr_array_new_with_free_func(g_free);
    for (const char *const *note = options->notes; note && *note; note++)
        g_ptr_array_add(files->notes, g_strdup(*note));
    files->series = options->file_bytes || options->file_ns;
    g_return_val_if_fail(files->series || !has_ring(files), NULL);
    if (files->series)
        return check_folder(options->path, error) ? g_steal_pointer(&files) : NULL;
    files->writer = open_file(files, options->path, false, error);
    if (!files->writer || !bb_trace_writer_notes(files->writer, files->notes, error))
        return NULL;
    return g_steal_pointer(&files);
}

void bb_trace_files_free(BbTraceFiles *files)
{
    if (!files)
        return;
    bb_trace_writer_free(files->writer);
    made_clear(&files->now);
    g_queue_free_full(files->ring, made_free);
    g_ptr_array_unref(files->notes);
    bb_counters_free(files->told);
    bb_counters_free(files->used);
    bb_network_free(files->told_network);
    bb_network_free(files->used_network);
    g_free(files);
}

bool bb_trace_files_is_series(const BbTraceFiles *files)
{
    return files->series;
}

// Whether the file ends before a message of that time.
static bool is_over(BbTraceFiles *files, gint64 time_ns)
{
    if (bb_trace_writer_messages(files->writer) == 0)
        return false;
    files->behind = time_ns < files->from_ns ? files->behind + 1 : 0;
    return time_ns >= files->end_ns || files->behind > BEHIND_MAX;
}

// Whether the file has its size. How large messages become is known when they are packed.
static bool is_large(const BbTraceFiles *files, bool *large, GError **error)
{
    guint64 bytes = files->options.file_bytes;
    *large = false;
    if (!bytes || bb_trace_writer_size(files->writer) < bytes)
        return true;
    if (!bb_trace_writer_pack(files->writer, error))
        return false;
    *large = bb_trace_writer_size(files->writer) >= bytes - bytes / 8;
    return true;
}

// Completes the file where it ends before a message of that time.
static bool cut(BbTraceFiles *files, gint64 time_ns, GError **error)
{
    bool over = is_over(files, time_ns);
    if (!over && !is_large(files, &over, error))
        return false;
    return !over || complete_file(files, error);
}

bool bb_trace_files_push(BbTraceFiles *files, const BbMessage *message, GError **error)
{
    files->last_ns = message->time_ns;
    if (files->series && files->writer && !cut(files, message->time_ns, error))
        return false;
    if (!files->writer && !begin_file(files, message->time_ns, error))
        return false;
    return bb_trace_writer_push(files->writer, message, error);
}

bool bb_trace_files_keep_note(BbTraceFiles *files, const char *text, GError **error)
{
    if (files->series && files->notes->len < BB_TRACE_NOTES) {
        g_ptr_array_add(files->notes, g_strdup(text));
        files->due |= !files->writer;
    }
    return !files->writer || bb_trace_writer_note(files->writer, text, error);
}

bool bb_trace_files_flush(BbTraceFiles *files, gint64 now_ns, GError **error)
{
    if (!files->writer)
        return true;
    if (files->series && now_ns != BB_TIME_NONE && now_ns - LATE_NS >= files->end_ns) {
        files->closed_ns = files->end_ns;
        return complete_file(files, error);
    }
    return bb_trace_writer_flush(files->writer, error);
}

bool bb_trace_files_is_open(const BbTraceFiles *files)
{
    return files->writer;
}

bool bb_trace_files_note(BbTraceFiles *files, const char *text, GError **error)
{
    return (files->writer || begin_file(files, files->last_ns, error)) &&
           bb_trace_writer_note(files->writer, text, error);
}

void bb_trace_files_tell(BbTraceFiles *files, BbCounters *counters, BbNetwork *network)
{
    bb_counters_free(files->told);
    bb_network_free(files->told_network);
    files->told = counters;
    files->told_network = network;
}

// Whether something was counted that no file has.
static bool is_left(const BbTraceFiles *files, const BbCounters *counters, const BbNetwork *network)
{
    g_autoptr(BbCounters) own = bb_counters_since(counters, files->used);
    g_autoptr(BbNetwork) edges = bb_network_since(network, files->used_network);
    return bb_counters_count(own) || bb_network_count(edges);
}

bool bb_trace_files_finish(BbTraceFiles *files, const BbCounters *counters,
                           const BbNetwork *network, GError **error)
{
    if (!files->writer && files->made && !files->due && !is_left(files, counters, network))
        return true;
    if (!files->writer && !begin_file(files, files->last_ns, error))
        return false;
    return complete_with(files, counters, network, error);
}

bool bb_trace_files_salvage(BbTraceFiles *files, const BbCounters *counters, GError **error)
{
    if (!files->writer)
        return true;
    g_autoptr(BbCounters) own = bb_counters_since(counters, files->used);
    if (!bb_trace_writer_salvage(files->writer, own, error))
        return false;
    note_complete(files);
    return true;
}

guint64 bb_trace_files_kept(const BbTraceFiles *files)
{
    return files->kept + (files->writer ? bb_trace_writer_kept(files->writer) : 0);
}

guint bb_trace_files_made(const BbTraceFiles *files)
{
    return files->made;
}

guint bb_trace_files_deleted(const BbTraceFiles *files)
{
    return files->deleted;
}

guint bb_trace_files_early(const BbTraceFiles *files)
{
    return files->early;
}

guint bb_trace_files_undeleted(const BbTraceFiles *files)
{
    return files->undeleted;
}
