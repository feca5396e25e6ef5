/* Experiment: the planar chain, N = 1000 and 10000, galpha from a model file, IDA, loops. */
#include "bench/galpha.h"
#include "bench/ida.h"
#include "bench/rods.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

/* Channels: x, y of all rods, then th of all. */
static double chain_error(bench *b, const bench_case *c, int count, const double *values)
{
    const double *reference = rods_reference(c->n);
    double most = 0;
    (void)b;
    if (!reference || count != 3 * c->n) return NAN;
    for (int k = 0; k < c->n; ++k) {
        const double *q = reference + 3 * (ptrdiff_t)k, *x = values + 2 * (ptrdiff_t)k;
        double th = values[2 * c->n + k];
        most = fmax(most, fmax(fabs(x[0] - q[0]), fabs(x[1] - q[1])));
        most = fmax(most, fabs(remainder(th - q[2], 6.28318530717958648)));
    }
    return most;
}

static const galpha_file chain_file = {
    .name = "chain_planar.yaml", .parameter = "N", .error = chain_error};

static const ida_options ggl = {.form = 0, .ordering = 1, .newton = 0.1},
                         index1 = {.form = 1, .ordering = 0};

static int curve(bench_case *to, bench_case first, int count, const double *values)
{
    for (int k = 0; k < count; ++k) {
        to[k] = first;
        to[k].value = values[k];
    }
    return count;
}

/* galpha's last: with two threads, where the program would take them by itself. */
static int make_threaded_cases(const bench *b, int n, bench_case *cases)
{
    static const double steps[] = {1.4e-3, 7e-4, 4.5e-4, 3e-4};
    const bench_case c = {.problem = "planar chain",
                          .n = n,
                          .who = BENCH_GALPHA,
                          .variant = "index 3, 1e-4, 2 threads",
                          .setting = "h",
                          .run = galpha_run_file,
                          .data = &chain_file,
                          .mode = GALPHA_INDEX3,
                          .newton = 1e-4,
                          .threads = 2};
    return n >= 10000 && !b->quick && galpha_has_threads() ? curve(cases, c, 4, steps) : 0;
}

static int make_cases(const bench *b, int n, bench_case *cases)
{
    const double steps[] = {2e-3, 1.4e-3, 7e-4, 4.5e-4, 3e-4},
                 tolerances[] = {2e-2, 1e-2, 1e-3}, extrapolated[] = {1e-3, 1e-4, 1e-5};
    const int s = b->quick ? 2 : 5, t = b->quick ? 2 : 3;
    const bench_case ours = {.problem = "planar chain",
                             .n = n,
                             .who = BENCH_GALPHA,
                             .setting = "h",
                             .run = galpha_run_file,
                             .data = &chain_file};
    int count = 0;
    bench_case c = ours;
    c.mode = GALPHA_INDEX3, c.variant = "index 3";
    count += curve(cases + count, c, s, steps);
    c.newton = 1e-5, c.variant = "index 3, Newton 1e-5";
    count += curve(cases + count, c, s, steps);
    c.newton = 1e-4, c.variant = "index 3, Newton 1e-4";
    count += curve(cases + count, c, s, steps);
    c = ours, c.mode = GALPHA_INDEX2, c.variant = "index 2";
    count += curve(cases + count, c, s, steps);
    c.newton = 1e-6, c.variant = "index 2, Newton 1e-6";
    count += curve(cases + count, c, s, steps);
    c.newton = 0;
    c.setting = "tol", c.mode = GALPHA_ADAPTIVE, c.variant = "adaptive";
    count += curve(cases + count, c, t, tolerances);
    c.mode = GALPHA_EXTRAPOLATE, c.variant = "extrapolate";
    count += curve(cases + count, c, t, extrapolated);
    const bench_case ida = {
        .problem = "planar chain", .n = n, .who = BENCH_IDA, .setting = "tol", .run = rods_ida};
    const double ida_tolerances[] = {1e-4, 1e-5, 1e-6, 1e-7};
    c = ida, c.variant = "GGL", c.data = &ggl;
    count += curve(cases + count, c, b->quick ? 2 : 4, ida_tolerances);
    c.variant = "index 1", c.data = &index1;
    count += curve(cases + count, c, b->quick ? 2 : 4, ida_tolerances);
    const bench_case loop = {.problem = "planar chain",
                             .n = n,
                             .who = BENCH_LOOP,
                             .setting = "h",
                             .run = rods_loop,
                             .iterations = 2,
                             .factorizations = 1};
    c = loop, c.variant = "index 3, KLU", c.mode = 1;
    count += curve(cases + count, c, s, steps);
    c = loop, c.variant = "index 3, tridiagonal";
    count += curve(cases + count, c, s, steps);
    return count;
}

static void claim(bench *b, int first, int count, int n, double error, double asked,
                  const char *how)
{
    double ours[64], theirs[64], other[64];
    const char *variant = "", *peer = "";
    char what[160];
    int k = bench_time_at(b, first, count, BENCH_GALPHA, error, ours, &variant);
    int i = bench_time_at(b, first, count, BENCH_IDA, error, theirs, &peer);
    snprintf(what, sizeof what, "chain N = %d, error %.0e%s: IDA (best variant) / galpha >= %g",
             n, error, how, asked);
    if (!k || !i) {
        bench_claim_add(b, false, false, what, "%s does not reach the error",
                        k ? "IDA" : "galpha");
        return;
    }
    bench_spread r = bench_ratio_of(k < i ? k : i, theirs, ours);
    bench_claim_add(b, true, r.median >= asked, what, "%.2f [%.2f, %.2f], %s against IDA %s",
                    r.median, r.low, r.high, variant, peer);
    /* the form the table of the requirement gives for IDA */
    int ggl_first = first;
    while (b->rows[ggl_first].c.who != BENCH_IDA) ++ggl_first;
    int ggl_count = 0;
    while (b->rows[ggl_first + ggl_count].c.data == &ggl) ++ggl_count;
    i = bench_time_at(b, ggl_first, ggl_count, BENCH_IDA, error, other, &peer);
    snprintf(what, sizeof what, "chain N = %d, error %.0e%s: IDA (GGL) / galpha >= %g", n,
             error, how, asked);
    if (!i) {
        bench_claim_add(b, false, false, what, "IDA GGL does not reach the error");
        return;
    }
    r = bench_ratio_of(k < i ? k : i, other, ours);
    bench_claim_add(b, true, r.median >= asked, what, "%.2f [%.2f, %.2f]", r.median, r.low,
                    r.high);
}

void bench_run_chain(bench *b)
{
    static const int sizes[] = {1000, 10000};
    bench_case cases[64];
    for (int k = 0; k < (b->quick ? 1 : 2); ++k) {
        char title[64];
        const int count = make_cases(b, sizes[k], cases);
        const int all = count + make_threaded_cases(b, sizes[k], cases + count);
        int first = bench_measure(b, "chain", cases, all);
        bench_print(b, first, all);
        snprintf(title, sizeof title, "Planar chain, N = %d", sizes[k]);
        bench_figure_precision(b, first, all, title);
        claim(b, first, count, sizes[k], 2e-4, 8, "");
        claim(b, first, count, sizes[k], 2e-5, 5, "");
        if (all == count) continue;
        claim(b, first, all, sizes[k], 2e-4, 8, ", 2 threads");
        claim(b, first, all, sizes[k], 2e-5, 5, ", 2 threads");
    }
}
