// SPDX-License-Identifier: Apache-2.0
// In: a key log file (SSLKEYLOGFILE), which may grow. Out: secrets of connections by client random.
#include "capture/protocols/tls_keylog.h"

#include "data/keys.h"

#include <errno.h>
#include <fcntl.h>
#include <openssl/crypto.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define RANDOM 32u
#define LINE_MAX_SIZE 512u // the longest label, a random and a secret are shorter
#define CHUNK 65536u
#define MARK 64u // bytes by which a file is known again

typedef struct Entry {
    guint8 random[RANDOM];
    BbTlsSecret secret[BB_TLS_SECRETS];
} Entry;

struct BbTlsKeylog {
    GMutex lock; // of all that follows, in bb_tls_keylog_find
    int file;
    char *path;
    goffset read;      // bytes of the file
    guint8 last[MARK]; // of these, up to so many
    gsize last_length;
    GHashTable *entries; // random -> Entry
    GQueue *order;       // of Entry, oldest first
    gsize begun;         // bytes of a line whose end is not there yet
    bool too_long;       // and it has more than fit
    char line[LINE_MAX_SIZE];
    guint64 forgotten, odd;
};

// ---- entries ------------------------------------------------------------------------------------

static guint hash_random(gconstpointer random)
{
    return bb_keys_bytes(random, RANDOM); // who is not honest chose it
}

static gboolean equal_random(gconstpointer a, gconstpointer b)
{
    return memcmp(a, b, RANDOM) == 0;
}

static void entry_free(gpointer entry)
{
    OPENSSL_cleanse(entry, sizeof(Entry));
    g_free(entry);
}

static Entry *entry_of(BbTlsKeylog *keylog, const guint8 *random)
{
    Entry *entry = g_hash_table_lookup(keylog->entries, random);
    if (entry)
        return entry;
    if (g_hash_table_size(keylog->entries) == BB_TLS_KEYLOG_CONNECTIONS) {
        const Entry *oldest = g_queue_pop_head(keylog->order);
        g_hash_table_remove(keylog->entries, oldest->random);
        keylog->forgotten++;
    }
    entry = g_new0(Entry, 1);
    memcpy(entry->random, random, RANDOM);
    g_hash_table_insert(keylog->entries, entry->random, entry);
    g_queue_push_tail(keylog->order, entry);
    return entry;
}

// ---- lines --------------------------------------------------------------------------------------

// Reads hex digits up to a blank or the end. Returns how many bytes they make; 0 when they are
// none, or more than most.
static gsize read_hex(const char **at, guint8 *bytes, gsize most)
{
    gsize n = 0;
    while (g_ascii_isxdigit((*at)[0]) && g_ascii_isxdigit((*at)[1])) {
        if (n == most)
            return 0;
        bytes[n++] = (guint8)(g_ascii_xdigit_value((*at)[0]) << 4 | g_ascii_xdigit_value((*at)[1]));
        *at += 2;
    }
    return **at == ' ' || **at == '\0' ? n : 0;
}

// Labels that are known to be of other secrets are none of our business, and no oddities.
static int kind_of(const char *label, gsize length)
{
    static const char *const labels[BB_TLS_SECRETS] = {
        [BB_TLS_SECRET_MASTER] = "CLIENT_RANDOM",
        [BB_TLS_SECRET_CLIENT] = "CLIENT_TRAFFIC_SECRET_0",
        [BB_TLS_SECRET_SERVER] = "SERVER_TRAFFIC_SECRET_0",
    };
    for (int i = 0; i < BB_TLS_SECRETS; i++)
        if (strlen(labels[i]) == length && memcmp(labels[i], label, length) == 0)
            return i;
    return -1;
}

static void take_line(BbTlsKeylog *keylog, const char *line)
{
    guint8 random[RANDOM];
    BbTlsSecret secret = {0};
    gsize label = strspn(line, "ABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_");
    if (line[0] == '#' || line[0] == '\0')
        return;
    const char *at = line + label + 1;
    if (line[label] != ' ' || read_hex(&at, random, RANDOM) != RANDOM || *at++ != ' ') {
        keylog->odd++;
        return;
    }
    int kind = kind_of(line, label);
    if (kind < 0)
        return;
    secret.length = (guint8)read_hex(&at, secret.bytes, BB_TLS_SECRET_MAX);
    if (secret.length)
        entry_of(keylog, random)->secret[kind] = secret;
    else
        keylog->odd++;
    OPENSSL_cleanse(&secret, sizeof secret);
}

static void end_line(BbTlsKeylog *keylog)
{
    if (keylog->begun && keylog->line[keylog->begun - 1] == '\r')
        keylog->begun--;
    keylog->line[keylog->begun] = '\0';
    if (keylog->too_long)
        keylog->odd++;
    else
        take_line(keylog, keylog->line);
    keylog->begun = 0;
    keylog->too_long = false;
}

static void take_bytes(BbTlsKeylog *keylog, const char *bytes, gsize length)
{
    for (gsize i = 0; i < length; i++) {
        if (bytes[i] == '\n')
            end_line(keylog);
        else if (keylog->begun < LINE_MAX_SIZE - 1)
            keylog->line[keylog->begun++] = bytes[i];
        else
            keylog->too_long = true;
    }
}

