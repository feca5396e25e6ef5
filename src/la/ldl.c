/* LDL^T of saddle matrices; see ldl.h.
 *
 * A front has the rows of its own unknowns alone, `pivots` rows of ld numbers, both multiples
 * of four: unknowns that are not there have 1 on the diagonal. Columns are those unknowns, then
 * the rows of G. Kept are D L^T, above the diagonal, and the reciprocals of D on it; below it,
 * where rows are treated four numbers at a time, is nothing of use. Up to three unknowns, as
 * those of a point, have rows of their true length, treated number by number, since many of the
 * numbers are zero. */
#include "la/ldl.h"

#include "base/memory.h"
#include "base/simd.h"

#include <math.h>
#include <string.h>

/* Larger ones have better ways, by their sparsity: with chains and N-four-bars as fast at 50
 * rows. */
enum { MOST_ROWS = 40, MOST_COLUMNS = 256 };

/* Unknowns of a front that is treated number by number. */
enum { FEW = 3 };

/* Of a block of M, or of what all of them leave. */
typedef struct front {
    int own, pivots;  /* unknowns, and with those that are not there */
    int others, ld;   /* rows of G */
    const int *index; /* numbers of the velocities, then of the rows of G */
    double *F;
} front;

struct ga_ldl {
    int nv, m;
    int count; /* blocks of M */
    front *fronts, root;
    int *index, *slot_M, *slot_G; /* of values: where they stand in the fronts */
    int values_M, values_G;
    double *F; /* of all fronts */
    size_t size;
    double *work; /* of a front: the diagonal before and after, or a part of a solution */
    double *z;    /* what is left of the rows of G */
};

static int padded(int n) { return (n + 3) & ~3; }

/* --- structure ---------------------------------------------------------------------------- */

static int leader(const int *parent, int i)
{
    while (parent[i] != i) i = parent[i];
    return i;
}

static void join(int *parent, int i, int j)
{
    const int a = leader(parent, i), b = leader(parent, j);
    if (a < b)
        parent[b] = a;
    else
        parent[a] = b;
}

/* The block of each velocity: those that entries of M couple. Joins them in parent. */
static int find_blocks(const ga_coords *M, int *parent, int *block)
{
    int count = 0;
    for (int i = 0; i < M->rows; ++i) parent[i] = i;
    for (ga_matrix_entry e = ga_entry_first(M); e.k < M->count; ga_entry_next(M, &e))
        join(parent, e.row, e.col);
    for (int i = 0; i < M->rows; ++i)
        block[i] = parent[i] == i ? count++ : block[leader(parent, i)];
    return count;
}

/* Is there a part with as many rows of G as velocities? What rests there has accelerations of
 * zero, which LU finds from G alone; here they would be the round-off of forces. parent: of the
 * velocities, as find_blocks leaves it, with room for the rows. */
static bool is_held(const ga_coords *G, int *parent)
{
    int free[MOST_COLUMNS + MOST_ROWS] = {0};
    const int nv = G->cols, n = nv + G->rows;
    for (int i = nv; i < n; ++i) parent[i] = i;
    for (ga_matrix_entry e = ga_entry_first(G); e.k < G->count; ga_entry_next(G, &e))
        join(parent, nv + e.row, e.col);
    for (int i = 0; i < n; ++i) free[leader(parent, i)] += i < nv ? 1 : -1;
    for (int i = 0; i < n; ++i)
        if (parent[i] == i && free[i] <= 0) return true;
    return false;
}

/* place[b m + r]: of row r of G in the front of block b, from 1 on; 0: it is not there. */
static void find_rows(const ga_coords *G, const int *block, int *place)
{
    for (ga_matrix_entry e = ga_entry_first(G); e.k < G->count; ga_entry_next(G, &e))
        place[block[e.col] * G->rows + e.row] = 1;
}

