// SPDX-License-Identifier: Apache-2.0
// In: a size, then signals of real numbers, or their spectra.
// Out: the other one, by FFTW.
#include "convolution/transform.h"

#include "convolution/wisdom.h"

#include <fftw3.h>
#include <float.h>
#include <math.h>
#include <sys/mman.h>

// What planning and one execution take, at most: a signal, a spectrum, and FFTW's tables, which
// were below 5 signals for sizes of 2^10 to 2^24 (and 3 above 2^16).
#define BYTES_PER_NUMBER 56

struct BbTransform {
    gsize size;
    fftw_plan forward, backward;
};

// The least odd * 2^k, over all products of 3, 5 and 7. best is at most 2 * least after the first
// one, and ends the loops: a factor beyond it only leads to more.
gsize bb_transform_size(gsize least)
{
    if (least > G_MAXSIZE / 16)
        return least; // no transform is that long
    gsize best = G_MAXSIZE;
    for (gsize seven = 1; seven < best; seven *= 7)
        for (gsize five = seven; five < best; five *= 5)
            for (gsize three = five; three < best; three *= 3) {
                gsize size = three;
                while (size < least)
                    size *= 2;
                best = MIN(best, size);
            }
    return best;
}

// FFTW ends the process where it gets no memory: ask before it does.
static bool is_room_for(gsize size)
{
    if (size > (gsize)G_MAXSSIZE / BYTES_PER_NUMBER)
        return false;
    gsize bytes = size * BYTES_PER_NUMBER;
    void *room = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (room == MAP_FAILED)
        return false;
    munmap(room, bytes);
    return true;
}

// False where FFTW has no plan under these flags. Planning by measurement overwrites both arrays.
static bool plan(BbTransform *transform, double *signal, double complex *spectrum, unsigned flags)
{
    const fftw_iodim64 size = {.n = (ptrdiff_t)transform->size, .is = 1, .os = 1};
    if (!transform->forward)
        transform->forward = fftw_plan_guru64_dft_r2c(1, &size, 0, NULL, signal, spectrum,
                                                      flags | FFTW_PRESERVE_INPUT);
    if (!transform->backward)
        transform->backward = fftw_plan_guru64_dft_c2r(1, &size, 0, NULL, spectrum, signal,
                                                       flags | FFTW_DESTROY_INPUT);
    return transform->forward && transform->backward;
}

static bool plan_remembered(BbTransform *transform, double *signal, double complex *spectrum,
                            bool measure)
{
    const unsigned known = FFTW_MEASURE | FFTW_WISDOM_ONLY;
    if (plan(transform, signal, spectrum, known))
        return true;
    g_autofree char *path = bb_wisdom_path();
    if (bb_wisdom_load(path) && plan(transform, signal, spectrum, known))
        return true;
    if (!measure || transform->size > BB_TRANSFORM_MEASURED)
        return plan(transform, signal, spectrum, FFTW_ESTIMATE);
    bool planned = plan(transform, signal, spectrum, FFTW_MEASURE);
    (void)bb_wisdom_save(path); // only a cache
    return planned;
}

static BbTransform *transform_new(gsize size, bool remembered, bool measure)
{
    g_return_val_if_fail(size > 0, NULL);
    if (!is_room_for(size))
        return NULL;
    g_autoptr(BbTransform) transform = g_new0(BbTransform, 1);
    transform->size = size;
    double *signal = bb_transform_signal(transform);
    double complex *spectrum = bb_transform_spectrum(transform);
    bool planned = false;
    if (signal && spectrum)
        planned = remembered ? plan_remembered(transform, signal, spectrum, measure)
                             : plan(transform, signal, spectrum, FFTW_ESTIMATE);
    bb_transform_release(signal);
    bb_transform_release(spectrum);
    return planned ? g_steal_pointer(&transform) : NULL;
}

BbTransform *bb_transform_new(gsize size)
{
    return transform_new(size, false, false);
}

BbTransform *bb_transform_new_remembered(gsize size, bool measure)
{
    return transform_new(size, true, measure);
}

void bb_transform_free(BbTransform *transform)
{
    if (!transform)
        return;
    fftw_destroy_plan(transform->forward);
    fftw_destroy_plan(transform->backward);
    g_free(transform);
}

gsize bb_transform_signal_size(const BbTransform *transform)
{
    return transform->size;
}

gsize bb_transform_spectrum_size(const BbTransform *transform)
{
    return transform->size / 2 + 1;
}

// All memory is from one allocator, so that all of it is aligned as the plan was made for.
double *bb_transform_signal(const BbTransform *transform)
{
    return fftw_alloc_real(bb_transform_signal_size(transform));
}

double complex *bb_transform_spectrum(const BbTransform *transform)
{
    return fftw_alloc_complex(bb_transform_spectrum_size(transform));
}

void bb_transform_release(gpointer memory)
{
    fftw_free(memory);
}

void bb_transform_forward(const BbTransform *transform, double *signal, double complex *spectrum)
{
    fftw_execute_dft_r2c(transform->forward, signal, spectrum);
}

void bb_transform_backward(const BbTransform *transform, double complex *spectrum, double *signal)
{
    fftw_execute_dft_c2r(transform->backward, spectrum, signal);
}

double bb_transform_error(gsize size)
{
    // The theorem has 1 + 4 sqrt 2 = 6.7 units u for radix 2 and twiddles good to one unit; 8
    // epsilon = 16 u leaves more than half of it for FFTW's other radices.
    return 8 * DBL_EPSILON * (log2((double)size) + 1);
}
