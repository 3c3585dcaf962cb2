// SPDX-License-Identifier: Apache-2.0
// In: messages, a key. Out: the same messages under other names.
#include "merge/pseudonyms.h"

#include "data/keys.h"
#include "data/output.h"
#include "merge/csv_text.h"
#include "merge/pseudonym_address.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

// What a name is of: equal texts of two kinds have nothing in common afterwards.
typedef enum {
    KIND_NODE,
    KIND_OP,
    KIND_ID,
    KIND_PATH,
    KIND_CONN,
    KIND_ADDRESS,
    KIND_PRINT,
    KIND_COUNT
} Kind;

static const char *const kind_words[KIND_COUNT] = {"node", "op",      "id",   "path",
                                                   "conn", "address", "print"};

// Ids come again soon: a call and its return have the same, and paths have several calls. What was
// last renamed is kept, in the place that the id hashes to.
#define RECENT_BITS 15
typedef struct Recent {
    BbId id, pseudonym;
} Recent;

struct BbPseudonyms {
    BbPseudonymOptions options;
    BbNames *names;
    GHmac *keyed[KIND_COUNT]; // under the key, fed with the kind
    GArray *known[2];  // of nodes and operations: name -> pseudonym, BB_NAME_NONE for not yet
    Recent *recent[2]; // of ids and paths, 1 << RECENT_BITS of each
    GString *text;     // scratch
    GString *conn;     // of the last message
    guint64 clipped;
};

BbPseudonyms *bb_pseudonyms_new(const BbPseudonymOptions *options, BbNames *names)
{
    BbPseudonyms *pseudonyms = g_new0(BbPseudonyms, 1);
    pseudonyms->options = *options;
    pseudonyms->options.key = NULL;
    pseudonyms->names = names;
    for (Kind kind = 0; kind < KIND_COUNT; kind++) {
        GHmac *keyed = g_hmac_new(G_CHECKSUM_SHA256, options->key, options->key_size);
        g_hmac_update(keyed, (const guchar *)kind_words[kind],
                      (gssize)strlen(kind_words[kind]) + 1);
        pseudonyms->keyed[kind] = keyed;
    }
    for (gsize i = 0; i < G_N_ELEMENTS(pseudonyms->known); i++)
        pseudonyms->known[i] = g_array_new(FALSE, TRUE, sizeof(guint32));
    for (gsize i = 0; i < G_N_ELEMENTS(pseudonyms->recent); i++)
        pseudonyms->recent[i] = g_new0(Recent, 1u << RECENT_BITS);
    pseudonyms->text = g_string_new(NULL);
    pseudonyms->conn = g_string_new(NULL);
    return pseudonyms;
}

void bb_pseudonyms_free(BbPseudonyms *pseudonyms)
{
    if (!pseudonyms)
        return;
    for (Kind kind = 0; kind < KIND_COUNT; kind++)
        g_hmac_unref(pseudonyms->keyed[kind]);
    for (gsize i = 0; i < G_N_ELEMENTS(pseudonyms->known); i++)
        g_array_unref(pseudonyms->known[i]);
    for (gsize i = 0; i < G_N_ELEMENTS(pseudonyms->recent); i++)
        g_free(pseudonyms->recent[i]);
    g_string_free(pseudonyms->text, TRUE);
    g_string_free(pseudonyms->conn, TRUE);
    g_free(pseudonyms);
}

// ---- texts --------------------------------------------------------------------------------------

static guint64 digest(const BbPseudonyms *pseudonyms, Kind kind, const char *text, gsize length)
{
    guint8 bytes[32];
    gsize size = sizeof bytes;
    guint64 first = 0;
    GHmac *hmac = g_hmac_copy(pseudonyms->keyed[kind]);
    g_hmac_update(hmac, (const guchar *)text, (gssize)length);
    g_hmac_get_digest(hmac, bytes, &size);
    g_hmac_unref(hmac);
    for (gsize i = 0; i < sizeof first; i++)
        first = first << 8 | bytes[i];
    return first;
}

