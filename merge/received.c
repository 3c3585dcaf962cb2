// SPDX-License-Identifier: Apache-2.0
// In: mail. Out: each use of a Received header as a free message from host to host, with the
// Message-ID as the path it belongs to.
//
// Headers are kept until the last input has been read: only then it is known which names are one
// host (merge/aliases.h), and only then can they go out in order of time.
#include "merge/importer.h"

#include "data/text_hash.h"

#include "merge/aliases.h"
#include "merge/mail_hop.h"
#include "merge/mailbox.h"
#include "merge/maildir.h"

#include <string.h>

// Headers kept, 64 bytes each; 16 more while they are sorted.
#define HOPS_MAX (1u << 22)
// A longer Message-ID is told by its hash.
#define ID_MAX 250

// A header that may be of use. Hosts are integers of Reading.hosts.
typedef struct Hop {
    gint64 time_ns;
    guint64 text;             // hash of header and Message-ID: equal ones are copies
    guint32 said, found, by;  // names, see BbMailHop
    guint32 address;          // where it is unique in the world
    guint32 site;             // what aliases go by: address, or a private one and who saw it
    guint32 below;            // who had the mail before, as it calls itself
    guint32 got;              // the same, as it called itself when it got the mail
    guint32 mail;             // index into Reading.paths
    guint32 sender, receiver; // once settled; BB_NAME_NONE where it is of no use
    guint32 id, parent;       // numbers from 1, 0 for none
} Hop;

typedef struct Reading {
    const BbImport *import;
    BbNames *hosts;
    BbAliases *aliases;
    GArray *hops;  // of Hop: mail by mail, the earliest first
    GArray *paths; // of BbId, one a mail
} Reading;

static gpointer received_begin(const BbImport *import)
{
    Reading *reading = g_new0(Reading, 1);
    reading->import = import;
    reading->hosts = bb_names_new();
    reading->aliases = bb_aliases_new();
    reading->hops = g_array_new(FALSE, FALSE, sizeof(Hop));
    reading->paths = g_array_new(FALSE, FALSE, sizeof(BbId));
    return reading;
}

static void received_end(gpointer data)
{
    Reading *reading = data;
    bb_aliases_free(reading->aliases);
    bb_names_free(reading->hosts);
    g_array_unref(reading->hops);
    g_array_unref(reading->paths);
    g_free(reading);
}

static void count(const Reading *reading, const char *name)
{
    bb_counters_add(reading->import->counters, name, 1);
}

// ---- reading ----------------------------------------------------------------------------------

// The Message-ID without its angle brackets; something else that is unique where there is none.
static char *path_text(const Reading *reading, const BbMail *mail)
{
    const char *id = mail->id ? mail->id : "";
    const char *open = strchr(id, '<');
    const char *close = open ? strchr(open, '>') : NULL;
    g_autofree char *text = close ? g_strndup(open + 1, (gsize)(close - open) - 1) : g_strdup(id);
    g_strstrip(text);
    if (text[0] == '\0' || strcmp(text, "-") == 0) {
        count(reading, "mail_without_id");
        return g_strdup_printf("mail-without-id-%u", reading->paths->len + 1);
    }
    if (strlen(text) > ID_MAX)
        return g_strdup_printf("%016" G_GINT64_MODIFIER "x",
                               bb_text_hash(BB_TEXT_HASH_START, text));
    return g_steal_pointer(&text);
}

static guint32 name_of(const Reading *reading, const BbMailHost *host)
{
    return host->kind == BB_MAIL_HOST_NAME ? bb_names_intern(reading->hosts, host->text)
                                           : BB_NAME_NONE;
}

// A private address means one host only to those who share the network: the receiver, that is.
static guint32 site_of(const Reading *reading, const BbMailHop *header)
{
    if (header->address.kind == BB_MAIL_HOST_ADDRESS)
        return bb_names_intern(reading->hosts, header->address.text);
    if (header->address.kind != BB_MAIL_HOST_PRIVATE || !header->by.text[0])
        return BB_NAME_NONE;
    g_autofree char *site = g_strdup_printf("%s@%s", header->address.text, header->by.text);
    return bb_names_intern(reading->hosts, site);
}

