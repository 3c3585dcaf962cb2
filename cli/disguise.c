// SPDX-License-Identifier: Apache-2.0
// In: messages, facts, a key. Out: the same under other names, or without labels.
#include "cli/disguise.h"

#include "cli/command.h"

#include <errno.h>
#include <glib/gstdio.h>
#include <stdio.h>
#include <string.h>

#define MARKER_MAX 4096 // bytes read of one

struct BbDisguise {
    BbPseudonymOptions options; // without key
    BbPseudonyms *pseudonyms;
    BbNetwork *network;
    char *note;
    char *marker; // of a ring: the note, and where names depend on the key, what tells that key
};

// ---- options ------------------------------------------------------------------------------------

void bb_disguise_options_clear(BbDisguiseOptions *options)
{
    g_free(options->labels_word);
    g_free(options->key_file);
}

int bb_disguise_options_parse(BbDisguiseOptions *o, const char *program)
{
    o->labels = o->anonymize ? BB_LABELS_HASH : BB_LABELS_KEEP;
    if (o->labels_word && !bb_labels_parse(o->labels_word, &o->labels))
        return bb_say_usage(program, "--labels is keep, hash or off, not '%s'", o->labels_word);
    if ((o->keep_ports || o->keep_prefixes) && !o->anonymize)
        return bb_say_usage(program, "--keep-ports and --keep-prefixes belong to --anonymize");
    if (o->key_file && !o->anonymize && o->labels != BB_LABELS_HASH)
        return bb_say_usage(program, "--key belongs to --anonymize or --labels=hash");
    o->worn = o->anonymize || o->labels != BB_LABELS_KEEP;
    return -1;
}

// ---- rings --------------------------------------------------------------------------------------

// What stands beside a ring. Other keys have other digests, of which none tells its key.
static char *make_marker(const char *note, const BbPseudonymOptions *options)
{
    static const char constant[] = "ring of a flight recorder";
    if (options->only_labels && options->labels == BB_LABELS_OFF)
        return g_strdup_printf("%s\n", note);
    g_autofree char *digest =
        g_compute_hmac_for_data(G_CHECKSUM_SHA256, options->key, options->key_size,
                                (const guchar *)constant, sizeof constant);
    return g_strdup_printf("%s\nkey %s\n", note, digest);
}

// What stands beside this one; NULL for nothing.
static char *read_marker(const char *path)
{
    char text[MARKER_MAX];
    FILE *file = g_file_test(path, G_FILE_TEST_IS_REGULAR) ? fopen(path, "re") : NULL;
    if (!file)
        return NULL;
    gsize size = fread(text, 1, sizeof text, file);
    (void)fclose(file);
    return g_strndup(text, size);
}

// Length of its first line.
static gsize note_length(const char *marker)
{
    return strcspn(marker, "\n");
}

static char *marker_path(const char *ring)
{
    return g_strconcat(ring, ".names", NULL);
}

char *bb_disguise_ring_note(const char *ring)
{
    g_autofree char *path = marker_path(ring), *marker = read_marker(path);
    gsize length = marker ? note_length(marker) : 0;
    return length && g_utf8_validate(marker, (gssize)length, NULL) ? g_strndup(marker, length)
                                                                   : NULL;
}

static bool forget_disguise(const char *marker, GError **error)
{
    if (g_unlink(marker) == 0 || errno == ENOENT)
        return true;
    g_set_error(error, G_FILE_ERROR, (gint)g_file_error_from_errno(errno),
                "%s: cannot delete it: %s: give rights to its folder", marker, g_strerror(errno));
    return false;
}

static void refuse_ring(const char *ring, bool other_key, GError **error)
{
    if (other_key)
        g_set_error(error, G_FILE_ERROR, G_FILE_ERROR_EXIST,
                    "%s: a former run recorded there under another key, and each name would be "
                    "there twice: give all runs one --key (each run without it makes a key of its "
                    "own), delete it, or give another -w",
                    ring);
    else
        g_set_error(error, G_FILE_ERROR, G_FILE_ERROR_EXIST,
                    "%s: a former run recorded there with other --anonymize or --labels, and its "
                    "names would come along: delete it, or give another -w",
                    ring);
}

bool bb_disguise_claim_ring(const BbDisguise *disguise, const char *ring, GError **error)
{
    g_autofree char *path = marker_path(ring);
    if (!disguise)
        return forget_disguise(path, error);
    if (!g_file_test(ring, G_FILE_TEST_EXISTS))
        return g_file_set_contents(path, disguise->marker, -1, error);
    g_autofree char *former = read_marker(path);
    if (g_strcmp0(former, disguise->marker) == 0)
        return true;
    gsize length = strlen(disguise->note);
    refuse_ring(ring,
                former && note_length(former) == length &&
                    strncmp(former, disguise->note, length) == 0,
                error);
    return false;
}

// ---- use ----------------------------------------------------------------------------------------

BbDisguise *bb_disguise_open(const BbDisguiseOptions *o, BbNames *names, GError **error)
{
    char *key = NULL;
    BbPseudonymOptions options = {.labels = o->labels,
                                  .only_labels = !o->anonymize,
                                  .keep_ports = o->keep_ports,
                                  .keep_prefixes = o->keep_prefixes};
    if (!bb_pseudonym_key_read(o->key_file, &key, &options.key_size, error)) {
        bb_pseudonym_key_free(key, options.key_size);
        return NULL;
    }
    options.key = key;
    BbDisguise *disguise = g_new0(BbDisguise, 1);
    disguise->pseudonyms = bb_pseudonyms_new(&options, names);
    disguise->options = options;
    disguise->options.key = NULL;
    disguise->note = bb_pseudonyms_note(&options);
    disguise->marker = make_marker(disguise->note, &options);
    bb_pseudonym_key_free(key, options.key_size);
    return disguise;
}

void bb_disguise_free(BbDisguise *disguise)
{
    if (!disguise)
        return;
    bb_pseudonyms_free(disguise->pseudonyms);
    bb_network_free(disguise->network);
    g_free(disguise->note);
    g_free(disguise->marker);
    g_free(disguise);
}

void bb_disguise_trim(const BbDisguise *disguise, BbMessage *message)
{
    if (disguise->options.labels == BB_LABELS_OFF)
        message->op = BB_NAME_NONE;
}

void bb_disguise_apply(BbDisguise *disguise, BbMessage *message)
{
    bb_pseudonyms_apply(disguise->pseudonyms, message);
}

guint32 bb_disguise_name(BbDisguise *disguise, guint32 name, bool is_op)
{
    return is_op ? bb_pseudonyms_op(disguise->pseudonyms, name)
                 : bb_pseudonyms_node(disguise->pseudonyms, name);
}

const BbNetwork *bb_disguise_network(BbDisguise *disguise, const BbNetwork *network)
{
    bb_network_free(disguise->network);
    disguise->network = bb_network_new();
    bb_pseudonyms_network(disguise->pseudonyms, network, disguise->network);
    return disguise->network;
}

bool bb_disguise_takes_notes(const BbDisguise *disguise)
{
    return disguise->options.only_labels;
}

const char *bb_disguise_note(const BbDisguise *disguise)
{
    return disguise->note;
}

bool bb_disguise_has_labels(const BbDisguise *disguise)
{
    return disguise->options.labels != BB_LABELS_OFF;
}
