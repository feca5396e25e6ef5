/* The block solver: the multifrontal method. See README.md in this folder. */
#ifndef GA_LA_BLOCK_BLOCK_H
#define GA_LA_BLOCK_BLOCK_H

#include "la/block/tree.h"
#include "la/factor.h"
#include "la/front.h"

/* Parts to aim at, at most twice as many; the same for any number of threads. */
enum { GA_FRONTS_PARTS = 8 };

/* Columns of consecutive values of the matrix that go to consecutive columns of a front. */
typedef struct ga_fronts_run {
    int from, stride; /* the first value, and from one column to the next */
    int to;           /* place of the first in the front */
    short rows, cols;
} ga_fronts_run;

/* Consecutive rows of a contribution block, and which row of the parent the first is: a piece
 * of the map for the extend-add. */
typedef struct ga_fronts_join {
    int from, to, count;
} ga_fronts_join;

typedef struct ga_front {
    int k, m, ld;       /* pivots, all rows, rounded up */
    int first;          /* number of the first pivot in the order of elimination */
    int others;         /* where its m - k other unknowns begin in the list of others */
    int runs, joins;    /* where its runs and its joins to the parent begin */
    bool passes;        /* its contribution goes straight to the next front, its parent */
    bool swapped;       /* rows, by the last factorisation */
    size_t forth, back; /* in factors: front.h */
    size_t stack;       /* where its contribution block, (m - k) x (m - k), is on the stack */
} ga_front;

/* What a factorisation has shown. */
typedef struct ga_fronts_finding {
    double inverse_pivot; /* largest (column size)/|pivot| so far */
    int column;           /* of that pivot */
    double growth;        /* largest |l| |u| of one pivot, where multipliers are large */
    bool failed;
} ga_fronts_finding;

/* Fronts from .. end-1: consecutive whole subtrees. */
typedef struct ga_fronts_part {
    int from, end;
    int slots;         /* where its places for unknowns above it begin */
    double *memory;    /* holds buffer and z */
    double *buffer[2]; /* fronts are assembled and eliminated in these, alternately */
    double *z;         /* for solving */
    ga_fronts_finding found;
} ga_fronts_part;

typedef struct ga_fronts {
    const ga_matrix *matrix;
    const ga_front_kernels *kernels;
    ga_pool *pool;
    int n, fronts;
    ga_front *front;          /* and one more, where the lists end */
    int *child_start, *child; /* of each front, those that do not pass */
    int *row, *col;           /* of the matrix, by the order of elimination */
    int *others;              /* places in y: of unknowns, or n + slot */
    ga_fronts_run *run;
    ga_fronts_join *joins;
    double *factors, *stack;
    int *swap;
    double flops;
    /* threads: fronts in no part are above all parts */
    int parts;
    ga_fronts_part *part; /* and one more, for the fronts above */
    int slots;            /* of all parts; they follow the unknowns in y */
    int *above;           /* the unknown of each slot */
    double *y;            /* for solving */
    double *defect;       /* residual, for refinement */
    bool refine, refine_rough;
    void *klu; /* created when it is needed first */
    bool use_klu;
    int failures; /* where KLU did better */
} ga_fronts;

/* plan.c: everything but values. */
ga_status ga_fronts_plan(ga_fronts *s, const ga_partition *partition);
/* factor.c: false if the factors are of no use; KLU is to judge then. */
bool ga_fronts_factor(ga_fronts *s, double *rcond, int *column);
/* solve.c: x = A^-1 x, and x = A^-T x. */
void ga_fronts_solve(ga_fronts *s, double *x);
void ga_fronts_solve_transposed(ga_fronts *s, double *x);

#endif