static void append_short(const BbPseudonyms *pseudonyms, GString *out, Kind kind,
                         const char *prefix, const char *text, gsize length)
{
    g_string_append_printf(out, "%s%012" G_GINT64_MODIFIER "x", prefix,
                           digest(pseudonyms, kind, text, length) >> 16);
}

// Length of text without the port that it ends with, ":" and up to five digits; all of it where
// there is none. A bare IPv6 address has no port: its colons are several.
static gsize host_length(const char *text, gsize length)
{
    gsize at = length;
    while (at > 0 && length - at < 6 && g_ascii_isdigit(text[at - 1]))
        at--;
    bool port = at < length && length - at < 6 && at > 1 && text[at - 1] == ':';
    bool sole = port && (text[at - 2] == ']' || !memchr(text, ':', at - 1));
    return sole ? at - 1 : length;
}

// An address becomes an address: one that is all of the name, or stands before a VLAN or the like,
// or before a port. Returns false where there is none. bracketed: a port follows.
static bool append_address(const BbPseudonyms *pseudonyms, GString *out, const char *text,
                           gsize length, bool bracketed)
{
    GHmac *keyed = pseudonyms->keyed[KIND_ADDRESS];
    const char *host = text, *at = NULL;
    gsize size = host_length(text, length), begin = out->len;
    if (size < length && size > 2 && host[0] == '[' && host[size - 1] == ']') {
        host++;
        size -= 2;
    }
    if ((at = memchr(host, '@', size)))
        size = (gsize)(at - host);
    if (!bb_pseudonym_address_append(keyed, host, size, out))
        return false;
    if (size < length)
        append_short(pseudonyms, out, KIND_NODE, "@n", text, length);
    if (bracketed && memchr(host, ':', size)) {
        g_string_insert_c(out, (gssize)begin, '[');
        g_string_append_c(out, ']');
    }
    return true;
}

// A node with or without port. Brackets of an IPv6 address with a port are none of its name.
static void append_node(const BbPseudonyms *pseudonyms, GString *out, const char *text,
                        gsize length)
{
    gsize host = pseudonyms->options.keep_ports ? host_length(text, length) : length;
    const char *port = text + host;
    gsize port_length = length - host;
    if (port_length > 0 && host > 2 && text[0] == '[' && text[host - 1] == ']') {
        text++;
        host -= 2;
    }
    if (!pseudonyms->options.keep_prefixes ||
        !append_address(pseudonyms, out, text, host, port_length > 0))
        append_short(pseudonyms, out, KIND_NODE, "n", text, host);
    g_string_append_len(out, port, (gssize)port_length);
}

// Ends are parted by the first `-` behind a port.
static const char *find_middle(const char *conn)
{
    for (const char *dash = strchr(conn, '-'); dash; dash = strchr(dash + 1, '-'))
        if (host_length(conn, (gsize)(dash - conn)) < (gsize)(dash - conn))
            return dash;
    return NULL;
}

static void append_conn(const BbPseudonyms *pseudonyms, GString *out, const char *conn)
{
    const char *middle = pseudonyms->options.keep_ports ? find_middle(conn) : NULL;
    if (!middle) {
        append_short(pseudonyms, out, KIND_CONN, "c", conn, strlen(conn));
        return;
    }
    append_node(pseudonyms, out, conn, (gsize)(middle - conn));
    g_string_append_c(out, '-');
    append_node(pseudonyms, out, middle + 1, strlen(middle + 1));
}

// ---- messages -----------------------------------------------------------------------------------

static guint32 rename_text(BbPseudonyms *pseudonyms, Kind kind, guint32 name)
{
    GArray *known = pseudonyms->known[kind];
    const char *text = bb_names_text(pseudonyms->names, name);
    if (name == BB_NAME_NONE)
        return BB_NAME_NONE;
    if (name >= known->len)
        g_array_set_size(known, name + 1);
    guint32 *pseudonym = &g_array_index(known, guint32, name);
    if (*pseudonym != BB_NAME_NONE)
        return *pseudonym;
    g_string_truncate(pseudonyms->text, 0);
    if (kind == KIND_NODE)
        append_node(pseudonyms, pseudonyms->text, text, strlen(text));
    else
        append_short(pseudonyms, pseudonyms->text, kind, "op-", text, strlen(text));
    *pseudonym = bb_names_intern(pseudonyms->names, pseudonyms->text->str);
    return *pseudonym;
}

