/* Amplitude spectra against sines whose amplitudes are known. */
#include "cli/fft.c"
#include "test/support/unit.h"

enum { ROWS = 2000 };

static void check_near(double got, double want, double tolerance)
{
    if (!(fabs(got - want) <= tolerance))
        fail_msg("%.17g, should be %.17g within %g", got, want, tolerance);
}

typedef struct rows {
    double t[ROWS], y[ROWS], rate[ROWS];
} rows;

/* 3 + 2 sin(2 pi 31.37 t) + 0.01 cos(2 pi 80 t) */
static void fill(rows *r, size_t k, double t)
{
    const double a = 2 * pi * 31.37, b = 2 * pi * 80;
    r->t[k] = t;
    r->y[k] = 3 + 2 * sin(a * t) + 0.01 * cos(b * t);
    r->rate[k] = 2 * a * cos(a * t) - 0.01 * b * sin(b * t);
}

static rows *uniform(void)
{
    rows *r = malloc(sizeof *r);
    for (size_t k = 0; k < ROWS; ++k) fill(r, k, 0.5 + 1e-3 * (double)k);
    return r;
}

/* Distances from 0.4 to 1.6 ms, and an event: two rows of one time. */
static rows *uneven(void)
{
    rows *r = malloc(sizeof *r);
    double t = 0;
    for (size_t k = 0; k < ROWS; ++k) {
        fill(r, k, t);
        if (k != 777) t += 1e-3 * (1 + 0.6 * sin(2.3 * (double)k));
    }
    return r;
}

typedef struct peak {
    double frequency, amplitude;
} peak;

static peak peak_between(const cli_fft_grid *grid, const double *amplitudes, double low,
                         double high)
{
    peak best = {0, 0};
    for (size_t k = 0; k < cli_fft_count(grid); ++k) {
        const double f = cli_fft_frequency(grid, k);
        if (f >= low && f <= high && amplitudes[k] > best.amplitude)
            best = (peak){f, amplitudes[k]};
    }
    return best;
}

static double *spectrum(const rows *r, const double *slope, cli_window window,
                        cli_fft_grid *grid)
{
    *grid = cli_fft_choose_grid(ROWS, r->t);
    double *samples = malloc(grid->count * sizeof *samples);
    double *amplitudes = malloc(cli_fft_count(grid) * sizeof *amplitudes);
    assert_true(cli_fft_resample(ROWS, r->t, r->y, slope, grid, samples));
    assert_true(cli_fft_amplitudes(grid, window, samples, amplitudes));
    free(samples);
    return amplitudes;
}

static void sines_have_their_amplitudes(void **unused)
{
    (void)unused;
    rows *r = uniform();
    cli_fft_grid grid;
    const cli_window both[] = {CLI_WINDOW_HANN, CLI_WINDOW_FLAT_TOP};
    for (int w = 0; w < 2; ++w) {
        double *a = spectrum(r, NULL, both[w], &grid);
        assert_true(grid.uniform);
        const peak large = peak_between(&grid, a, 1, 60),
                   small = peak_between(&grid, a, 70, 90);
        /* the top is flat over about one line of the record, 0.5 Hz, with a ripple of 0.1 % */
        const double line = both[w] == CLI_WINDOW_FLAT_TOP ? 0.5 : 0.02;
        check_near(large.frequency, 31.37, line);
        check_near(large.amplitude, 2, 2e-3);
        check_near(small.frequency, 80, line);
        check_near(small.amplitude, 0.01, 2e-5);
        /* the mean is gone, and the last frequency is half the sampling rate */
        assert_true(a[0] < 1e-4);
        check_near(cli_fft_frequency(&grid, cli_fft_count(&grid) - 1), 500, 1e-6);
        free(a);
    }
    free(r);
}

/* Without a window a sine with whole periods in the record has its amplitude, too. */
static void no_window(void **unused)
{
    (void)unused;
    rows *r = malloc(sizeof *r);
    for (size_t k = 0; k < ROWS; ++k) {
        r->t[k] = 1e-3 * (double)k;
        r->y[k] = 5 * sin(2 * pi * 40 * r->t[k]);
    }
    cli_fft_grid grid;
    double *a = spectrum(r, NULL, CLI_WINDOW_NONE, &grid);
    const peak p = peak_between(&grid, a, 1, 499);
    check_near(p.frequency, 40, 0.02);
    check_near(p.amplitude, 5, 5e-3);
    free(a);
    free(r);
}

static void uneven_rows_are_resampled(void **unused)
{
    (void)unused;
    rows *r = uneven();
    cli_fft_grid grid;
    for (int known = 0; known < 2; ++known) {
        double *a = spectrum(r, known ? r->rate : NULL, CLI_WINDOW_HANN, &grid);
        assert_false(grid.uniform);
        /* as fine as the rows are where they are fine */
        assert_true(grid.step > 3.9e-4 && grid.step < 6e-4);
        const peak large = peak_between(&grid, a, 1, 60),
                   small = peak_between(&grid, a, 70, 90);
        check_near(large.frequency, 31.37, 0.02);
        check_near(large.amplitude, 2, known ? 2e-3 : 5e-3);
        check_near(small.frequency, 80, known ? 0.05 : 0.2);
        check_near(small.amplitude, 0.01, known ? 2e-5 : 5e-4);
        free(a);
    }
    free(r);
}

/* Known slopes make the error of fourth order; a cubic polynomial is exact. */
static void cubic_polynomials_are_exact(void **unused)
{
    (void)unused;
    double t[] = {0, 0.1, 0.3, 0.35, 0.7, 0.75, 0.9, 1.2}, y[8], slope[8], out[64];
    for (int k = 0; k < 8; ++k) {
        y[k] = 1 - t[k] + t[k] * t[k] * t[k];
        slope[k] = -1 + 3 * t[k] * t[k];
    }
    const cli_fft_grid grid = cli_fft_choose_grid(8, t);
    assert_true(grid.count <= 64);
    assert_true(cli_fft_resample(8, t, y, slope, &grid, out));
    for (size_t k = 0; k < grid.count; ++k) {
        const double x = grid.start + (double)k * grid.step;
        check_near(out[k], 1 - x + x * x * x, 1e-13);
    }
}

/* A jump at an event stays a jump: no slope reaches across it. */
static void jumps_stay(void **unused)
{
    (void)unused;
    double t[] = {0, 1, 2, 3, 3, 4, 5, 6}, y[] = {0, 0, 0, 0, 1, 1, 1, 1}, out[64];
    const cli_fft_grid grid = cli_fft_choose_grid(8, t);
    assert_true(cli_fft_resample(8, t, y, NULL, &grid, out));
    for (size_t k = 0; k < grid.count; ++k) {
        const double x = grid.start + (double)k * grid.step;
        if (fabs(x - 3) > 1e-9) check_near(out[k], x > 3, 1e-14);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(sines_have_their_amplitudes),
        cmocka_unit_test(no_window),
        cmocka_unit_test(uneven_rows_are_resampled),
        cmocka_unit_test(cubic_polynomials_are_exact),
        cmocka_unit_test(jumps_stay),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
