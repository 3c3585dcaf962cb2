// SPDX-License-Identifier: Apache-2.0
// In: what to capture from. Out: frames, through the kind of source that is meant.
#include "capture/sources/source.h"

#include "capture/layers/layer.h"
#include "capture/sources/source_kind.h"

static const BbSourceKind *const kinds[] = {&bb_source_live, &bb_source_file};

struct BbSource {
    const BbSourceKind *kind;
    gpointer state;
    GQueue warnings;
};

BbSourceOptions bb_source_options_default(void)
{
    return (BbSourceOptions){
        .snaplen = BB_SOURCE_SNAPLEN, .buffer_bytes = BB_SOURCE_BUFFER, .promiscuous = true};
}

BbSource *bb_source_open(const BbSourceOptions *options, BbLoss *loss, GError **error)
{
    gsize i = 0;
    while (i < G_N_ELEMENTS(kinds) && !kinds[i]->is_meant(options))
        i++;
    g_return_val_if_fail(i < G_N_ELEMENTS(kinds), NULL);
    BbSource *source = g_new0(BbSource, 1);
    source->kind = kinds[i];
    g_queue_init(&source->warnings);
    source->state = source->kind->open(options, loss, &source->warnings, error);
    if (!source->state)
        g_clear_pointer(&source, bb_source_free);
    return source;
}

void bb_source_free(BbSource *source)
{
    if (!source)
        return;
    if (source->state)
        source->kind->close(source->state);
    g_queue_clear_full(&source->warnings, g_free);
    g_free(source);
}

BbSourceStatus bb_source_next(BbSource *source, BbFrame *frame, GError **error)
{
    return source->kind->next(source->state, frame, error);
}

char *bb_source_take_warning(BbSource *source)
{
    return g_queue_pop_head(&source->warnings);
}

void bb_source_update_loss(BbSource *source)
{
    if (source->kind->update_loss)
        source->kind->update_loss(source->state);
}

void bb_source_narrow(BbSource *source, const BbAddress *addresses, guint count)
{
    if (source->kind->narrow)
        source->kind->narrow(source->state, addresses, count);
}

void bb_source_stop(BbSource *source)
{
    if (source->kind->stop)
        source->kind->stop(source->state);
}

void bb_source_end(BbSource *source)
{
    if (source->kind->end)
        source->kind->end(source->state);
}

guint bb_source_descriptors(const BbSource *source, int *fds, guint max)
{
    return source->kind->descriptors ? source->kind->descriptors(source->state, fds, max) : 0;
}

const char *bb_source_stamps(const BbSource *source)
{
    return source->kind->stamps ? source->kind->stamps(source->state) : NULL;
}

const char *bb_source_name(const BbSource *source)
{
    return source->kind->current(source->state);
}

double bb_source_progress(const BbSource *source)
{
    return source->kind->progress(source->state);
}

bool bb_source_compile(pcap_t *pcap, const char *name, const char *expression,
                       struct bpf_program *program, GError **error)
{
    if (pcap_compile(pcap, program, expression, 1, PCAP_NETMASK_UNKNOWN) == 0)
        return true;
    g_set_error(error, G_OPTION_ERROR, G_OPTION_ERROR_BAD_VALUE,
                "%s: the filter \"%s\" cannot be used: %s; see pcap-filter(7)", name, expression,
                pcap_geterr(pcap));
    return false;
}

void bb_source_check_link(int link_type, const char *name, GQueue *warnings)
{
    if (bb_layers_knows_link(link_type))
        return;
    const char *link_name = pcap_datalink_val_to_name(link_type);
    g_autoptr(GString) text = g_string_new(NULL);
    g_string_append_printf(text,
                           "%s: frames of link type %d (%s) cannot be read and are skipped; "
                           "capture with one of: ",
                           name, link_type, link_name ? link_name : "unknown");
    bb_layers_append_link_names(text);
    g_queue_push_tail(warnings, g_string_free(g_steal_pointer(&text), FALSE));
}
