#include "problems/elliptic.h"
#include "problems/create.h"
#include <math.h>

enum { LEVELS = PB_ELLIPTIC_LEVELS };

void pb_elliptic_set(pb_elliptic *e, double k)
{
    double b = sqrt((1 - k) * (1 + k));
    e->k = k;
    e->a[0] = 1;
    e->c[0] = k;
    for (int n = 0; n < LEVELS; ++n) {
        e->a[n + 1] = 0.5 * (e->a[n] + b);
        e->c[n + 1] = 0.5 * (e->a[n] - b);
        b = sqrt(e->a[n] * b);
    }
}

/* Ascent of the amplitude: tan(phi_{n+1} - phi_n) = (b_n/a_n) tan phi_n, F = phi_N/(2^N a_N).
 * The branch of phi_{n+1} - phi_n is that of phi_n. */
double pb_elliptic_integral(const pb_elliptic *e, double phi)
{
    double b = sqrt((1 - e->k) * (1 + e->k));
    for (int n = 0; n < LEVELS; ++n) {
        const double turns = PB_PI * nearbyint(phi / PB_PI), rest = phi - turns;
        const double next = phi + turns + atan2(b * sin(rest), e->a[n] * cos(rest));
        b = sqrt(e->a[n] * b);
        phi = next;
    }
    return ldexp(phi / e->a[LEVELS], -LEVELS);
}

/* Descent: sin(2 phi_{n-1} - phi_n) = (c_n/a_n) sin phi_n. */
double pb_elliptic_amplitude(const pb_elliptic *e, double u)
{
    double phi = ldexp(e->a[LEVELS] * u, LEVELS);
    for (int n = LEVELS; n > 0; --n) phi = 0.5 * (phi + asin(e->c[n] / e->a[n] * sin(phi)));
    return phi;
}
