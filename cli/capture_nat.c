// SPDX-License-Identifier: Apache-2.0
// In: connections found on both sides of a NAT. Out: sentences on them.
#include "cli/capture_nat.h"

#include "cli/command.h"

static const char *const words[] = {
    [BB_TRANSLATION_OFF] = "off", [BB_TRANSLATION_HINT] = "hint", [BB_TRANSLATION_JOIN] = "join"};
static const char *const outcomes[] = {[BB_TRANSLATION_OFF] = "",
                                       [BB_TRANSLATION_HINT] = "seen twice",
                                       [BB_TRANSLATION_JOIN] = "seen twice, counted once"};
static const char *const hints[] = {
    [BB_TRANSLATION_OFF] = "", [BB_TRANSLATION_HINT] = "hint: ", [BB_TRANSLATION_JOIN] = ""};

bool bb_capture_nat_parse(const char *word, BbTranslationMode *mode)
{
    *mode = BB_TRANSLATION_JOIN;
    for (guint i = 0; word && i < G_N_ELEMENTS(words); i++)
        if (strcmp(word, words[i]) == 0) {
            *mode = (BbTranslationMode)i;
            return true;
        }
    return !word;
}

static void format_end(const BbAddress *address, guint16 port, char *text)
{
    if (port)
        bb_address_format_port(address, port, text);
    else
        bb_address_format(address, text);
}

static const guint told_most[] = {[BB_TRANSLATION_CLIENTS] = BB_CAPTURE_NAT_CLIENTS,
                                  [BB_TRANSLATION_SERVICES] = BB_CAPTURE_NAT_SERVICES};

static char *format_pair(const BbTranslationPair *pair, const char *outcome)
{
    char before[BB_ADDRESS_TEXT], after[BB_ADDRESS_TEXT];
    format_end(&pair->before, pair->before_port, before);
    format_end(&pair->after, pair->after_port, after);
    return g_strdup_printf("%s %s %s behind a NAT: %s", before,
                           pair->others ? "and other clients are" : "is", after, outcome);
}

// NULL where there are no more than are told.
static char *format_rest(const BbTranslations *translations)
{
    guint more = 0;
    bool full = false;
    for (guint end = 0; end < G_N_ELEMENTS(told_most); end++) {
        guint count = bb_translations_pairs(translations, (BbTranslationEnd)end);
        more += count - MIN(count, told_most[end]);
        full |= count == BB_TRANSLATION_PAIRS;
    }
    return more ? g_strdup_printf("and %u%s more pairs of addresses are one behind a NAT", more,
                                  full ? " or" : "")
                : NULL;
}

// ---- in the trace -------------------------------------------------------------------------------

struct BbCaptureNat {
    BbTranslationMode mode;
    bool no_names;
    guint told[2]; // BbTranslationEnd: pairs that have notes
};

BbCaptureNat *bb_capture_nat_new(BbTranslationMode mode, bool no_names)
{
    BbCaptureNat *nat = g_new0(BbCaptureNat, 1);
    nat->mode = mode;
    nat->no_names = no_names;
    return nat;
}

void bb_capture_nat_free(BbCaptureNat *nat)
{
    g_free(nat);
}

static guint count_told(const BbTranslations *translations, guint end)
{
    return MIN(bb_translations_pairs(translations, (BbTranslationEnd)end), told_most[end]);
}

static char *make_note(const BbCaptureNat *nat, const BbTranslations *translations, guint end,
                       guint index)
{
    return format_pair(bb_translations_pair(translations, (BbTranslationEnd)end, index),
                       outcomes[nat->mode]);
}

char *bb_capture_nat_next(BbCaptureNat *nat, const BbTranslations *translations)
{
    for (guint end = G_N_ELEMENTS(nat->told); !nat->no_names && end-- > 0;)
        if (nat->told[end] < count_told(translations, end))
            return make_note(nat, translations, end, nat->told[end]++);
    return NULL;
}

char *bb_capture_nat_rest(const BbCaptureNat *nat, const BbTranslations *translations)
{
    return nat->no_names ? NULL : format_rest(translations);
}

void bb_capture_nat_notes(const BbCaptureNat *nat, const BbTranslations *translations,
                          GPtrArray *notes)
{
    char *rest = bb_capture_nat_rest(nat, translations);
    for (guint end = G_N_ELEMENTS(nat->told); !nat->no_names && end-- > 0;)
        for (guint i = 0; i < count_told(translations, end); i++)
            g_ptr_array_add(notes, make_note(nat, translations, end, i));
    if (rest)
        g_ptr_array_add(notes, rest);
}

// ---- on standard error --------------------------------------------------------------------------

// Most connections first; of as many, the one that was found first.
static gint compare_pairs(gconstpointer a, gconstpointer b)
{
    const BbTranslationPair *pair = *(const BbTranslationPair *const *)a;
    const BbTranslationPair *other = *(const BbTranslationPair *const *)b;
    if (pair->connections != other->connections)
        return pair->connections < other->connections ? 1 : -1;
    return (pair > other) - (pair < other); // they lie in this order
}

static void say_pairs(const BbTranslations *translations, BbTranslationEnd end,
                      BbTranslationMode mode)
{
    g_autoptr(GPtrArray) pairs = g_ptr_array_new();
    for (guint i = 0; i < bb_translations_pairs(translations, end); i++)
        g_ptr_array_add(pairs, (gpointer)(guintptr)bb_translations_pair(translations, end, i));
    g_ptr_array_sort(pairs, compare_pairs);
    for (guint i = 0; i < MIN(pairs->len, told_most[end]); i++) {
        const BbTranslationPair *pair = pairs->pdata[i];
        g_autofree char *connections = bb_counted(pair->connections, "connection");
        g_autofree char *outcome = g_strdup_printf("%s %s", connections, outcomes[mode]);
        g_autofree char *text = format_pair(pair, outcome);
        bb_say("%s%s", hints[mode], text);
    }
}

void bb_capture_nat_say(const BbTranslations *translations, BbTranslationMode mode,
                        const BbLoss *loss)
{
    say_pairs(translations, BB_TRANSLATION_SERVICES, mode);
    say_pairs(translations, BB_TRANSLATION_CLIENTS, mode);
    g_autofree char *rest = format_rest(translations);
    if (rest)
        bb_say("%s%s", hints[mode], rest);
    g_autofree char *joined = bb_counted(loss->count[BB_NAT_JOINED], "connection");
    g_autofree char *packets = bb_counted(loss->count[BB_NAT_PACKETS], "packet");
    if (loss->count[BB_NAT_JOINED])
        bb_say("%s seen on both sides of a NAT joined to one: %s left out", joined, packets);
    else if (loss->count[BB_NAT_SEEN_TWICE])
        bb_say("hint: --nat=join counts what was seen twice once");
}
