// SPDX-License-Identifier: Apache-2.0
// Measures the nesting stage: bench_nesting [MESSAGES [REQUESTS_PER_SECOND]]. Traffic is that of
// the paper's multi-tier system (section 7.2): clients, two web servers, authentication, two
// application servers, two databases; call delays of 50 ms, return delays of 10 ms, deviation a
// tenth; requests at random times, at rates that give the parallelism of rows of the paper's
// table 1. Times are CPU seconds.
#include "nesting/nesting.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#define MS 1000000.0

enum { C1, WS1 = C1 + 3, WS2, AUTH, AP1, AP2, DB1, DB2, NODES };

typedef struct {
    GRand *rand;
    BbMessage *messages;
    gsize count, room;
    guint64 id;
    guint32 name[NODES];
} Traffic;

static double delay(Traffic *traffic, double mean_ms)
{
    double sum = 0; // of 12 uniform numbers: nearly Gaussian, deviation 1
    for (guint i = 0; i < 12; i++)
        sum += g_rand_double(traffic->rand);
    double ms = mean_ms * (1 + 0.1 * (sum - 6));
    return MAX(ms, 0) * MS;
}

static void send(Traffic *traffic, BbKind kind, guint from, guint to, guint64 id, double time)
{
    if (traffic->count == traffic->room)
        return;
    BbMessage *message = &traffic->messages[traffic->count++];
    *message = bb_message_empty();
    message->kind = kind;
    message->sender = traffic->name[from];
    message->receiver = traffic->name[to];
    message->id = bb_id_number(id);
    message->time_ns = (gint64)time;
}

// A call of node by from at time; returns when its return is sent.
static double call(Traffic *traffic, guint from, guint node, double time)
{
    guint64 id = traffic->id++;
    send(traffic, BB_CALL, from, node, id, time);
    bool is_web = node == WS1 || node == WS2, is_app = node == AP1 || node == AP2;
    if (is_web)
        time = call(traffic, node, AUTH, time + delay(traffic, 50));
    if (node == AUTH && g_rand_boolean(traffic->rand))
        time = call(traffic, node, DB1, time + delay(traffic, 50));
    if (is_web)
        time = call(traffic, node, g_rand_boolean(traffic->rand) ? AP1 : AP2,
                    time + delay(traffic, 50));
    if (is_app)
        time = call(traffic, node, DB1, time + delay(traffic, 50));
    if (is_app && g_rand_double(traffic->rand) < 0.4)
        time = call(traffic, node, DB2, time + delay(traffic, 50));
    time += delay(traffic, 10);
    send(traffic, BB_RETURN, node, from, id, time);
    return time;
}

static int by_time(const void *a, const void *b)
{
    const BbMessage *x = a, *y = b;
    if (x->time_ns != y->time_ns)
        return x->time_ns < y->time_ns ? -1 : 1;
    return (x->id.number > y->id.number) - (x->id.number < y->id.number);
}

static BbMessage *generate(BbNames *names, gsize count, double per_second)
{
    g_autoptr(GRand) rand = g_rand_new_with_seed(20031019);
    Traffic traffic = {.rand = rand, .messages = g_new(BbMessage, count), .room = count};
    for (guint i = 0; i < NODES; i++) {
        g_autofree char *name = g_strdup_printf("node%u", i);
        traffic.name[i] = bb_names_intern(names, name);
    }
    double time = 1e9 * 1e9;
    while (traffic.count < count) {
        time += -log(1 - g_rand_double(rand)) * 1e9 / per_second;
        guint client = C1 + (guint)g_rand_int_range(rand, 0, 3);
        (void)call(&traffic, client, g_rand_boolean(rand) ? WS1 : WS2, time);
    }
    qsort(traffic.messages, count, sizeof(BbMessage), by_time);
    return traffic.messages;
}

static double cpu_seconds(void)
{
    struct timespec now;
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &now);
    return (double)now.tv_sec + (double)now.tv_nsec / 1e9;
}

// What any reader must do: look at each message once.
static double bare_pass(const BbMessage *messages, gsize count)
{
    double start = cpu_seconds();
    guint64 sum = 0;
    for (gsize i = 0; i < count; i++)
        sum += (guint64)messages[i].time_ns ^ messages[i].id.number ^ messages[i].sender;
    volatile guint64 kept = sum;
    (void)kept;
    return cpu_seconds() - start;
}

static double status_kb(const char *field)
{
    g_autofree char *text = NULL;
    if (!g_file_get_contents("/proc/self/status", &text, NULL, NULL))
        return 0;
    const char *line = strstr(text, field);
    return line ? g_ascii_strtod(line + strlen(field), NULL) : 0;
}

static void reset_peak(void)
{
    FILE *file = fopen("/proc/self/clear_refs", "w");
    if (!file)
        return;
    fputs("5\n", file);
    fclose(file);
}

static void measure(gsize count, double per_second, bool shuffled)
{
    g_autoptr(BbNames) names = bb_names_new();
    g_autofree BbMessage *messages = generate(names, count, per_second);
    g_autoptr(GRand) rand = g_rand_new_with_seed(1);
    for (gsize i = count; shuffled && i > 1; i--) {
        gsize j = (gsize)(g_rand_double(rand) * (double)i);
        BbMessage swap = messages[i - 1];
        messages[i - 1] = messages[j];
        messages[j] = swap;
    }
    double bare = bare_pass(messages, count), before_kb = status_kb("VmRSS:");
    reset_peak();
    BbNestingOptions options = bb_nesting_options_default();
    double start = cpu_seconds();
    g_autoptr(BbPairs) pairs = bb_pairs_new(names);
    for (gsize i = 0; i < count; i++)
        bb_pairs_push(pairs, &messages[i]);
    double pushed = cpu_seconds() - start;
    g_autoptr(BbPaths) paths = bb_nesting_run(pairs, &options);
    double seconds = cpu_seconds() - start;
    double peak_kb = status_kb("VmHWM:") - before_kb;
    printf("%9zu messages %-9s parallelism %7.3f  %6.3f s (push %5.3f)  %5.2f M messages/s"
           "  %5.1f bytes/message at peak  %5.1f times a bare pass  %u patterns\n",
           count, shuffled ? "shuffled," : "in order,",
           (double)paths->candidates / (double)MAX(paths->children, 1), seconds, pushed,
           (double)count / seconds / 1e6, peak_kb * 1024 / (double)count, seconds / bare,
           paths->patterns->len);
}

// A process of its own: memory that was freed before would hide what this one takes.
static void measure_apart(gsize count, double per_second, bool shuffled)
{
    fflush(stdout);
    pid_t child = fork();
    if (child == 0) {
        measure(count, per_second, shuffled);
        fflush(stdout);
        _exit(EXIT_SUCCESS);
    }
    if (child > 0)
        waitpid(child, NULL, 0);
}

int main(int argc, char **argv)
{
    gsize count = argc > 1 ? strtoul(argv[1], NULL, 10) : 2000000;
    if (argc > 2) {
        measure(count, g_ascii_strtod(argv[2], NULL), false);
        return EXIT_SUCCESS;
    }
    static const double per_second[] = {2.5, 9.5, 62, 700}; // parallelism 1.15, 1.6, 5, 45
    for (gsize i = 0; i < G_N_ELEMENTS(per_second); i++)
        measure_apart(count, per_second[i], false);
    measure_apart(count, per_second[1], true);
    return EXIT_SUCCESS;
}
