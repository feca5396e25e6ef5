/* Gradients of the constraints in the iteration matrix, renewed only where they have changed.
 *
 * Of all that the matrix of index 3 is made of, G ages first: stiffness comes with c_q, which
 * has h^2, but G is there as it is, and turns with the bodies. In a large system few of them
 * may turn much in a step. So before a step G is compared with the G of the matrix, chunk by
 * chunk; where a chunk has changed the difference is added to the matrix and its transpose, and
 * the factors follow (ga_factor_renew). That is a fraction of an iteration, and tangents that
 * are as good as new save one or two.
 *
 * Chunks count as changed by what they change in the scaled matrix, whose entries are about 1.
 * Products with T(U) get the difference times the identity, which T nearly is. So the matrix is
 * no exact tangent; how good it is shows in the iteration, as with old tangents.
 *
 * Where too much has changed nothing is done, and it is tried again some steps later, less and
 * less often; the same where most of the factors had to follow. */
#include "base/memory.h"
#include "base/report.h"
#include "integrate/stepper.h"

#include <assert.h>
#include <math.h>

/* Entries, chunks, steps. */
enum { CHUNK = 64, GROUP = 128, LONGEST_PAUSE = 64 };

/* As often as whole matrices are made, about, singular positions are looked for. */
enum { UNWATCHED = 4 };

/* Of scaled entries. */
static const double CHANGE = 1e-6;
/* More chunks than this part of them are too many. */
static const double MOST = 0.25;

/* Of a factorisation: then old tangents cost less. */
static const double LARGE_SHARE = 0.5;

/* Smaller systems are factored in no time. */
enum { LARGE = 500 };

bool ga_renewal_is_possible(const ga_stepper *s)
{
    return s->n > LARGE && s->backend == GA_BACKEND_BLOCK && s->alternates &&
           s->def.penalty == 0 && s->dae.G.layout == GA_LISTED;
}

ga_status ga_renewal_create(ga_stepper *s)
{
    ga_renewal *x = &s->renewal;
    const ga_coords *G = &s->dae.G;
    x->possible = ga_renewal_is_possible(s);
    if (!x->possible) return GA_OK;
    x->chunks = (G->count + CHUNK - 1) / CHUNK;
    x->weight = GA_NEW(double, x->chunks);
    x->changed = GA_NEW(int, x->chunks);
    if (!x->weight || !x->changed) return GA_ERR_MEMORY;
    return ga_factor_prepare_renewal(s->factor);
}

void ga_renewal_destroy(ga_stepper *s)
{
    ga_free(s->renewal.weight);
    ga_free(s->renewal.changed);
}

void ga_renewal_begin(ga_stepper *s) { s->renewal.weighed = false; }

bool ga_renewal_is_due(ga_stepper *s)
{
    ga_renewal *x = &s->renewal;
    if (!x->possible || s->estimates || s->def.newton == GA_NEWTON_FULL) return false;
    if (s->regular.active || s->regular.alert > 0) return false;
    if (s->c_q != s->factor_c_q || s->c_v != s->factor_c_v) return false;
    if (x->rest > 0) {
        --x->rest;
        return false;
    }
    return ga_factor_may_renew(s->factor);
}

static int chunk_end(const ga_stepper *s, int chunk)
{
    const int end = (chunk + 1) * CHUNK;
    return end < s->dae.G.count ? end : s->dae.G.count;
}

/* How much a change of one in a chunk is in the scaled matrix, at most. */
static void weigh(ga_stepper *s)
{
    const ga_coords *G = &s->dae.G;
    const double *r = s->row_scale, *c = s->col_scale;
    for (int k = 0; k < s->renewal.chunks; ++k) {
        double most = 0;
        for (int e = k * CHUNK; e < chunk_end(s, k); ++e) {
            const int i = s->nv + G->row[e], j = G->col[e];
            most = fmax(most, fmax(r[i] * c[j], r[j] * c[i]));
        }
        s->renewal.weight[k] = most;
    }
    s->renewal.weighed = true;
}

