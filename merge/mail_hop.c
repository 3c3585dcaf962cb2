// SPDX-License-Identifier: Apache-2.0
// In: a Received header. Out: the hosts it names, and its time.
//
//   from SAID (FOUND [ADDRESS]) by BY ...; DATE             sendmail, Postfix
//   from FOUND ([ADDRESS] helo=SAID) by BY ...; DATE        Exim
//   from FOUND (HELO SAID) (user@ADDRESS) by BY ...; DATE   qmail
//   from [ADDRESS] by BY ...; DATE                          and many others
#include "merge/mail_hop.h"

#include "merge/mail_words.h"

#include <string.h>

// Fills what is still empty: the first to say something is believed.
static void keep(BbMailHost *place, const BbMailHost *host)
{
    if (place->kind == BB_MAIL_HOST_NONE)
        *place = *host;
}

static BbMailHost host_of(const BbMailWord *word)
{
    return bb_mail_host_read(word->text, word->length);
}

// The word goes on to the bracket that begins an address behind it: out4.example.org[192.0.2.1].
static BbMailWord split_bracket(BbMailWord *word)
{
    const char *open = word->length > 1 ? memchr(word->text + 1, '[', word->length - 1) : NULL;
    BbMailWord rest = {word->text + word->length, 0, false};
    if (open && open[-1] != '@') {
        rest = (BbMailWord){open, (gsize)(word->text + word->length - open), false};
        word->length = (gsize)(open - word->text);
    }
    return rest;
}

// "HELO name", "EHLO name" or "helo=name" anywhere in a comment.
static bool read_helo(BbMailHop *hop, BbMailWords words)
{
    BbMailWord word;
    while (bb_mail_words_next(&words, &word)) {
        BbMailHost host = {.kind = BB_MAIL_HOST_NONE};
        bool is_helo = true;
        if (!word.comment && word.length >= 5 && g_ascii_strncasecmp(word.text, "helo=", 5) == 0)
            host = bb_mail_host_read(word.text + 5, word.length - 5);
        else if (!bb_mail_word_is(&word, "HELO") && !bb_mail_word_is(&word, "EHLO"))
            is_helo = false;
        else if (bb_mail_words_next(&words, &word) && !word.comment)
            host = host_of(&word);
        if (is_helo) {
            hop->said = host;
            return true;
        }
    }
    return false;
}

// What a comment behind "from" begins with: an address, or a name and perhaps an address. Those
// that begin with another word (authenticated, proxying for, envelope-sender) say nothing here.
static void read_peer(BbMailHop *hop, BbMailWords words)
{
    BbMailWord word, next;
    if (!bb_mail_words_next(&words, &word) || word.comment)
        return;
    BbMailWord rest = split_bracket(&word);
    BbMailHost first = host_of(&word), second = {.kind = BB_MAIL_HOST_NONE};
    if (rest.length)
        second = host_of(&rest);
    else if (bb_mail_words_next(&words, &next) && !next.comment)
        second = host_of(&next);
    if (bb_mail_host_is_address(&first)) {
        keep(&hop->address, &first);
    } else if (bb_mail_host_is_address(&second)) {
        keep(&hop->found, &first);
        keep(&hop->address, &second);
    } else if (first.kind == BB_MAIL_HOST_NAME || first.kind == BB_MAIL_HOST_LOCAL) {
        keep(&hop->found, &first);
    }
}

// Words behind "from" up to "by". Where HELO is named, the word before it is not what the sender
// said but what the receiver found.
static void read_from(BbMailHop *hop, BbMailWords *words)
{
    BbMailWord word;
    BbMailHost name = {.kind = BB_MAIL_HOST_NONE}, literal = {.kind = BB_MAIL_HOST_NONE};
    bool first = true, helo = false;
    for (BbMailWords before = *words; bb_mail_words_next(words, &word); before = *words) {
        if (bb_mail_word_is(&word, "by") || bb_mail_word_is(&word, ";")) {
            *words = before;
            break;
        }
        if (word.comment) {
            helo = read_helo(hop, bb_mail_words(word.text, word.length)) || helo;
            read_peer(hop, bb_mail_words(word.text, word.length));
            continue;
        }
        BbMailWord rest = split_bracket(&word);
        BbMailHost host = host_of(&word), behind = host_of(&rest);
        if (bb_mail_host_is_address(&host))
            keep(&literal, &host);
        else if (first)
            name = host;
        if (bb_mail_host_is_address(&behind))
            keep(&literal, &behind);
        first = false;
    }
    keep(&hop->address, &literal); // a literal is the sender's word where a comment says otherwise
    keep(helo ? &hop->found : &hop->said, &name);
}

// The end of the header proper: the last semicolon outside of comments.
static const char *find_date(const char *text, gsize length)
{
    BbMailWords words = bb_mail_words(text, length);
    BbMailWord word;
    const char *last = NULL;
    while (bb_mail_words_next(&words, &word))
        if (bb_mail_word_is(&word, ";"))
            last = word.text;
    return last;
}

static void read_clauses(BbMailHop *hop, BbMailWords words)
{
    BbMailWord word;
    for (bool first = true; bb_mail_words_next(&words, &word); first = false) {
        if (first && (bb_mail_word_is(&word, "from") || bb_mail_word_is(&word, "[from"))) {
            hop->from_given = true;
            read_from(hop, &words);
        } else if (bb_mail_word_is(&word, "by") && bb_mail_words_next(&words, &word)) {
            hop->by_given = !word.comment && !bb_mail_word_is(&word, ";");
            (void)split_bracket(&word);
            if (hop->by_given)
                hop->by = host_of(&word);
            return;
        }
    }
}

BbMailHop bb_mail_hop_read(const char *text, gsize length)
{
    BbMailHop hop = {.date = BB_MAIL_DATE_BAD};
    const char *date = find_date(text, length);
    gsize head = date ? (gsize)(date - text) : length;
    read_clauses(&hop, bb_mail_words(text, head));
    if (date)
        hop.date = bb_mail_date_read(date + 1, length - head - 1, &hop.time_ns);
    return hop;
}
