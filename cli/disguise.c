// SPDX-License-Identifier: Apache-2.0
// In: messages, facts, a key. Out: the same under other names, or without labels.
#include "cli/disguise.h"

#include "cli/command.h"

#include <errno.h>
#include <glib/gstdio.h>

struct BbDisguise {
    BbPseudonymOptions options; // without key
    BbPseudonyms *pseudonyms;
    BbNetwork *network;
    char *note;
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

// ---- rings --------------------------------------------------------------------------------------

static bool forget_disguise(const char *marker, GError **error)
{
    if (g_unlink(marker) == 0 || errno == ENOENT)
        return true;
    g_set_error(error, G_FILE_ERROR, (gint)g_file_error_from_errno(errno),
                "%s: cannot delete it: %s: give rights to its folder", marker, g_strerror(errno));
    return false;
}

bool bb_disguise_claim_ring(const BbDisguise *disguise, const char *ring, GError **error)
{
    g_autofree char *marker = g_strconcat(ring, ".names", NULL), *former = NULL;
    if (!disguise)
        return forget_disguise(marker, error);
    (void)g_file_get_contents(marker, &former, NULL, NULL);
    if (!g_file_test(ring, G_FILE_TEST_EXISTS))
        return g_file_set_contents(marker, disguise->note, -1, error);
    if (g_strcmp0(former, disguise->note) == 0)
        return true;
    g_set_error(error, G_FILE_ERROR, G_FILE_ERROR_EXIST,
                "%s: a former run recorded there with other --anonymize or --labels, and its names "
                "would come along: delete it, or give another -w",
                ring);
    return false;
}
