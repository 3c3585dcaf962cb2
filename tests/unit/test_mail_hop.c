// SPDX-License-Identifier: Apache-2.0
// Received headers as servers write them, and the words they are made of.
#include "merge/mail_hop.h"
#include "merge/mail_words.h"
#include "tests/unit/test.h"

#include <string.h>

#define DATE "; Thu, 22 Aug 2002 12:00:00 +0000"
#define NOON_NS G_GINT64_CONSTANT(1030017600000000000)

static BbMailHop read_hop(const char *text)
{
    g_autofree char *exact = g_memdup2(text, strlen(text) + 1);
    return bb_mail_hop_read(exact, strlen(text));
}

START_TEST(forms_of_servers)
{
    static const struct {
        const char *text, *said, *found, *address, *by;
    } hops[] = {
        // sendmail, Postfix
        {"from h.example.org (f.example.org [192.0.2.1]) by b.example.net (8.11.6/8.11.6) with "
         "ESMTP "
         "id g7 for <u@example.net>" DATE,
         "h.example.org", "f.example.org", "192.0.2.1", "b.example.net"},
        {"from h.example.org (f.example.org [192.0.2.1] (may be forged)) by b.example.net" DATE,
         "h.example.org", "f.example.org", "192.0.2.1", "b.example.net"},
        {"from h.example.org (IDENT:user@f.example.org [192.0.2.1]) by b.example.net" DATE,
         "h.example.org", "f.example.org", "192.0.2.1", "b.example.net"},
        {"from h.example.org (unknown [192.0.2.1]) by b.example.net (Postfix)" DATE,
         "h.example.org", "", "192.0.2.1", "b.example.net"},
        {"from h.example.org ([192.0.2.1]) (authenticated bits=0) by b.example.net" DATE,
         "h.example.org", "", "192.0.2.1", "b.example.net"},
        {"from short (localhost [[UNIX: localhost]]) by b.example.net" DATE, "short", "localhost",
         "", "b.example.net"},
        // Exim
        {"from f.example.org ([192.0.2.1]:4711 helo=h.example.org) by b.example.net with esmtp "
         "(Exim "
         "3.35 #1 (Debian)) id 17" DATE,
         "h.example.org", "f.example.org", "192.0.2.1", "b.example.net"},
        {"from [192.0.2.1] (helo=h.example.org) by b.example.net" DATE, "h.example.org", "",
         "192.0.2.1", "b.example.net"},
        // qmail
        {"from unknown (HELO h.example.org) (user@192.0.2.1 with login) by b.example.net with "
         "SMTP" DATE,
         "h.example.org", "", "192.0.2.1", "b.example.net"},
        {"from f.example.org (HELO short) (192.0.2.1)by b.example.net with SMTP" DATE, "short",
         "f.example.org", "192.0.2.1", "b.example.net"},
        {"from unknown (HELO there) (?AL1b20=?@[192.0.2.1]) (envelope-sender <u@example.org>) by "
         "b.example.net (qmail-ldap-1.03) with SMTP" DATE,
         "there", "", "192.0.2.1", "b.example.net"},
        // others
        {"from [192.0.2.1] by b.example.net via HTTP" DATE, "", "", "192.0.2.1", "b.example.net"},
        {"from 192.0.2.1 (proxying for 198.51.100.1) (SquirrelMail authenticated user u) by "
         "b.example.net with HTTP" DATE,
         "", "", "192.0.2.1", "b.example.net"},
        {"from [192.0.2.9] (f.example.org[192.0.2.1]) by b.example.net (out4)" DATE, "",
         "f.example.org", "192.0.2.1", "b.example.net"},
        {"from h.example.org[192.0.2.1] by b.example.net[192.0.2.2] with X" DATE, "h.example.org",
         "", "192.0.2.1", "b.example.net"},
        {"from h.example.org from [192.0.2.1] by b.example.net  (/\\##/\\ Smail3) with esmtp" DATE,
         "h.example.org", "", "192.0.2.1", "b.example.net"},
        {"from h.example.org (f.example.org) by b.example.net (LSMTP)" DATE, "h.example.org",
         "f.example.org", "", "b.example.net"},
        {"from h.example.org ([2001:db8::1]) by b.example.net" DATE, "h.example.org", "",
         "2001:db8::1", "b.example.net"},
        {"from 68.17.46.205([192.0.2.1]) by b.example.net(JetMail 2.5.3.0) with SMTP id z" DATE, "",
         "", "192.0.2.1", "b.example.net"},
        {"[from h.example.org (f.example.org [192.0.2.1]) by b.example.net" DATE "]",
         "h.example.org", "f.example.org", "192.0.2.1", "b.example.net"},
        {"FROM h.example.org BY b.example.net " DATE, "h.example.org", "", "", "b.example.net"},
        {"from h.example.org (unverified) by [192.0.2.7] via smtpd (for x [192.0.2.8])" DATE,
         "h.example.org", "", "", "192.0.2.7"},
    };
    for (gsize i = 0; i < G_N_ELEMENTS(hops); i++) {
        BbMailHop hop = read_hop(hops[i].text);
        ck_assert_msg(hop.from_given && hop.by_given, "%s", hops[i].text);
        ck_assert_msg(strcmp(hop.said.text, hops[i].said) == 0, "%s", hops[i].text);
        ck_assert_msg(strcmp(hop.found.text, hops[i].found) == 0, "%s", hops[i].text);
        ck_assert_msg(strcmp(hop.address.text, hops[i].address) == 0, "%s", hops[i].text);
        ck_assert_msg(strcmp(hop.by.text, hops[i].by) == 0, "%s", hops[i].text);
        ck_assert_msg(hop.date == BB_MAIL_DATE_GOOD && hop.time_ns == NOON_NS, "%s", hops[i].text);
    }
}
END_TEST

