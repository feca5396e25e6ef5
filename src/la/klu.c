/* KLU: block triangular form and fill-reducing order once per pattern, LU per matrix.
 *
 * There are two orders to choose from, and the first matrix chooses. AMD keeps fill small if
 * the pivots are those of the diagonal. In saddle matrices many of these are zero, and pivots
 * from elsewhere spoil its plan: a chain of n links may get O(n^2) entries. COLAMD bounds the
 * fill whatever the pivots are, and needs about twice as much where the diagonal would have
 * served.
 *
 * The first factorisation chooses pivots: |pivot| >= tol * |largest in its column|, so all
 * multipliers |l_ik| <= 1/tol. Later matrices reuse that choice (klu_refactor), which allocates
 * nothing and searches for no pivots. Whether the choice still fits is read off the same
 * bound: a multiplier of size L costs about L * eps of relative accuracy. Up to REFINE_LIMIT,
 * KLU's own default, that is as good as fresh; from there to MULTIPLIER_LIMIT a solution keeps
 * ten digits and is refined once, because a new choice of pivots would allocate in the middle
 * of a step; beyond that the pivots are chosen anew. The growth of U alone (klu_rgrowth) does
 * not tell: for
 *
 *     [ e  0  1 ]
 *     [ 0  e -1 ]     u_33 = 1 - 1/e + 1/e
 *     [ 1  1  1 ]
 *
 * U stays of order one while u_33 has lost all its digits. One pass over L costs about as much
 * as a triangular solve with L.
 *
 * Pivots are a function of the matrix they were chosen for, whose values are kept: a factor
 * that is saved and loaded goes on with the same ones.
 *
 * The matrix arrives equilibrated, so KLU scales nothing. Where L lies inside klu_numeric is
 * KLU's packing (klu_internal.h, GET_POINTER), the same since its first release: column k of
 * block b is Llen[k] ints at LUbx[b] + Lip[k] doubles, padded to whole doubles, then the
 * values; the unit diagonal is not stored. A block of order one has no L. */
#include "base/memory.h"
#include "base/report.h"
#include "la/solver.h"

#include <float.h>
#include <klu.h>
#include <math.h>
#include <string.h>

const bool ga_factor_has_klu = true;

static const double PIVOT_TOLERANCE = 0.01;
static const double REFINE_LIMIT = 1e3;
static const double MULTIPLIER_LIMIT = 1e6;

typedef struct sparse {
    const ga_matrix *matrix;
    double *defect; /* for refinement */
    bool refine;    /* the pivots in use are only half good */
    int n;
    int *colptr, *rowind; /* borrowed from the matrix */
    double *chosen_for;   /* values of the matrix that the pivots were chosen for */
    klu_common common;
    klu_symbolic *symbolic;
    klu_numeric *numeric;
} sparse;

static void destroy(void *data)
{
    sparse *s = data;
    klu_free_numeric(&s->numeric, &s->common);
    klu_free_symbolic(&s->symbolic, &s->common);
    ga_free(s->defect);
    ga_free(s->chosen_for);
    ga_free(s);
}

/* Whether KLU, which prefers it, will find its pivots on the diagonal; but for what fill and
 * cancellation do to it. */
static bool diagonal_serves(const ga_matrix *matrix)
{
    for (int j = 0; j < matrix->n; ++j) {
        double diagonal = 0;
        for (int k = matrix->colptr[j]; k < matrix->colptr[j + 1]; ++k)
            if (matrix->rowind[k] == j) diagonal = fabs(matrix->values[k]);
        if (!(diagonal >= PIVOT_TOLERANCE * matrix->size[j])) return false;
        if (diagonal == 0) return false;
    }
    return true;
}

enum { AMD_ORDER, COLAMD_ORDER };

/* GA_ERR_MEMORY also if the matrix is too large; the pattern itself is valid. */
static ga_status order_columns(sparse *s, int ordering)
{
    if (s->symbolic && s->common.ordering == ordering) return GA_OK;
    klu_free_symbolic(&s->symbolic, &s->common);
    s->common.ordering = ordering;
    s->symbolic = klu_analyze(s->n, s->colptr, s->rowind, &s->common);
    return s->symbolic ? GA_OK : GA_ERR_MEMORY;
}

static ga_status analyse(const ga_matrix *matrix, const ga_partition *partition, void **data)
{
    (void)partition;
    if (matrix->full) return GA_ERR_ARGUMENT;
    sparse *s = GA_NEW(sparse, 1);
    if (!s) return GA_ERR_MEMORY;
    s->n = matrix->n;
    s->matrix = matrix;
    s->defect = GA_NEW(double, s->n);
    s->chosen_for = GA_NEW(double, matrix->colptr[s->n]);
    s->colptr = matrix->colptr;
    s->rowind = matrix->rowind;
    klu_defaults(&s->common);
    s->common.tol = PIVOT_TOLERANCE;
    s->common.scale = -1; /* no scaling, no checking of the pattern at each call */
    if (!s->defect || !s->chosen_for) {
        destroy(s);
        return GA_ERR_MEMORY;
    }
    *data = s;
    return GA_OK;
}

static double largest_multiplier(const sparse *s)
{
    const klu_numeric *f = s->numeric;
    double largest = 0;
    for (int b = 0; b < s->symbolic->nblocks; ++b) {
        int first = s->symbolic->R[b], end = s->symbolic->R[b + 1];
        if (end - first == 1) continue;
        for (int k = first; k < end; ++k) {
            size_t length = (size_t)f->Llen[k], unit = sizeof(double);
            const double *column = (const double *)f->LUbx[b] + f->Lip[k];
            const double *l = column + (length * sizeof(int) + unit - 1) / unit;
            for (size_t i = 0; i < length; ++i)
                if (!(fabs(l[i]) <= largest)) largest = fabs(l[i]);
            if (isnan(largest)) return largest;
        }
    }
    return largest;
}