// The counter of what makes a header useless, NULL if it may be of use.
static const char *refusal(const BbMailHop *header)
{
    BbMailHostKind by = header->by.kind, address = header->address.kind;
    if (!header->from_given)
        return "mail_without_from";
    if (!header->by_given)
        return "mail_without_by";
    if (by == BB_MAIL_HOST_LOCAL || by == BB_MAIL_HOST_NONE || address == BB_MAIL_HOST_LOCAL)
        return "mail_local";
    if (by == BB_MAIL_HOST_SHORT || by == BB_MAIL_HOST_ODD)
        return "mail_generic";
    if (by == BB_MAIL_HOST_PRIVATE)
        return "mail_private";
    if (address == BB_MAIL_HOST_NONE) {
        if (header->found.kind == BB_MAIL_HOST_LOCAL || header->said.kind == BB_MAIL_HOST_LOCAL)
            return "mail_local";
        if (header->found.kind != BB_MAIL_HOST_NAME && header->said.kind != BB_MAIL_HOST_NAME)
            return header->said.kind == BB_MAIL_HOST_NONE ? "mail_local" : "mail_generic";
    }
    return header->date == BB_MAIL_DATE_BAD ? "mail_bad_dates" : NULL;
}

static void add_sightings(const Reading *reading, const Hop *hop)
{
    const guint32 names[BB_ALIAS_KINDS] = {
        [BB_ALIAS_FOUND] = hop->found,
        [BB_ALIAS_BY] = hop->below,
        [BB_ALIAS_GOT] = hop->got,
        [BB_ALIAS_SAID] = hop->said,
    };
    for (guint kind = 0; kind < BB_ALIAS_KINDS; kind++)
        if (names[kind] != BB_NAME_NONE && hop->site != BB_NAME_NONE)
            bb_aliases_add(reading->aliases, (BbAliasKind)kind, names[kind], hop->site);
}

// Who has the mail, as the headers so far say.
typedef struct Holder {
    guint32 by;  // as the latest header calls it
    guint32 got; // as the one calls it by which it came from another host
} Holder;

// Takes a header of the newest mail, after the earlier ones.
static void take_header(Reading *reading, const char *text, const char *path, Holder *holder)
{
    BbMailHop header = bb_mail_hop_read(text, strlen(text));
    const char *why = refusal(&header);
    Hop hop = {.mail = reading->paths->len - 1, .time_ns = header.time_ns};
    hop.below = holder->by;
    hop.got = holder->got;
    count(reading, "mail_headers");
    if (header.by_given) {
        bool local = !header.from_given || header.address.kind == BB_MAIL_HOST_LOCAL;
        holder->by = name_of(reading, &header.by);
        holder->got = local ? holder->got : holder->by;
    }
    if (!why && reading->hops->len >= HOPS_MAX)
        why = "mail_headers_left_out";
    if (why) {
        count(reading, why);
        return;
    }
    if (header.date == BB_MAIL_DATE_ZONE)
        count(reading, "mail_zones_unknown");
    hop.text = bb_text_hash(bb_text_hash(BB_TEXT_HASH_START, path), text);
    hop.said = name_of(reading, &header.said);
    hop.found = name_of(reading, &header.found);
    hop.by = bb_names_intern(reading->hosts, header.by.text);
    hop.site = site_of(reading, &header);
    if (header.address.kind == BB_MAIL_HOST_ADDRESS)
        hop.address = hop.site;
    add_sightings(reading, &hop);
    g_array_append_val(reading->hops, hop);
}