static void arrange(ga_ldl *s, const int *block, int *place)
{
    int *index = s->index;
    for (int b = 0; b < s->count; ++b) {
        front *f = &s->fronts[b];
        f->index = index;
        for (int i = 0; i < s->nv; ++i)
            if (block[i] == b) index[f->own++] = i;
        f->pivots = f->own <= FEW ? f->own : padded(f->own);
        for (int r = 0; r < s->m; ++r) {
            if (!place[b * s->m + r]) continue;
            place[b * s->m + r] = f->pivots + f->others;
            index[f->own + f->others++] = r;
        }
        f->ld = f->own <= FEW ? f->own + f->others : padded(f->pivots + f->others);
        index += f->own + f->others;
        s->size += (size_t)f->pivots * (size_t)f->ld;
    }
    s->root = (front){.own = s->m, .pivots = padded(s->m), .ld = padded(s->m)};
    s->size += (size_t)s->root.pivots * (size_t)s->root.ld;
}

static void find_slots(const ga_ldl *s, const ga_coords *M, const ga_coords *G,
                       const int *block, const int *place)
{
    int order[MOST_COLUMNS]; /* of a velocity in its block */
    for (int b = 0; b < s->count; ++b)
        for (int p = 0; p < s->fronts[b].own; ++p) order[s->fronts[b].index[p]] = p;
    for (ga_matrix_entry e = ga_entry_first(M); e.k < M->count; ga_entry_next(M, &e)) {
        const front *f = &s->fronts[block[e.row]];
        s->slot_M[e.k] = (int)(f->F - s->F) + order[e.row] * f->ld + order[e.col];
    }
    for (ga_matrix_entry e = ga_entry_first(G); e.k < G->count; ga_entry_next(G, &e)) {
        const front *f = &s->fronts[block[e.col]];
        s->slot_G[e.k] =
            (int)(f->F - s->F) + order[e.col] * f->ld + place[block[e.col] * s->m + e.row];
    }
}

static ga_status create(ga_ldl *s, const ga_coords *M, const ga_coords *G, const int *block,
                        int *place)
{
    s->nv = M->rows;
    s->m = G->rows;
    s->values_M = M->count;
    s->values_G = G->count;
    const size_t most = (size_t)padded(s->nv) + (size_t)padded(s->m);
    const bool memory =
        (s->fronts = GA_NEW(front, s->count)) &&
        (s->index = GA_NEW(int, s->nv + s->count * s->m)) &&
        (s->slot_M = GA_NEW(int, M->count)) && (s->slot_G = GA_NEW(int, G->count)) &&
        (s->work = GA_NEW(double, 2 * most)) && (s->z = GA_NEW(double, padded(s->m)));
    if (!memory) return GA_ERR_MEMORY;
    find_rows(G, block, place);
    arrange(s, block, place);
    double *F = s->F = GA_NEW(double, s->size);
    if (!F) return GA_ERR_MEMORY;
    for (int b = 0; b < s->count; ++b) {
        s->fronts[b].F = F;
        F += s->fronts[b].pivots * s->fronts[b].ld;
    }
    s->root.F = F;
    find_slots(s, M, G, block, place);
    return GA_OK;
}

ga_status ga_ldl_create(const ga_coords *M, const ga_coords *G, ga_ldl **ldl)
{
    int parent[MOST_COLUMNS + MOST_ROWS], block[MOST_COLUMNS];
    *ldl = NULL;
    if (M->rows > MOST_COLUMNS || G->rows > MOST_ROWS) return GA_OK;
    const int count = find_blocks(M, parent, block);
    if (is_held(G, parent)) return GA_OK;
    ga_ldl *s = GA_NEW(ga_ldl, 1);
    int *place = GA_NEW(int, count * G->rows);
    if (s) s->count = count;
    const ga_status status = s && place ? create(s, M, G, block, place) : GA_ERR_MEMORY;
    ga_free(place);
    if (status == GA_OK)
        *ldl = s;
    else
        ga_ldl_destroy(s);
    return status;
}

void ga_ldl_destroy(ga_ldl *ldl)
{
    if (!ldl) return;
    void *memory[] = {ldl->fronts, ldl->index, ldl->slot_M, ldl->slot_G,
                      ldl->F,      ldl->work,  ldl->z};
    for (size_t k = 0; k < sizeof memory / sizeof *memory; ++k) ga_free(memory[k]);
    ga_free(ldl);
}

/* --- factors ------------------------------------------------------------------------------ */

/* Multipliers within a tile: ij of row j by pivot i. */
typedef struct tile {
    double l01, l02, l03, l12, l13, l23;
} tile;

/* The tile of four pivots on the diagonal, unrolled by hand: GCC would vectorise loops through
 * memory. */
