/* Radau IIA of order 5 on the stabilised index-2 form, as a one-step method: radau.c has the
 * method as runs see it, radau_stages.c the equations of a step, radau_output.c what is between
 * steps. */
#ifndef GA_INTEGRATE_RADAU_H
#define GA_INTEGRATE_RADAU_H

#include "integrate/ends.h"
#include "la/complex.h"
#include "lie/group.h"
#include "system/consistent.h"

enum { GA_RADAU_STAGES = 3, GA_RADAU_BLOCK = GA_NODE_MAX_NV * GA_NODE_MAX_NV };

typedef struct ga_radau {
    ga_onestep base;
    ga_integrator_def def;
    ga_dae dae;
    ga_statistics stats;
    ga_consistent consistent;
    ga_consistent output; /* in its place where steps are not to be touched */
    int n;                /* unknowns of a stage */
    ga_ends now, saved;   /* with the stages of the last step, from q_old and v_old */
    double *y;            /* stages of the attempt, n numbers each */
    double *r;            /* their residuals, then increments; n numbers each */
    double *z;            /* three vectors of n: transformed */
    double *trial_q;      /* end of the attempt */
    double *trial_v, *trial_vd, *trial_l;
    double t1, h;     /* of the attempt */
    double size_v[2]; /* of fixed steps: largest velocities, by kind */
    int iterations;

    struct ga_radau_tangent { /* in the order of the matrix above */
        double *M, *G, *K, *C, *Z, *L;
        ga_coords eye, chart, eta_diagonal;
        int turning;      /* nodes that have a block in T */
        ga_coords Gt, Bt; /* views */
        double *one, *X;
        double *diagonal, *eta_weight;
        double *T, *Tinv; /* of nodes with rotations, n x n each; see block_of */
    } tangent;
    struct ga_radau_jacobian { /* the real and the complex one */
        ga_matrix matrix;
        ga_factor *real;
        ga_complex *complex;
        double *constant; /* values of the matrix without mu */
        double *rates;    /* values of what mu/h multiplies */
        double *re, *im;  /* of the complex matrix */
        double *row_scale, *col_scale, *scale_work;
    } jacobian;

    /* policy */
    bool rejected; /* the last attempt was, because of its error */
    double cap;    /* longest step after a failure of Newton's method */
    int hold;      /* steps for which the cap stays */

    /* workspace */
    double *q, *v, *vd, *rate, *error; /* nq, then nv each */
    /* dense output: xi, xi', xi'' at the end, in units of h */
    double *end;
    long end_steps;
    bool *flat; /* of each node: xi is taken for its velocity's integral, not by the chart */
} ga_radau;

extern const ga_onestep_type ga_radau_type;

/* Stage i of those at `stages`. */
static inline double *ga_radau_stage(const ga_radau *x, double *stages, int i)
{
    return stages + i * x->n;
}

/* Nodes whose velocities are derivatives of coordinates, and states. */
static inline bool ga_radau_is_flat(ga_node node)
{
    return ga_group_is_vector(node) || node.group == GA_GROUP_SO2 ||
           node.group == GA_GROUP_R2SO2;
}

/* y = A x, n x n by columns. */
static inline void ga_radau_multiply(int n, const double *A, const double *x, double *y)
{
    for (int i = 0; i < n; ++i) {
        double sum = 0;
        for (int j = 0; j < n; ++j) sum += A[i + n * j] * x[j];
        y[i] = sum;
    }
}

/* radau_stages.c */
ga_status ga_radau_create_matrix(ga_radau *x);
/* First guesses of the stages of a step of size x->h to x->t1. */
void ga_radau_predict(ga_radau *x);
/* x->q, x->v and x->vd of a stage, x->rate of its chart; its time. */
double ga_radau_stage_point(ga_radau *x, int i);
/* Tangents at the second stage as predicted, and the factors of both matrices. */
ga_status ga_radau_factor(ga_radau *x);
ga_status ga_radau_iterate(ga_radau *x);
/* The estimated error of xi and v, in x->error. */
void ga_radau_estimate(ga_radau *x);
/* The same from rates at the start displaced by the first estimate: stiff components, which
 * that overestimates, are damped once more. */
ga_status ga_radau_filter_estimate(ga_radau *x);

/* radau_output.c */
/* Within the last step, s from 0 to 1; any output may be null. */
void ga_radau_interpolate(ga_radau *x, double s, double *q, double *v, double *vd);

#endif