static void take_mail(Reading *reading, const BbMail *mail)
{
    g_autofree char *text = path_text(reading, mail);
    BbId path = bb_id_parse(reading->import->names, text);
    Holder holder = {BB_NAME_NONE, BB_NAME_NONE};
    g_array_append_val(reading->paths, path);
    for (guint i = mail->received->len; i-- > 0;)
        take_header(reading, g_ptr_array_index(mail->received, i), text, &holder);
}

static bool read_box(Reading *reading, const char *path, GError **error)
{
    g_autoptr(BbMailbox) box = bb_mailbox_open(path, reading->import->counters, error);
    g_autoptr(GError) failure = NULL;
    const BbMail *mail = NULL;
    if (!box)
        return false;
    while ((mail = bb_mailbox_next(box, &failure)))
        take_mail(reading, mail);
    if (bb_mailbox_damage(box))
        reading->import->warn(bb_mailbox_damage(box));
    if (!failure)
        return true;
    g_propagate_error(error, g_steal_pointer(&failure));
    return false;
}

// Files in a Maildir that are no mail, or were moved away meanwhile, are counted.
static bool received_read(gpointer data, const char *path, GError **error)
{
    Reading *reading = data;
    if (strcmp(path, "-") == 0 || !g_file_test(path, G_FILE_TEST_IS_DIR))
        return read_box(reading, path, error);
    g_autoptr(GPtrArray) paths = bb_maildir_list(path, error);
    guint bad = 0;
    if (!paths)
        return false;
    for (guint i = 0; i < paths->len; i++) {
        g_autoptr(GError) failure = NULL;
        if (read_box(reading, g_ptr_array_index(paths, i), &failure))
            continue;
        if (++bad == paths->len) {
            g_propagate_error(error, g_steal_pointer(&failure));
            return false;
        }
        count(reading, "mail_files_unread");
    }
    return true;
}

// ---- what was read as messages ----------------------------------------------------------------

// Both ends of a connection naming one name is the best evidence there is. Next comes the address,
// and what the DNS says of it; what the sender said alone counts only where there is no address
// that is unique.
static guint32 sender_of(const Reading *reading, const Hop *hop)
{
    const BbAliases *aliases = reading->aliases;
    guint32 below = bb_aliases_find(aliases, hop->below);
    if (hop->below && (below == bb_aliases_find(aliases, hop->said) ||
                       below == bb_aliases_find(aliases, hop->found)))
        return below;
    if (bb_aliases_find(aliases, hop->site) != hop->site)
        return bb_aliases_find(aliases, hop->site);
    if (hop->found)
        return bb_aliases_find(aliases, hop->found);
    return hop->address ? hop->address : bb_aliases_find(aliases, hop->said);
}

static Hop *hop_at(const Reading *reading, guint index)
{
    return &g_array_index(reading->hops, Hop, index);
}

// A key to sort by, and whose it is.
typedef struct Place {
    gint64 key;
    guint32 index;
} Place;

static gint compare_places(gconstpointer a, gconstpointer b)
{
    const Place *x = a, *y = b;
    if (x->key != y->key)
        return x->key < y->key ? -1 : 1;
    return x->index < y->index ? -1 : x->index > y->index;
}

// Hops that are of use, in order of time, or equal ones next to each other.
static GArray *sort_hops(const Reading *reading, bool by_time)
{
    GArray *places = g_array_sized_new(FALSE, FALSE, sizeof(Place), reading->hops->len);
    for (guint32 i = 0; i < reading->hops->len; i++) {
        const Hop *hop = hop_at(reading, i);
        Place place = {by_time ? hop->time_ns : (gint64)hop->text, i};
        if (hop->sender != BB_NAME_NONE)
            g_array_append_val(places, place);
    }
    g_array_sort(places, compare_places);
    return places;
}

static void settle_ends(const Reading *reading)
{
    for (guint i = 0; i < reading->hops->len; i++) {
        Hop *hop = hop_at(reading, i);
        hop->sender = sender_of(reading, hop);
        hop->receiver = bb_aliases_find(reading->aliases, hop->by);
        if (hop->sender != BB_NAME_NONE && hop->sender != hop->receiver)
            continue;
        count(reading, hop->sender ? "mail_self" : "mail_private");
        hop->sender = BB_NAME_NONE;
    }
}

