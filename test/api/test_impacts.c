/* Three sliders in a chain, all at their stops, struck at once: Newton's law of impact, and no
 * energy from impulses.
 *
 * With coordinates s_i along unit vectors a_i, each body at the sum of those before it, the
 * mass matrix is M_ij = a_i.a_j (sum of the masses from max(i, j) on). Rates of the gaps are
 * r_i = n_i s_i', n_i = +-1, and impulses P change them by D P, D_ij = n_i n_j (M^-1)_ij. The
 * law: P >= 0, w = r + D P - e max(-r, 0) >= 0, P w = 0, solved here by trying all sets of
 * contacts with P > 0. The impulses do the work P.r + P.D P/2. Where that is positive they are
 * blended with those without restitution, so that it is zero; found here by bisection. */
#include "test/random/dice.h"
#include "test/support/unit.h"

#include <galpha/sim.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* The sanitizers take ten times as long, and look for something else. */
#if defined(__SANITIZE_ADDRESS__)
enum { N = 3, CASES = 60 };
#else
enum { N = 3, CASES = 600 };
#endif

typedef struct chain {
    double mass[N], angle[N], rate[N], e[N];
    int side[N]; /* of the stop: 1 is at min */
} chain;

static chain draw(uint64_t seed)
{
    dice die = {seed * 104729 + 5}, *d = &die;
    chain c;
    for (int i = 0; i < N; ++i) {
        c.mass[i] = decades(d, 0.01, 100);
        c.angle[i] = between(d, 0, 6.28);
        c.e[i] = uniform(d) < 0.3 ? 0 : between(d, 0, 1);
        c.side[i] = uniform(d) < 0.5 ? 1 : -1;
        /* towards the stop; or so slowly away that there is still contact */
        c.rate[i] = c.side[i] * (uniform(d) < 0.7 ? -between(d, 0.5, 1) : between(d, 0, 0.2));
    }
    return c;
}

/* --- independent computation -------------------------------------------------------------- */

/* Gaussian elimination of the rows and columns in the set; x is 0 elsewhere. */
static void solve(double A[N][N], const double *b, unsigned set, double *x)
{
    double T[N][N + 1];
    for (int i = 0; i < N; ++i) {
        const bool in = set >> i & 1;
        for (int j = 0; j < N; ++j) T[i][j] = in && set >> j & 1 ? A[i][j] : i == j;
        T[i][N] = in ? b[i] : 0;
    }
    for (int k = 0; k < N; ++k)
        for (int i = 0; i < N; ++i) {
            const double factor = T[i][k] / T[k][k];
            for (int j = k; i != k && j <= N; ++j) T[i][j] -= factor * T[k][j];
        }
    for (int i = 0; i < N; ++i) x[i] = T[i][N] / T[i][i];
}

static void compliance(const chain *c, double D[N][N])
{
    double M[N][N];
    for (int i = 0; i < N; ++i)
        for (int j = 0; j < N; ++j) {
            M[i][j] = 0;
            for (int k = i > j ? i : j; k < N; ++k)
                M[i][j] += c->mass[k] * cos(c->angle[i] - c->angle[j]);
        }
    for (int j = 0; j < N; ++j) {
        double unit[N] = {0}, x[N];
        unit[j] = 1;
        solve(M, unit, (1u << N) - 1, x);
        for (int i = 0; i < N; ++i) D[i][j] = c->side[i] * c->side[j] * x[i];
    }
}

static double product(double D[N][N], const double *P, int i)
{
    double sum = 0;
    for (int j = 0; j < N; ++j) sum += D[i][j] * P[j];
    return sum;
}

static double work(double D[N][N], const double *r, const double *P)
{
    double sum = 0;
    for (int i = 0; i < N; ++i) sum += P[i] * (r[i] + 0.5 * product(D, P, i));
    return sum;
}

static void complement(double D[N][N], const double *r, const double *target, double *P)
{
    double best = INFINITY;
    for (unsigned set = 0; set < 1u << N; ++set) {
        double b[N], x[N], violation = 0;
        for (int i = 0; i < N; ++i) b[i] = target[i] - r[i];
        solve(D, b, set, x);
        for (int i = 0; i < N; ++i) {
            violation = fmax(violation, -x[i] * sqrt(D[i][i]));
            violation = fmax(violation, (b[i] - product(D, x, i)) / sqrt(D[i][i]));
        }
        if (!(violation < best)) continue;
        best = violation;
        memcpy(P, x, sizeof x);
    }
}

