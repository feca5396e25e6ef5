/* Errors in the direction of the constraints, [ABC14] eqs. (44)-(46) and (59).
 *
 * Where constraints leave no freedom, the errors e_v, e_lambda, e_a of one step to the next
 * obey
 *
 *     0                     = r + (1/2 - beta) e_a + beta e_a'          r = (h e_v + l^q)/h^2
 *     r'                    = r + (1 - gamma) e_a + gamma e_a'
 *     (1 - alpha_f) e_lambda' + alpha_f e_lambda = -(1 - alpha_m) e_a' - alpha_m e_a
 *
 * up to higher order: E' = T_+^-1 T_0 E, with E = (r, e_lambda, e_a). In index 2 the velocity
 * constraint holds, and the first two lines give way to (1 - gamma) e_a + gamma e_a' = 0. If
 * the matrix is far from normal, its powers grow before they decay: 34-fold for rho_inf = 0.9.
 *
 * Variable steps. Between two steps, h -> rho h, the errors are turned into what they are for
 * the new step. l^q = C h^3/6 B v'' with C = 1 - 6 beta - 3 Delta_alpha, and a stands for v' at
 * t_n + Delta_alpha h, so that each change disturbs them:
 *
 *     nothing:  r   := r/rho + (C/6)(rho h - h/rho) B v'',
 *               e_a := e_a + Delta_alpha (rho - 1) h B v''
 *     (14a):    e_a := e_a + Delta_alpha (rho - 1) (e_a - e_a used before),   r as above
 *     rescale:  and r := rho r              reset:  and r := 0
 *
 * For q = t^3/6, [ABC14] example 2, all this is exact.
 */
#include "analysis/spectrum.h"
#include "base/memory.h"
#include "base/report.h"

#include <math.h>

enum { R, LAMBDA, A, A_USED }; /* the last for (14a) only */

static ga_status check_formulation(const ga_coefficients *method, ga_formulation formulation,
                                   ga_report *report)
{
    GA_TRY(ga_coefficients_check(method, report));
    if (formulation == GA_INDEX3 || formulation == GA_INDEX2) return GA_OK;
    return ga_fail(report, GA_ERR_ARGUMENT,
                   "the error recursion is available for index3 and index2 only");
}

/* T_+^-1 T_0, [ABC14] eqs. (46) and (59). */
static ga_small step_matrix(const ga_coefficients *m, ga_formulation formulation)
{
    const double beta = m->beta, gamma = m->gamma;
    ga_small T = {0};
    if (formulation == GA_INDEX3) {
        T.x[A][R] = -1 / beta;
        T.x[A][A] = -(0.5 - beta) / beta;
        T.x[R][R] = 1 + gamma * T.x[A][R];
        T.x[R][A] = 1 - gamma + gamma * T.x[A][A];
    } else {
        T.x[A][A] = -(1 - gamma) / gamma;
    }
    T.x[LAMBDA][R] = -(1 - m->alpha_m) * T.x[A][R] / (1 - m->alpha_f);
    T.x[LAMBDA][LAMBDA] = -m->alpha_f / (1 - m->alpha_f);
    T.x[LAMBDA][A] = -((1 - m->alpha_m) * T.x[A][A] + m->alpha_m) / (1 - m->alpha_f);
    return T;
}

/* --- changes of the step size ------------------------------------------------------------- */

typedef struct disturbance {
    double r, a; /* over h B v'', h the step before */
} disturbance;

static ga_step_change effective(ga_step_change change, ga_formulation formulation)
{
    if (change != GA_CHANGE_AUTO) return change;
    return formulation == GA_INDEX3 ? GA_CHANGE_RESET : GA_CHANGE_ADJUST;
}

static ga_small change_matrix(const ga_coefficients *m, ga_formulation formulation,
                              ga_step_change change, double rho)
{
    const ga_step_change kind = effective(change, formulation);
    const double shift = kind == GA_CHANGE_NONE ? 0 : m->alpha_m - m->alpha_f;
    ga_small X = ga_small_identity();
    if (rho == 1) return X;
    X.x[R][R] = kind == GA_CHANGE_RESET ? 0 : kind == GA_CHANGE_RESCALE ? rho : 1 / rho;
    X.x[A][A] = 1 + shift * (rho - 1);
    X.x[A][A_USED] = -shift * (rho - 1);
    return X;
}

