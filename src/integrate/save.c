/* Pieces of memory of a one-step method to bytes, and back. */
#include "integrate/save.h"

#include "base/report.h"

#include <assert.h>
#include <stdio.h>
#include <string.h>

void ga_pieces_add(ga_pieces *p, void *data, size_t size)
{
    if (!size) return;
    assert(p->count < GA_MOST_PIECES);
    p->list[p->count++] = (ga_piece){data, size};
}

void ga_pieces_add_numbers(ga_pieces *p, double *x, int n)
{
    ga_pieces_add(p, x, (size_t)n * sizeof *x);
}

void ga_pieces_add_consistent(ga_pieces *p, ga_consistent *c)
{
    ga_redundancy *rows = &c->redundancy;
    GA_PIECE(p, c->largest);
    GA_PIECE(p, rows->active);
    GA_PIECE(p, rows->eps);
    GA_PIECE(p, rows->rank);
    GA_PIECE(p, rows->seed);
    ga_pieces_add_numbers(p, rows->D, c->dae->mp);
    ga_pieces_add_numbers(p, rows->weakest, c->dae->mp);
    ga_pieces_add_numbers(p, c->dae->state_size, GA_STATE_NUMBERS * c->dae->nx);
    ga_pieces_add_factor(p, c->saddle.factor);
}

void ga_pieces_add_factor(ga_pieces *p, ga_factor *factor)
{
    if (!factor) return;
    assert(p->factors < GA_MOST_FACTORS);
    p->factor[p->factors++] = factor;
}

/* No padding: it is compared as bytes. */
typedef struct heading {
    char method[24];
    int nq, nv, m, p, own, pieces;
    size_t size; /* of all but pivots */
} heading;

static heading describe(const ga_pieces *p, const ga_onestep *m, int own)
{
    const ga_dae *dae = m->dae;
    heading h = {.nq = dae->nq, .nv = dae->nv, .m = dae->m, .p = dae->p, .own = own};
    snprintf(h.method, sizeof h.method, "%s", m->type->name);
    h.pieces = p->count;
    h.size = sizeof h;
    for (int k = 0; k < p->count; ++k) h.size += p->list[k].size;
    return h;
}

size_t ga_pieces_save(const ga_pieces *p, const ga_onestep *m, int own, void *bytes)
{
    const heading h = describe(p, m, own);
    char *to = bytes;
    size_t size = h.size;
    for (int k = 0; k < p->factors; ++k)
        size += sizeof size + ga_factor_save(p->factor[k], NULL);
    if (!to) return size;
    memcpy(to, &h, sizeof h);
    to += sizeof h;
    for (int k = 0; k < p->count; to += p->list[k++].size)
        memcpy(to, p->list[k].data, p->list[k].size);
    for (int k = 0; k < p->factors; ++k) {
        const size_t pivots = ga_factor_save(p->factor[k], to + sizeof pivots);
        memcpy(to, &pivots, sizeof pivots);
        to += sizeof pivots + pivots;
    }
    return size;
}

/* The size of each comes first. */
ga_status ga_pieces_load_pivots(const ga_pieces *p, const void *bytes, size_t size)
{
    const char *from = bytes;
    heading h;
    memcpy(&h, from, sizeof h);
    from += h.size;
    size -= h.size;
    for (int k = 0; k < p->factors; ++k) {
        size_t pivots;
        if (size < sizeof pivots) return GA_ERR_ARGUMENT;
        memcpy(&pivots, from, sizeof pivots);
        from += sizeof pivots;
        size -= sizeof pivots;
        if (size < pivots) return GA_ERR_ARGUMENT;
        GA_TRY(ga_factor_load(p->factor[k], from, pivots));
        from += pivots;
        size -= pivots;
    }
    return size ? GA_ERR_ARGUMENT : GA_OK;
}

ga_status ga_pieces_load(const ga_pieces *p, const ga_onestep *m, int own, const void *bytes,
                         size_t size)
{
    const heading h = describe(p, m, own);
    const char *from = bytes;
    if (size < h.size || memcmp(from, &h, sizeof h)) return GA_ERR_ARGUMENT;
    from += sizeof h;
    for (int k = 0; k < p->count; from += p->list[k++].size)
        memcpy(p->list[k].data, from, p->list[k].size);
    return ga_pieces_load_pivots(p, bytes, size);
}
