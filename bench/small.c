/* Experiment: Andrews' squeezer and the heavy top, through callbacks, against loops written for
 * them that take the same number of iterations and factorisations per step; and against IDA for
 * the same error. */
#include "bench/galpha.h"
#include "bench/ida.h"
#include "bench/squeezer.h"
#include "bench/top.h"

#include <math.h>
#include <stdio.h>

static const galpha_callbacks squeezer = {squeezer_create, 0.03, squeezer_error},
                              top = {top_create, 1, top_error};

/* The same as model files. */
static double squeezer_file_error(bench *b, const bench_case *c, int count,
                                  const double *values)
{
    (void)b, (void)c;
    return count == 7 ? squeezer_turned_error(values) : NAN;
}

static double top_file_error(bench *b, const bench_case *c, int count, const double *values)
{
    (void)b, (void)c;
    return count == 7 ? top_error(values) : NAN;
}

static const char *const squeezer_channels[] = {"O.angle",  "F.angle", "B.angle", "G.angle",
                                                "A5.angle", "H.angle", "A7.angle"},
                         *const top_channels[] = {"top.position", "top.rotation"};
static const galpha_file squeezer_file = {.name = "andrews_squeezer.yaml",
                                          .example = true,
                                          .channel_count = BENCH_COUNT(squeezer_channels),
                                          .channels = squeezer_channels,
                                          .error = squeezer_file_error},
                         top_file = {.name = "heavy_top.yaml",
                                     .example = true,
                                     .channel_count = BENCH_COUNT(top_channels),
                                     .channels = top_channels,
                                     .error = top_file_error};
/* Each the best found, see README.md. */
static const ida_options squeezer_forms[2] = {{.form = 0, .newton = 0.1},
                                              {.form = 1, .newton = 0.1}},
                         top_forms[2] = {{.form = 0, .newton = 0.1}, {.form = 1, .newton = 1}};

/* By half digits: where the error of one run is small by accident, others are near. */
enum { TOLERANCES = 13, IDA_TOLERANCES = 17 };

static const struct small {
    const char *name;
    const galpha_callbacks *callbacks;
    const galpha_file *file;
    bench_function *loop[2], *ida; /* the loop in index 3 and 2 */
    const ida_options *forms;
    double h;      /* for costs of steps */
    double newton; /* tolerances of Newton's method to compare at */
    double steps[5], tolerances[TOLERANCES], ida_tolerances[IDA_TOLERANCES];
} problems[] = {
    {"Andrews",
     &squeezer,
     &squeezer_file,
     {squeezer_loop, squeezer_loop_index2},
     squeezer_ida,
     squeezer_forms,
     1e-5,
     1e-9,
     {4e-5, 2e-5, 1e-5, 5e-6, 2.5e-6},
     {1e-2, 3e-3, 1e-3, 3e-4, 1e-4, 3e-5, 1e-5, 3e-6, 1e-6, 3e-7, 1e-7, 3e-8, 1e-8},
     {1e-5, 3e-6, 1e-6, 3e-7, 1e-7, 3e-8, 1e-8, 3e-9, 1e-9, 3e-10, 1e-10, 3e-11, 1e-11, 3e-12,
      1e-12, 3e-13, 1e-13}},
    {"heavy top",
     &top,
     &top_file,
     {top_loop, top_loop_index2},
     top_ida,
     top_forms,
     2.5e-4,
     1e-9,
     {1e-3, 5e-4, 2.5e-4, 1.25e-4, 6.25e-5},
     {1e-2, 3e-3, 1e-3, 3e-4, 1e-4, 3e-5, 1e-5, 3e-6, 1e-6, 3e-7, 1e-7, 3e-8, 1e-8},
     {1e-5, 3e-6, 1e-6, 3e-7, 1e-7, 3e-8, 1e-8, 3e-9, 1e-9, 3e-10, 1e-10, 3e-11, 1e-11, 3e-12,
      1e-12, 3e-13, 1e-13}},
};

/* galpha factors when it must, the loop at regular intervals: where it then does not converge,
 * it gets more factorisations. */
static void keep_converging(bench *b, bench_case *c, double error)
{
    for (int k = 0; k < 6 && c->factorizations < 1; ++k) {
        bench_outcome o = {0};
        if (c->run(b, c, &o) && o.error <= 3 * error) return;
        c->factorizations = fmin(1, 2 * c->factorizations);
    }
}

/* One run tells iterations and factorisations per step; the loop then takes as many. */
static void compare_steps(bench *b, const struct small *p)
{
    const bench_case ours = {.problem = p->name,
                             .who = BENCH_GALPHA,
                             .setting = "h",
                             .value = p->h,
                             .run = galpha_run_callbacks,
                             .data = p->callbacks};
    bench_case cases[6];
    static const char *const names[3][2] = {
        {"index 3", "as index 3"},
        {"index 3, Newton 1e-9", "as index 3, Newton 1e-9"},
        {"index 2", "as index 2"},
    };
    int count = 0;
    for (int k = 0; k < 3; ++k) {
        bench_case c = ours;
        bench_outcome o = {0};
        c.variant = names[k][0];
        c.mode = k == 2 ? GALPHA_INDEX2 : GALPHA_INDEX3;
        c.newton = k == 1 ? p->newton : 0;
        if (!c.run(b, &c, &o)) continue;
        cases[count++] = c;
        c.who = BENCH_LOOP;
        c.variant = names[k][1];
        c.run = p->loop[k == 2];
        c.iterations = (double)o.iterations / (double)o.steps;
        c.factorizations = (double)o.factorizations / (double)o.steps;
        keep_converging(b, &c, o.error);
        cases[count++] = c;
    }
    int first = bench_measure(b, "small", cases, count);
    bench_print(b, first, count);
    for (int k = first; k + 1 < first + count; k += 2) {
        char what[160];
        bench_spread r = bench_ratio(b, k, k + 1);
        const bench_row *row = b->rows + k;
        snprintf(what, sizeof what, "%s, %s: galpha / loop per step at equal iterations <= 1.3",
                 p->name, row->c.variant);
        bench_claim_add(b, row->ok, r.median <= 1.3, what,
                        "%.2f [%.2f, %.2f], %.2f us per step, %.2f iterations", r.median, r.low,
                        r.high, 1e6 * bench_median(row) / (double)row->outcome.steps,
                        (double)row->outcome.iterations / (double)row->outcome.steps);
    }
}

