// SPDX-License-Identifier: Apache-2.0
// Messages at any times through convolution, as one window and as many: every message is published
// once, in well-formed trees, with delays and chances that are. An input: how to infer (8 bytes),
// then 5 bytes a message, some of which stand for many.
#include "convolution/stretches.h"

#include <math.h>

int LLVMFuzzerTestOneInput(const guint8 *data, gsize size);

enum { HEAD = 8, MESSAGE = 5, NODES = 6, MESSAGES_MAX = 500, LAGS_MAX = 500 };

// From 1 ns to beyond all of time; 0 where nothing is given.
static gint64 length_of(guint8 byte)
{
    return byte == 0 ? 0 : (gint64)(1 + (byte & 3)) << MIN(byte >> 2, 60);
}

static BbConvolutionOptions read_options(const guint8 *head, BbGlobs *root)
{
    BbConvolutionOptions options = bb_convolution_options_default();
    options.quantum_ns = length_of(head[0]);
    options.max_delay_ns = length_of(head[1]);
    options.skew_ns = length_of(head[2]);
    // A fine quantum over a long delay is slow, not wrong.
    gint64 quantum_ns = MAX(1, options.quantum_ns);
    options.max_delay_ns = MIN(options.max_delay_ns / quantum_ns, LAGS_MAX) * quantum_ns;
    options.skew_ns = MIN(options.skew_ns / quantum_ns, LAGS_MAX) * quantum_ns;
    options.rare = head[3] % 64;
    options.derived = head[4] & 1;
    options.root = head[4] & 2 ? root : NULL;
    options.threads = 1 + (head[4] >> 2) % 3;
    return options;
}

static BbWindowOptions read_windows(const guint8 *head)
{
    BbWindowOptions options = {.length_ns = length_of(head[5]), .messages = head[6]};
    if (options.length_ns > 1)
        options.step_ns = MAX(1, options.length_ns / (1 + head[7] % 4));
    return options;
}

// ---- what is published -------------------------------------------------------------------------

// Of some without cause it is not known whether they have one.
static bool is_chance(float chance, bool root)
{
    return (root && chance == BB_CONFIDENCE_NONE) || (chance >= 0 && chance <= 1 + 1e-4f);
}

static void check_call(const BbPaths *paths, guint32 call, bool root)
{
    guint32 parent = paths->parent[call];
    g_assert(root == (parent == BB_CALL_NO_PARENT));
    g_assert(paths->level[call] == (root ? 1 : paths->level[parent] + 1));
    g_assert(paths->level[call] <= BB_PATHS_DEPTH_MAX);
    g_assert(is_chance(paths->confidence[call], root) && isfinite(paths->onward[call]));
    g_assert(paths->onward[call] >= 0);
    if (root) {
        g_assert(paths->mode[call] == BB_MODE_NONE);
        return;
    }
    g_assert(paths->mode[call] == BB_MODE_NONE || paths->mode[call] < paths->n_modes);
    g_assert(paths->calls[parent].callee == paths->calls[call].caller);
}

static void check_paths(const BbPaths *paths)
{
    guint32 listed = 0, unknown = 0;
    g_autofree guint8 *seen = g_new0(guint8, (gsize)paths->n_calls + 1);
    for (guint32 i = 0; i < paths->n_instances; i++) {
        const BbInstance *instance = &paths->instances[i];
        g_assert(instance->first == listed && instance->count > 0 && instance->place == i);
        for (guint32 k = 0; k < instance->count; k++, listed++) {
            guint32 call = paths->order[listed];
            g_assert(call < paths->n_calls && !seen[call]);
            g_assert(k == 0 || seen[paths->parent[call]]);
            seen[call] = 1;
            unknown += paths->confidence[call] < 0;
            check_call(paths, call, k == 0);
        }
    }
    g_assert(listed == paths->n_calls && unknown == paths->facts.unrelated);
    for (guint32 i = 1; i < paths->n_calls; i++)
        g_assert(paths->calls[i - 1].call_ns <= paths->calls[i].call_ns);
    for (guint32 i = 0; i < paths->n_modes; i++)
        g_assert(paths->modes[i].spread_ns >= 0);
    for (guint i = 0; i < paths->derived->len; i++)
        g_assert(g_array_index(paths->derived, BbDerived, i).count > 0);
}

// ---- messages ----------------------------------------------------------------------------------

typedef struct {
    const guint8 *at, *end;
    gint64 time_ns;
    guint burst; // more of the last message
    BbMessage message;
    guint count;
} Reader;

