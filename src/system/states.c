/* First-order states x, the last entries of v: how large they are.
 *
 * Each state has a unit of its own, so its errors are relative to its own largest value so far.
 * A state may be zero but for round-off, which then is all of it. What it cannot be known
 * better than follows from the terms of its rate, M_i x_i' = r_i: if what r depends on is known
 * up to dq, dv, dx and dl, x_i is known within a time tau up to
 *
 *     tau/(|M_i| + tau |C_ii|) sum over j of |K_ij| dq_j + |C_ij| dv_j + |L_ij| dl_j
 *
 * without C_ii in the sum: it makes a state forget.
 */
#include "base/memory.h"
#include "base/report.h"
#include "system/dae.h"

#include <math.h>
#include <string.h>

static ga_status find_rows(const ga_coords *A, int from, ga_state_rows *rows)
{
    rows->count = 0;
    for (ga_matrix_entry e = ga_entry_first(A); e.k < A->count; ga_entry_next(A, &e))
        rows->count += e.row >= from;
    rows->entry = GA_NEW(struct ga_state_entry, rows->count);
    if (!rows->entry) return GA_ERR_MEMORY;
    int at = 0;
    for (ga_matrix_entry e = ga_entry_first(A); e.k < A->count; ga_entry_next(A, &e))
        if (e.row >= from) rows->entry[at++] = (struct ga_state_entry){e.k, e.row, e.col};
    return GA_OK;
}

ga_status ga_dae_create_states(ga_dae *dae)
{
    GA_TRY(find_rows(&dae->M, dae->nm, &dae->M_states));
    GA_TRY(find_rows(&dae->K, dae->nm, &dae->K_states));
    GA_TRY(find_rows(&dae->C, dae->nm, &dae->C_states));
    GA_TRY(find_rows(&dae->L, dae->nm, &dae->L_states));
    const bool memory = (dae->state_size = GA_NEW(double, GA_STATE_NUMBERS *(size_t)dae->nx)) &&
                        (dae->state_work = GA_NEW(double, 3 * (size_t)dae->nx)) &&
                        (dae->state_tangents.K = GA_NEW(double, dae->nx ? dae->K.count : 0)) &&
                        (dae->state_tangents.C = GA_NEW(double, dae->nx ? dae->C.count : 0)) &&
                        (dae->state_tangents.L = GA_NEW(double, dae->nx ? dae->L.count : 0));
    if (!memory) return GA_ERR_MEMORY;
    dae->state_least = dae->state_size + dae->nx;
    dae->state_known = dae->state_least + dae->nx;
    ga_dae_forget_sizes(dae);
    return GA_OK;
}

void ga_dae_destroy_states(ga_dae *dae)
{
    void *memory[] = {dae->M_states.entry,   dae->K_states.entry,   dae->C_states.entry,
                      dae->L_states.entry,   dae->state_size,       dae->state_work,
                      dae->state_tangents.K, dae->state_tangents.C, dae->state_tangents.L};
    for (size_t k = 0; k < sizeof memory / sizeof *memory; ++k) ga_free(memory[k]);
}

void ga_dae_forget_sizes(ga_dae *dae)
{
    const double *given = dae->sys.state_sizes;
    for (int i = 0; i < dae->nx; ++i) {
        dae->state_size[i] = given ? given[i] : 0;
        dae->state_least[i] = dae->state_known[i] = 0;
    }
}

void ga_dae_copy_sizes(ga_dae *to, const ga_dae *from)
{
    if (to != from && to->nx)
        memcpy(to->state_size, from->state_size,
               GA_STATE_NUMBERS * (size_t)to->nx * sizeof(double));
}

void ga_dae_observe_states(ga_dae *dae, const double *v)
{
    const double *x = v + dae->nm;
    for (int i = 0; i < dae->nx; ++i)
        if (fabs(x[i]) > dae->state_size[i]) dae->state_size[i] = fabs(x[i]);
}

double ga_dae_weigh_states(const ga_dae *dae, const double *x)
{
    double largest = 0;
    for (int i = 0; i < dae->nx; ++i) {
        const double change = fabs(x[dae->nm + i]);
        const double part = change == 0 ? 0 : change / ga_dae_state_size(dae, i);
        if (!(part <= largest)) largest = part; /* NaN stays */
    }
    return largest;
}

/* sum += |A| d for the rows of states, with d by columns; the diagonal goes elsewhere. */
static void add_rows(const ga_dae *dae, const ga_state_rows *rows, const double *values,
                     const double by_kind[2], const double *of_state, double *sum)
{
    for (int k = 0; k < rows->count; ++k) {
        const struct ga_state_entry *e = &rows->entry[k];
        const int i = e->row - dae->nm;
        if (e->col < dae->nm)
            sum[i] += fabs(values[e->k]) * by_kind[dae->kind[e->col]];
        else if (of_state && e->col != e->row)
            sum[i] += fabs(values[e->k]) * of_state[e->col - dae->nm];
    }
}

/* sum += the entries of A on its diagonal, of the rows of states. */
static void add_diagonal(const ga_dae *dae, const ga_state_rows *rows, const double *values,
                         double *sum)
{
    for (int k = 0; k < rows->count; ++k) {
        const struct ga_state_entry *e = &rows->entry[k];
        if (e->row == e->col) sum[e->row - dae->nm] += values[e->k];
    }
}

void ga_dae_state_changes(const ga_dae *dae, const double *M, const ga_tangents *at,
                          double time, const ga_influence *from, double *change)
{
    const size_t size = (size_t)dae->nx * sizeof *change;
    double *mass = dae->state_work + dae->nx, *damping = mass + dae->nx;
    if (!dae->nx) return;
    memset(change, 0, size);
    memset(mass, 0, 2 * size);
    add_rows(dae, &dae->K_states, at->K, from->q, NULL, change);
    add_rows(dae, &dae->C_states, at->C, from->v, from->x, change);
    for (int k = 0; k < dae->L_states.count; ++k) {
        const struct ga_state_entry *e = &dae->L_states.entry[k];
        change[e->row - dae->nm] += fabs(at->L[e->k]) * from->multipliers;
    }
    add_diagonal(dae, &dae->M_states, M, mass);
    add_diagonal(dae, &dae->C_states, at->C, damping);
    for (int i = 0; i < dae->nx; ++i) {
        const double lasting = fabs(mass[i]) + time * fabs(damping[i]);
        const double rate = from->rate ? fabs(mass[i] * from->rate[i]) : 0;
        if (rate > change[i]) change[i] = rate;
        change[i] = lasting > 0 ? time * change[i] / lasting : 0;
    }
}

ga_status ga_dae_state_changes_at(ga_dae *dae, const ga_point *at, double time,
                                  const ga_influence *from, double *change)
{
    const ga_tangents *tangents = &dae->state_tangents;
    GA_TRY(ga_dae_stiffness(dae, at, tangents->K));
    GA_TRY(ga_dae_damping(dae, at, tangents->C));
    GA_TRY(ga_dae_force_multipliers(dae, at, tangents->L));
    GA_TRY(ga_dae_mass(dae, at->t, at->q, dae->M_work));
    ga_dae_state_changes(dae, dae->M_work, tangents, time, from, change);
    return GA_OK;
}
