/* Experiment: what one accepted step costs, everything included, against one klu_refactor and
 * one klu_solve of that model's step matrix. */
#include "bench/galpha.h"
#include "bench/matrix.h"

#include <math.h>
#include <stdio.h>

static const galpha_file files[] = {
    {.name = "chain_planar.yaml", .parameter = "N", .t_end = 0.25},
    {.name = "chain_spherical.yaml", .parameter = "N", .t_end = 0.25},
    {.name = "chain_revolute.yaml", .parameter = "N", .t_end = 0.25},
    {.name = "n_four_bar.yaml", .example = true, .parameter = "N", .t_end = 0.5},
};

static const struct {
    const char *problem;
    int file, n;
    double h, tolerance;
} models[] = {
    {"planar chain", 0, 1000, 1e-3, 1e-4},     {"planar chain", 0, 10000, 1e-3, 1e-4},
    {"chain, spherical", 1, 1000, 1e-3, 1e-4}, {"chain, spherical", 1, 10000, 1e-3, 1e-4},
    {"chain, revolute", 2, 1000, 1e-3, 1e-4},  {"chain, revolute", 2, 10000, 1e-3, 1e-4},
    {"N-four-bar", 3, 400, 2e-3, 1e-4},
};

static bench_spread cost(const bench *b, int row, int klu)
{
    bench_spread r = bench_ratio(b, row, klu);
    double steps = (double)b->rows[row].outcome.steps;
    return (bench_spread){r.low / steps, r.median / steps, r.high / steps};
}

static void claim(bench *b, int first, int count, const char *problem, int n)
{
    bench_spread best = {INFINITY, INFINITY, INFINITY};
    const char *variant = "";
    char what[160];
    for (int k = first + 1; k < first + count; ++k) {
        if (!b->rows[k].ok || !b->rows[first].ok) continue;
        bench_spread r = cost(b, k, first);
        const bench_outcome *o = &b->rows[k].outcome;
        bench_note(b,
                   "%s, n = %d, %s: a step costs %.2f [%.2f, %.2f] times klu_refactor + "
                   "klu_solve (%.3g us), %.2f iterations and %.2f factorisations per step",
                   problem, n, b->rows[k].c.variant, r.median, r.low, r.high,
                   1e6 * bench_median(b->rows + first),
                   (double)o->iterations / (double)o->steps,
                   (double)o->factorizations / (double)o->steps);
        if (r.median < best.median) {
            best = r;
            variant = b->rows[k].c.variant;
        }
    }
    snprintf(what, sizeof what, "%s n = %d: one step / (klu_refactor + klu_solve) <= 1.0",
             problem, n);
    bench_claim_add(b, isfinite(best.median), best.median <= 1, what, "%.2f [%.2f, %.2f], %s",
                    best.median, best.low, best.high, variant);
}

void bench_run_step(bench *b)
{
    for (int i = 0; i < BENCH_COUNT(models); ++i) {
        const int n = models[i].n;
        if (b->quick && n > 1000) continue;
        const bench_case ours = {.problem = models[i].problem,
                                 .n = n,
                                 .who = BENCH_GALPHA,
                                 .setting = "h",
                                 .value = models[i].h,
                                 .run = galpha_run_file,
                                 .data = files + models[i].file};
        bench_case cases[6] = {ours, ours, ours, ours, ours, ours};
        cases[0].who = BENCH_KLU, cases[0].variant = "refactor + solve";
        cases[0].run = matrix_refactor_solve;
        cases[1].mode = GALPHA_INDEX3, cases[1].variant = "index 3";
        cases[2].mode = GALPHA_INDEX2, cases[2].variant = "index 2";
        cases[3].mode = GALPHA_INDEX3, cases[3].variant = "index 3, Newton 1e-5";
        cases[4].mode = GALPHA_INDEX2, cases[4].variant = "index 2, Newton 1e-6";
        cases[3].newton = 1e-5, cases[4].newton = 1e-6;
        cases[5].mode = GALPHA_ADAPTIVE, cases[5].variant = "adaptive";
        cases[5].setting = "tol", cases[5].value = models[i].tolerance;
        const int count = b->quick ? 5 : 6;
        int first = bench_measure(b, "step", cases, count);
        bench_print(b, first, count);
        claim(b, first, count, models[i].problem, n);
        matrix_forget();
    }
}
