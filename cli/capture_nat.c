// SPDX-License-Identifier: Apache-2.0
// In: connections found on both sides of a NAT. Out: sentences on them.
#include "cli/capture_nat.h"

#include "cli/command.h"

static const char *const words[] = {
    [BB_TRANSLATION_OFF] = "off", [BB_TRANSLATION_HINT] = "hint", [BB_TRANSLATION_JOIN] = "join"};

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

void bb_capture_nat_notes(const BbTranslations *translations, BbTranslationMode mode,
                          GPtrArray *notes)
{
    const char *outcome = mode == BB_TRANSLATION_JOIN ? "seen twice, counted once" : "seen twice";
    guint count = bb_translations_pairs(translations);
    for (guint i = 0; i < MIN(count, BB_CAPTURE_NAT_NOTES); i++) {
        const BbTranslationPair *pair = bb_translations_pair(translations, i);
        char before[BB_ADDRESS_TEXT], after[BB_ADDRESS_TEXT];
        format_end(&pair->before, pair->before_port, before);
        format_end(&pair->after, pair->after_port, after);
        g_autofree char *connections = bb_counted(pair->connections, "connection");
        g_ptr_array_add(notes, g_strdup_printf("%s is %s behind a NAT: %s %s", before, after,
                                               connections, outcome));
    }
    if (count > BB_CAPTURE_NAT_NOTES)
        g_ptr_array_add(notes,
                        g_strdup_printf("and %u%s more pairs of addresses are one behind a NAT",
                                        count - BB_CAPTURE_NAT_NOTES,
                                        count == BB_TRANSLATION_PAIRS ? " or" : ""));
}

void bb_capture_nat_say(const BbTranslations *translations, BbTranslationMode mode,
                        const BbLoss *loss)
{
    g_autoptr(GPtrArray) notes = g_ptr_array_new_with_free_func(g_free);
    bool hint = mode == BB_TRANSLATION_HINT;
    bb_capture_nat_notes(translations, mode, notes);
    for (guint i = 0; i < notes->len; i++)
        bb_say("%s%s", hint ? "hint: " : "", (const char *)notes->pdata[i]);
    g_autofree char *joined = bb_counted(loss->count[BB_NAT_JOINED], "connection");
    g_autofree char *packets = bb_counted(loss->count[BB_NAT_PACKETS], "packet");
    if (loss->count[BB_NAT_JOINED])
        bb_say("%s seen on both sides of a NAT joined to one: %s left out", joined, packets);
    else if (hint && notes->len)
        bb_say("hint: --nat=join counts what was seen twice once");
}
