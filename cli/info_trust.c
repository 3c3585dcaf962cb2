// SPDX-License-Identifier: Apache-2.0
// In: what a trace holds, and what was lost for it. Out: how far to trust it.
#include "cli/info_trust.h"

#include "capture/loss.h"
#include "cli/command.h"
#include "data/clock_doubt.h"
#include "data/quantity.h"
#include "data/trace.h"
#include "merge/repeats.h"

#include <stdio.h>

// Percentages of what is lost, each of its own whole.
typedef struct {
    double halves;    // calls without return, returns without call
    double packets;   // not seen, or not understood
    double unread;    // payload, where decoders had lost their place
    double shed;      // packets of flows that were left out
    double unwritten; // messages
    double damaged;   // messages
    double dropped;   // messages, by bbtrace drop
} Lost;

static double share(guint64 part, guint64 whole)
{
    return whole ? 100.0 * (double)part / (double)whole : 0;
}

static guint64 counted(const BbCounters *counters, BbLossKind kind)
{
    return bb_counters_get(counters, bb_loss_name(kind));
}

static guint64 sum_of(const BbCounters *counters, const BbLossKind *kinds, guint n)
{
    guint64 sum = 0;
    for (guint i = 0; i < n; i++)
        sum += counted(counters, kinds[i]);
    return sum;
}

// Packets that the capture should have seen and did not, or could make nothing of.
static double packets_lost(const BbCounters *counters)
{
    static const BbLossKind unseen[] = {BB_KERNEL_DROPPED, BB_KERNEL_UNREAD, BB_INTERFACE_DROPPED};
    static const BbLossKind unread[] = {BB_SKIP_LINK,  BB_BAD_FRAME,     BB_CUT_FRAME,
                                        BB_DEEP_FRAME, BB_FRAGMENT_LOST, BB_FRAGMENT_BAD};
    guint64 dropped = sum_of(counters, unseen, G_N_ELEMENTS(unseen));
    guint64 missing = MAX(dropped, counted(counters, BB_TCP_GAPS));
    guint64 odd = sum_of(counters, unread, G_N_ELEMENTS(unread));
    return share(missing + odd, counted(counters, BB_SEEN_FRAMES) + missing);
}

#define HEADS 54u // bytes of a TCP packet before its payload: Ethernet, IP and TCP without options

// Of the payload, about: its bytes are not counted by themselves.
static double unread_share(const BbCounters *counters)
{
    guint64 heads = HEADS * counted(counters, BB_SEEN_TCP);
    guint64 all = counted(counters, BB_SEEN_BYTES);
    guint64 unread = counted(counters, BB_DECODER_UNREAD);
    return share(unread, MAX(unread, all > heads ? all - heads : 0));
}

static Lost lost_of(const BbInfoMatched *matched, const BbCounters *counters)
{
    guint64 unwritten = counted(counters, BB_MESSAGES_UNWRITTEN);
    guint64 damaged = bb_counters_get(counters, BB_TRACE_LOST);
    guint64 dropped = counted(counters, BB_MESSAGES_DROPPED);
    return (Lost){
        .halves = share(matched->unreturned + matched->orphans, matched->calls + matched->orphans),
        .packets = packets_lost(counters),
        .unread = unread_share(counters),
        .shed = share(counted(counters, BB_SHED_PACKETS), counted(counters, BB_SEEN_FRAMES)),
        .unwritten = share(unwritten, matched->messages + unwritten),
        .damaged = share(damaged, matched->messages + damaged),
        .dropped = share(dropped, matched->messages + dropped),
    };
}

// What a merge could not tell of its observers.
typedef struct {
    double twice, again; // percentages of the messages: of two observers; of one, by two clocks
    guint64 messages_twice, messages_again, unknown, falls;
    bool coarse; // clocks may be wrong by as much as calls last
} Merged;

static Merged merged_of(const BbInfoMatched *matched, const BbCounters *counters,
                        const BbClockDoubt *doubt)
{
    guint64 twice = bb_counters_get(counters, BB_SIGHTINGS_TWICE);
    guint64 again = bb_counters_get(counters, BB_REPEATS_TWO_CLOCKS);
    return (Merged){
        .twice = share(MIN(twice, matched->messages), matched->messages),
        .again = share(MIN(again, matched->messages), matched->messages),
        .messages_twice = twice,
        .messages_again = again,
        .unknown = bb_counters_get(counters, BB_CLOCKS_UNKNOWN),
        .falls = bb_counters_get(counters, BB_CLOCK_FALLS),
        .coarse = matched->half_ns > 0 && doubt->error_ns >= (guint64)matched->half_ns,
    };
}

