/* Elliptic functions for one modulus, by Landen's transformation: what a pendulum needs. */
#ifndef PROBLEMS_ELLIPTIC_H
#define PROBLEMS_ELLIPTIC_H

/* Of the arithmetic-geometric mean; a modulus of 0.16 needs 3 for round-off, 0.99 needs 5. */
enum { PB_ELLIPTIC_LEVELS = 6 };

typedef struct pb_elliptic {
    double k;
    double a[PB_ELLIPTIC_LEVELS + 1], c[PB_ELLIPTIC_LEVELS + 1]; /* means, half differences */
} pb_elliptic;

void pb_elliptic_set(pb_elliptic *e, double k); /* 0 <= k <= 0.99 */
/* F(phi, k) for |phi| <= pi/2. */
double pb_elliptic_integral(const pb_elliptic *e, double phi);
/* am(u, k), so that sn u = sin am, cn u = cos am. */
double pb_elliptic_amplitude(const pb_elliptic *e, double u);

#endif
