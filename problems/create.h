/* What every constructor in this folder starts with. */
#ifndef PROBLEMS_CREATE_H
#define PROBLEMS_CREATE_H

#include "problems/problems.h"
#include <stddef.h>

#define PB_PI 3.14159265358979323846

/* A zeroed problem with data_size zeroed bytes at data, which is also what callbacks get as
 * user. Null if memory is out. */
pb_problem *pb_new(const char *name, size_t data_size);

/* Writes n zeros. */
static inline void pb_zero(double *x, int n)
{
    for (int i = 0; i < n; ++i) x[i] = 0;
}

static inline void pb_copy(double *to, const double *from, int n)
{
    for (int i = 0; i < n; ++i) to[i] = from[i];
}

/* c = a x b; c may be a or b. */
static inline void pb_cross(const double *a, const double *b, double *c)
{
    const double x = a[1] * b[2] - a[2] * b[1], y = a[2] * b[0] - a[0] * b[2];
    c[2] = a[0] * b[1] - a[1] * b[0];
    c[0] = x;
    c[1] = y;
}

/* y = R x and y = R^T x, R column-major; y may not be x. */
static inline void pb_rotate(const double *R, const double *x, double *y)
{
    for (int i = 0; i < 3; ++i) y[i] = R[i] * x[0] + R[i + 3] * x[1] + R[i + 6] * x[2];
}

static inline void pb_rotate_back(const double *R, const double *x, double *y)
{
    for (int j = 0; j < 3; ++j) {
        const double *column = R + 3 * (ptrdiff_t)j;
        y[j] = column[0] * x[0] + column[1] * x[1] + column[2] * x[2];
    }
}

/* A += s x~ for a 3 x 3 block of a column-major matrix with ld rows. */
static inline void pb_add_skew(double *A, int ld, double s, const double *x)
{
    A[1] += s * x[2];
    A[2] -= s * x[1];
    A[ld] -= s * x[2];
    A[ld + 2] += s * x[0];
    A[2 * ld] += s * x[1];
    A[2 * ld + 1] -= s * x[0];
}

/* A += s x~ y~, since x~ y~ = y x^T - (x.y) I. */
static inline void pb_add_skew_skew(double *A, int ld, double s, const double *x,
                                    const double *y)
{
    const double xy = x[0] * y[0] + x[1] * y[1] + x[2] * y[2];
    for (int j = 0; j < 3; ++j) {
        for (int i = 0; i < 3; ++i) A[i + j * ld] += s * y[i] * x[j];
        A[j + j * ld] -= s * xy;
    }
}

/* A += s R x~ */
static inline void pb_add_rotated_skew(double *A, int ld, double s, const double *R,
                                       const double *x)
{
    for (int i = 0; i < 3; ++i) {
        const double r0 = s * R[i], r1 = s * R[i + 3], r2 = s * R[i + 6];
        A[i] += r1 * x[2] - r2 * x[1];
        A[i + ld] += r2 * x[0] - r0 * x[2];
        A[i + 2 * ld] += r0 * x[1] - r1 * x[0];
    }
}

#endif
