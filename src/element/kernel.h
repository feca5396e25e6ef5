/* Kernels: rows of joints again, for models that have thousands of them.
 *
 * joint.c asks one function for each row, in whatever order the rows come, and turns what it
 * gets between axes. A kernel takes the rows of one type together, shares what they have in
 * common, and writes derivatives with respect to
 *
 *     (delta_x, delta_theta): x + delta_x in world axes, R exp(delta_theta~) in body axes,
 *
 * the variations of R^3 x SO(3), where nothing is left to be turned; in planar models
 * (delta_x, delta_y, delta_theta). Its constants lie side by side, apart from what only
 * preparation and output need.
 *
 * The numbers are those of joint.c up to round-off; a test compares them for every type.
 */
#ifndef GA_ELEMENT_KERNEL_H
#define GA_ELEMENT_KERNEL_H

#include "element/joint.h"

/* A body in the plane: position, cosine and sine of its angle, velocity in world axes. */
typedef struct ga_plane {
    double x[2], c, s, v[2], w;
    double angle; /* with all its turns */
} ga_plane;

enum {
    GA_KERNEL_MAX_ROWS = GA_JOINT_MAX_ROWS,
    GA_KERNEL_MAX_NUMBERS = 40,
    GA_KERNEL_LANES = 8, /* joints side by side */
};

/* a, b: the two bodies, ga_frame in space, ga_plane in the plane. Arrays have a column for each
 * variation of both bodies; what a kernel never fills it does not write either. */
typedef struct ga_kernel {
    int rows;
    int columns; /* 12; planar: 6 */
    int numbers; /* constants of one joint */
    bool units; /* the first rows are those of a common point, along x, y and z; of B they alone
                   have translations: -1 and 1 */
    /* Phi, and B unless it is null; row-major */
    void (*rows_of)(const double *data, const void *a, const void *b, double *Phi, double *B);
    /* The same for GA_KERNEL_LANES joints, with the bits of each alone; null where the compiler
     * finds nothing to do for several at once. Number k of joint v
     * stands at [k * GA_KERNEL_LANES + v] of each array, B with zeros. places has
     * GA_KERNEL_PLACE numbers of the first bodies, then of the second: x and R; in the plane x,
     * c and s. */
    void (*rows_of_many)(const double *data, const double *places, double *Phi, double *B);
    /* K = D (B^T lambda), and the force sum of lambda_k dPhi_k/dx_b, minus that on x_a */
    void (*geometric)(const double *data, const void *a, const void *b, const double *lambda,
                      double *K, double *push);
    /* Z = D (B v), row by row; the bodies move */
    void (*swept)(const double *data, const void *a, const void *b, double *Z);
} ga_kernel;

/* The kernel for a joint; null if its rows are of other kinds, or if more acts in it than its
 * reaction. */
const ga_kernel *ga_kernel_of(const ga_joint *joint, int dimension);
/* Its constants. */
void ga_kernel_pack(const ga_kernel *kernel, const ga_joint *joint, double *data);

#endif
