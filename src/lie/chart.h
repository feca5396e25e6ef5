/* Charts: how a rotation vector x becomes a rotation, told by functions of s = |x|^2 alone.
 *
 * Both maps turn about x, so every operator that belongs to one has the form
 *
 *   O(x) = a(s) I + b(s) x~ + c(s) x x^T
 *
 *                 a                  b      c                              on the axis: a + s c
 *   exp  T        sin t / t         -(1 - cos t)/t^2   (t - sin t)/t^3          1
 *   exp  T^-1     (t/2) cot(t/2)     1/2    (1 - (t/2) cot(t/2))/t^2            1
 *   cay  T        k                 -k/2    0                                   k
 *   cay  T^-1     1                  1/2    1/4                                 1 + s/4
 *
 * with t = |x|, k = 1/(1 + s/4). A jet holds a, b, c with their derivatives with respect to s.
 * Groups (so3.c, se3.c, planar.c) know jets and no trigonometry; charts know no group. A third
 * map is a third file like chart_cayley.c and one line in group.c. */
#ifndef GA_LIE_CHART_H
#define GA_LIE_CHART_H

#include <stdbool.h>

/* x -> unit quaternion (w, v x). */
typedef struct ga_rotor {
    double w, v;
} ga_rotor;

typedef struct ga_jet {
    double a[3], b[3], c[3]; /* value, d/ds, d^2/ds^2; filled up to the order asked for */
    double axis[2];          /* a + s c and its derivative */
} ga_jet;

typedef struct ga_chart {
    ga_rotor (*rotor)(double s);
    void (*rotors)(int n, const double *s, double *w, double *v); /* of n numbers s */
    /* f with x = f (vector part), for a quaternion with scalar part w >= 0 and squared length
     * n2 of its vector part. */
    double (*unrotor)(double w, double n2);
    double (*angle)(double x); /* the same in the plane: angle about a fixed axis */
    double (*unangle)(double angle);
    bool plain_angles; /* angle(x) = x */
    /* r = rotor(s), so that a caller who needs both pays for one sine and cosine. */
    void (*tangent)(double s, ga_rotor r, int order, ga_jet *jet);
    void (*tangent_inverse)(double s, int order, ga_jet *jet);
} ga_chart;

extern const ga_chart ga_chart_exp;
extern const ga_chart ga_chart_cayley;

#endif
