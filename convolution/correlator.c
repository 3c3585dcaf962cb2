// SPDX-License-Identifier: Apache-2.0
// In: messages in quanta. Out: the correlation of their signals.
#include "convolution/correlator.h"
#include "convolution/signal.h"
#include "convolution/transform.h"

#include <stdbool.h>
#include <time.h>

// The spectrum of all that a sender sends, divided by the size of the transform.
typedef struct {
    double complex *spectrum;
    guint32 sender;
    guint64 used; // when
} Slot;

struct BbCorrelator {
    BbTransform *transform;
    double *signal; // a signal, then a correlation
    double complex *spectrum;
    Slot *slots;
    GHashTable *slot_of; // sender -> index of slots + 1
    guint n_slots, slots_max;
    guint64 uses, ffts;
    gint64 fft_ns;
};

guint64 bb_correlator_points(guint64 span, guint64 lags)
{
    return span + lags - 1;
}

BbCorrelator *bb_correlator_new(guint64 span, guint64 lags, gsize spectra_bytes)
{
    g_autoptr(BbCorrelator) self = g_new0(BbCorrelator, 1);
    gsize size = bb_transform_size(MAX(2, bb_correlator_points(span, lags)));
    self->slot_of = g_hash_table_new(NULL, NULL);
    self->transform = bb_transform_new(size);
    if (!self->transform)
        return NULL;
    self->signal = bb_transform_signal(self->transform);
    self->spectrum = bb_transform_spectrum(self->transform);
    gsize bytes = bb_transform_spectrum_size(self->transform) * sizeof(double complex);
    self->slots_max = (guint)CLAMP(spectra_bytes / bytes, 1, 1u << 16);
    self->slots = g_new0(Slot, self->slots_max);
    return self->signal && self->spectrum ? g_steal_pointer(&self) : NULL;
}

void bb_correlator_free(BbCorrelator *self)
{
    if (!self)
        return;
    for (guint i = 0; i < self->n_slots; i++)
        bb_transform_release(self->slots[i].spectrum);
    g_free(self->slots);
    g_hash_table_unref(self->slot_of);
    bb_transform_release(self->signal);
    bb_transform_release(self->spectrum);
    bb_transform_free(self->transform);
    g_free(self);
}

// ---- transforms, timed --------------------------------------------------------------------------

static gint64 now_ns(void)
{
    struct timespec now;
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
    return (gint64)now.tv_sec * 1000000000 + now.tv_nsec;
}

static void forward(BbCorrelator *self, BbQuanta messages, double complex *spectrum)
{
    bb_signal_fill(self->signal, bb_transform_signal_size(self->transform), messages.quanta,
                   messages.count);
    gint64 start = now_ns();
    bb_transform_forward(self->transform, self->signal, spectrum);
    self->fft_ns += now_ns() - start;
    self->ffts++;
}

static void backward(BbCorrelator *self)
{
    gint64 start = now_ns();
    bb_transform_backward(self->transform, self->spectrum, self->signal);
    self->fft_ns += now_ns() - start;
    self->ffts++;
}

// ---- spectra of senders -------------------------------------------------------------------------

static Slot *oldest_slot(BbCorrelator *self)
{
    Slot *oldest = self->slots;
    for (guint i = 1; i < self->n_slots; i++)
        if (self->slots[i].used < oldest->used)
            oldest = &self->slots[i];
    return oldest;
}

// A new slot, or that of another sender; NULL where there is no memory for any.
static Slot *take_slot(BbCorrelator *self, guint32 sender)
{
    double complex *spectrum =
        self->n_slots < self->slots_max ? bb_transform_spectrum(self->transform) : NULL;
    if (!spectrum && self->n_slots == 0)
        return NULL;
    Slot *slot = spectrum ? &self->slots[self->n_slots++] : oldest_slot(self);
    if (spectrum)
        slot->spectrum = spectrum;
    else
        g_hash_table_remove(self->slot_of, GUINT_TO_POINTER(slot->sender));
    slot->sender = sender;
    g_hash_table_insert(self->slot_of, GUINT_TO_POINTER(sender),
                        GUINT_TO_POINTER((guint)(slot - self->slots) + 1));
    return slot;
}

// A transform and its inverse multiply by the size: what is kept is divided by it once for all.
static void normalise(const BbCorrelator *self, double complex *spectrum)
{
    double *parts = (double *)spectrum;
    double scale = 1.0 / (double)bb_transform_signal_size(self->transform);
    for (gsize i = 0; i < 2 * bb_transform_spectrum_size(self->transform); i++)
        parts[i] *= scale;
}

static const double complex *spectrum_of(BbCorrelator *self, BbQuanta to, guint32 sender)
{
    guint known = GPOINTER_TO_UINT(g_hash_table_lookup(self->slot_of, GUINT_TO_POINTER(sender)));
    Slot *slot = known ? &self->slots[known - 1] : take_slot(self, sender);
    if (!slot)
        return NULL;
    slot->used = ++self->uses;
    if (!known) {
        forward(self, to, slot->spectrum);
        normalise(self, slot->spectrum);
    }
    return slot->spectrum;
}

// ---- the correlation ----------------------------------------------------------------------------

// from = conj(from) * to. On the parts, for a product of complex numbers in C looks for infinities.
static void multiply(double complex *from, const double complex *to, gsize count)
{
    double *restrict a = (double *)from;
    const double *restrict b = (const double *)to;
    for (gsize i = 0; i < 2 * count; i += 2) {
        double real = a[i] * b[i] + a[i + 1] * b[i + 1];
        double imaginary = a[i] * b[i + 1] - a[i + 1] * b[i];
        a[i] = real;
        a[i + 1] = imaginary;
    }
}

const double *bb_correlator_run(BbCorrelator *self, BbQuanta from, BbQuanta to, guint32 sender)
{
    const double complex *sent = spectrum_of(self, to, sender);
    if (!sent)
        return NULL;
    forward(self, from, self->spectrum);
    multiply(self->spectrum, sent, bb_transform_spectrum_size(self->transform));
    backward(self);
    return self->signal;
}

guint64 bb_correlator_ffts(const BbCorrelator *self)
{
    return self->ffts;
}

double bb_correlator_fft_seconds(const BbCorrelator *self)
{
    return (double)self->fft_ns / 1e9;
}