KERNEL void eliminate_tile(int ld, double *x, tile *t, double pivot[4])
{
    double *y = x + ld, *z = y + ld, *w = z + ld;
    double a01 = x[1], a02 = x[2], a03 = x[3], a11 = y[1], a12 = y[2], a13 = y[3], a22 = z[2],
           a23 = z[3], a33 = w[3];
    const double r0 = 1 / x[0], l01 = a01 * r0, l02 = a02 * r0, l03 = a03 * r0;
    a11 -= l01 * a01;
    a12 -= l01 * a02;
    a13 -= l01 * a03;
    a22 -= l02 * a02;
    a23 -= l02 * a03;
    a33 -= l03 * a03;
    const double r1 = 1 / a11, l12 = a12 * r1, l13 = a13 * r1;
    a22 -= l12 * a12;
    a23 -= l12 * a13;
    a33 -= l13 * a13;
    const double r2 = 1 / a22, l23 = a23 * r2;
    a33 -= l23 * a23;
    put(pivot, x[0], a11, a22, a33);
    put(x, r0, a01, a02, a03);
    put(y, 0, r1, a12, a13);
    put(z, 0, 0, r2, a23);
    put(w, 0, 0, 0, 1 / a33);
    *t = (tile){l01, l02, l03, l12, l13, l23};
}

/* The same four rows, right of the tile. */
KERNEL void eliminate_rows(int ld, int left, const tile *t, double *x)
{
    for (int j = 4; j < left; j += 4) {
        vec4 a, b, c, d;
        load(&a, x + j);
        load(&b, x + ld + j);
        load(&c, x + 2 * ld + j);
        load(&d, x + 3 * ld + j);
        subtract(&b, &a, t->l01);
        subtract(&c, &a, t->l02);
        subtract(&d, &a, t->l03);
        subtract(&c, &b, t->l12);
        subtract(&d, &b, t->l13);
        subtract(&d, &c, t->l23);
        store(x + ld + j, &b);
        store(x + 2 * ld + j, &c);
        store(x + 3 * ld + j, &d);
    }
}

/* Of pivots by the diagonal before, the smallest; 0 if one does not have this sign. */
static double judge(double sign, int count, const double *pivot, const double *before)
{
    double least = 1;
    for (int p = 0; p < count; ++p) {
        const double part = pivot[p] / before[p];
        if (!(sign * pivot[p] > 0 && part > 0 && pivot[p] * pivot[p] < INFINITY)) return 0;
        if (part < least) least = part;
    }
    return least;
}

/* Row i, by the four pivots from `first` on. */
KERNEL void subtract_rows(const front *f, int first, int i)
{
    const int ld = f->ld;
    const double *restrict x = f->F + (ptrdiff_t)first * ld;
    double *restrict y = f->F + (ptrdiff_t)i * ld;
    double l[4];
    for (int p = 0; p < 4; ++p) l[p] = x[p * ld + i] * x[p * ld + first + p];
    for (int j = i & ~3; j < ld; j += 4) {
        vec4 z;
        load(&z, y + j);
        for (int p = 0; p < 4; ++p) subtract_at(&z, x + p * ld + j, l[p]);
        store(y + j, &z);
    }
}

/* Eliminates the front's own unknowns, in its own rows; the smallest pivot by the diagonal
 * before, 0 if one does not have this sign. work: two numbers for each pivot. */
static double eliminate(const front *f, double sign, double *work)
{
    const int ld = f->ld;
    double *before = work, *pivot = work + f->pivots;
    for (int p = f->own; p < f->pivots; ++p) f->F[(ptrdiff_t)p * (ld + 1)] = sign;
    for (int p = 0; p < f->pivots; ++p) before[p] = f->F[(ptrdiff_t)p * (ld + 1)];
    for (int first = 0; first < f->pivots; first += 4) {
        tile t;
        double *x = f->F + (ptrdiff_t)first * (ld + 1);
        eliminate_tile(ld, x, &t, pivot + first);
        eliminate_rows(ld, ld - first, &t, x);
        for (int i = first + 4; i < f->own; ++i) subtract_rows(f, first, i);
    }
    return judge(sign, f->pivots, pivot, before);
}