/* True if the old pivot order still serves. */
static bool refactor(sparse *s, double *values)
{
    if (!klu_refactor(s->colptr, s->rowind, values, s->symbolic, s->numeric, &s->common) ||
        s->common.status != KLU_OK)
        return false;
    double multiplier = largest_multiplier(s);
    s->refine = multiplier > REFINE_LIMIT;
    return multiplier <= MULTIPLIER_LIMIT;
}

/* Smallest pivot relative to its column, whatever the scaling of the columns. */
static double judge_pivots(const sparse *s, const ga_matrix *matrix, int *column)
{
    const double *u = s->numeric->Udiag;
    double smallest = INFINITY;
    for (int k = 0; k < s->n; ++k) {
        int j = s->symbolic->Q[k];
        double size = fabs(u[k]) / matrix->size[j];
        if (!(size >= smallest)) {
            smallest = size;
            *column = j;
        }
        if (!isfinite(size)) return 0;
    }
    return fmin(smallest, 1);
}

static size_t value_bytes(const sparse *s)
{
    return (size_t)s->colptr[s->n] * sizeof *s->chosen_for;
}

static void choose_pivots(sparse *s)
{
    klu_free_numeric(&s->numeric, &s->common);
    s->refine = false;
    s->numeric = klu_factor(s->colptr, s->rowind, s->chosen_for, s->symbolic, &s->common);
}

/* A matrix is called singular only after a fresh choice of pivots. */
static ga_status factor(void *data, double *rcond, int *column)
{
    sparse *s = data;
    const ga_matrix *matrix = s->matrix;
    *rcond = 0;
    if (!s->symbolic)
        GA_TRY(order_columns(s, diagonal_serves(matrix) ? AMD_ORDER : COLAMD_ORDER));
    if (s->numeric && refactor(s, matrix->values)) {
        *rcond = judge_pivots(s, matrix, column);
        if (*rcond >= DBL_EPSILON) return GA_OK;
    }
    memcpy(s->chosen_for, matrix->values, value_bytes(s));
    choose_pivots(s);
    if (!s->numeric) {
        if (s->common.status != KLU_SINGULAR) return GA_ERR_MEMORY;
        *rcond = 0;
        *column = s->common.singular_col < s->n ? s->common.singular_col : -1;
        return GA_ERR_SINGULAR;
    }
    *rcond = judge_pivots(s, matrix, column);
    return GA_OK;
}

static void solve_once(sparse *s, bool transposed, double *x)
{
    if (transposed)
        klu_tsolve(s->symbolic, s->numeric, s->n, 1, x, &s->common);
    else
        klu_solve(s->symbolic, s->numeric, s->n, 1, x, &s->common);
}

static void solve_either(sparse *s, bool transposed, double *x)
{
    if (s->refine) memcpy(s->defect, x, (size_t)s->n * sizeof *x);
    solve_once(s, transposed, x);
    if (!s->refine) return;
    (transposed ? ga_matrix_multiply_transposed : ga_matrix_multiply)(s->matrix, -1, x,
                                                                      s->defect);
    solve_once(s, transposed, s->defect);
    for (int i = 0; i < s->n; ++i) x[i] += s->defect[i];
}

static void solve(void *data, bool rough, double *x)
{
    (void)rough;
    solve_either(data, false, x);
}

static void solve_transposed(void *data, double *x) { solve_either(data, true, x); }

static void forget(void *data)
{
    sparse *s = data;
    klu_free_numeric(&s->numeric, &s->common);
}

/* The ordering; then, if pivots are chosen, the values they are chosen for. */
static size_t save(const void *data, void *bytes)
{
    const sparse *s = data;
    const int ordering = s->common.ordering;
    if (!s->symbolic) return 0;
    const size_t values = s->numeric ? value_bytes(s) : 0;
    if (bytes) {
        memcpy(bytes, &ordering, sizeof ordering);
        memcpy((char *)bytes + sizeof ordering, s->chosen_for, values);
    }
    return sizeof ordering + values;
}

/* Are these the pivots in use? */
static bool are_in_use(const sparse *s, int ordering, const void *values)
{
    return s->numeric && s->common.ordering == ordering &&
           !memcmp(s->chosen_for, values, value_bytes(s));
}

static ga_status load(void *data, const void *bytes, size_t size)
{
    sparse *s = data;
    int ordering;
    if (size == 0) {
        klu_free_numeric(&s->numeric, &s->common);
        klu_free_symbolic(&s->symbolic, &s->common);
        return GA_OK;
    }
    if (size != sizeof ordering && size != sizeof ordering + value_bytes(s))
        return GA_ERR_ARGUMENT;
    memcpy(&ordering, bytes, sizeof ordering);
    if (ordering != AMD_ORDER && ordering != COLAMD_ORDER) return GA_ERR_ARGUMENT;
    const char *values = (const char *)bytes + sizeof ordering;
    const bool chosen = size > sizeof ordering;
    if (chosen && are_in_use(s, ordering, values)) return GA_OK;
    klu_free_numeric(&s->numeric, &s->common);
    GA_TRY(order_columns(s, ordering));
    if (!chosen) return GA_OK;
    memcpy(s->chosen_for, values, value_bytes(s));
    choose_pivots(s);
    if (s->numeric) return GA_OK;
    return s->common.status == KLU_SINGULAR ? GA_ERR_ARGUMENT : GA_ERR_MEMORY;
}

const ga_solver_table ga_solver_klu = {
    .analyse = analyse,
    .factor = factor,
    .solve = solve,
    .solve_transposed = solve_transposed,
    .forget = forget,
    .save = save,
    .load = load,
    .destroy = destroy,
};
