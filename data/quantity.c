// SPDX-License-Identifier: Apache-2.0
// In: integers. Out: short text for people.
#include "data/quantity.h"

#define NS_PER_S G_GINT64_CONSTANT(1000000000)

static const struct {
    guint64 ns;
    const char *name;
} units[] = {{1, "ns"}, {1000, "us"}, {1000000, "ms"}, {1000000000, "s"}};

static const guint64 tens[] = {1, 10, 100, 1000};

// Whether ns rounds to at most three digits with this unit and so many decimals; then in *rounded.
static bool fits(guint64 ns, guint64 unit, guint decimals, guint64 *rounded)
{
    if (ns / unit >= tens[3 - decimals])
        return false;
    *rounded = (ns * tens[decimals] + unit / 2) / unit;
    return *rounded < 1000;
}

void bb_quantity_append_duration(GString *out, gint64 ns)
{
    guint64 size = ns < 0 ? -(guint64)ns : (guint64)ns;
    if (ns < 0)
        g_string_append_c(out, '-');
    if (size == 0) {
        g_string_append(out, "0 s");
        return;
    }
    for (guint u = 0; u < G_N_ELEMENTS(units); u++)
        for (guint decimals = u == 0 ? 0 : 2; decimals <= 2; decimals--) {
            guint64 rounded;
            if (!fits(size, units[u].ns, decimals, &rounded))
                continue;
            g_string_append_printf(out, "%" G_GUINT64_FORMAT, rounded / tens[decimals]);
            if (decimals > 0)
                g_string_append_printf(out, ".%0*" G_GUINT64_FORMAT, (int)decimals,
                                       rounded % tens[decimals]);
            g_string_append_printf(out, " %s", units[u].name);
            return;
        }
    bb_quantity_append_count(out, (size + NS_PER_S / 2) / NS_PER_S);
    g_string_append(out, " s");
}

void bb_quantity_append_span(GString *out, gint64 ns)
{
    gint64 minutes = ns / NS_PER_S / 60 + (ns / NS_PER_S % 60 >= 30), hours = minutes / 60;
    if (minutes < 60)
        bb_quantity_append_duration(out, ns);
    else if (hours < 48)
        g_string_append_printf(out, "%d h %d min", (int)hours, (int)(minutes % 60));
    else
        g_string_append_printf(out, "%" G_GINT64_FORMAT " d %d h", hours / 24, (int)(hours % 24));
}

void bb_quantity_append_count(GString *out, guint64 count)
{
    gsize first = out->len;
    g_string_append_printf(out, "%" G_GUINT64_FORMAT, count);
    for (gsize at = out->len; at > first + 3;) {
        at -= 3;
        g_string_insert_c(out, (gssize)at, ',');
    }
}

void bb_quantity_append_counted(GString *out, guint64 count, const char *noun)
{
    bb_quantity_append_count(out, count);
    g_string_append_printf(out, " %s%s", noun, count == 1 ? "" : "s");
}

void bb_quantity_append_share(GString *out, double share)
{
    gint64 permille = (gint64)(CLAMP(share, 0, 1e6) * 1000 + 0.5);
    if (share <= 0)
        g_string_append(out, "0 %");
    else if (permille == 0)
        g_string_append(out, "<0.1 %");
    else if (permille < 100)
        g_string_append_printf(out, "%d.%d %%", (int)(permille / 10), (int)(permille % 10));
    else
        g_string_append_printf(out, "%d %%", (int)((permille + 5) / 10));
}

void bb_quantity_append_time(GString *out, gint64 ns)
{
    gint64 seconds = ns / NS_PER_S;
    gint64 rest_ns = ns % NS_PER_S;
    if (rest_ns < 0) {
        seconds--;
        rest_ns += NS_PER_S;
    }
    g_autoptr(GDateTime) time = g_date_time_new_from_unix_utc(seconds);
    if (!time) {
        g_string_append_c(out, '-');
        return;
    }
    g_string_append_printf(
        out, "%04d-%02d-%02d %02d:%02d:%02d.%03d UTC", g_date_time_get_year(time),
        g_date_time_get_month(time), g_date_time_get_day_of_month(time), g_date_time_get_hour(time),
        g_date_time_get_minute(time), g_date_time_get_second(time), (int)(rest_ns / 1000000));
}

double bb_quantity_share(gint64 part, gint64 whole)
{
    return whole > 0 ? (double)part / (double)whole : 0;
}