static bool is_symmetric(const front *f)
{
    static const double round_off = 1e-12;
    const double *F = f->F;
    for (int i = 0; i < f->own; ++i)
        for (int j = 0; j < i; ++j) {
            const double difference = F[i * f->ld + j] - F[j * f->ld + i];
            const double size = F[i * (f->ld + 1)] * F[j * (f->ld + 1)];
            if (!(difference * difference <= round_off * round_off * size)) return false;
        }
    return true;
}

/* What an eliminated front leaves of the rows of G, to the root. l: workspace. */
static void add_to_root(const front *f, double *l, const front *root)
{
    const int *row = f->index + f->own, end = f->pivots + f->others, ld = f->ld;
    const double *F = f->F;
    for (int i = f->pivots; i < end; ++i) {
        double *to = root->F + (ptrdiff_t)row[i - f->pivots] * root->ld;
        for (int p = 0; p < f->pivots; ++p)
            l[p] = F[(ptrdiff_t)p * ld + i] * F[(ptrdiff_t)p * (ld + 1)];
        for (int j = i & ~3; j < end; j += 4) {
            double s[4];
            vec4 z;
            set_zero(&z);
            for (int p = 0; p < f->pivots; ++p)
                subtract_at(&z, F + (ptrdiff_t)p * ld + j, l[p]);
            store(s, &z);
            for (int k = j < i ? i : j; k < j + 4 && k < end; ++k)
                to[row[k - f->pivots]] += s[k - j];
        }
    }
}

/* What row x of a front leaves of the rows of G where it is not zero, to the root. */
static void add_row_to_root(const front *f, const double *x, double reciprocal,
                            const front *root)
{
    int count = 0, row[MOST_ROWS];
    double value[MOST_ROWS];
    for (int i = f->own; i < f->own + f->others; ++i) {
        if (x[i] == 0) continue;
        row[count] = f->index[i];
        value[count++] = x[i];
    }
    for (int i = 0; i < count; ++i) {
        double *to = root->F + (ptrdiff_t)row[i] * root->ld;
        const double l = value[i] * reciprocal;
        for (int j = i; j < count; ++j) to[row[j]] -= l * value[j];
    }
}

/* The same number by number, with what is left of the rows of G. */
static double eliminate_few(const front *f, const front *root)
{
    const int ld = f->ld;
    double least = 1, before[FEW];
    for (int p = 0; p < f->own; ++p) before[p] = f->F[p * (ld + 1)];
    for (int p = 0; p < f->own; ++p) {
        double *x = f->F + p * ld;
        const double pivot = x[p], part = pivot / before[p], reciprocal = 1 / pivot;
        if (!(pivot > 0 && pivot < INFINITY && part > 0)) return 0;
        if (part < least) least = part;
        for (int i = p + 1; i < f->own; ++i) {
            const double l = x[i] * reciprocal;
            if (l == 0) continue;
            for (int j = i; j < ld; ++j) f->F[i * ld + j] -= l * x[j];
        }
        add_row_to_root(f, x, reciprocal, root);
        x[p] = reciprocal;
    }
    return least;
}

/* With its contribution to the root; the smallest pivot as above. */
static double eliminate_block(const front *f, const front *root, double *before)
{
    if (!is_symmetric(f)) return 0;
    if (f->own <= FEW) return eliminate_few(f, root);
    const double least = eliminate(f, 1, before);
    if (least > 0) add_to_root(f, before, root);
    return least;
}

double ga_ldl_factor(ga_ldl *s, const double *M, const double *G)
{
    double least = 1;
    memset(s->F, 0, s->size * sizeof *s->F);
    for (int k = 0; k < s->values_M; ++k) s->F[s->slot_M[k]] += M[k];
    for (int k = 0; k < s->values_G; ++k) s->F[s->slot_G[k]] += G[k];
    for (int b = 0; b < s->count; ++b) {
        const double part = eliminate_block(&s->fronts[b], &s->root, s->work);
        if (part < least) least = part;
        if (!(least > 0)) return 0;
    }
    const double part = eliminate(&s->root, -1, s->work);
    return part < least ? part : least;
}

/* --- solution ----------------------------------------------------------------------------- */

