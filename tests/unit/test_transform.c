// SPDX-License-Identifier: Apache-2.0
// Transforms: right for every size and way of planning, from several threads, and refused where
// there is no memory.
#include "convolution/transform.h"
#include "convolution/wisdom.h"
#include "tests/unit/scratch.h"

#include <fftw3.h>
#include <math.h>
#include <string.h>
#include <sys/resource.h>

static bool is_smooth(gsize size)
{
    const gsize primes[] = {2, 3, 5, 7};
    for (guint i = 0; i < G_N_ELEMENTS(primes); i++)
        while (size % primes[i] == 0)
            size /= primes[i];
    return size == 1;
}

START_TEST(size_is_the_next_smooth_number)
{
    ck_assert_uint_eq(bb_transform_size(0), 1);
    gsize next = 1;
    for (gsize least = 1; least <= 20000; least++) {
        while (next < least || !is_smooth(next))
            next++;
        ck_assert_uint_eq(bb_transform_size(least), next);
    }
    ck_assert_uint_eq(bb_transform_size(100000007), 100018800);
    ck_assert(is_smooth(100018800));
}
END_TEST

START_TEST(size_of_the_impossible_does_not_end_up_small)
{
    const gsize most = G_MAXSIZE / 16;
    ck_assert_uint_ge(bb_transform_size(most), most);
    ck_assert_uint_ge(bb_transform_size(most + 1), most + 1);
    ck_assert_uint_eq(bb_transform_size(G_MAXSIZE), G_MAXSIZE);
}
END_TEST

// A transform with a signal, and what its spectrum must be.
typedef struct {
    BbTransform *transform;
    double *signal;
    double complex *spectrum;
    gsize size, numbers;
} Fixture;

static Fixture fixture_of(BbTransform *transform, GRand *random)
{
    ck_assert_ptr_nonnull(transform);
    Fixture f = {transform, bb_transform_signal(transform), bb_transform_spectrum(transform),
                 bb_transform_signal_size(transform), bb_transform_spectrum_size(transform)};
    ck_assert(f.signal && f.spectrum);
    for (gsize i = 0; i < f.size; i++)
        f.signal[i] = g_rand_int_range(random, 0, 10);
    return f;
}

static void fixture_clear(Fixture *f)
{
    bb_transform_release(f->signal);
    bb_transform_release(f->spectrum);
    bb_transform_free(f->transform);
}

// The definition: sum of x[n] exp(-2 pi i k n / N), in long double.
static double complex defined(const double *signal, gsize size, gsize k)
{
    long double re = 0, im = 0;
    for (gsize n = 0; n < size; n++) {
        long double angle = 2 * acosl(-1) * (long double)(k * n % size) / (long double)size;
        re += signal[n] * cosl(angle);
        im -= signal[n] * sinl(angle);
    }
    return (double)re + (double)im * I;
}

static double squared(double complex z)
{
    return creal(z) * creal(z) + cimag(z) * cimag(z);
}

static void check_both_ways(Fixture *f)
{
    g_autofree double *kept = g_memdup2(f->signal, f->size * sizeof *f->signal);
    bb_transform_forward(f->transform, f->signal, f->spectrum);
    ck_assert_mem_eq(f->signal, kept, f->size * sizeof *kept);
    double wrong = 0, all = 0;
    for (gsize k = 0; k < f->numbers; k++) {
        double complex expected = defined(kept, f->size, k);
        wrong += squared(f->spectrum[k] - expected);
        all += squared(expected);
    }
    ck_assert_double_le(sqrt(wrong), bb_transform_error(f->size) * sqrt(all));
    bb_transform_backward(f->transform, f->spectrum, f->signal);
    for (gsize i = 0; i < f->size; i++)
        ck_assert_double_eq_tol(f->signal[i], (double)f->size * kept[i], 1e-9 * (double)f->size);
}