static disturbance change_disturbance(const ga_coefficients *m, ga_formulation formulation,
                                      ga_step_change change, double rho)
{
    const ga_step_change kind = effective(change, formulation);
    const double shift = m->alpha_m - m->alpha_f, C = 1 - 6 * m->beta - 3 * shift;
    disturbance d = {0};
    if (kind == GA_CHANGE_NONE) d.a = shift * (rho - 1);
    if (kind == GA_CHANGE_NONE || kind == GA_CHANGE_ADJUST) d.r = C / 6 * (rho - 1 / rho);
    return d;
}

/* The change, then the step; a as the step used it goes along. */
static ga_small change_and_step(const ga_small *change, const ga_small *step)
{
    ga_small X = ga_small_product(step, change);
    for (int j = 0; j < GA_SMALL; ++j) X.x[A_USED][j] = change->x[A][j];
    return X;
}

ga_status ga_pattern_check(int count, const double *steps, ga_report *report)
{
    if (count < 1)
        return ga_fail(report, GA_ERR_ARGUMENT, "a pattern of steps needs at least one step");
    double least = INFINITY, most = 0;
    for (int k = 0; k < count; ++k) {
        if (!(steps[k] > 0 && isfinite(steps[k])))
            return ga_fail(report, GA_ERR_ARGUMENT, "step %g: must be positive and finite",
                           steps[k]);
        least = fmin(least, steps[k]);
        most = fmax(most, steps[k]);
    }
    if (most / least > 1e6)
        return ga_fail(report, GA_ERR_ARGUMENT, "steps %g and %g are more than a million apart",
                       least, most);
    return GA_OK;
}

double ga_pattern_mean(int count, const double *steps)
{
    double sum = 0;
    for (int k = 0; k < count; ++k) sum += steps[k] / count;
    return sum;
}

static double ratio_before(int count, const double *steps, int k)
{
    return steps[k] / steps[k ? k - 1 : count - 1];
}

/* --- products ----------------------------------------------------------------------------- */

/* What still grows then is called unbounded; up to rho_inf = 1 - 1e-5 it has decayed. */
static const long most_steps = 4000000;

/* What starts as r, e_lambda, e_a or the a used before, seen in r, e_lambda, e_a. */
static ga_small visible(const ga_small *power)
{
    ga_small E = *power;
    for (int j = 0; j < GA_SMALL; ++j) E.x[A_USED][j] = 0;
    return E;
}

static void record(ga_error_growth *g, const ga_small *power, long n)
{
    const ga_small E = visible(power);
    if (!(ga_small_frobenius(&E) <= g->max_norm)) { /* an upper bound, and cheap */
        const double norm = ga_small_norm(&E);
        if (!(norm <= g->max_norm)) {
            g->max_norm = norm;
            g->at_step = n;
        }
    }
    for (int j = 0; j < 3; ++j) g->lambda_row[j] = fmax(g->lambda_row[j], fabs(E.x[LAMBDA][j]));
}

/* The smallest maximum found that is not zero. */
static double least_found(const ga_error_growth *g)
{
    double least = g->max_norm;
    for (int j = 0; j < 3; ++j)
        if (g->lambda_row[j] > 0) least = fmin(least, g->lambda_row[j]);
    return least;
}

/* Every step is looked at until no maximum can change: a later product is one of those already
 * seen, times powers of whole periods, so this is when |period^k| times the largest norm seen
 * is below every maximum. */
static void record_until_decayed(ga_error_growth *g, int count, const ga_small *steps,
                                 long most)
{
    ga_small power = ga_small_identity();
    double largest = 1;
    for (long n = 0; n < most && isfinite(largest);) {
        for (int k = 0; k < count; ++k) {
            power = ga_small_product(&steps[k], &power);
            record(g, &power, ++n);
            largest = fmax(largest, ga_small_frobenius(&power));
        }
        if (ga_small_frobenius(&power) * largest <= least_found(g)) break;
    }
}

/* The product over most_steps steps or somewhat more. */
static ga_small far_product(int count, const ga_small *steps)
{
    ga_small power = ga_small_identity();
    for (int k = 0; k < count; ++k) power = ga_small_product(&steps[k], &power);
    for (long n = count; n < most_steps; n *= 2) power = ga_small_product(&power, &power);
    return visible(&power);
}

/* What does not decay is looked at for some steps, and called unbounded if it is larger far
 * out. */
static void grow(ga_error_growth *g, int count, const ga_small *steps)
{
    const double round_off = 1e-6; /* of so many steps */
    const ga_small far = far_product(count, steps);
    const double norm = ga_small_norm(&far);
    const bool decays = norm < 1;
    record_until_decayed(g, count, steps, decays ? most_steps : 2000);
    if (decays) return;
    for (int j = 0; j < 3; ++j)
        if (!(fabs(far.x[LAMBDA][j]) <= (1 + round_off) * g->lambda_row[j] + round_off))
            g->lambda_row[j] = INFINITY;
    if (!(norm <= (1 + round_off) * g->max_norm)) {
        g->max_norm = INFINITY;
        g->at_step = 0;
    }
}