static double largest_difference(int n, const double *restrict x, const double *restrict y)
{
    double most[4] = {0, 0, 0, 0};
    int i = 0;
    for (; i + 4 <= n; i += 4)
        for (int k = 0; k < 4; ++k) {
            const double d = fabs(x[i + k] - y[i + k]);
            most[k] = d <= most[k] ? most[k] : d;
        }
    for (; i < n; ++i) {
        const double d = fabs(x[i] - y[i]);
        most[0] = d <= most[0] ? most[0] : d;
    }
    return fmax(fmax(most[0], most[1]), fmax(most[2], most[3]));
}

/* How much chunks have changed in the scaled matrix, by what is too much: 0, 1, or 2 if that is
 * no number. In groups, for threads. */
static void look_at_group(void *data, int group)
{
    const ga_stepper *s = data;
    const ga_renewal *x = &s->renewal;
    const int end = (group + 1) * GROUP < x->chunks ? (group + 1) * GROUP : x->chunks;
    for (int k = group * GROUP; k < end; ++k) {
        const int from = k * CHUNK;
        const double change =
            largest_difference(chunk_end(s, k) - from, s->G + from, s->G_tangent + from);
        x->changed[k] = change * x->weight[k] <= CHANGE ? 0 : isfinite(change) ? 1 : 2;
    }
}

/* Lists the chunks that have changed; how many they are, or -1 if too many. */
static int find_changes(ga_stepper *s)
{
    ga_renewal *x = &s->renewal;
    const double most = MOST * x->chunks;
    const int groups = (x->chunks + GROUP - 1) / GROUP;
    int count = 0;
    ga_pool_run(groups > 1 ? s->pool : NULL, groups, look_at_group, s);
    for (int k = 0; k < x->chunks; ++k) {
        if (x->changed[k] == 0) continue;
        if (x->changed[k] == 2) return -1;
        x->changed[count++] = k;
    }
    return count <= 1 + most ? count : -1;
}

static void add_entry(ga_stepper *s, int i, int j, double difference)
{
    const int slot = ga_matrix_slot(&s->matrix, i, j);
    assert(slot >= 0); /* G is a term; and T has a diagonal where there are products with it */
    s->matrix.values[slot] += s->row_scale[i] * s->col_scale[j] * difference;
    ga_factor_touch(s->factor, i, j);
}

static void add_difference(ga_stepper *s, int chunk)
{
    const ga_coords *G = &s->dae.G;
    for (int e = chunk * CHUNK; e < chunk_end(s, chunk); ++e) {
        const double difference = s->G[e] - s->G_tangent[e];
        if (difference == 0) continue;
        const int i = s->nv + G->row[e], j = G->col[e];
        add_entry(s, i, j, difference);
        if (s->dae.reactions_added) add_entry(s, j, i, difference);
        s->G_tangent[e] = s->G[e];
    }
}

static void pause(ga_renewal *x)
{
    x->pause = x->pause < LONGEST_PAUSE / 2 ? 2 * x->pause + 1 : LONGEST_PAUSE;
    x->rest = x->pause;
}

ga_status ga_renewal_try(ga_stepper *s, bool *renewed)
{
    ga_renewal *x = &s->renewal;
    *renewed = false;
    if (!x->weighed) weigh(s);
    const int count = find_changes(s);
    if (count < 0) {
        pause(x);
        return GA_OK;
    }
    double share = 0;
    for (int k = 0; k < count; ++k) add_difference(s, x->changed[k]);
    if (count > 0) {
        GA_TRY(ga_factor_renew(s->factor, &share));
        ++s->stats.renewals;
        if (ga_regular_doubts(s)) return GA_ERR_SINGULAR;
        if (++x->unwatched >= UNWATCHED) {
            x->unwatched = 0;
            if (ga_regular_watch(s)) return GA_ERR_SINGULAR;
        }
    }
    if (share > LARGE_SHARE)
        pause(x);
    else
        x->pause = 0;
    *renewed = true;
    return GA_OK;
}