START_TEST(small_sizes_are_as_defined)
{
    g_autoptr(GRand) random = g_rand_new_with_seed(test_seed("transform"));
    const gsize sizes[] = {1, 2, 3, 4, 5, 7, 8, 30, 105, 256, 675, 1024};
    for (guint i = 0; i < G_N_ELEMENTS(sizes); i++) {
        Fixture f = fixture_of(bb_transform_new(sizes[i]), random);
        ck_assert_uint_eq(f.size, sizes[i]);
        ck_assert_uint_eq(f.numbers, sizes[i] / 2 + 1);
        check_both_ways(&f);
        fixture_clear(&f);
    }
}
END_TEST

// What the error's bound is used for: whole numbers stay whole at sizes that no test transforms by
// definition.
START_TEST(there_and_back_is_exact_after_rounding)
{
    g_autoptr(GRand) random = g_rand_new_with_seed(test_seed("transform"));
    Fixture f = fixture_of(bb_transform_new(1 << 18), random);
    g_autofree double *kept = g_memdup2(f.signal, f.size * sizeof *f.signal);
    bb_transform_forward(f.transform, f.signal, f.spectrum);
    bb_transform_backward(f.transform, f.spectrum, f.signal);
    for (gsize i = 0; i < f.size; i++)
        ck_assert_double_eq(nearbyint(f.signal[i] / (double)f.size), kept[i]);
    fixture_clear(&f);
}
END_TEST

START_TEST(error_grows_slowly)
{
    ck_assert_double_gt(bb_transform_error(1), 0);
    ck_assert_double_gt(bb_transform_error(1 << 20), bb_transform_error(1 << 10));
    ck_assert_double_lt(bb_transform_error(1 << 30), 1e-13);
}
END_TEST

static gpointer run_often(gpointer data)
{
    const Fixture *shared = data;
    double *signal = bb_transform_signal(shared->transform);
    double complex *spectrum = bb_transform_spectrum(shared->transform);
    gsize bytes = shared->numbers * sizeof *spectrum;
    guint different = 0;
    for (guint i = 0; i < 200; i++) {
        memcpy(signal, shared->signal, shared->size * sizeof *signal);
        bb_transform_forward(shared->transform, signal, spectrum);
        different += memcmp(spectrum, shared->spectrum, bytes) != 0;
        bb_transform_backward(shared->transform, spectrum, signal);
    }
    bb_transform_release(signal);
    bb_transform_release(spectrum);
    return GUINT_TO_POINTER(different);
}

START_TEST(threads_share_a_transform)
{
    g_autoptr(GRand) random = g_rand_new_with_seed(test_seed("transform"));
    Fixture f = fixture_of(bb_transform_new(1000), random);
    bb_transform_forward(f.transform, f.signal, f.spectrum);
    GThread *threads[4];
    for (guint i = 0; i < G_N_ELEMENTS(threads); i++)
        threads[i] = g_thread_new("transform", run_often, &f);
    for (guint i = 0; i < G_N_ELEMENTS(threads); i++)
        ck_assert_uint_eq(GPOINTER_TO_UINT(g_thread_join(threads[i])), 0);
    fixture_clear(&f);
}
END_TEST

START_TEST(no_memory_is_a_null)
{
    ck_assert_ptr_null(bb_transform_new(G_MAXSIZE / 16));
    ck_assert_ptr_null(bb_transform_new(G_MAXSIZE));
    struct rlimit before, none = {.rlim_cur = 1 << 20};
    ck_assert_int_eq(getrlimit(RLIMIT_AS, &before), 0);
    none.rlim_max = before.rlim_max;
    ck_assert_int_eq(setrlimit(RLIMIT_AS, &none), 0);
    BbTransform *large = bb_transform_new(1 << 20);
    BbTransform *remembered = bb_transform_new_remembered(1 << 20, true);
    ck_assert_int_eq(setrlimit(RLIMIT_AS, &before), 0);
    ck_assert_ptr_null(large);
    ck_assert_ptr_null(remembered);
    bb_transform_free(NULL);
}
END_TEST

