/* Solution by the block solver: the right-hand side is gathered in the order of elimination,
 * goes from the leaves to the roots and back through all fronts, and is scattered again. */
#include "la/block/block.h"

typedef ga_fronts solver;
typedef ga_front front;
typedef ga_fronts_part part;

/* What a solution does with one front of a part. */
typedef void visit(const solver *s, const part *p, const front *f);

static void forward(const solver *s, const part *p, const front *f)
{
    double *restrict y = s->y, *restrict z = p->z, *own = y + f->first;
    const int *others = s->others + f->others;
    if (f->swapped) ga_front_swap(f->k, s->swap + f->first, own);
    s->kernels->forward(f->k, f->m, s->factors + f->forth, own, z);
    for (int k = f->k; k < f->m; ++k) y[others[k - f->k]] += z[k];
}

static void backward(const solver *s, const part *p, const front *f)
{
    double *restrict y = s->y, *restrict x = p->z;
    const int *others = s->others + f->others, r = f->m - f->k;
    for (int k = 0; k < r; ++k) x[k] = y[others[k]];
    s->kernels->backward(f->k, f->m, s->factors + f->back, x, y + f->first);
}

static void forward_transposed(const solver *s, const part *p, const front *f)
{
    double *x = p->z, *y = s->y;
    const int *others = s->others + f->others, r = f->m - f->k;
    for (int k = 0; k < r; ++k) x[k] = 0;
    ga_front_forward_transposed(f->k, f->m, s->factors + f->back, x, y + f->first);
    for (int k = 0; k < r; ++k) y[others[k]] += x[k];
}

static void backward_transposed(const solver *s, const part *p, const front *f)
{
    double *x = p->z, *y = s->y, *own = y + f->first;
    const int *others = s->others + f->others;
    for (int k = 0; k < f->m - f->k; ++k) x[k] = y[others[k]];
    ga_front_backward_transposed(f->k, f->m, s->factors + f->forth, x, own);
    if (f->swapped) ga_front_swap_back(f->k, s->swap + f->first, own);
}

/* A way through all fronts: to the roots, or back to the leaves. */
typedef struct way {
    const solver *solver;
    visit *visit;
    bool to_roots;
} way;

static void visit_front(const way *w, const part *p, int k)
{
    const int i = w->to_roots ? p->from + k : p->end - 1 - k;
    w->visit(w->solver, p, &w->solver->front[i]);
}

/* The fronts of part p, and of part q (may be null) in turn: in a chain each front waits for
 * the one before it, and meanwhile the processor works on the other part. */
static void go_through(const way *w, const part *p, const part *q)
{
    const int first = p->end - p->from, second = q ? q->end - q->from : 0;
    for (int k = 0; k < first || k < second; ++k) {
        if (k < first) visit_front(w, p, k);
        if (k < second) visit_front(w, q, k);
    }
}

static void go_through_part(void *data, int number)
{
    const way *w = data;
    go_through(w, &w->solver->part[number], NULL);
}

/* The factors of large systems come from memory, which is read faster one part after another.
 */
static void go_through_parts(way *w)
{
    const solver *s = w->solver;
    if (s->n >= GA_THREADS_FROM_UNKNOWNS)
        ga_pool_run(s->pool, s->parts, go_through_part, w);
    else
        for (int p = 0; p < s->parts; p += 2)
            go_through(w, &s->part[p], p + 1 < s->parts ? &s->part[p + 1] : NULL);
}

/* Fronts from .. end-1 above the parts. */
static void go_above(const way *w, int from, int end)
{
    part above = w->solver->part[w->solver->parts];
    above.from = from, above.end = end;
    go_through(w, &above, NULL);
}

/* Parts add to slots what belongs to unknowns above them. */
static void solve_ordered(const solver *s, visit *to_roots, visit *to_leaves)
{
    way up = {s, to_roots, true}, down = {s, to_leaves, false};
    double *y = s->y, *slot = s->y + s->n;
    for (int k = 0; k < s->slots; ++k) slot[k] = 0;
    go_through_parts(&up);
    for (int k = 0; k < s->slots; ++k) y[s->above[k]] += slot[k];
    for (int p = 0, from = 0; p <= s->parts; from = s->part[p++].end)
        go_above(&up, from, s->part[p].from);
    for (int p = s->parts; p >= 0; --p)
        go_above(&down, p > 0 ? s->part[p - 1].end : 0, s->part[p].from);
    for (int k = 0; k < s->slots; ++k) slot[k] = y[s->above[k]];
    go_through_parts(&down);
}

void ga_fronts_solve(ga_fronts *s, double *x)
{
    for (int i = 0; i < s->n; ++i) s->y[i] = x[s->row[i]];
    solve_ordered(s, forward, backward);
    for (int i = 0; i < s->n; ++i) x[s->col[i]] = s->y[i];
}

void ga_fronts_solve_transposed(ga_fronts *s, double *x)
{
    for (int i = 0; i < s->n; ++i) s->y[i] = x[s->col[i]];
    solve_ordered(s, forward_transposed, backward_transposed);
    for (int i = 0; i < s->n; ++i) x[s->row[i]] = s->y[i];
}
