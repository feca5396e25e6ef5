/* Amplitude spectra.
 *
 * Rows of a result need not be uniform in time. Then they are resampled by cubic Hermite
 * polynomials, whose error is of fourth order in the distance of rows where the slopes are
 * channels of the result (velocity of position, rate of angle), and of third order with slopes
 * of parabolas through three neighbours. Two rows of the same time, at events, may differ:
 * slopes never reach across them.
 *
 * With samples y_k, k < N, and a window w_k,
 *
 *     m = sum w_k y_k / sum w_k
 *     A(f) = 2 |sum w_k (y_k - m) exp(-2 pi i f k step)| / sum w_k,      0 < f <= 1/(2 step)
 *
 * A sine is shown with its amplitude if the record holds several of its periods. Samples are
 * padded with zeros to M >= PADDING N numbers: the peak of a sine between two frequencies k/(M
 * step) is then too low by at most 0.06 % (Hann), rather than by 15 %.
 */
#include "cli/fft.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

static const double pi = 3.14159265358979323846;

enum {
    PADDING = 16,
    MOST_SAMPLES = 1 << 19,
    MOST_PADDED = 1 << 22, /* numbers that are transformed */
};

/* --- windows ------------------------------------------------------------------------------ */

static const struct {
    const char *name, *text;
    double a[5]; /* w = a0 - a1 cos x + a2 cos 2x - ..., x = 2 pi k / N */
} windows[] = {
    [CLI_WINDOW_HANN] = {"hann", "Hann window", {0.5, 0.5, 0, 0, 0}},
    [CLI_WINDOW_FLAT_TOP] = {"flat-top",
                             "flat-top window", /* as in ISO 18431-2 */
                             {1, 1.933, 1.286, 0.388, 0.0322}},
    [CLI_WINDOW_NONE] = {"none", "no window", {1, 0, 0, 0, 0}},
};

bool cli_window_find(const char *name, cli_window *window)
{
    for (size_t k = 0; k < sizeof windows / sizeof *windows; ++k)
        if (strcmp(windows[k].name, name) == 0) {
            *window = (cli_window)k;
            return true;
        }
    return false;
}

const char *cli_window_text(cli_window window) { return windows[window].text; }

static double window_at(cli_window window, size_t k, size_t n)
{
    const double *a = windows[window].a, x = 2 * pi * (double)k / (double)n;
    return a[0] - a[1] * cos(x) + a[2] * cos(2 * x) - a[3] * cos(3 * x) + a[4] * cos(4 * x);
}

/* --- the grid ----------------------------------------------------------------------------- */