/* s' behind the impact; true: Newton's law alone would have added energy. */
static bool expect(const chain *c, double *rate)
{
    double D[N][N], r[N], target[N], none[N] = {0}, P[N], P0[N];
    compliance(c, D);
    for (int i = 0; i < N; ++i) {
        r[i] = c->side[i] * c->rate[i];
        target[i] = c->e[i] * fmax(-r[i], 0);
    }
    complement(D, r, target, P);
    complement(D, r, none, P0);
    const bool gains = work(D, r, P) > 1e-9;
    double low = 0, high = 1;
    for (int k = 0; k < 60 && gains; ++k) {
        const double middle = 0.5 * (low + high);
        double mixed[N];
        for (int i = 0; i < N; ++i) mixed[i] = middle * P[i] + (1 - middle) * P0[i];
        *(work(D, r, mixed) > 0 ? &high : &low) = middle;
    }
    if (!gains) low = 1;
    for (int i = 0; i < N; ++i) P[i] = low * P[i] + (1 - low) * P0[i];
    for (int i = 0; i < N; ++i) rate[i] = c->side[i] * (r[i] + product(D, P, i));
    return gains;
}

/* --- the simulation ------------------------------------------------------------------------
 */

static ga_eval note(void *user, const ga_sim *sim)
{
    memcpy(user, ga_sim_values(sim), N * sizeof(double));
    return GA_EVAL_OK;
}

/* Where the chain is, and how it is integrated. At the origin all coordinates are zero: there
 * is no length to compare a gap with but what the bodies move in a step. */
typedef struct setting {
    double at;
    const char *simulate;
} setting;

static const setting settings[] = {
    {1, "{t_end: 1, step: 0.5}"},
    {0, "{t_end: 1, step: 0.5}"},
    {0, "{t_end: 1e-6, tolerance: 1e-6}"},
    {0, "{t_end: 1e4, tolerance: 1e-3, formulation: index3}"},
    {1e-25, "{t_end: 1, step: 0.01, formulation: hht-i3}"},
};

/* s' at the end; the energy then, over that at the start. */
static double simulate(const chain *c, const setting *set, double *rate)
{
    char text[4000], *to = text;
    double velocity[2] = {0, 0};
    to += sprintf(to, "galpha: 1\ndimension: 2\nbodies:\n");
    for (int i = 0; i < N; ++i) {
        velocity[0] += c->rate[i] * cos(c->angle[i]);
        velocity[1] += c->rate[i] * sin(c->angle[i]);
        to += sprintf(
            to,
            "  b%d: {mass: %.17g, inertia: 1, position: [%g, %g], velocity: [%.17g, %.17g]}\n",
            i, c->mass[i], set->at, set->at, velocity[0], velocity[1]);
    }
    to += sprintf(to, "joints:\n");
    for (int i = 0; i < N; ++i) {
        to += sprintf(to, "  j%d: {type: prismatic, between: [", i);
        to += i ? sprintf(to, "b%d", i - 1) : sprintf(to, "ground");
        to +=
            sprintf(to,
                    ", b%d], at: [%g, %g], axis: [%.17g, %.17g], limits: {%s: 0, restitution: "
                    "%.17g}}\n",
                    i, set->at, set->at, cos(c->angle[i]), sin(c->angle[i]),
                    c->side[i] > 0 ? "min" : "max", c->e[i]);
    }
    sprintf(to, "simulate: %s\noutput: {channels: [j0.rate, j1.rate, j2.rate]}\n",
            set->simulate);
    ga_model *model = NULL;
    ga_messages *messages = ga_messages_create();
    if (ga_model_parse("chain", text, strlen(text), NULL, &model, messages))
        fail_msg("%s\n%s", ga_messages_get(messages, 0).text, text);
    ga_messages_destroy(messages);
    ga_sim_def def = ga_sim_def_of(model);
    ga_sim *sim = NULL;
    ga_report report = {0};
    def.output = note;
    def.user = rate;
    assert_int_equal(ga_sim_create(model, &def, &sim, NULL, &report), GA_OK);
    if (ga_sim_run(sim, &report)) fail_msg("%s\n%s", report.message, text);
    const ga_sim_summary summary = ga_sim_get_summary(sim);
    ga_sim_destroy(sim);
    ga_model_destroy(model);
    return summary.final.kinetic / summary.initial.kinetic;
}

