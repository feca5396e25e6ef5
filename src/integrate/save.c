/* Pieces of one-step methods to bytes, and back. */
#include "integrate/save.h"

#include "base/report.h"

#include <string.h>

void ga_archive_heading(ga_archive *a, const ga_onestep *m, int own)
{
    const ga_dae *dae = m->dae;
    const char *name = m->type->name;
    const int sizes[] = {dae->nq,      dae->nv,      dae->m,       dae->p,       dae->nx,
                         dae->M.count, dae->G.count, dae->C.count, dae->K.count, own};
    ga_archive_same(a, (int64_t)ga_checksum(GA_CHECKSUM_EMPTY, name, strlen(name)));
    for (size_t k = 0; k < sizeof sizes / sizeof *sizes; ++k) ga_archive_same(a, sizes[k]);
}

void ga_archive_consistent(ga_archive *a, ga_consistent *c)
{
    ga_redundancy *rows = &c->redundancy;
    GA_ARCHIVE(a, c->largest);
    GA_ARCHIVE(a, rows->active);
    GA_ARCHIVE(a, rows->eps);
    GA_ARCHIVE(a, rows->rank);
    GA_ARCHIVE(a, rows->seed);
    ga_archive_numbers(a, c->dae->mp, rows->D);
    ga_archive_numbers(a, c->dae->mp, rows->weakest);
    ga_archive_numbers(a, GA_STATE_NUMBERS * c->dae->nx, c->dae->state_size);
}

void ga_archive_roots(ga_archive *a, ga_onestep *m)
{
    GA_ARCHIVE(a, m->pivot);
    GA_ARCHIVE(a, m->root_old);
    GA_ARCHIVE(a, m->root);
    GA_ARCHIVE(a, m->root_start);
}

ga_status ga_archive_factor(ga_archive *a, ga_factor *factor)
{
    ga_status status = GA_OK;
    if (!factor) return GA_OK;
    size_t size = a->mode == GA_ARCHIVE_READ ? 0 : ga_factor_save(factor, NULL);
    GA_ARCHIVE(a, size);
    if (a->mode != GA_ARCHIVE_COUNT && size > a->size - a->at) a->failed = true;
    if (a->failed) return GA_OK;
    if (a->mode == GA_ARCHIVE_WRITE) ga_factor_save(factor, a->bytes + a->at);
    if (a->mode == GA_ARCHIVE_READ) status = ga_factor_load(factor, a->bytes + a->at, size);
    a->at += size;
    if (status == GA_ERR_ARGUMENT) a->failed = true;
    return status == GA_ERR_ARGUMENT ? GA_OK : status;
}