// Its id is absent, which no id that is asked for is, or that of some other.
static Recent *recent_of(const BbPseudonyms *pseudonyms, Kind kind, BbId id)
{
    return &pseudonyms->recent[kind == KIND_PATH][bb_id_key_hash(&id) >> (32 - RECENT_BITS)];
}

static BbId rename_id(BbPseudonyms *pseudonyms, Kind kind, BbId id)
{
    if (!bb_id_is_known(id) || id.form == BB_ID_DASH)
        return id;
    Recent *recent = recent_of(pseudonyms, kind, id);
    if (bb_id_equal(recent->id, id))
        return recent->pseudonym;
    g_string_truncate(pseudonyms->text, 0);
    bb_id_append(pseudonyms->text, pseudonyms->names, id);
    guint64 number = digest(pseudonyms, kind, pseudonyms->text->str, pseudonyms->text->len);
    g_string_printf(pseudonyms->text, "%016" G_GINT64_MODIFIER "x", number);
    *recent = (Recent){id, bb_id_parse(pseudonyms->names, pseudonyms->text->str)};
    return recent->pseudonym;
}

static gint64 shift_time(BbPseudonyms *pseudonyms, gint64 time_ns)
{
    gint64 shifted = 0, shift_ns = pseudonyms->options.shift_ns;
    if (time_ns == BB_TIME_NONE)
        return time_ns;
    bool over = __builtin_add_overflow(time_ns, shift_ns, &shifted);
    if (!over && shifted >= 0)
        return shifted;
    pseudonyms->clipped++;
    return shift_ns < 0 ? 0 : G_MAXINT64;
}

guint32 bb_pseudonyms_node(BbPseudonyms *pseudonyms, guint32 name)
{
    return pseudonyms->options.only_labels ? name : rename_text(pseudonyms, KIND_NODE, name);
}

guint32 bb_pseudonyms_op(BbPseudonyms *pseudonyms, guint32 name)
{
    switch (pseudonyms->options.labels) {
    case BB_LABELS_KEEP:
        return name;
    case BB_LABELS_OFF:
        return BB_NAME_NONE;
    default:
        return rename_text(pseudonyms, KIND_OP, name);
    }
}

// The checksum of what a datagram begins with would confirm who guesses what that was, the label
// included. Without a key it would, whatever is made of it.
static void rename_print(BbPseudonyms *pseudonyms, BbMessage *message)
{
    const BbPseudonymOptions *o = &pseudonyms->options;
    if (!bb_message_has_print(message) || (o->only_labels && o->labels == BB_LABELS_KEEP))
        return;
    g_string_printf(pseudonyms->text, "%" G_GUINT64_FORMAT, message->offset);
    guint64 number = digest(pseudonyms, KIND_PRINT, pseudonyms->text->str, pseudonyms->text->len);
    message->offset = o->key_size ? BB_OFFSET_PRINT + (guint32)number : BB_OFFSET_NONE;
}

void bb_pseudonyms_apply(BbPseudonyms *pseudonyms, BbMessage *message)
{
    rename_print(pseudonyms, message);
    message->op = bb_pseudonyms_op(pseudonyms, message->op);
    if (pseudonyms->options.only_labels)
        return;
    message->time_ns = shift_time(pseudonyms, message->time_ns);
    message->recv_ns = shift_time(pseudonyms, message->recv_ns);
    message->end_ns = shift_time(pseudonyms, message->end_ns);
    message->sender = rename_text(pseudonyms, KIND_NODE, message->sender);
    message->receiver = rename_text(pseudonyms, KIND_NODE, message->receiver);
    message->observer = rename_text(pseudonyms, KIND_NODE, message->observer);
    message->id = rename_id(pseudonyms, KIND_ID, message->id);
    message->parent = rename_id(pseudonyms, KIND_ID, message->parent);
    message->path = rename_id(pseudonyms, KIND_PATH, message->path);
    message->file = BB_NAME_NONE;
    message->frame = 0;
    message->extra = NULL;
    if (!message->conn)
        return;
    g_string_truncate(pseudonyms->conn, 0);
    append_conn(pseudonyms, pseudonyms->conn, message->conn);
    message->conn = pseudonyms->conn->str;
}