// A cache of the test's own, with the names in it in the order in which they can be removed. GLib
// asks for the folder once in a process: check forks for each test.
static const char *cache_in(Scratch *scratch)
{
    const char *file = scratch_path(scratch, "bbtrace/fftw-wisdom");
    (void)scratch_path(scratch, "bbtrace");
    g_setenv("XDG_CACHE_HOME", scratch->folder, TRUE);
    g_autofree char *path = bb_wisdom_path();
    ck_assert_str_eq(path, file);
    fftw_forget_wisdom();
    return file;
}

START_TEST(measured_plans_are_kept_for_the_next_run)
{
    g_autoptr(Scratch) scratch = scratch_new();
    g_autoptr(GRand) random = g_rand_new_with_seed(test_seed("transform"));
    const char *file = cache_in(scratch);
    Fixture estimated = fixture_of(bb_transform_new_remembered(240, false), random);
    check_both_ways(&estimated);
    ck_assert(!g_file_test(file, G_FILE_TEST_EXISTS));
    Fixture measured = fixture_of(bb_transform_new_remembered(240, true), random);
    check_both_ways(&measured);
    ck_assert(g_file_test(file, G_FILE_TEST_IS_REGULAR));

    fftw_forget_wisdom(); // as a new process
    g_autofree char *nothing = fftw_export_wisdom_to_string();
    Fixture remembered = fixture_of(bb_transform_new_remembered(240, false), random);
    g_autofree char *known = fftw_export_wisdom_to_string();
    ck_assert_str_ne(known, nothing);
    check_both_ways(&remembered);
    ck_assert(g_remove(file) == 0);
    Fixture again = fixture_of(bb_transform_new_remembered(240, true), random); // from memory
    ck_assert(!g_file_test(file, G_FILE_TEST_EXISTS));
    fixture_clear(&estimated);
    fixture_clear(&measured);
    fixture_clear(&remembered);
    fixture_clear(&again);
}
END_TEST

START_TEST(large_sizes_are_not_measured)
{
    g_autoptr(Scratch) scratch = scratch_new();
    const char *file = cache_in(scratch);
    g_autoptr(BbTransform) transform = bb_transform_new_remembered(BB_TRANSFORM_MEASURED * 2, true);
    ck_assert_ptr_nonnull(transform);
    ck_assert(!g_file_test(file, G_FILE_TEST_EXISTS));
}
END_TEST

START_TEST(a_broken_cache_does_no_harm)
{
    g_autoptr(Scratch) scratch = scratch_new();
    g_autoptr(GRand) random = g_rand_new_with_seed(test_seed("transform"));
    const char *file = cache_in(scratch);
    ck_assert_int_eq(g_mkdir_with_parents(file, 0700), 0); // a folder where the file should be
    Fixture f = fixture_of(bb_transform_new_remembered(60, true), random);
    check_both_ways(&f);
    fixture_clear(&f);
    ck_assert(g_file_test(file, G_FILE_TEST_IS_DIR));
    ck_assert_int_eq(g_remove(file), 0);

    ck_assert(g_file_set_contents(file, "(fftw-3.3.10 fftw_wisdom #x0", -1, NULL));
    f = fixture_of(bb_transform_new_remembered(42, true), random); // and repairs it
    check_both_ways(&f);
    fixture_clear(&f);
    ck_assert(bb_wisdom_load(file));
}
END_TEST

TEST_MAIN("transform", size_is_the_next_smooth_number, size_of_the_impossible_does_not_end_up_small,
          small_sizes_are_as_defined, there_and_back_is_exact_after_rounding, error_grows_slowly,
          threads_share_a_transform, no_memory_is_a_null, measured_plans_are_kept_for_the_next_run,
          large_sizes_are_not_measured, a_broken_cache_does_no_harm)