// ---- the file -----------------------------------------------------------------------------------

static void begin_again(BbTlsKeylog *keylog)
{
    keylog->read = 0;
    keylog->begun = 0;
    keylog->too_long = false;
    keylog->last_length = 0;
}

// Another file may have the name by now; the rest of the one before is read first.
static bool take_successor(BbTlsKeylog *keylog)
{
    struct stat named, open_now;
    if (stat(keylog->path, &named) != 0 || fstat(keylog->file, &open_now) != 0 ||
        (named.st_dev == open_now.st_dev && named.st_ino == open_now.st_ino))
        return false;
    int file = open(keylog->path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
    if (file < 0)
        return false;
    close(keylog->file);
    keylog->file = file;
    begin_again(keylog);
    return true;
}

// Whether what stands before the place that was read up to is what was read.
static bool is_continued(const BbTlsKeylog *keylog)
{
    guint8 found[MARK];
    gssize length = pread(keylog->file, found, keylog->last_length,
                          keylog->read - (goffset)keylog->last_length);
    bool same = length == (gssize)keylog->last_length &&
                memcmp(found, keylog->last, keylog->last_length) == 0;
    OPENSSL_cleanse(found, sizeof found);
    return same;
}

static void remember_last(BbTlsKeylog *keylog)
{
    gsize wanted = (gsize)MIN(keylog->read, (goffset)MARK);
    gssize length = pread(keylog->file, keylog->last, wanted, keylog->read - (goffset)wanted);
    keylog->last_length = length == (gssize)wanted ? wanted : 0;
}

// Reads what was added. A file that became shorter, or another before its end, was begun again.
static bool read_added(BbTlsKeylog *keylog)
{
    struct stat now;
    if (fstat(keylog->file, &now) != 0)
        return true;
    if (now.st_size < keylog->read || !is_continued(keylog))
        begin_again(keylog);
    if (now.st_size == keylog->read)
        return true;
    char *chunk = g_malloc(CHUNK);
    gssize length;
    while ((length = pread(keylog->file, chunk, CHUNK, keylog->read)) > 0) {
        take_bytes(keylog, chunk, (gsize)length);
        keylog->read += length;
    }
    remember_last(keylog);
    OPENSSL_cleanse(chunk, CHUNK);
    g_free(chunk);
    return length == 0;
}

static bool read_on(BbTlsKeylog *keylog)
{
    bool good = read_added(keylog);
    return take_successor(keylog) ? read_added(keylog) : good;
}

BbTlsKeylog *bb_tls_keylog_open(const char *path, GError **error)
{
    int file = open(path, O_RDONLY | O_CLOEXEC);
    BbTlsKeylog *keylog = g_new0(BbTlsKeylog, 1);
    g_mutex_init(&keylog->lock);
    keylog->file = file;
    keylog->path = g_strdup(path);
    keylog->entries = g_hash_table_new_full(hash_random, equal_random, NULL, entry_free);
    keylog->order = g_queue_new();
    if (file >= 0 && read_on(keylog))
        return keylog;
    int reason = errno;
    g_set_error(error, G_FILE_ERROR, (gint)g_file_error_from_errno(reason),
                "the key log %s cannot be read: %s%s", path, g_strerror(reason),
                reason == ENOENT
                    ? ": check the name; if it is still to be written, make it, empty, "
                      "with rights for who writes it"
                    : "");
    bb_tls_keylog_free(keylog);
    return NULL;
}

void bb_tls_keylog_free(BbTlsKeylog *keylog)
{
    if (!keylog)
        return;
    if (keylog->file >= 0)
        close(keylog->file);
    g_queue_free(keylog->order);
    g_hash_table_unref(keylog->entries);
    g_mutex_clear(&keylog->lock);
    g_free(keylog->path);
    OPENSSL_cleanse(keylog, sizeof *keylog);
    g_free(keylog);
}

static bool find(const BbTlsKeylog *keylog, const guint8 *random, BbTlsSecretKind kind,
                 BbTlsSecret *secret)
{
    const Entry *entry = g_hash_table_lookup(keylog->entries, random);
    if (!entry || !entry->secret[kind].length)
        return false;
    *secret = entry->secret[kind];
    return true;
}

bool bb_tls_keylog_find(BbTlsKeylog *keylog, const guint8 *random, BbTlsSecretKind kind,
                        BbTlsSecret *secret)
{
    g_mutex_lock(&keylog->lock);
    bool found = find(keylog, random, kind, secret);
    if (!found) {
        (void)read_on(keylog);
        found = find(keylog, random, kind, secret);
    }
    g_mutex_unlock(&keylog->lock);
    return found;
}

guint64 bb_tls_keylog_forgotten(const BbTlsKeylog *keylog)
{
    return keylog->forgotten;
}

guint64 bb_tls_keylog_odd(const BbTlsKeylog *keylog)
{
    return keylog->odd;
}