static int ascending(const void *a, const void *b)
{
    const double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

/* The distance of rows that a tenth of them falls below: steps are that fine where something
 * happens, and rows of events do not count. 0 if memory is out. */
static double fine_step(size_t n, const double *t)
{
    double *gaps = malloc(n * sizeof *gaps), step = 0;
    size_t count = 0;
    for (size_t k = 1; gaps && k < n; ++k)
        if (t[k] > t[k - 1]) gaps[count++] = t[k] - t[k - 1];
    if (count > 0) {
        qsort(gaps, count, sizeof *gaps, ascending);
        step = gaps[count / 10];
    }
    free(gaps);
    return step;
}

cli_fft_grid cli_fft_choose_grid(size_t n, const double *t)
{
    static const double round_off = 1e-6; /* of a step: times are sums of steps */
    const double span = t[n - 1] - t[0];
    cli_fft_grid grid = {.count = n, .start = t[0], .step = span / (double)(n - 1)};
    grid.uniform = true;
    for (size_t k = 0; k < n && grid.uniform; ++k)
        grid.uniform = fabs(t[k] - (t[0] + (double)k * grid.step)) <= round_off * grid.step;
    if (grid.uniform) return grid;
    const double fine = fine_step(n, t);
    double steps = fine > 0 ? round(span / fine) : (double)(n - 1);
    steps = fmin(fmax(steps, 2), MOST_SAMPLES - 1);
    grid.count = (size_t)steps + 1;
    grid.step = span / steps;
    return grid;
}

/* Derivative at row k of the parabola through rows a, b, c, of which k is one. */
static double parabola_slope(const double *t, const double *y, size_t a, size_t b, size_t c,
                             size_t k)
{
    const double ab = (y[b] - y[a]) / (t[b] - t[a]), bc = (y[c] - y[b]) / (t[c] - t[b]);
    return ab + (bc - ab) / (t[c] - t[a]) * (2 * t[k] - t[a] - t[b]);
}

/* Rows first ... last have times that differ. */
static void fill_slopes(size_t first, size_t last, const double *t, const double *y, double *s)
{
    if (last == first) {
        s[first] = 0;
    } else if (last == first + 1) {
        s[first] = s[last] = (y[last] - y[first]) / (t[last] - t[first]);
    } else {
        for (size_t k = first; k <= last; ++k) {
            const size_t middle = k == first ? k + 1 : k == last ? k - 1 : k;
            s[k] = parabola_slope(t, y, middle - 1, middle, middle + 1, k);
        }
    }
}

static double hermite(double h, double x, double y0, double y1, double s0, double s1)
{
    const double z = x / h, r = 1 - z;
    return y0 * (1 + 2 * z) * r * r + y1 * (3 - 2 * z) * z * z + h * z * r * (s0 * r - s1 * z);
}

bool cli_fft_resample(size_t n, const double *t, const double *y, const double *slope,
                      const cli_fft_grid *grid, double *out)
{
    if (grid->uniform) {
        memcpy(out, y, n * sizeof *out);
        return true;
    }
    double *s = malloc(n * sizeof *s);
    if (!s) return false;
    if (slope) {
        memcpy(s, slope, n * sizeof *s);
    } else {
        for (size_t first = 0, k = 1; k <= n; ++k)
            if (k == n || !(t[k] > t[k - 1])) {
                fill_slopes(first, k - 1, t, y, s);
                first = k;
            }
    }
    size_t at = 0;
    for (size_t k = 0; k < grid->count; ++k) {
        const double x = fmin(grid->start + (double)k * grid->step, t[n - 1]);
        while (at + 2 < n && (t[at + 1] <= x || !(t[at + 1] > t[at]))) ++at;
        const double h = t[at + 1] - t[at];
        out[k] = h > 0 ? hermite(h, fmin(x - t[at], h), y[at], y[at + 1], s[at], s[at + 1])
                       : y[at + 1];
    }
    free(s);
    return true;
}

/* --- the transform ------------------------------------------------------------------------ */

static size_t padded(const cli_fft_grid *grid)
{
    size_t m = 2;
    while (m < PADDING * grid->count && (m < MOST_PADDED || m < grid->count)) m *= 2;
    return m;
}

size_t cli_fft_count(const cli_fft_grid *grid) { return padded(grid) / 2; }

double cli_fft_frequency(const cli_fft_grid *grid, size_t k)
{
    return (double)(k + 1) / ((double)padded(grid) * grid->step);
}

/* Radix 2, in place, m a power of 2; c, s: cos and sin of 2 pi k / m, k < m / 2. */
static void transform(size_t m, double *re, double *im, const double *c, const double *s)
{
    for (size_t i = 1, j = 0; i < m; ++i) { /* bit reversal */
        size_t bit = m >> 1;
        for (; j & bit; bit >>= 1) j ^= bit;
        j ^= bit;
        if (i >= j) continue;
        double keep = re[i];
        re[i] = re[j], re[j] = keep;
        keep = im[i];
        im[i] = im[j], im[j] = keep;
    }
    for (size_t half = 1; half < m; half *= 2)
        for (size_t start = 0; start < m; start += 2 * half)
            for (size_t k = 0; k < half; ++k) {
                const size_t a = start + k, b = a + half, w = k * (m / (2 * half));
                const double x = c[w] * re[b] + s[w] * im[b], y = c[w] * im[b] - s[w] * re[b];
                re[b] = re[a] - x, im[b] = im[a] - y;
                re[a] += x, im[a] += y;
            }
}

bool cli_fft_amplitudes(const cli_fft_grid *grid, cli_window window, const double *samples,
                        double *amplitudes)
{
    const size_t n = grid->count, m = padded(grid);
    double *re = calloc(m, sizeof *re), *im = calloc(m, sizeof *im);
    double *c = malloc(m / 2 * sizeof *c), *s = malloc(m / 2 * sizeof *s);
    const bool memory = re && im && c && s;
    if (memory) {
        double sum = 0, mean = 0;
        for (size_t k = 0; k < n; ++k) {
            sum += window_at(window, k, n);
            mean += window_at(window, k, n) * samples[k];
        }
        mean /= sum;
        for (size_t k = 0; k < n; ++k) re[k] = window_at(window, k, n) * (samples[k] - mean);
        for (size_t k = 0; k < m / 2; ++k) {
            c[k] = cos(2 * pi * (double)k / (double)m);
            s[k] = sin(2 * pi * (double)k / (double)m);
        }
        transform(m, re, im, c, s);
        /* at half the sampling rate both halves of the spectrum meet */
        for (size_t k = 1; k <= m / 2; ++k)
            amplitudes[k - 1] = (k < m / 2 ? 2 : 1) * hypot(re[k], im[k]) / sum;
    }
    free(re);
    free(im);
    free(c);
    free(s);
    return memory;
}
