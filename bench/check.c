/* A benchmark of wrong results is worth nothing: loops and peers against their references, with
 * errors as large as the method's order or the tolerance explains, and no larger. The
 * references come from elsewhere, see rods.h, squeezer.c, top.c: agreement of a loop, of IDA in
 * two formulations, and of galpha with one reference tests the equations of each. IDA's
 * Jacobians are tested by how many iterations a step takes: wrong ones need many, or fail. */
#include "bench/check.h"
#include "bench/ida.h"
#include "bench/rods.h"
#include "bench/squeezer.h"
#include "bench/top.h"

#include <math.h>
#include <stdio.h>

static const ida_options ggl = {.form = 0, .ordering = 1}, index1 = {.form = 1};

typedef struct expectation {
    bench_case c;
    double least, most; /* error */
    double iterations;  /* at most so many per step */
} expectation;

#define LOOP(name, f, size, h, m)                                                              \
    .c = {.variant = name,                                                                     \
          .run = f,                                                                            \
          .n = size,                                                                           \
          .value = h,                                                                          \
          .mode = m,                                                                           \
          .who = BENCH_LOOP,                                                                   \
          .iterations = 3,                                                                     \
          .factorizations = 1}
#define IDA(name, f, size, tol, form)                                                          \
    .c = {.variant = name, .run = f, .n = size, .value = tol, .data = &form, .who = BENCH_IDA}

/* Errors of the loops are those of the method: 8.72e-5 on the chain at h = 1e-3, 8.30e-5 and
 * 4.75e-4 on the others (4.14e-5 and 2.97e-4 in index 2), as galpha's own at the same steps. */
static const expectation expectations[] = {
    {LOOP("chain, tridiagonal", rods_loop, 1000, 1e-3, 0), .least = 8.7e-5, .most = 8.8e-5},
    {LOOP("chain, KLU", rods_loop, 1000, 1e-3, 1), .least = 8.7e-5, .most = 8.8e-5},
    {LOOP("chain, half the step", rods_loop, 1000, 5e-4, 0), .least = 2.1e-5, .most = 2.3e-5},
    {LOOP("Andrews", squeezer_loop, 0, 1e-5, 0), .least = 8.2e-5, .most = 8.4e-5},
    {LOOP("Andrews, half the step", squeezer_loop, 0, 5e-6, 0), .least = 2e-5, .most = 2.2e-5},
    {LOOP("heavy top", top_loop, 0, 2.5e-4, 0), .least = 4.7e-4, .most = 4.8e-4},
    {LOOP("heavy top, half the step", top_loop, 0, 1.25e-4, 0), .least = 1.1e-4,
     .most = 1.3e-4},
    {LOOP("Andrews, index 2", squeezer_loop_index2, 0, 1e-5, 0), .least = 4.1e-5,
     .most = 4.2e-5},
    {LOOP("Andrews, index 2, half the step", squeezer_loop_index2, 0, 5e-6, 0), .least = 1e-5,
     .most = 1.1e-5},
    {LOOP("heavy top, index 2", top_loop_index2, 0, 2.5e-4, 0), .least = 2.9e-4,
     .most = 3.1e-4},
    {LOOP("heavy top, index 2, half the step", top_loop_index2, 0, 1.25e-4, 0), .least = 7.2e-5,
     .most = 7.6e-5},
    {IDA("chain, GGL", rods_ida, 100, 1e-8, ggl), .most = 1e-6, .iterations = 3.5},
    {IDA("chain, index 1", rods_ida, 100, 1e-8, index1), .most = 1e-6, .iterations = 3.5},
    {IDA("Andrews, GGL", squeezer_ida, 0, 1e-9, ggl), .most = 1e-4, .iterations = 3.5},
    {IDA("Andrews, index 1", squeezer_ida, 0, 1e-9, index1), .most = 1e-4, .iterations = 3.5},
    {IDA("heavy top, GGL", top_ida, 0, 1e-9, ggl), .most = 1e-4, .iterations = 3.5},
    {IDA("heavy top, index 1", top_ida, 0, 1e-9, index1), .most = 1e-4, .iterations = 3.5},
};

int check_run(bench *b)
{
    int wrong = 0;
#ifndef BENCH_HAVE_IDA
    puts("built without SUNDIALS: IDA is not checked");
#endif
    for (int k = 0; k < BENCH_COUNT(expectations); ++k) {
        const expectation *e = expectations + k;
#ifndef BENCH_HAVE_IDA
        if (e->c.who == BENCH_IDA) continue;
#endif
        bench_outcome o = {.error = NAN};
        bool ok = e->c.run(b, &e->c, &o);
        if (!ok) o.error = NAN;
        bool right = ok && o.error >= e->least && o.error <= e->most;
        double iterations = o.steps ? (double)o.iterations / (double)o.steps : 0;
        if (e->iterations > 0 && !(iterations <= e->iterations)) right = false;
        printf("%-5s %-5s %-26s error %.3e, expected %.1e ... %.1e; %.2f iterations per "
               "step%s%s\n",
               right ? "ok" : "WRONG", bench_who_name(e->c.who), e->c.variant, o.error,
               e->least, e->most, iterations, ok ? "" : ": ", ok ? "" : b->failure);
        if (!right) ++wrong;
    }
    return wrong ? 1 : 0;
}