// Of clocks; NULL where they are good enough.
static const char *verdict_on_clocks(const Merged *merged, const BbClockDoubt *doubt)
{
    if (doubt->share >= BB_CLOCK_DOUBT_LEAST)
        return "Usable: patterns of long calls hold; short ones may be fragments of others, as "
               "clocks are not known well enough.";
    if (merged->twice >= 1)
        return "Usable: patterns and delays hold; counts are too high by about that share, as "
               "messages stand twice.";
    if (merged->unknown)
        return "Usable: what each observer saw can be relied on, but not what is between it and "
               "others whose clock is not known.";
    if (merged->coarse)
        return "Usable: counts hold, but not delays: clocks are known no better than calls are "
               "long.";
    return NULL;
}

// The paper (section 7.5.5): unaffected by losses below 1 %, usable below 10 %.
static const char *verdict_on(const BbInfoMatched *matched, const Lost *lost, const Merged *merged,
                              const BbClockDoubt *doubt, bool broken, bool apart)
{
    double worst = MAX(MAX(lost->halves, lost->packets), MAX(lost->shed, lost->unwritten));
    worst = MAX(worst, MAX(MAX(lost->damaged, lost->dropped), lost->unread));
    const char *clocks = verdict_on_clocks(merged, doubt);
    if (matched->messages == 0)
        return "There are no messages in it.";
    if (matched->calls == 0)
        return "There are no calls in it: of such traces, paths are found by bbpaths "
               "--algo=convolution.";
    if (worst >= 10)
        return "Poor: patterns that look frequent are real, but counts and rare patterns are not "
               "to be relied on.";
    if (merged->again >= 1 || merged->twice >= 10)
        return "Poor: messages stand twice, and neither patterns nor counts are to be relied on.";
    if (doubt->share >= 0.1)
        return "Poor: clocks are not known well enough for calls as short as these, and neither "
               "patterns nor counts nor delays are to be relied on.";
    if (worst >= 1 || lost->shed > 0)
        return "Usable: patterns and delays hold; counts are low by about that share, and rare "
               "patterns may be fragments of others.";
    if (clocks)
        return clocks;
    if (broken)
        return "Usable: what is there can be relied on, but it is not all in one piece.";
    if (apart)
        return "Good only if observers did not see the same messages: else these stand twice, and "
               "counts are not to be relied on.";
    return "Good: counts, delays and rare patterns can be relied on.";
}

static void print_cut_off(guint64 cut_off)
{
    g_autofree char *calls = bb_counted(cut_off, "call");
    if (cut_off)
        printf("%s had no return when %s connection was closed: given up, not lost.\n", calls,
               cut_off == 1 ? "its" : "their");
}

static void print_lost(const Lost *lost)
{
    if (lost->unwritten > 0)
        printf("%.2f %% of the messages could not be written: the disk was full, or a limit or the "
               "rights were in the way.\n",
               lost->unwritten);
    if (lost->unread >= 0.01)
        printf("%.2f %% of the payload was passed over unread, where decoders had lost their place "
               "behind a hole: its calls are missing.\n",
               lost->unread);
    if (lost->damaged > 0)
        printf("%.2f %% of the messages were lost where the trace was damaged.\n", lost->damaged);
    if (lost->dropped > 0)
        printf("%.2f %% of the messages were left out by bbtrace drop.\n", lost->dropped);
    if (lost->shed > 0)
        printf("%.2f %% of the packets were left out with their whole conversations, for want of "
               "speed: a flow that was left out lacks its calls, however many, and the pairs of "
               "the others are right.\n",
               lost->shed);
}

// No share tells how much these cost.
static void print_breaks(guint64 outages, guint64 steps, guint64 cuts)
{
    g_autofree char *away = bb_counted(outages, "time"), *back = bb_counted(steps, "time");
    g_autofree char *files = bb_counted(cuts, "capture file");
    if (outages)
        printf("An interface was down or gone %s: what was said then is missing.\n", away);
    if (steps)
        printf("The times of the packets stepped back %s: times before and after do not compare, "
               "and calls between are lost.\n",
               back);
    if (cuts)
        printf("%s %s off: what came after is missing.\n", files, cuts == 1 ? "breaks" : "break");
}

static void print_cut_packets(double cut)
{
    if (cut >= 0.01)
        printf("%.2f %% of the packets were recorded in part: what stood behind the cut is in no "
               "message, and calls there may be missing. Record whole packets (tcpdump -s 0).\n",
               cut);
}

// Of connections, those of which an end goes by address for want of its process: what a program
// called by them is not below what it was asked.
static double unnamed_share(const BbCounters *counters)
{
    double unnamed =
        share(counted(counters, BB_PROCESSES_UNKNOWN), counted(counters, BB_SEEN_CONNECTIONS));
    return MIN(unnamed, 100);
}

static void print_unnamed(double unnamed)
{
    if (unnamed >= 0.01)
        printf("%.2f %% of the connections have an end at this host whose process was not found: "
               "what it called is told of an address, and paths lack it.\n",
               unnamed);
}