static void step(Reader *reader, guint8 mantissa, guint8 exponent)
{
    gint64 step_ns = (gint64)((guint64)(mantissa & 0x7f) << exponent % 57), next_ns;
    bool over = mantissa & 0x80 ? __builtin_sub_overflow(reader->time_ns, step_ns, &next_ns)
                                : __builtin_add_overflow(reader->time_ns, step_ns, &next_ns);
    if (!over && next_ns != BB_TIME_NONE)
        reader->time_ns = next_ns;
}

// kind, burst and sides; sender and receiver; id; the time's step as mantissa and exponent, signed.
static const BbMessage *read_message(Reader *reader)
{
    if (reader->count >= MESSAGES_MAX)
        return NULL;
    if (reader->burst > 0) {
        reader->burst--;
    } else {
        if (reader->end - reader->at < MESSAGE)
            return NULL;
        const guint8 *at = reader->at;
        reader->message = bb_message_empty();
        reader->message.kind = (BbKind)(at[0] % 3);
        reader->message.at_receiver = (at[0] & 0xc0) == 0xc0;
        reader->message.sender = 1 + at[1] % NODES;
        reader->message.receiver = 1 + (at[1] >> 4) % NODES;
        reader->burst = at[0] & 0x20 ? 40 : 0;
        if (at[2] > 0)
            reader->message.id = bb_id_number(at[2]);
        reader->at += MESSAGE;
    }
    step(reader, reader->at[-2], reader->at[-1]);
    reader->message.time_ns = reader->time_ns;
    if ((reader->at[-MESSAGE] & 0xc0) == 0x40)
        reader->message.recv_ns = reader->time_ns ^ reader->at[-3];
    reader->count++;
    return &reader->message;
}

static Reader read_from(const guint8 *data, gsize size)
{
    return (Reader){
        .at = data + HEAD, .end = data + size, .time_ns = data[7] & 0x80 ? 0 : 1700000000000000000};
}

// ---- runs --------------------------------------------------------------------------------------

static void run_whole(const BbNames *names, const BbConvolutionOptions *options, Reader reader)
{
    g_autoptr(BbTraffic) traffic = bb_traffic_new(names);
    for (const BbMessage *message; (message = read_message(&reader));)
        g_assert(bb_traffic_push(traffic, message));
    bb_traffic_finish(traffic);
    guint32 messages = traffic->n_messages;
    g_assert(messages <= reader.count);
    g_autoptr(BbConvolution) convolution = bb_convolution_new(names, options);
    g_autoptr(BbPaths) paths = bb_convolution_run(convolution, traffic);
    check_paths(paths);
    g_assert(paths->n_calls == messages && paths->facts.messages == reader.count);
}

typedef struct {
    BbStretches *stretches;
    guint64 calls, instances, messages;
} Windows;

static void take(Windows *windows)
{
    g_autoptr(BbPaths) paths = bb_stretches_next(windows->stretches);
    if (!paths)
        return;
    check_paths(paths);
    g_assert(paths->instances_before == windows->instances);
    windows->calls += paths->n_calls;
    windows->instances += paths->n_instances;
    windows->messages += paths->facts.messages;
}

static void run_windows(const BbNames *names, const BbConvolutionOptions *options,
                        const BbWindowOptions *window, Reader reader)
{
    Windows windows = {.stretches = bb_stretches_new(names, options, window)};
    bool two_sided = false;
    for (const BbMessage *message; (message = read_message(&reader));) {
        two_sided = two_sided || message->at_receiver;
        while (!bb_stretches_push(windows.stretches, message))
            take(&windows);
    }
    bb_stretches_end(windows.stretches);
    take(&windows);
    g_assert(!bb_stretches_next(windows.stretches));
    bb_stretches_free(windows.stretches);
    g_assert(windows.messages == reader.count);
    g_assert(two_sided ? windows.calls <= reader.count : windows.calls == reader.count);
}

int LLVMFuzzerTestOneInput(const guint8 *data, gsize size)
{
    if (size < HEAD)
        return 0;
    g_autoptr(BbNames) names = bb_names_new();
    for (guint i = 0; i < NODES; i++)
        bb_names_intern(names, (const char[]){(char)('f' - i), 0});
    g_autoptr(BbGlobs) root = bb_globs_new("c,a*");
    BbConvolutionOptions options = read_options(data, root);
    BbWindowOptions window = read_windows(data);
    run_whole(names, &options, read_from(data, size));
    run_windows(names, &options, &window, read_from(data, size));
    return 0;
}
