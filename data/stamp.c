// SPDX-License-Identifier: Apache-2.0
// In: a time as text. Out: nanoseconds since 1970.
#include "data/stamp.h"

#include <string.h>

#define NS_PER_S 1000000000
#define ISO_MAX 64 // bytes of a date with its time, more than any has

static const char not_iso[] = "a time is not of ISO 8601 (2026-11-20T16:50:00.5Z)";
static const char too_large[] = "a time is after the year 2262: is its unit right?";

static const struct {
    const char *word;
    BbStampUnit unit;
    gint64 ns; // 0: no number
} units[] = {
    {"s", BB_STAMP_S, NS_PER_S}, {"ms", BB_STAMP_MS, 1000000}, {"us", BB_STAMP_US, 1000},
    {"ns", BB_STAMP_NS, 1},      {"iso", BB_STAMP_ISO, 0},
};

bool bb_stamp_unit_find(const char *word, BbStampUnit *unit)
{
    for (gsize i = 0; i < G_N_ELEMENTS(units); i++) {
        if (strcmp(units[i].word, word) == 0) {
            *unit = units[i].unit;
            return true;
        }
    }
    return false;
}

// Digits as decimals of a unit. Returns what stands behind them.
static const char *take_fraction(const char *text, gint64 unit_ns, gint64 *ns)
{
    *ns = 0;
    for (; g_ascii_isdigit(*text); text++) {
        unit_ns /= 10;
        *ns += (*text - '0') * unit_ns;
    }
    return text;
}

static const char *parse_number(const char *text, gint64 unit_ns, gint64 *time_ns)
{
    gint64 value = 0, fraction_ns = 0;
    if (*text == '-')
        return "a time is negative: times count from 1970";
    if (!g_ascii_isdigit(*text))
        return "a time is no decimal number";
    for (; g_ascii_isdigit(*text); text++)
        if (__builtin_mul_overflow(value, 10, &value) ||
            __builtin_add_overflow(value, *text - '0', &value))
            return too_large;
    if (*text == '.')
        text = take_fraction(text + 1, unit_ns, &fraction_ns);
    if (*text)
        return "a time is no decimal number";
    if (__builtin_mul_overflow(value, unit_ns, &value) ||
        __builtin_add_overflow(value, fraction_ns, time_ns))
        return too_large;
    return NULL;
}

// What people write, and our own views, as what ISO 8601 has: " UTC" and a small z become Z, a date
// without time of day is its midnight, a time of day may lack its seconds.
static void complete_iso(const char *text, char stamp[ISO_MAX])
{
    g_strlcpy(stamp, text, ISO_MAX);
    gsize length = strlen(stamp), day = strlen("2026-11-20"), minute = strlen("2026-11-20T08:54");
    if (length > 0 && stamp[length - 1] == 'z')
        stamp[length - 1] = 'Z';
    if (g_str_has_suffix(stamp, " UTC"))
        g_strlcpy(stamp + length - strlen(" UTC"), "Z", strlen(" UTC"));
    length = strlen(stamp);
    if (length == day && stamp[4] == '-' && stamp[7] == '-')
        g_strlcat(stamp, "T00:00:00", ISO_MAX);
    if (length < minute || stamp[4] != '-' || stamp[minute - 3] != ':' ||
        (stamp[minute] && !strchr("Z+-", stamp[minute])))
        return;
    g_autofree char *zone = g_strdup(stamp + minute);
    stamp[minute] = '\0';
    g_strlcat(stamp, ":00", ISO_MAX);
    g_strlcat(stamp, zone, ISO_MAX);
}

// GLib's dates have microseconds only: decimals of the second are taken out, and added after.
static const char *parse_iso(const char *text, gint64 *time_ns)
{
    char stamp[ISO_MAX];
    gint64 fraction_ns = 0, seconds = 0;
    char complete[ISO_MAX];
    if (strlen(text) + strlen(":00") >= sizeof stamp)
        return "a time is longer than any of ISO 8601";
    complete_iso(text, complete);
    text = complete;
    gsize whole = strcspn(text, ".,");
    memcpy(stamp, text, whole);
    stamp[whole] = '\0';
    const char *zone = text + whole;
    if (*zone)
        zone = take_fraction(zone + 1, NS_PER_S, &fraction_ns);
    if (strpbrk(zone, ".,"))
        return not_iso;
    g_strlcat(stamp, zone, sizeof stamp);
    g_strdelimit(stamp, " ", 'T');
    g_autoptr(GTimeZone) utc = g_time_zone_new_utc();
    g_autoptr(GDateTime) date = g_date_time_new_from_iso8601(stamp, utc);
    if (!date)
        return not_iso;
    seconds = g_date_time_to_unix(date);
    if (seconds < 0)
        return "a time is before 1970";
    if (__builtin_mul_overflow(seconds, (gint64)NS_PER_S, &seconds) ||
        __builtin_add_overflow(seconds, fraction_ns, time_ns))
        return too_large;
    return NULL;
}

const char *bb_stamp_parse(const char *text, BbStampUnit unit, gint64 *time_ns)
{
    if (unit == BB_STAMP_ANY)
        unit = text[strspn(text, "0123456789.")] ? BB_STAMP_ISO : BB_STAMP_S;
    for (gsize i = 0; i < G_N_ELEMENTS(units); i++)
        if (units[i].unit == unit && units[i].ns)
            return parse_number(text, units[i].ns, time_ns);
    return parse_iso(text, time_ns);
}