/* z = L^-1 z for the front's own unknowns; subtracts from the others what they leave. */
static void forward(const front *f, double *z)
{
    const int ld = f->ld;
    for (int c = 0; c < f->pivots; c += 4) {
        const double *x = f->F + (ptrdiff_t)c * (ld + 1); /* the tile on the diagonal */
        double a[4] = {z[c], z[c + 1], z[c + 2], z[c + 3]}, s[4];
        for (int p = 0; p < 4; ++p) {
            s[p] = a[p] * x[p * ld + p];
            for (int i = p + 1; i < 4; ++i) a[i] -= s[p] * x[p * ld + i];
        }
        put(z + c, a[0], a[1], a[2], a[3]);
        for (int j = 4; j < ld - c; j += 4) {
            vec4 y;
            load(&y, z + c + j);
            for (int p = 0; p < 4; ++p) subtract_at(&y, x + p * ld + j, s[p]);
            store(z + c + j, &y);
        }
    }
}

/* z = L^-T D^-1 z for the front's own unknowns; the others are known. */
static void backward(const front *f, double *z)
{
    const int ld = f->ld;
    for (int c = f->pivots - 4; c >= 0; c -= 4) {
        const double *x = f->F + (ptrdiff_t)c * (ld + 1);
        vec4 sum[4], y;
        double a[4];
        for (int p = 0; p < 4; ++p) set_zero(&sum[p]);
        for (int j = 4; j < ld - c; j += 4) {
            load(&y, z + c + j);
            for (int p = 0; p < 4; ++p) {
                vec4 row;
                load(&row, x + p * ld + j);
                add_products(&sum[p], &row, &y);
            }
        }
        transpose(sum);
        load(&y, z + c);
        for (int p = 0; p < 4; ++p) minus(&y, &sum[p]);
        store(a, &y);
        for (int p = 3; p >= 0; --p) {
            for (int i = p + 1; i < 4; ++i) a[p] -= x[p * ld + i] * a[i];
            a[p] *= x[p * ld + p];
        }
        put(z + c, a[0], a[1], a[2], a[3]);
    }
}

/* From rhs to x for the front's own unknowns; what is left of the rows of G in l. */
static void forward_block(const front *f, const double *rhs, double *z, double *x, double *l)
{
    const int *row = f->index + f->own;
    for (int p = 0; p < f->own; ++p) z[p] = rhs[f->index[p]];
    if (f->own <= FEW) {
        for (int p = 0; p < f->own; ++p) {
            const double *F = f->F + p * f->ld, s = z[p] * F[p];
            for (int i = p + 1; i < f->own; ++i) z[i] -= s * F[i];
            for (int i = 0; i < f->others; ++i) l[row[i]] -= s * F[f->own + i];
        }
    } else {
        for (int p = f->own; p < f->ld; ++p) z[p] = 0;
        forward(f, z);
        for (int i = 0; i < f->others; ++i) l[row[i]] += z[f->pivots + i];
    }
    for (int p = 0; p < f->own; ++p) x[f->index[p]] = z[p];
}

static void backward_block(const front *f, const double *l, double *z, double *x)
{
    const int *row = f->index + f->own;
    for (int p = 0; p < f->own; ++p) z[p] = x[f->index[p]];
    if (f->own <= FEW) {
        for (int p = f->own - 1; p >= 0; --p) {
            const double *F = f->F + p * f->ld;
            for (int i = p + 1; i < f->own; ++i) z[p] -= F[i] * z[i];
            for (int i = 0; i < f->others; ++i) z[p] -= F[f->own + i] * l[row[i]];
            z[p] *= F[p];
        }
    } else {
        for (int p = f->own; p < f->pivots; ++p) z[p] = 0;
        for (int i = 0; i < f->others; ++i) z[f->pivots + i] = l[row[i]];
        backward(f, z);
    }
    for (int p = 0; p < f->own; ++p) x[f->index[p]] = z[p];
}

void ga_ldl_solve(ga_ldl *s, const double *rhs, double *x)
{
    double *l = s->z;
    memcpy(l, rhs + s->nv, (size_t)s->m * sizeof *l);
    for (int b = 0; b < s->count; ++b) forward_block(&s->fronts[b], rhs, s->work, x, l);
    forward(&s->root, l);
    backward(&s->root, l);
    for (int b = 0; b < s->count; ++b) backward_block(&s->fronts[b], l, s->work, x);
    memcpy(x + s->nv, l, (size_t)s->m * sizeof *l);
}
