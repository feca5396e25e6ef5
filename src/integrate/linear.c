/* The linear solver: which backend, and, for the block solver, the bodies and constraints among
 * the unknowns.
 *
 * Bodies are the nodes. One of R^n with many components may be all coordinates of a mechanism;
 * it is cut into pieces of the largest of a few sizes that the rows of G fill well. Constraints
 * are consecutive rows of G that touch the same bodies.
 *
 * With eta, a constraint has two rows and two columns for each row of G. Eliminating its bodies
 * leaves
 *
 *     w    [ -A   0  ] lambda          A = G S^-1 G^T
 *     Phi  [ -A -B B^T ] eta
 *
 * and before that it is G B^T, between w and eta, that joins it to other constraints of the
 * same bodies. So w and eta make one block, Phi and lambda another: then the second is next to
 * its own bodies only.
 */
#include "base/memory.h"
#include "base/report.h"
#include "integrate/consistent.h"
#include "la/buckets.h"

/* A node has six velocities at most, and six rows hold it. */
enum { LARGEST = 6 };
/* Entries of G in the pieces its rows touch: two points held together in the plane fill two
 * thirds. */
static const double WELL_FILLED = 0.6;

typedef struct pieces {
    const ga_coords *G;
    ga_buckets rows; /* entries of G */
    int bodies, constraints;
    int *body;       /* of each u */
    int *constraint; /* of each row of G */
    int *seen, *seen_row;
} pieces;

static void destroy_pieces(pieces *p)
{
    ga_buckets_destroy(&p->rows);
    ga_free(p->body);
    ga_free(p->constraint);
    ga_free(p->seen);
    ga_free(p->seen_row);
}

/* Whether pieces of this size, of the unknowns from .. end-1, are filled by G. */
static bool fills(pieces *p, int from, int end, int size)
{
    if ((end - from) % size) return false;
    double entries = 0, room = 0;
    for (int i = from; i < end; ++i) p->seen[i] = -1;
    for (int row = 0; row < p->G->rows; ++row)
        for (int k = p->rows.start[row]; k < p->rows.start[row + 1]; ++k) {
            int col = p->G->col[p->rows.item[k]];
            if (col < from || col >= end) continue;
            int *last = &p->seen[from + (col - from) / size];
            ++entries;
            if (*last != row) room += size;
            *last = row;
        }
    return entries >= WELL_FILLED * room;
}

static int choose_size(pieces *p, int from, int end)
{
    if (end - from <= LARGEST) return end - from;
    for (int size = LARGEST; size > 1; --size)
        if (fills(p, from, end, size)) return size;
    return 1;
}

static void find_bodies(const ga_dae *dae, pieces *p)
{
    int from = 0;
    for (int i = 0; i < dae->sys.node_count; ++i) {
        int end = from + ga_node_nv(dae->sys.nodes[i]);
        if (end == from) continue;
        int size = choose_size(p, from, end);
        for (int k = from; k < end; ++k) p->body[k] = p->bodies + (k - from) / size;
        p->bodies += (end - from) / size;
        from = end;
    }
}

/* Number of bodies in a row of G; *same: they are those seen in constraint c. */
static int count_bodies(pieces *p, int row, int c, bool *same)
{
    int count = 0;
    *same = true;
    for (int k = p->rows.start[row]; k < p->rows.start[row + 1]; ++k) {
        int body = p->body[p->G->col[p->rows.item[k]]];
        if (p->seen[body] != c) *same = false;
        if (p->seen_row[body] != row) ++count;
        p->seen_row[body] = row;
    }
    return count;
}

static void find_constraints(const ga_dae *dae, pieces *p)
{
    int length = 0, bodies = 0;
    for (int i = 0; i < dae->nv; ++i) p->seen[i] = p->seen_row[i] = -1;
    p->constraints = 0;
    for (int row = 0; row < dae->mp; ++row) {
        bool same;
        int count = count_bodies(p, row, p->constraints - 1, &same);
        if (row == 0 || row == dae->m || length == LARGEST || !same || count != bodies) {
            for (int k = p->rows.start[row]; k < p->rows.start[row + 1]; ++k)
                p->seen[p->body[p->G->col[p->rows.item[k]]]] = p->constraints;
            ++p->constraints;
            length = 0;
            bodies = count;
        }
        p->constraint[row] = p->constraints - 1;
        ++length;
    }
}