static int curve(bench_case *to, bench_case first, int count, const double *values)
{
    for (int k = 0; k < count; ++k) {
        to[k] = first;
        to[k].value = values[k];
    }
    return count;
}

/* Curves of times against errors that are compared with the best of IDA: the first of `count`
 * rows, how small the errors, and the goal for the ratio. */
struct rival {
    int first, count;
    double least, goal;
};

/* At every error from 1e-3 on. */
static void claim_ratios(bench *b, const struct small *p, const struct rival *r, int ida,
                         int ida_count)
{
    const char *name = b->rows[r->first].c.variant;
    for (double error = 1e-3; error > 0.9 * r->least; error /= 10) {
        double ours[64], theirs[64];
        const char *variant, *peer = "";
        char what[160];
        const int n =
            bench_time_near(b, r->first, r->count, BENCH_GALPHA, error, ours, &variant);
        const int i = bench_time_near(b, ida, ida_count, BENCH_IDA, error, theirs, &peer);
        snprintf(what, sizeof what, "%s, error %.0e, %s: galpha / best IDA variant <= %g",
                 p->name, error, name, r->goal);
        if (!n || !i) {
            bench_claim_add(b, false, false, what, "%s does not get there",
                            n ? "IDA" : "galpha");
            continue;
        }
        bench_spread ratio = bench_ratio_of(n < i ? n : i, ours, theirs);
        bench_claim_add(b, true, ratio.median <= r->goal, what, "%.2f [%.2f, %.2f], IDA %s",
                        ratio.median, ratio.low, ratio.high, peer);
    }
}

static void compare_errors(bench *b, const struct small *p)
{
    const int s = b->quick ? 4 : 5, t = b->quick ? 5 : TOLERANCES;
    enum { FIXED = GALPHA_SOI2 - GALPHA_INDEX3 + 1, CURVES = 7 };
    bench_case cases[5 * FIXED + CURVES * TOLERANCES + 2 * IDA_TOLERANCES],
        c = {.problem = p->name,
             .who = BENCH_GALPHA,
             .setting = "h",
             .run = galpha_run_callbacks,
             .data = p->callbacks};
    int count = 0;
    for (int mode = GALPHA_INDEX3; mode <= GALPHA_SOI2; ++mode) {
        c.mode = mode, c.variant = galpha_mode_name(mode);
        count += curve(cases + count, c, s, p->steps);
    }
    c.setting = "tol";
    /* second and third order are not asked for more than five digits */
    static const struct {
        int mode;
        bool file;
        const char *variant;
        double least, goal;
    } curves[CURVES] = {{GALPHA_ADAPTIVE, false, "adaptive", 1e-5, 1},
                        {GALPHA_EXTRAPOLATE, false, "extrapolate", 1e-6, 1},
                        {GALPHA_EXPLICIT, false, "explicit", 1e-9, 0.25},
                        {GALPHA_EXPLICIT, true, "explicit, model file", 1e-9, 0.5},
                        {GALPHA_AUTO, true, "auto, model file", 1e-9, 0.5},
                        {GALPHA_SECOND_ORDER, false, "adaptive, second order", 1, 1},
                        {GALPHA_RADAU, false, "radau", 1, 1}};
    struct rival rivals[CURVES];
    for (int k = 0; k < CURVES; ++k) {
        c.mode = curves[k].mode, c.variant = curves[k].variant;
        c.run = curves[k].file ? galpha_run_file : galpha_run_callbacks;
        c.data = curves[k].file ? (const void *)p->file : p->callbacks;
        const int own = galpha_has_mode(c.mode) ? t : 0;
        rivals[k] = (struct rival){count, own, curves[k].least, curves[k].goal};
        count += curve(cases + count, c, own, p->tolerances);
    }
    const int galphas = count;
    c.who = BENCH_IDA, c.run = p->ida;
    c.data = p->forms, c.variant = "GGL";
    count += curve(cases + count, c, IDA_TOLERANCES, p->ida_tolerances);
    c.data = p->forms + 1, c.variant = "index 1";
    count += curve(cases + count, c, IDA_TOLERANCES, p->ida_tolerances);
    const int first = bench_measure(b, "small", cases, count);
    bench_print(b, first, count);
    bench_figure_precision(b, first, count, p->name);
    for (int k = 0; k < CURVES; ++k) {
        rivals[k].first += first;
        if (rivals[k].count) claim_ratios(b, p, &rivals[k], first + galphas, count - galphas);
    }
}

void bench_run_small(bench *b)
{
    for (int k = 0; k < BENCH_COUNT(problems); ++k) {
        compare_steps(b, problems + k);
        compare_errors(b, problems + k);
    }
}
