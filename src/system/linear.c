/* The linear solver: which backend, and, for the block solver, the bodies and constraints among
 * the unknowns.
 *
 * Bodies are the nodes. One of R^n with many components may be all coordinates of a mechanism:
 * there a body is what a block of M covers. Constraints are consecutive rows of G that touch
 * the same bodies.
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
#include "base/buckets.h"
#include "base/memory.h"
#include "base/report.h"
#include "system/consistent.h"

/* A node of a mechanism has six velocities at most, and six rows hold it. */
enum { LARGEST = 6 };

typedef struct pieces {
    const ga_coords *G;
    ga_buckets rows; /* blocks of G in each row */
    int bodies, constraints;
    int *body;       /* of each u */
    int *constraint; /* of each row of G */
    int *seen, *seen_row;
    bool *inside; /* of each u: a block of M couples it to the one before */
} pieces;

static void destroy_pieces(pieces *p)
{
    ga_buckets_destroy(&p->rows);
    void *memory[] = {p->body, p->constraint, p->seen, p->seen_row, p->inside};
    for (size_t k = 0; k < sizeof memory / sizeof *memory; ++k) ga_free(memory[k]);
}

static void find_inside(const ga_coords *M, bool *inside)
{
    for (int b = 0; b < M->blocks; ++b) {
        const ga_matrix_block box = ga_coords_box(M, b);
        const int from = box.row > box.col ? box.row : box.col;
        for (int i = from + 1; i < box.row + box.rows && i < box.col + box.cols; ++i)
            inside[i] = true;
    }
}

static void find_bodies(const ga_dae *dae, pieces *p)
{
    find_inside(&dae->M, p->inside);
    for (int i = 0, from = 0; i < dae->sys.node_count; ++i) {
        const int end = from + ga_node_nv(dae->sys.nodes[i]);
        for (int k = from; k < end; ++k) {
            if (k == from || (end - from > LARGEST && !p->inside[k])) ++p->bodies;
            p->body[k] = p->bodies - 1;
        }
        from = end;
    }
}

/* Marks the bodies of a row; returns their number. *same: they are those seen in constraint c.
 */
static int count_bodies(pieces *p, int row, int c, bool *same)
{
    int count = 0;
    *same = true;
    for (int k = p->rows.start[row]; k < p->rows.start[row + 1]; ++k) {
        const ga_matrix_block box = ga_coords_box(p->G, p->rows.item[k]);
        for (int col = box.col; col < box.col + box.cols; ++col) {
            const int body = p->body[col];
            if (p->seen[body] != c) *same = false;
            if (p->seen_row[body] != row) ++count;
            p->seen_row[body] = row;
        }
    }
    return count;
}

static void see_bodies(pieces *p, int row, int c)
{
    for (int k = p->rows.start[row]; k < p->rows.start[row + 1]; ++k) {
        const ga_matrix_block box = ga_coords_box(p->G, p->rows.item[k]);
        for (int col = box.col; col < box.col + box.cols; ++col) p->seen[p->body[col]] = c;
    }
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
            see_bodies(p, row, p->constraints++);
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
                  (p.seen = GA_NEW(int, dae->nv)) && (p.seen_row = GA_NEW(int, dae->nv)) &&
                  (p.inside = GA_NEW(bool, dae->nv));
    const ga_coords Gt = ga_coords_transposed(&dae->G);
    ga_status status = memory ? ga_coords_by_column(&Gt, &p.rows) : GA_ERR_MEMORY;
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
