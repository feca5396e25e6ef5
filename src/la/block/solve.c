/* Solution by the block solver: the right-hand side is gathered in the order of elimination,
 * goes from the leaves to the roots and back through all fronts, and is scattered again. */
#include "la/block/block.h"

typedef ga_fronts solver;
typedef ga_front front;
typedef ga_fronts_part part;

static void forward(const solver *s, int from, int end, const part *p)
{
    double *restrict y = s->y, *restrict z = p->z;
    for (int i = from; i < end; ++i) {
        const front *f = &s->front[i];
        const int *others = s->others + f->others;
        double *own = y + f->first;
        if (f->swapped) ga_front_swap(f->k, s->swap + f->first, own);
        s->kernels->forward(f->k, f->m, s->factors + f->forth, own, z);
        for (int k = f->k; k < f->m; ++k) y[others[k - f->k]] += z[k];
    }
}

static void backward(const solver *s, int from, int end, const part *p)
{
    double *restrict y = s->y, *restrict x = p->z;
    for (int i = end - 1; i >= from; --i) {
        const front *f = &s->front[i];
        const int *others = s->others + f->others, r = f->m - f->k;
        for (int k = 0; k < r; ++k) x[k] = y[others[k]];
        s->kernels->backward(f->k, f->m, s->factors + f->back, x, y + f->first);
    }
}

static void forward_transposed(const solver *s, int from, int end, const part *p)
{
    double *x = p->z, *y = s->y;
    for (int i = from; i < end; ++i) {
        const front *f = &s->front[i];
        const int *others = s->others + f->others, r = f->m - f->k;
        for (int k = 0; k < r; ++k) x[k] = 0;
        ga_front_forward_transposed(f->k, f->m, s->factors + f->back, x, y + f->first);
        for (int k = 0; k < r; ++k) y[others[k]] += x[k];
    }
}

static void backward_transposed(const solver *s, int from, int end, const part *p)
{
    double *x = p->z, *y = s->y;
    for (int i = end - 1; i >= from; --i) {
        const front *f = &s->front[i];
        const int *others = s->others + f->others;
        double *own = y + f->first;
        for (int k = 0; k < f->m - f->k; ++k) x[k] = y[others[k]];
        ga_front_backward_transposed(f->k, f->m, s->factors + f->forth, x, own);
        if (f->swapped) ga_front_swap_back(f->k, s->swap + f->first, own);
    }
}

typedef void sweep(const solver *s, int from, int end, const part *p);

typedef struct task {
    const solver *solver;
    sweep *sweep;
} task;

static void sweep_part(void *data, int number)
{
    const task *t = data;
    const part *p = &t->solver->part[number];
    t->sweep(t->solver, p->from, p->end, p);
}

/* Parts add to slots what belongs to unknowns above them. */
static void solve_ordered(const solver *s, sweep *to_roots, sweep *to_leaves)
{
    double *y = s->y, *slot = s->y + s->n;
    const part *above = &s->part[s->parts];
    for (int k = 0; k < s->slots; ++k) slot[k] = 0;
    ga_pool_run(s->pool, s->parts, sweep_part, &(task){s, to_roots});
    for (int k = 0; k < s->slots; ++k) y[s->above[k]] += slot[k];
    for (int p = 0, from = 0; p <= s->parts; from = s->part[p++].end)
        to_roots(s, from, s->part[p].from, above);
    for (int p = s->parts; p >= 0; --p)
        to_leaves(s, p > 0 ? s->part[p - 1].end : 0, s->part[p].from, above);
    for (int k = 0; k < s->slots; ++k) slot[k] = y[s->above[k]];
    ga_pool_run(s->pool, s->parts, sweep_part, &(task){s, to_leaves});
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
