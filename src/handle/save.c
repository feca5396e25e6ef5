/* A simulation between two steps as bytes, and back. */
#include "integrate/save.h"
#include "base/memory.h"
#include "base/report.h"
#include "handle/integrator.h"
#include "integrate/run_save.h"

static void list_ints(ga_archive *a, int n, int *x)
{
    ga_archive_bytes(a, x, (size_t)n * sizeof *x);
}

/* Room for what is to be read; false: memory is out, or the numbers make no sense. */
static bool make_room(ga_archive *a, ga_dependence *d, int count, int partners, int rows)
{
    ga_dependence_destroy(d);
    if (count < 0 || count > rows || partners < 0 || (long)partners > (long)rows * rows) {
        a->failed = true;
        return false;
    }
    const bool memory = (d->row = GA_NEW(int, count)) && (d->start = GA_NEW(int, count + 1)) &&
                        (d->with = GA_NEW(int, partners)) &&
                        (d->weight = GA_NEW(double, partners));
    if (!memory) ga_dependence_destroy(d);
    return memory;
}

/* Dependent rows as they were found at the last start, for whoever asks. */
static ga_status list_dependence(ga_archive *a, ga_dependence *d, int rows)
{
    int count = d->count, partners = d->count ? d->start[d->count] : 0;
    int rank = d->rank, zeros = d->zeros;
    GA_ARCHIVE(a, rank);
    GA_ARCHIVE(a, zeros);
    GA_ARCHIVE(a, count);
    GA_ARCHIVE(a, partners);
    if (a->mode == GA_ARCHIVE_READ && !a->failed && !make_room(a, d, count, partners, rows))
        return a->failed ? GA_OK : GA_ERR_MEMORY;
    d->rank = rank;
    d->zeros = zeros;
    if (a->failed || count == 0) return GA_OK;
    list_ints(a, count, d->row);
    list_ints(a, count + 1, d->start);
    list_ints(a, partners, d->with);
    ga_archive_numbers(a, partners, d->weight);
    d->count = count;
    return GA_OK;
}

/* Where the factors are of that serve for points nearby. Making them again counts as a use of
 * their pivots, so these are read twice. */
static ga_status list_nearby(ga_archive *a, ga_nearby *n, ga_dae *dae)
{
    GA_ARCHIVE(a, n->factored);
    GA_ARCHIVE(a, n->far);
    GA_ARCHIVE(a, n->t);
    ga_archive_numbers(a, dae->nq, n->q);
    ga_archive_numbers(a, dae->nv, n->v);
    const size_t pivots = a->at;
    GA_TRY(ga_archive_factor(a, n->saddle.factor));
    if (!ga_archive_is_read(a)) return GA_OK;
    n->saddle.factorizations = NULL;
    GA_TRY(ga_nearby_restore(n, dae));
    a->at = pivots;
    return ga_archive_factor(a, n->saddle.factor);
}

/* The method first: what it is made of may follow from its bytes. */
static ga_status list(ga_integrator *g, ga_archive *a)
{
    ga_archive_same(a, (int64_t)g->kind);
    GA_TRY(ga_run_archive(&g->run, a));
    ga_consistent *c = g->method->consistent;
    GA_ARCHIVE(a, g->warnings);
    GA_ARCHIVE(a, g->warning);
    GA_ARCHIVE(a, c->projection.q);
    GA_ARCHIVE(a, c->projection.v);
    GA_ARCHIVE(a, c->least);
    if (g->warnings < 0 || g->warnings > MAX_WARNINGS) a->failed = true;
    if (g->method->nearby) GA_TRY(list_nearby(a, &g->nearby, g->method->dae));
    return list_dependence(a, &c->redundancy.found, g->method->dae->mp);
}

bool ga_integrator_can_save(const ga_integrator *g) { return g->method->type->archive; }

void ga_integrator_run_save(ga_integrator *g, ga_archive *a) { list(g, a); }

ga_status ga_integrator_run_load(ga_integrator *g, const ga_simulation *def, ga_archive *a,
                                 ga_report *report)
{
    g->started = false;
    ga_run_destroy(&g->run);
    if (ga_run_create(g->method, def, &g->run) != GA_OK)
        return ga_fail(report, GA_ERR_MEMORY, "out of memory");
    const ga_status status = list(g, a);
    if (status == GA_ERR_MEMORY) return ga_fail(report, status, "out of memory");
    if (a->failed) return GA_OK; /* the caller knows what to say */
    if (status != GA_OK)
        return ga_fail(report, status, "the saved state cannot be restored: %s",
                       ga_status_text(status));
    g->started = true;
    g->grid = g->run.grid;
    g->grid.follow = NULL;
    return GA_OK;
}
