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
    w->sum = 1;
    weigh(degree, node, list_nodes(s, degree, shift, node), w->weight);
}

/* For what is proportional to the square of the step. */
static void rescale(const ga_stepper *s, ga_weights *w)
{
    const ga_state *now = &s->now;
    w->sum = 0;
    for (int k = 0; k <= w->degree; ++k) {
        double ratio = now->steps ? s->h / (k ? now->h_old[k - 1] : now->h) : 1;
        w->weight[k] *= ratio * ratio;
        w->sum += w->weight[k];
    }
}

static int smaller(int i, int k) { return i < k ? i : k; }

/* The largest degree for what a start does not know. */
static int values_less(const ga_stepper *s)
{
    const int most = largest_degree(s);
    return s->now.steps > GA_PAST || most == 0 ? most : most - 1;
}

void ga_past_begin(ga_stepper *s)
{
    ga_past *p = &s->past;
    const ga_state *now = &s->now;
    const int most = largest_degree(s);
    int degree = smaller(now->steps == 0 ? FIRST_DEGREE : now->degree, most);
    if (ga_regular_weakens(s)) degree = smaller(degree, CAUTIOUS_DEGREE);
    prepare(s, degree, 0, &p->unknowns);
    if (!s->form->has_eta && !s->form->weighted) return;
    const int wanted = s->form->weighted ? degree : now->gap_degree;
    const int gaps = smaller(wanted, values_less(s));
    prepare(s, gaps, 0, &p->gaps);
    if (s->form->has_eta) rescale(s, &p->gaps);
    if (!s->form->weighted) return;
    prepare(s, degree, s->method.shift, &p->shifted);
    prepare(s, gaps, s->method.shift, &p->shifted_gaps);
}

/* Differences to the last value: what is constant stays so exactly. */
void ga_past_extrapolate(const ga_weights *weights, int n, const double *x, double *const *old,
                         double *result)
{
    const int degree = weights->degree;
    const double *w = weights->weight, sum = weights->sum;
    int k = 1;
    if (degree >= 2) { /* three values in one pass */
        const double w1 = w[1], w2 = w[2], *x1 = old[0], *x2 = old[1];
        for (int i = 0; i < n; ++i)
            result[i] = sum * x[i] + (w1 * (x1[i] - x[i]) + w2 * (x2[i] - x[i]));
        k = 3;
    } else {
        for (int i = 0; i < n; ++i) result[i] = sum * x[i];
    }
    for (; k <= degree; ++k) {
        const double wk = w[k], *xk = old[k - 1];
        for (int i = 0; i < n; ++i) result[i] += wk * (xk[i] - x[i]);
    }
}

/* --- after a step ------------------------------------------------------------------------- */

/* A quantity of the trial, its last accepted value, and those before. */
typedef struct series {
    int n;
    const double *is, *x;
    double *const *old;
    double shift;
    bool squared; /* proportional to the square of the step */
} series;

/* How far the polynomial of this degree would have been off the trial, summed up. */
static double miss(const ga_stepper *s, const series *of, int degree)
{
    ga_weights w;
    double sum = 0;
    prepare(s, degree, of->shift, &w);
    if (of->squared) rescale(s, &w);
    for (int i = 0; i < of->n; ++i) {
        double guess = w.sum * of->x[i];
        for (int k = 1; k <= degree; ++k) guess += w.weight[k] * (of->old[k - 1][i] - of->x[i]);
        sum += fabs(of->is[i] - guess);
    }
    return sum;
}

/* The best degree among the one that served and its neighbours. */
static int compare(const ga_stepper *s, const series *of, int served, int lowest, int most)
{
    int best = served, from = served > lowest ? served - 1 : lowest;
    double least = INFINITY;
    for (int degree = from; degree <= served + 1 && degree <= most; ++degree) {
        const double off = miss(s, of, degree);
        if (!(off < least)) continue;
        least = off;
        best = degree;
    }
    return best == most && most < GA_PAST ? best + 1 : best; /* the next knows a value more */
}

static void compare_degrees(ga_stepper *s)
{
    ga_state *now = &s->now;
    const bool weighted = s->form->weighted;
    const int most = largest_degree(s);
    const series unknowns = {s->nv,
                             weighted ? s->a : s->vd,
                             weighted ? now->a : now->vd,
                             weighted ? now->a_old : now->vd_old,
                             weighted ? s->method.shift : 0,
                             false};
    now->degree = compare(s, &unknowns, s->past.unknowns.degree, FIRST_DEGREE, most);
    if (!s->form->has_eta || now->steps == 0) return;
    const series eta = {s->m, s->eta, now->eta, now->eta_old, 0, true};
    now->gap_degree = compare(s, &eta, s->past.gaps.degree, 0, values_less(s));
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
