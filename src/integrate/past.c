/* The unknowns of earlier steps, and the first guess for the next one: the polynomial through
 * the last values, extrapolated. The better it is, the fewer iterations: a few more numbers
 * added cost far less than one evaluation of the equations.
 *
 * Which degree is best depends on how smooth the motion is against the step, and on how much
 * round-off there is in accelerations and multipliers, which a polynomial of degree k magnifies
 * by 2^(k+1). So from time to time, when a step is done, its neighbours are tried on it, and
 * the best one serves on.
 *
 * In weighted formulations the unknown a belongs to the time t + Delta_alpha h.
 */
#include "integrate/stepper.h"

#include <math.h>
#include <string.h>

/* Degrees are compared every so many steps, and at each of the first ones. */
enum { COMPARE_EVERY = 4, FIRST_STEPS = 8, FIRST_DEGREE = 2 };
/* Near singular positions, where accelerations change quickly. */
enum { CAUTIOUS_DEGREE = 2 };

/* Weights of the values at `node`[0 .. degree] in their polynomial at t. */
static void weigh(int degree, const double *node, double t, double *weight)
{
    for (int j = 0; j <= degree; ++j) {
        double product = 1;
        for (int i = 0; i <= degree; ++i)
            if (i != j) product *= (t - node[i]) / (node[j] - node[i]);
        weight[j] = product;
    }
}

/* Times of the last values, relative to t_n; those of a are shifted. Returns that of the trial.
 */
static double list_nodes(const ga_stepper *s, int degree, double shift, double *node)
{
    const ga_state *now = &s->now;
    double t = 0, h = now->h;
    for (int k = 0; k <= degree; ++k) {
        node[k] = t + shift * h;
        t -= h;
        h = now->h_old[k < GA_PAST ? k : GA_PAST - 1];
    }
    return s->h * (1 + shift);
}

static int largest_degree(const ga_stepper *s)
{
    if (s->steady) return 0;
    return s->now.steps < GA_PAST ? (int)s->now.steps : GA_PAST;
}

static void prepare(const ga_stepper *s, int degree, double shift, ga_weights *w)
{
    double node[GA_PAST + 1];
    w->degree = degree;
    weigh(degree, node, list_nodes(s, degree, shift, node), w->weight);
}

void ga_past_begin(ga_stepper *s)
{
    ga_past *p = &s->past;
    const int most = largest_degree(s);
    const int wanted = s->now.steps == 0 ? FIRST_DEGREE : s->now.degree;
    int degree = wanted < most ? wanted : most;
    if (ga_regular_weakens(s) && degree > CAUTIOUS_DEGREE) degree = CAUTIOUS_DEGREE;
    /* of these there is one value less */
    const int less = degree < most || most == 0 || s->now.steps > GA_PAST ? degree : degree - 1;
    const double shift = s->method.shift;
    prepare(s, degree, 0, &p->unknowns);
    if (s->form->has_eta || s->form->weighted) prepare(s, less, 0, &p->gaps);
    if (!s->form->weighted) return;
    prepare(s, degree, shift, &p->shifted);
    prepare(s, less, shift, &p->shifted_gaps);
}

void ga_past_extrapolate(const ga_weights *weights, int n, const double *x, double *const *old,
                         double *result)
{
    const int degree = weights->degree;
    const double *w = weights->weight;
    int k = 1;
    if (degree >= 2) { /* three values in one pass */
        const double w0 = w[0], w1 = w[1], w2 = w[2], *x1 = old[0], *x2 = old[1];
        for (int i = 0; i < n; ++i) result[i] = w0 * x[i] + (w1 * x1[i] + w2 * x2[i]);
        k = 3;
    } else {
        for (int i = 0; i < n; ++i) result[i] = w[0] * x[i];
    }
    for (; k <= degree; ++k) {
        const double wk = w[k], *xk = old[k - 1];
        for (int i = 0; i < n; ++i) result[i] += wk * xk[i];
    }
}

/* --- after a step ------------------------------------------------------------------------- */

/* How far the polynomial of this degree would have been off the trial, summed up. */
static double miss(const ga_stepper *s, int degree)
{
    const ga_state *now = &s->now;
    const bool weighted = s->form->weighted;
    const double *is = weighted ? s->a : s->vd, *x = weighted ? now->a : now->vd;
    double *const *old = weighted ? now->a_old : now->vd_old;
    ga_weights w;
    double sum = 0;
    prepare(s, degree, weighted ? s->method.shift : 0, &w);
    for (int i = 0; i < s->nv; ++i) {
        double guess = w.weight[0] * x[i];
        for (int k = 1; k <= degree; ++k) guess += w.weight[k] * old[k - 1][i];
        sum += fabs(is[i] - guess);
    }
    return sum;
}

static void compare_degrees(ga_stepper *s)
{
    ga_state *now = &s->now;
    const int most = largest_degree(s), was = s->past.unknowns.degree;
    double least = INFINITY;
    const int lowest = was > FIRST_DEGREE ? was - 1 : FIRST_DEGREE;
    for (int degree = lowest; degree <= was + 1 && degree <= most; ++degree) {
        const double off = miss(s, degree);
        if (!(off < least)) continue;
        least = off;
        now->degree = degree;
    }
    /* the next step knows a value more */
    if (now->degree == most && most < GA_PAST) ++now->degree;
}

/* The last array becomes the first and gets the values. */
static void push(double **old, const double *values, int n)
{
    double *first = old[GA_PAST - 1];
    for (int k = GA_PAST - 1; k > 0; --k) old[k] = old[k - 1];
    old[0] = first;
    if (n > 0) memcpy(first, values, (size_t)n * sizeof *first);
}

void ga_past_accept(ga_stepper *s)
{
    ga_state *now = &s->now;
    if (now->steps < FIRST_STEPS || now->steps % COMPARE_EVERY == 0) compare_degrees(s);
    push(now->vd_old, now->vd, s->nv);
    push(now->lambda_old, now->lambda, s->mp);
    if (s->form->has_eta) push(now->eta_old, now->eta, s->m);
    if (s->form->weighted) {
        push(now->a_old, now->a, s->nv);
        push(now->a_gap_old, now->a_gap, s->nv);
        push(now->l_gap_old, now->l_gap, s->mp);
    }
    for (int k = GA_PAST - 1; k > 0; --k) now->h_old[k] = now->h_old[k - 1];
    now->h_old[0] = now->h;
}