void bb_pseudonyms_network(BbPseudonyms *pseudonyms, const BbNetwork *network, BbNetwork *renamed)
{
    for (guint i = 0; i < bb_network_count(network); i++) {
        BbNetworkEdge edge = *bb_network_at(network, i);
        edge.client = bb_pseudonyms_node(pseudonyms, edge.client);
        edge.server = bb_pseudonyms_node(pseudonyms, edge.server);
        bb_network_add(renamed, &edge);
    }
}

char *bb_pseudonyms_note(const BbPseudonymOptions *options)
{
    static const char *const alone[] = {
        [BB_LABELS_HASH] = "labels of operations are hashed with a key",
        [BB_LABELS_KEEP] = "",
        [BB_LABELS_OFF] = "labels of operations were left out",
    };
    if (options->only_labels)
        return g_strdup(alone[options->labels]);
    GString *note = g_string_new("anonymized: names of nodes, ");
    g_string_append(note, options->labels == BB_LABELS_HASH ? "operations, " : "");
    g_string_append(note, "ids and connections are pseudonyms");
    if (options->labels == BB_LABELS_KEEP)
        g_string_append(note, "; labels of operations are kept");
    if (options->labels == BB_LABELS_OFF)
        g_string_append_printf(note, "; %s", alone[BB_LABELS_OFF]);
    g_string_append(note, options->keep_ports ? "; ports are kept" : "");
    g_string_append(note, options->keep_prefixes ? "; common prefixes of addresses are kept" : "");
    return g_string_free(note, FALSE);
}

guint64 bb_pseudonyms_clipped(const BbPseudonyms *pseudonyms)
{
    return pseudonyms->clipped;
}

// ---- map ----------------------------------------------------------------------------------------

static gint by_text(gconstpointer a, gconstpointer b)
{
    return strcmp(*(const char *const *)a, *(const char *const *)b);
}

static void append_kind(const BbPseudonyms *pseudonyms, Kind kind, GString *out)
{
    const GArray *known = pseudonyms->known[kind];
    g_autoptr(GPtrArray) texts = g_ptr_array_new();
    for (guint32 name = 1; name < known->len; name++)
        if (g_array_index(known, guint32, name) != BB_NAME_NONE)
            g_ptr_array_add(texts, (gpointer)bb_names_text(pseudonyms->names, name));
    g_ptr_array_sort(texts, by_text);
    for (guint i = 0; i < texts->len; i++) {
        const char *text = g_ptr_array_index(texts, i);
        guint32 pseudonym = g_array_index(known, guint32, bb_names_find(pseudonyms->names, text));
        g_string_append_printf(out, "%s,", kind_words[kind]);
        bb_csv_append_text(out, text, strlen(text));
        g_string_append_printf(out, ",%s\r\n", bb_names_text(pseudonyms->names, pseudonym));
    }
}

static bool write_private(const char *path, const GString *text)
{
    int fd = strcmp(path, "-") == 0 ? fcntl(STDOUT_FILENO, F_DUPFD_CLOEXEC, 0)
                                    : open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
    FILE *out = fd < 0 ? NULL : fdopen(fd, "wb");
    if (!out)
        return false;
    bool good = fwrite(text->str, 1, text->len, out) == text->len;
    return fclose(out) == 0 && good;
}

bool bb_pseudonyms_write_map(const BbPseudonyms *pseudonyms, const char *path, GError **error)
{
    g_autoptr(GString) text = g_string_new("kind,name,pseudonym\r\n");
    append_kind(pseudonyms, KIND_NODE, text);
    append_kind(pseudonyms, KIND_OP, text);
    if (write_private(path, text))
        return true;
    int reason = errno;
    g_set_error(error, G_FILE_ERROR, (gint)g_file_error_from_errno(reason),
                "%s: cannot write the map: %s: %s, or write to another place", path,
                g_strerror(reason), bb_output_remedy(reason));
    return false;
}