static void print_early(guint64 early)
{
    g_autofree char *calls = bb_counted(early, "return");
    if (early)
        printf("%s %s stamped before %s: clocks differ, and delays between nodes may be wrong "
               "by as much.\n",
               calls, early == 1 ? "is" : "are", early == 1 ? "its call" : "their calls");
}

static void print_clocks(const BbInfoMatched *matched, const BbClockDoubt *doubt, bool coarse)
{
    g_autofree char *told = bb_clock_doubt_tell(doubt);
    g_autoptr(GString) error = g_string_new(NULL), half = g_string_new(NULL);
    bb_quantity_append_duration(error, (gint64)MIN(doubt->error_ns, G_MAXINT64));
    bb_quantity_append_duration(half, matched->half_ns);
    if (told)
        printf("%s.\n", told);
    else if (coarse)
        printf("Clocks are known to within %s, and half of the calls take no longer than %s: "
               "delays between nodes may be wrong by as much.\n",
               error->str, half->str);
    else if (doubt->error_ns)
        printf("Clocks are known to within %s: delays between nodes may be wrong by as much.\n",
               error->str);
}

static void print_merged(const Merged *merged)
{
    g_autofree char *messages = bb_counted(merged->messages_twice, "message");
    g_autofree char *observers = bb_counted(merged->unknown, "observer");
    g_autofree char *times = bb_counted(merged->falls, "time");
    if (merged->messages_twice)
        printf("%s (%.2f %%) %s seen by two observers and not joined, as their times do not meet: "
               "%s twice.\n",
               messages, merged->twice, merged->messages_twice == 1 ? "was" : "were",
               merged->messages_twice == 1 ? "it stands" : "they stand");
    if (merged->unknown)
        printf("The clock of %s could not be known: times are as stamped there, and what others "
               "saw, too, may stand twice.\n",
               observers);
    if (merged->falls)
        printf("The clock that others were corrected by stepped back %s: times before and after do "
               "not compare; merge again with another observer first.\n",
               times);
}

static void print_apart(guint64 apart)
{
    g_autofree char *messages = bb_counted(apart, "message");
    if (apart)
        printf("%s of one observer may be the same as those of another, and %s not joined: unless "
               "each saw others, merge again with --clocks=correct or a longer --window.\n",
               messages, apart == 1 ? "was" : "were");
}

static void print_again(guint64 again)
{
    g_autofree char *messages = bb_counted(again, "message");
    if (again)
        printf("About %s or more stand twice, by two clocks of one observer: merge again with each "
               "observer's messages once.\n",
               messages);
}

// Of programs that talk within one host, by its address.
static void print_inward(const BbInfoMatched *matched)
{
    if (matched->inward > matched->calls / 2)
        printf("%.2f %% of the calls go from a node to itself: to tell programs of one host apart, "
               "capture there with --processes; programs of one name are one node even then.\n",
               100.0 * (double)matched->inward / (double)matched->calls);
}

void bb_info_print_trust(const BbInfoMatched *matched, const BbCounters *counters)
{
    Lost lost = lost_of(matched, counters);
    BbClockDoubt doubt = bb_clock_doubt_of(counters, matched->calls);
    guint64 outages = counted(counters, BB_INTERFACE_OUTAGES);
    guint64 steps = counted(counters, BB_CLOCK_SET_BACK);
    guint64 cuts = counted(counters, BB_SOURCE_CUT);
    guint64 apart = bb_counters_get(counters, BB_SIGHTINGS_APART);
    double unnamed = unnamed_share(counters);
    double cut = share(counted(counters, BB_CUT_PAYLOAD), counted(counters, BB_SEEN_FRAMES));
    Merged merged = merged_of(matched, counters, &doubt);
    bool broken =
        outages || steps || merged.falls || cuts || matched->damaged || unnamed >= 1 || cut >= 1;
    printf("\nHow far to trust it: %.2f %% of the calls lack their other half (%" G_GUINT64_FORMAT
           " without return, %" G_GUINT64_FORMAT
           " returns without call); %.2f %% of the packets are known to be lost or could not be "
           "read.\n%s%s\n",
           lost.halves, matched->unreturned, matched->orphans, lost.packets,
           verdict_on(matched, &lost, &merged, &doubt, broken, apart > 0),
           matched->damaged
               ? " The file itself is damaged, cut, or still being written: see the warning."
               : "");
    print_cut_off(matched->cut_off);
    print_lost(&lost);
    print_breaks(outages, steps, cuts);
    print_cut_packets(cut);
    print_unnamed(unnamed);
    print_early(matched->early);
    print_clocks(matched, &doubt, merged.coarse);
    print_merged(&merged);
    print_apart(apart);
    print_again(merged.messages_again);
    print_inward(matched);
}
