/* All fronts of a matrix, as backend_block.c plans them, for those who factor (fronts_factor.c)
 * and solve (fronts_solve.c) with them. */
#ifndef GA_LA_FRONTS_H
#define GA_LA_FRONTS_H

#include "la/factor.h"
#include "la/front_inverse.h"

#include <limits.h>

/* Parts of the work for threads, about; a small number serves any number of them. */
enum { GA_FRONTS_PARTS = 8 };

/* Consecutive values of the matrix. */
typedef struct ga_fronts_run {
    int from, count;
} ga_fronts_run;

/* Consecutive rows of the S of a child, and which row of its parent the first is. */
typedef struct ga_fronts_join {
    int from, to, count;
} ga_fronts_join;

typedef struct ga_front {
    const ga_front_kernels *kernels;
    const ga_front_inverse *inverse; /* null: too large */
    size_t at;                       /* in factors: A, L, U^T; in parts: the way forward */
    size_t back;                     /* in parts: the way back */
    size_t spare;          /* where all of it is if it is not inverted, but might be */
    size_t stack;          /* S, apart from those of its children */
    int k, r;              /* pivots, others */
    int first;             /* number of the first pivot in the order of elimination */
    int others;            /* in the list of others */
    int runs, places;      /* where its runs and its places begin; fronts share places */
    int windows;           /* of the matrix: where the list of those begins that its
                              entries and columns are in */
    int joins;             /* where its joins to the parent begin */
    int row_from, row_end; /* fronts like this one in a row; none if its others are scattered */
    int reach;   /* its others in its part, or those of its row, end so far behind its first */
    int chain;   /* where the chain ends that begins here (front_chain.h); or 0 */
    bool parted; /* too large for an inverse, in parts all the same */
    bool inverted; /* by the last factorisation */
} ga_front;

/* What a factorisation has shown. */
typedef struct ga_fronts_finding {
    double entry;  /* columns of pivots so far have no larger one */
    double pivot;  /* the smallest, by the size of its column: as its reciprocal */
    int column;    /* of that pivot */
    double growth; /* largest |l| |u| of one pivot, where multipliers are large */
    bool mixed;    /* not all fronts are inverted */
    bool failed;
} ga_fronts_finding;

/* Fronts from .. end-1, with nothing below them. */
typedef struct ga_fronts_part {
    int from, end;
    int slots;       /* where its places for unknowns above it begin */
    double *t;       /* for solving */
    double *work;    /* of the kernels */
    double *room[2]; /* for fronts that are parted later */
    ga_fronts_finding found;
} ga_fronts_part;

typedef struct ga_fronts {
    const ga_matrix *matrix;
    ga_pool *pool;
    int parts;
    ga_fronts_part *part; /* and one more, for the fronts above */
    int slots;            /* of all parts; they follow the unknowns in y */
    int *above;           /* the unknown of each slot */
    double entry;         /* the largest of the matrix; by pieces of it */
    double largest[GA_FRONTS_PARTS];
    double *part_memory;
    int n, fronts;
    ga_front *front; /* and one more, where the lists end */
    int *child_start, *child;
    int *row, *col;         /* of the matrix, by the order of elimination */
    int *others;            /* numbers of unknowns */
    ga_fronts_run *runs;    /* entries of the matrix, front by front */
    unsigned short *places; /* where each goes in its front; null if one is too large */
    int *wide_places;       /* then these */
    ga_fronts_join *joins;
    double *factors_memory, *factors, *stack;
    size_t factors_size, factors_used; /* in all; and unless inverses fail */
    struct ga_fronts *partner;         /* uses the same factors, or null */
    bool borrowed;                     /* they are the partner's */
    bool lost;                         /* the partner has them in use */
    int *swap;
    double *y;                                  /* for solving */
    const double *from, *from_scale, *to_scale; /* the caller's; scales may be null */
    double *to;
    double *rhs, *defect; /* for refinement */
    bool refine, refine_rough, mixed;
    void *klu; /* created when it is needed first */
    bool use_klu;
    int failures;            /* where KLU did better */
    ga_fronts_finding found; /* by the factorisation */
    /* fronts_sum.c; there are parts */
    const ga_matrix_total *sum; /* what the matrix becomes on the way; null: it is there */
    int *window;                /* of the fronts, ascending in each */
    int *owner;                 /* of each window: the part that sums it, or < 0 */
    unsigned char *summed;      /* windows */
    ga_matrix_room room;        /* for windows that pass by; no memory: they stay */
    int *edge;                  /* of each segment: the value after its last */
    bool passing;               /* the entries of fronts are there, not in the matrix */
    bool passed;                /* so they were for the factors in use: it is made of */
    ga_matrix_total last;       /* this, */
    ga_matrix_term *terms;      /* with copies of terms */
    double flops;
} ga_fronts;