/* --- what is public ----------------------------------------------------------------------- */

ga_status ga_error_matrix(const ga_coefficients *method, ga_formulation formulation,
                          double matrix[9], ga_report *report)
{
    GA_TRY(check_formulation(method, formulation, report));
    const ga_small T = step_matrix(method, formulation);
    for (int k = 0; k < 9; ++k) matrix[k] = T.x[k / 3][k % 3];
    return ga_fail(report, GA_OK, "%s", "");
}

ga_status ga_error_growth_constant(const ga_coefficients *method, ga_formulation formulation,
                                   ga_error_growth *growth, ga_report *report)
{
    GA_TRY(check_formulation(method, formulation, report));
    const ga_small T = step_matrix(method, formulation);
    *growth = (ga_error_growth){.radius = ga_small_radius(&T)};
    grow(growth, 1, &T);
    return ga_fail(report, GA_OK, "%s", "");
}

double ga_error_run_step(ga_error_run *run)
{
    const ga_coefficients *m = &run->method;
    const double h = run->steps[run->at]; /* the errors are those of this size, up to rho */
    const double rho = run->started ? ratio_before(run->count, run->steps, run->at) : 1;
    const ga_small T = step_matrix(m, run->formulation);
    const ga_small change = change_matrix(m, run->formulation, run->change, rho);
    const disturbance d = change_disturbance(m, run->formulation, run->change, rho);
    double E[GA_SMALL] = {0};
    for (int i = 0; i < GA_SMALL; ++i)
        for (int j = 0; j < GA_SMALL; ++j) E[i] += change.x[i][j] * run->E[j];
    E[R] += h / rho * d.r;
    E[A] += h / rho * d.a;
    for (int i = 0; i < GA_SMALL; ++i) {
        run->E[i] = 0;
        for (int j = 0; j < GA_SMALL; ++j) run->E[i] += T.x[i][j] * E[j];
    }
    run->E[A_USED] = E[A];
    run->at = (run->at + 1) % run->count;
    run->started = true;
    return run->E[LAMBDA];
}

/* The largest |e_lambda| there is: a stable pattern becomes periodic, after some steps the
 * largest stays what it is. Where errors grow without bound, so does what is added to them. */
static double largest_lambda_error(ga_error_run *run, const ga_error_growth *growth)
{
    const double round_off = 1e-9;
    double largest = 0, before = -1;
    long n = 0;
    for (long until = 1000; until <= most_steps && largest > before * (1 + round_off);
         until *= 2) {
        before = largest;
        for (; n < until; ++n) largest = fmax(largest, fabs(ga_error_run_step(run)));
        if (largest > 0 && isinf(growth->max_norm)) return INFINITY;
    }
    return largest / ga_pattern_mean(run->count, run->steps);
}

static void grow_over_pattern(const ga_error_run *run, ga_small *steps, ga_error_growth *growth)
{
    const ga_small T = step_matrix(&run->method, run->formulation);
    ga_small period = ga_small_identity();
    for (int k = 0; k < run->count; ++k) {
        const ga_small change = change_matrix(&run->method, run->formulation, run->change,
                                              ratio_before(run->count, run->steps, k));
        steps[k] = change_and_step(&change, &T);
        period = ga_small_product(&steps[k], &period);
    }
    *growth = (ga_error_growth){.radius = pow(ga_small_radius(&period), 1.0 / run->count)};
    grow(growth, run->count, steps);
}

ga_status ga_error_growth_pattern(const ga_coefficients *method, ga_formulation formulation,
                                  ga_step_change change, int count, const double *steps,
                                  ga_pattern_growth *growth, ga_report *report)
{
    GA_TRY(check_formulation(method, formulation, report));
    GA_TRY(ga_pattern_check(count, steps, report));
    ga_error_run run = {.method = *method,
                        .formulation = formulation,
                        .change = change,
                        .count = count,
                        .steps = steps};
    ga_small *matrices = GA_NEW(ga_small, count);
    if (!matrices) return ga_fail(report, GA_ERR_MEMORY, "out of memory");
    grow_over_pattern(&run, matrices, &growth->errors);
    ga_free(matrices);
    const bool second_order = ga_coefficients_describe(method).second_order;
    growth->lambda_error = second_order ? largest_lambda_error(&run, &growth->errors) : NAN;
    return ga_fail(report, GA_OK, "%s", "");
}
