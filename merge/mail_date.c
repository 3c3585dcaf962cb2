// SPDX-License-Identifier: Apache-2.0
// In: the date of a mail header. Out: nanoseconds since 1970, UTC.
#include "merge/mail_date.h"

#include "merge/mail_words.h"

#include <string.h>

#define NS_PER_S G_GINT64_CONSTANT(1000000000)
#define YEAR_LAST 2261 // the last whole one that a gint64 of nanoseconds holds

// What has been found so far; -1 is not yet.
typedef struct Stamp {
    gint day, month, year, hour, minute, second;
    gint64 fraction_ns;
    gint zone_minutes;
    bool meridian, zone;
    bool zone_unclear;
} Stamp;

// RFC 5322, 4.3, and names that mean one offset wherever they are used in mail. IST is none of
// them: it is in use in India, Ireland and Israel.
static const struct {
    char name[5];
    gint minutes;
} zones[] = {
    {"gmt", 0},    {"ut", 0},     {"utc", 0},    {"z", 0},      {"est", -300}, {"edt", -240},
    {"cst", -360}, {"cdt", -300}, {"mst", -420}, {"mdt", -360}, {"pst", -480}, {"pdt", -420},
    {"wet", 0},    {"west", 60},  {"bst", 60},   {"cet", 60},   {"cest", 120}, {"met", 60},
    {"mest", 120}, {"eet", 120},  {"eest", 180}, {"msk", 180},  {"jst", 540},  {"kst", 540},
    {"aest", 600}, {"aedt", 660}, {"nzst", 720}, {"nzdt", 780},
};

// A part of a word. Reading past its end gives NUL.
typedef struct Piece {
    const char *at, *end;
} Piece;

static char peek(const Piece *piece)
{
    return piece->at < piece->end ? *piece->at : '\0';
}

static bool skip(Piece *piece, char c)
{
    bool there = peek(piece) == c;
    piece->at += there;
    return there;
}

// Takes up to most digits. Returns how many there were.
static guint take_digits(Piece *piece, guint most, gint *value)
{
    guint count = 0;
    for (*value = 0; count < most && g_ascii_isdigit(peek(piece)); piece->at++, count++)
        *value = *value * 10 + (*piece->at - '0');
    return count;
}

static Piece take_letters(Piece *piece)
{
    Piece word = {piece->at, piece->at};
    while (g_ascii_isalpha(peek(piece)))
        piece->at++;
    word.end = piece->at;
    return word;
}

static bool is_word(const Piece *word, const char *text)
{
    gsize length = (gsize)(word->end - word->at);
    return strlen(text) == length && g_ascii_strncasecmp(word->at, text, length) == 0;
}

// Which of the names, three letters each, begins the word; -1 for none.
static gint find_name(const Piece *word, const char *names)
{
    if (word->end - word->at < 3)
        return -1;
    for (gint i = 0; names[3 * i]; i++)
        if (g_ascii_strncasecmp(word->at, names + 3 * i, 3) == 0)
            return i;
    return -1;
}

// hh:mm[:ss[.fraction]], the first number being taken.
static bool take_time(Stamp *stamp, Piece *piece, gint hour)
{
    guint digits = 0;
    stamp->hour = hour;
    stamp->second = 0;
    if (!skip(piece, ':') || take_digits(piece, 2, &stamp->minute) != 2)
        return false;
    if (skip(piece, ':') && take_digits(piece, 2, &stamp->second) != 2)
        return false;
    if (skip(piece, '.')) {
        gint fraction = 0;
        digits = take_digits(piece, 9, &fraction);
        for (stamp->fraction_ns = fraction; digits < 9; digits++)
            stamp->fraction_ns *= 10;
        while (g_ascii_isdigit(peek(piece)))
            piece->at++;
    }
    return true;
}

// +hhmm, +hmm, +hh:mm.
static bool take_offset(Stamp *stamp, Piece *piece)
{
    gint sign = *piece->at++ == '-' ? -1 : 1, hours = 0, minutes = 0;
    Piece number = *piece;
    guint digits = take_digits(piece, 5, &hours);
    if (digits <= 2 && digits > 0 && skip(piece, ':')) {
        if (take_digits(piece, 3, &minutes) != 2)
            return false;
    } else if (digits == 3 || digits == 4) {
        (void)take_digits(&number, digits - 2, &hours);
        (void)take_digits(&number, 2, &minutes);
    } else {
        return false;
    }
    stamp->zone = true;
    stamp->zone_minutes = sign * (60 * hours + minutes);
    return hours < 24 && minutes < 60;
}