// Mails to several people share their first hops. Later copies of one have the id of the first, by
// which it is known that they do not go out again.
static void settle_ids(const Reading *reading)
{
    g_autoptr(GArray) places = sort_hops(reading, false);
    const Place *first = NULL;
    for (guint i = 0; i < places->len; i++) {
        const Place *place = &g_array_index(places, Place, i);
        if (!first || first->key != place->key)
            first = place;
        hop_at(reading, place->index)->id = first->index + 1;
    }
}

static void settle_parents(const Reading *reading)
{
    const Hop *before = NULL;
    for (guint i = 0; i < reading->hops->len; i++) {
        Hop *hop = hop_at(reading, i);
        if (hop->sender == BB_NAME_NONE)
            continue;
        if (before && before->mail == hop->mail && before->receiver == hop->sender)
            hop->parent = before->id;
        before = hop;
    }
}

static guint32 give_name(const Reading *reading, guint32 host)
{
    return bb_names_intern(reading->import->names, bb_names_text(reading->hosts, host));
}

static bool give_hop(const Reading *reading, const Hop *hop, GError **error)
{
    BbMessage message = bb_message_empty();
    message.time_ns = hop->time_ns;
    message.sender = give_name(reading, hop->sender);
    message.receiver = give_name(reading, hop->receiver);
    message.id = bb_id_number(hop->id);
    message.path = g_array_index(reading->paths, BbId, hop->mail);
    message.parent = hop->parent ? bb_id_number(hop->parent) : (BbId){.form = BB_ID_DASH};
    return reading->import->sink(&message, reading->import->user, error);
}

static bool received_finish(gpointer data, GError **error)
{
    Reading *reading = data;
    bb_aliases_settle(reading->aliases);
    bb_counters_add(reading->import->counters, "mail_aliases", bb_aliases_count(reading->aliases));
    settle_ends(reading);
    settle_ids(reading);
    settle_parents(reading);
    g_autoptr(GArray) places = sort_hops(reading, true);
    for (guint i = 0; i < places->len; i++) {
        guint index = g_array_index(places, Place, i).index;
        const Hop *hop = hop_at(reading, index);
        if (hop->id != index + 1)
            count(reading, "mail_copies");
        else if (!give_hop(reading, hop, error))
            return false;
    }
    return true;
}

static const BbImportCount counts[] = {
    {"mails", "mails"},
    {"mail_headers", "Received headers in them"},
    {"mail_without_from", "headers that name no sender: added by a host that had the mail already"},
    {"mail_without_by", "headers that name no receiver"},
    {"mail_local", "headers of a host that talks to itself, or whose sender is unknown"},
    {"mail_generic", "headers with a name without domain, which means another host at each site"},
    {"mail_private", "headers that know the sender by a private address only"},
    {"mail_self", "headers whose sender and receiver are two names of one host"},
    {"mail_bad_dates", "headers without a date that can be read"},
    {"mail_copies", "headers seen before, in a copy of the mail for somebody else"},
    {"mail_headers_cut", "headers that are too long to be one"},
    {"mail_headers_left_out", "headers left out at a limit: of one mail, or of all"},
    {"mail_bad_lines", "lines among the headers that belong to none"},
    {"mail_files_unread", "files of a Maildir that are no mail or could not be read"},
    {"mail_zones_unknown", "dates without zone, or with a name that is none: taken as UTC"},
    {"mail_without_id", "mails without Message-ID: each is a path of its own"},
    {"mail_aliases", "names and addresses of hosts that go by another name here"},
    {NULL, NULL},
};

const BbImporter bb_importer_received = {
    .name = "received",
    .about = "mail: the Received headers of an mbox, a Maildir, or single messages",
    .counts = counts,
    .begin = received_begin,
    .read = received_read,
    .finish = received_finish,
    .end = received_end,
};
