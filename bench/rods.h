/* The planar chain written out by hand, for loops and peers.
 *
 * N uniform rods, length 1, mass 1, inertia J = 1/12 about the centre, hung at the origin,
 * released at rest along x; g = 9.81 along -y; 1 s. With d = (cos th, sin th)/2 and e = d
 * turned by pi/2, and f_k the force on rod k at its upper joint:
 *
 *     x_k''      = f_k - f_{k+1} - g y^            B^T f
 *     J th_k''   = -e_k . (f_k + f_{k+1})
 *     Phi_k      = x_k - d_k - x_{k-1} - d_{k-1}
 *
 * S = B M^-1 B^T is block tridiagonal with 2 x 2 blocks, symmetric and positive definite:
 *
 *     S_kk = 2 I + D_k + D_{k-1},  S_{k,k+1} = D_k - I,  D = e e^T / J
 *
 * (2 I is I for k = 0, where ground does not move). One sweep down, one sweep up.
 *
 * The error of a run is the largest |difference| over x, y (m) and th (rad) of all rods at
 * t = 1. Most rods fall freely; what is hard happens near the support, where rods turn one
 * after the other.
 */
#ifndef BENCH_RODS_H
#define BENCH_RODS_H

#include "bench/bench.h"

#define RODS_G 9.81
#define RODS_J (1.0 / 12)

typedef struct rods_half {
    double x, y;
} rods_half;

/* S of a configuration, factored: block LDL^T. */
typedef struct rods_schur {
    double xx, xy, yy; /* inverse of the pivot block */
    double l[4];       /* S_{k+1,k} times that, row by row */
} rods_schur;

/* d[k]: half rods, J[k]: inertias as they enter. */
void rods_factor(int n, const rods_half *d, const double *J, rods_schur *S);
/* S f = r, in place, 2 n numbers. */
void rods_solve(int n, const rods_schur *S, double *f);
/* Accelerations (3 n) and forces (2 n) at angles th with rates w; work has n of each. */
void rods_accelerations(int n, const double *th, const double *w, rods_half *d, double *J,
                        rods_schur *S, double *vd, double *f);

/* q = (x, y, th) of all rods at t = 1, to about 1e-11: angles and rates as an ordinary
 * differential equation, extrapolated midpoint rule. With a tolerance
 * of 1e-12 nothing changes by more than 1e-11 (n = 1000). Depends on nothing but
 * this file. Kept; null if memory is out. */
const double *rods_reference(int n);

/* The loops: generalized-alpha, index 3, rho_inf 0.9, value = h. mode 0: S as above; 1: KLU on
 * the saddle matrix of 5 n unknowns. */
bench_function rods_loop;
/* SUNDIALS IDA, value = relative tolerance; data: an ida_options. */
bench_function rods_ida;

#endif