static void take_zone_name(Stamp *stamp, const Piece *word)
{
    stamp->zone = true;
    for (gsize i = 0; i < G_N_ELEMENTS(zones); i++)
        if (is_word(word, zones[i].name)) {
            stamp->zone_minutes = zones[i].minutes;
            return;
        }
    stamp->zone_unclear = true;
}

// am or pm; 12 am is midnight.
static bool take_meridian(Stamp *stamp, const Piece *word)
{
    bool pm = is_word(word, "pm");
    if (stamp->meridian || (!pm && !is_word(word, "am")))
        return false;
    stamp->meridian = true;
    if (stamp->hour >= 1 && stamp->hour <= 12)
        stamp->hour = stamp->hour % 12 + (pm ? 12 : 0);
    return true;
}

static bool take_name(Stamp *stamp, Piece *piece)
{
    Piece word = take_letters(piece);
    gint month = find_name(&word, "janfebmaraprmayjunjulaugsepoctnovdec");
    if (stamp->month < 0 && month >= 0) {
        stamp->month = month + 1;
        return true;
    }
    if (stamp->hour < 0)
        return find_name(&word, "montuewedthufrisatsun") >= 0;
    if (!take_meridian(stamp, &word))
        take_zone_name(stamp, &word);
    return true;
}

// A day has one or two digits and comes before the year, unless the year has more. Years of two
// and three digits: RFC 5322, 4.3.
static bool take_number(Stamp *stamp, Piece *piece)
{
    gint value = 0;
    guint digits = take_digits(piece, 5, &value);
    if (stamp->hour < 0 && digits <= 2 && peek(piece) == ':')
        return take_time(stamp, piece, value);
    if (stamp->day < 0 && digits <= 2) {
        stamp->day = value;
    } else if (stamp->year < 0 && digits <= 4) {
        stamp->year = value;
        if (digits == 2)
            stamp->year += value < 50 ? 2000 : 1900;
        else if (digits == 3)
            stamp->year += 1900;
    } else if (stamp->hour >= 0 && stamp->year >= 0) {
        stamp->zone = stamp->zone_unclear = true; // an offset without sign
    } else {
        return false;
    }
    return true;
}

static bool take_word(Stamp *stamp, Piece piece)
{
    while (piece.at < piece.end && !stamp->zone) {
        char c = peek(&piece);
        bool good = true;
        if (g_ascii_isdigit(c))
            good = take_number(stamp, &piece);
        else if (g_ascii_isalpha(c))
            good = take_name(stamp, &piece);
        else if (stamp->hour >= 0 && (c == '+' || c == '-'))
            good = take_offset(stamp, &piece);
        else if (c == ',' || c == '-' || c == '.')
            piece.at++; // 22-Aug-2002, Thu., Aug,
        else
            good = false;
        if (!good)
            return false;
    }
    return true;
}

static bool is_real(const Stamp *stamp)
{
    return stamp->month > 0 && stamp->day > 0 && stamp->year >= 1970 && stamp->year <= YEAR_LAST &&
           g_date_valid_dmy((GDateDay)stamp->day, (GDateMonth)stamp->month,
                            (GDateYear)stamp->year) &&
           stamp->hour >= 0 && stamp->hour < 24 && stamp->minute < 60 &&
           stamp->second <= 60; // a leap second
}

static gint64 nanoseconds(const Stamp *stamp)
{
    GDate date, epoch;
    g_date_clear(&date, 1);
    g_date_clear(&epoch, 1);
    g_date_set_dmy(&date, (GDateDay)stamp->day, (GDateMonth)stamp->month, (GDateYear)stamp->year);
    g_date_set_dmy(&epoch, 1, G_DATE_JANUARY, 1970);
    gint64 minutes = (gint64)g_date_days_between(&epoch, &date) * 1440 + stamp->hour * 60 +
                     stamp->minute - stamp->zone_minutes;
    return (minutes * 60 + stamp->second) * NS_PER_S + stamp->fraction_ns;
}

BbMailDate bb_mail_date_read(const char *text, gsize length, gint64 *time_ns)
{
    Stamp stamp = {.day = -1, .month = -1, .year = -1, .hour = -1};
    BbMailWords words = bb_mail_words(text, length);
    BbMailWord word;
    while (!stamp.zone && bb_mail_words_next(&words, &word))
        if (!word.comment && !take_word(&stamp, (Piece){word.text, word.text + word.length}))
            return BB_MAIL_DATE_BAD;
    if (!is_real(&stamp) || nanoseconds(&stamp) < 0)
        return BB_MAIL_DATE_BAD;
    *time_ns = nanoseconds(&stamp);
    return stamp.zone && !stamp.zone_unclear ? BB_MAIL_DATE_GOOD : BB_MAIL_DATE_ZONE;
}