/* Cases that went wrong; *gains: those to which Newton's law alone would add energy. */
static int compare(const setting *set, int cases, int *gains)
{
    int wrong = 0;
    for (int k = 1; k <= cases; ++k) {
        const chain c = draw((uint64_t)k);
        double expected[N], rate[N], error = 0;
        const bool gain = expect(&c, expected);
        *gains += gain;
        const double energy = simulate(&c, set, rate);
        for (int i = 0; i < N; ++i) error = fmax(error, fabs(rate[i] - expected[i]));
        if (error < 1e-8 && energy < 1 + 1e-9) continue;
        ++wrong;
        print_message("chain %d at %g, %s%s: energy %.9g of that before; rates %.6g %.6g %.6g, "
                      "expected %.6g %.6g %.6g\n",
                      k, set->at, set->simulate,
                      gain ? ", which Newton's law alone would speed up" : "", energy, rate[0],
                      rate[1], rate[2], expected[0], expected[1], expected[2]);
    }
    return wrong;
}

static void impulses_do_no_work(void **state)
{
    (void)state;
    int gains = 0;
    assert_int_equal(compare(settings, CASES, &gains), 0);
    if (getenv("TEST_VERBOSE")) print_message("%d of %d would gain energy\n", gains, CASES);
    assert_true(gains > CASES / 120); /* else the test tests nothing */
}

static void at_the_origin(void **state)
{
    (void)state;
    int gains = 0, wrong = 0;
    for (size_t k = 1; k < sizeof settings / sizeof *settings; ++k)
        wrong += compare(settings + k, CASES / 4, &gains);
    assert_int_equal(wrong, 0);
}

/* A carriage driven at 1 m/s hits a block of 2 kg at rest, e = 0.5: at t = 0.1 s the block gets
 * 1.5 m/s, at the other stop, at 0.5 s, 0.75 m/s. The motion holds its speed by impulses, whose
 * work is that of the contacts, 0.5 2 (0.5^2 - 1 + 0.25^2 - 0.5^2) J, and the kinetic energy.
 */
static void motions_do_work_at_impacts(void **state)
{
    (void)state;
    static const char text[] =
        "galpha: 1\n"
        "dimension: 2\n"
        "bodies:\n"
        "  carriage: {mass: 3, inertia: 1, velocity: [1, 0]}\n"
        "  block: {mass: 2, inertia: 1}\n"
        "joints:\n"
        "  rail: {type: prismatic, between: [ground, carriage], axis: [1, 0]}\n"
        "  slot: {type: prismatic, between: [carriage, block], axis: [1, 0],\n"
        "         limits: {min: -0.1, max: 0.1, restitution: 0.5}}\n"
        "motions: {motor: {joint: rail, velocity: 1}}\n"
        "simulate: {t_end: 0.6}\n";
    ga_model *model = NULL;
    ga_sim *sim = NULL;
    ga_report report;
    assert_int_equal(ga_model_parse("driven", text, strlen(text), NULL, &model, NULL), GA_OK);
    assert_int_equal(ga_sim_create(model, NULL, &sim, NULL, &report), GA_OK);
    assert_int_equal(ga_sim_run(sim, &report), GA_OK);
    const ga_sim_summary s = ga_sim_get_summary(sim);
    assert_true(fabs(s.final.kinetic - (1.5 + 0.75 * 0.75)) < 1e-9);
    assert_true(fabs(s.final.dissipated - (0.9375)) < 1e-9);
    assert_true(fabs(s.final.work - (1.5)) < 1e-9);
    assert_true(s.energy_drift_max < 1e-9);
    assert_null(ga_sim_get_warning(sim, 0).code);
    ga_sim_destroy(sim);
    ga_model_destroy(model);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(impulses_do_no_work),
                                       cmocka_unit_test(at_the_origin),
                                       cmocka_unit_test(motions_do_work_at_impacts)};
    return cmocka_run_group_tests_name("impacts", tests, NULL, NULL);
}