START_TEST(no_sender)
{
    static const struct {
        const char *text, *by;
    } hops[] = {
        {"(qmail 1234 invoked from network)" DATE, ""},
        {"(from user@localhost) by b.example.net (8.11.6/8.11.6) id g7" DATE, "b.example.net"},
        {"by b.example.net (Postfix, from userid 500) id 4F" DATE, "b.example.net"},
        {"via dmail-2002(12) for +lists/x" DATE, ""},
        {"", ""},
    };
    for (gsize i = 0; i < G_N_ELEMENTS(hops); i++) {
        BbMailHop hop = read_hop(hops[i].text);
        ck_assert_msg(!hop.from_given, "%s", hops[i].text);
        ck_assert_msg(hop.by_given == (hops[i].by[0] != '\0'), "%s", hops[i].text);
        ck_assert_str_eq(hop.by.text, hops[i].by);
    }
}
END_TEST

START_TEST(what_is_missing)
{
    BbMailHop hop = read_hop("from h.example.org (f.example.org [192.0.2.1])" DATE);
    ck_assert(hop.from_given && !hop.by_given);
    hop = read_hop("from h.example.org by" DATE);
    ck_assert(hop.from_given && !hop.by_given);
    hop = read_hop("from h.example.org by (none) x" DATE);
    ck_assert(!hop.by_given);
    hop = read_hop("from  () by b.example.net" DATE);
    ck_assert(hop.from_given && hop.by_given);
    ck_assert_int_eq(hop.said.kind, BB_MAIL_HOST_NONE);
    hop = read_hop("from h.example.org by b.example.net Thu, 22 Aug 2002 12:00:00 +0000");
    ck_assert(hop.by_given && hop.date == BB_MAIL_DATE_BAD);
    hop = read_hop("from h.example.org by b.example.net; yesterday");
    ck_assert(hop.by_given && hop.date == BB_MAIL_DATE_BAD);
}
END_TEST

// What stands in comments ends no header; a comment that is never closed is none.
START_TEST(semicolons_and_parentheses)
{
    BbMailHop hop =
        read_hop("from h.example.org by b.example.net (v=1; c=2) for <a;b>" DATE " (what; ever)");
    ck_assert(hop.date == BB_MAIL_DATE_GOOD && hop.time_ns == NOON_NS);
    hop = read_hop("from h.example.org (f.example.org [192.0.2.1] by b.example.net (x" DATE);
    ck_assert_str_eq(hop.by.text, "b.example.net");
    ck_assert_str_eq(hop.address.text, "192.0.2.1");
    ck_assert_int_eq(hop.date, BB_MAIL_DATE_GOOD);
    hop = read_hop("from h.example.org (a \\) b) by b.example.net" DATE);
    ck_assert_str_eq(hop.by.text, "b.example.net");
}
END_TEST

START_TEST(words_and_comments)
{
    static const char text[] = "  a(b (c) \\) d)e;f ) (open";
    static const char *const wanted[] = {"a", "b (c) \\) d", "e", ";", "f", "open"};
    BbMailWords words = bb_mail_words(text, strlen(text));
    BbMailWord word;
    for (gsize i = 0; i < G_N_ELEMENTS(wanted); i++) {
        ck_assert(bb_mail_words_next(&words, &word));
        ck_assert_uint_eq(word.length, strlen(wanted[i]));
        ck_assert_int_eq(memcmp(word.text, wanted[i], word.length), 0);
        ck_assert(word.comment == (i == 1));
    }
    ck_assert(!bb_mail_words_next(&words, &word));
    ck_assert(!bb_mail_words_next(&words, &word));
}
END_TEST

START_TEST(nesting_has_a_limit)
{
    for (guint depth = BB_MAIL_NESTING; depth <= BB_MAIL_NESTING + 1; depth++) {
        g_autofree char *open = g_strnfill(depth, '('), *close = g_strnfill(depth, ')');
        g_autofree char *text =
            g_strdup_printf("from h.example.org %sx%s by b.example.net" DATE, open, close);
        BbMailWords words = bb_mail_words(open, 0);
        BbMailWord word;
        g_autofree char *comment = g_strconcat(open, "x", close, NULL);
        words = bb_mail_words(comment, strlen(comment));
        ck_assert(bb_mail_words_next(&words, &word));
        // One level deeper, the outermost parenthesis is passed over and the rest is a comment.
        ck_assert_uint_eq(word.length, 2 * (BB_MAIL_NESTING - 1) + 1);
        ck_assert_str_eq(read_hop(text).by.text, "b.example.net");
    }
}
END_TEST

// A header of parentheses only is read in time that does not grow with its square.
START_TEST(hostile_parentheses)
{
    static const char *const units[] = {"(", "(a", "() (", "((((((((a))))", "(\\", "a("};
    for (gsize i = 0; i < G_N_ELEMENTS(units); i++) {
        GString *text = g_string_new("from ");
        while (text->len < 1u << 20)
            g_string_append(text, units[i]);
        BbMailHop hop = bb_mail_hop_read(text->str, text->len);
        ck_assert(hop.from_given && !hop.by_given && hop.date == BB_MAIL_DATE_BAD);
        g_string_free(text, TRUE);
    }
}
END_TEST

TEST_MAIN("mail_hop", forms_of_servers, no_sender, what_is_missing, semicolons_and_parentheses,
          words_and_comments, nesting_has_a_limit, hostile_parentheses)