/* Bodies have one block; holonomic constraints two, if there is eta. */
static void fill_partition(const ga_dae *dae, const pieces *p, bool eta, ga_partition *out)
{
    const int nv = dae->nv, m = dae->m, mp = dae->mp;
    int blocks = 0, last = -1;
    for (int i = 0; i < nv; ++i) {
        if (p->body[i] != last) out->block_start[p->body[i]] = blocks++;
        last = p->body[i];
        out->row_block[i] = out->col_block[i] = blocks - 1;
    }
    last = -1;
    for (int i = 0; i < mp; ++i) {
        const int group = p->bodies + p->constraint[i], velocity = nv + i;
        const bool both = eta && i < m;
        if (p->constraint[i] != last) {
            out->block_start[group] = blocks;
            out->constraint[group] = true;
            blocks += both ? 2 : 1;
        }
        last = p->constraint[i];
        out->row_block[velocity] = out->col_block[velocity] = blocks - 1;
        if (!both) continue;
        const int position = nv + mp + i;
        out->row_block[velocity] = out->col_block[position] = blocks - 2;
        out->row_block[position] = blocks - 1;
    }
    out->block_start[out->groups] = blocks;
}

static ga_status find_partition(const ga_dae *dae, bool eta, ga_partition *partition)
{
    pieces p = {.G = &dae->G};
    bool memory = (p.body = GA_NEW(int, dae->nv)) && (p.constraint = GA_NEW(int, dae->mp)) &&
                  (p.seen = GA_NEW(int, dae->nv)) && (p.seen_row = GA_NEW(int, dae->nv));
    ga_status status = GA_ERR_MEMORY;
    if (memory) status = ga_buckets_create(dae->mp, dae->G.count, dae->G.row, NULL, &p.rows);
    if (status == GA_OK) {
        find_bodies(dae, &p);
        find_constraints(dae, &p);
        status = ga_partition_create(dae->nv + dae->mp + (eta ? dae->m : 0),
                                     p.bodies + p.constraints, partition);
    }
    if (status == GA_OK) fill_partition(dae, &p, eta, partition);
    destroy_pieces(&p);
    return status;
}

/* --- the backend -------------------------------------------------------------------------- */

/* Where the choice is free: so few unknowns that nothing is faster than a full matrix; and so
 * many that a full one takes too much memory. */
enum { FEW = 8, MANY = 2000 };
/* Operations on a full matrix take half the time of those by blocks, where these are many;
 * measured on chains, linkages and platforms. */
static const double FULL_ADVANTAGE = 2;

ga_backend_kind ga_linear_backend(ga_solver solver, int n)
{
    static const ga_backend_kind chosen[] = {[GA_SOLVER_AUTO] = GA_BACKEND_BLOCK,
                                             [GA_SOLVER_DENSE] = GA_BACKEND_DENSE,
                                             [GA_SOLVER_SPARSE] = GA_BACKEND_KLU,
                                             [GA_SOLVER_BLOCK] = GA_BACKEND_BLOCK};
    return solver == GA_SOLVER_AUTO && n <= FEW ? GA_BACKEND_DENSE : chosen[solver];
}

bool ga_linear_may_be_full(ga_solver solver, int n)
{
    return solver == GA_SOLVER_AUTO && n <= MANY;
}

/* Whether the blocks turn out to be nearly everything. */
bool ga_linear_prefers_full(ga_solver solver, int n, const ga_factor *factor)
{
    const double x = n;
    return ga_linear_may_be_full(solver, n) &&
           FULL_ADVANTAGE * ga_factor_operations(factor) > 2 * x * x * x / 3;
}

ga_status ga_linear_create_factor(const ga_dae *dae, ga_matrix *matrix, ga_backend_kind backend,
                                  ga_factor **factor)
{
    if (backend != GA_BACKEND_BLOCK) return ga_factor_create(matrix, backend, factor);
    ga_partition partition;
    GA_TRY(find_partition(dae, matrix->n > dae->nv + dae->mp, &partition));
    ga_status status = ga_factor_create_blocks(matrix, &partition, factor);
    ga_partition_destroy(&partition);
    return status;
}