/* Chains are interrupted after so many fronts: what is summed shall be used soon. */
enum { GA_FRONTS_CHAIN_MOST = 128 };

/* Where the entries of a front are. Runs are asked for in their order; none goes from one
 * segment to the next. */
typedef struct ga_fronts_cursor {
    const double *memory;
    ptrdiff_t shift;
    int range, at, end; /* in the list of windows; end: so far goes the segment */
} ga_fronts_cursor;

static inline void ga_fronts_move(const ga_fronts *s, ga_fronts_cursor *at)
{
    const int segment = at->range * s->matrix->windows + s->window[at->at];
    at->shift = s->room.shift[segment];
    at->end = s->edge[segment];
}

static inline ga_fronts_cursor ga_fronts_begin(const ga_fronts *s, const ga_front *f)
{
    if (!s->passing) return (ga_fronts_cursor){.memory = s->matrix->values, .end = INT_MAX};
    ga_fronts_cursor at = {.memory = s->room.memory, .at = f->windows};
    ga_fronts_move(s, &at);
    return at;
}

static inline const double *ga_fronts_entries(const ga_fronts *s, const ga_front *f, int from,
                                              ga_fronts_cursor *at)
{
    while (from >= at->end) {
        if (++at->at == f[1].windows) {
            at->at = f->windows;
            ++at->range;
        }
        ga_fronts_move(s, at);
    }
    return at->memory + (at->shift + from);
}

static inline size_t ga_fronts_size(const ga_front *f)
{
    return f->inverse ? ga_front_inverse_size(f->k, f->r) : ga_front_size(f->k, f->r);
}

/* Eliminated elsewhere, and put in two places then? */
static inline bool ga_fronts_is_moved(const ga_front *f) { return f->parted || f->inverse; }

static inline size_t ga_fronts_others_size(const ga_front *f)
{
    return (size_t)f->r * (size_t)ga_front_padded(f->r);
}

/* Finds the largest entry of the matrix; false if one is not finite. */
bool ga_fronts_look(ga_fronts *s);
/* Whether a pivot of this front is the smallest so far, by the size of its column; that is
 * looked at only where it might be. reciprocals of pivots are `step` apart. */
void ga_fronts_judge(const ga_fronts *s, const ga_front *f, const double *reciprocals, int step,
                     ga_fronts_finding *found);
/* Factors the values of the matrix, after a look at them. False if the factors are not to be
 * used. */
bool ga_fronts_factor(ga_fronts *s, double *rcond, int *column);
/* The part of it for fronts from .. end-1, of which none below is missing. */
bool ga_fronts_factor_range(ga_fronts *s, int from, int end, ga_fronts_part *p);
/* Whether the factors are to be used, by s->found. */
bool ga_fronts_accept(ga_fronts *s, double *rcond, int *column);
/* fronts_sum.c: who sums what; where the fronts have places. */
ga_status ga_fronts_plan_sum(ga_fronts *s);
/* Whether a matrix can be summed on the way. */
bool ga_fronts_may_sum(const ga_fronts *s);
/* Before the parts, */
void ga_fronts_begin_sum(ga_fronts *s);
/* before f of part p is assembled, */
void ga_fronts_sum_for(ga_fronts *s, const ga_front *f, ga_fronts_part *p);
/* and after the parts; a look at the whole, as above. */
bool ga_fronts_finish_sum(ga_fronts *s);
/* Whether windows of a matrix need not stay; */
bool ga_fronts_may_pass(const ga_fronts *s);
/* then the total is kept as `last`, and what is summed by that passes by. */
void ga_fronts_remember(ga_fronts *s, const ga_matrix_total *total);
/* The matrix of the factors in use, if it has passed by, becomes whole. */
void ga_fronts_bring_back(ga_fronts *s);
/* to = diag(to_scale) A^-1 diag(from_scale) from, all of them members; all of `from` is read
 * before anything is written. */
void ga_fronts_solve(ga_fronts *s);

#endif
