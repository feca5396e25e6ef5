/* The Cayley map in Euler parameters, [DYM] eq. (29): p = (2 + x)/|2 + x| as quaternions.
 *
 *   p = (1, x/2)/sqrt(1 + s/4),  rotation angle t = 2 atan(|x|/2) < pi
 *   T = k (I - x~/2),            k = 1/(1 + s/4),  k' = -k^2/4,  k'' = k^3/8     ' = d/ds
 *   T^-1 = I + x~/2 + x x^T/4
 *
 * since (I - x~/2)(I + x~/2 + x x^T/4) = I - x~^2/4 + x x^T/4 = (1 + s/4) I. No series is
 * needed anywhere: nothing cancels. */
#include "lie/chart.h"

#include <math.h>

static ga_rotor rotor(double s)
{
    double w = sqrt(1 / (1 + s / 4));
    return (ga_rotor){w, w / 2};
}

static void rotors(int n, const double *restrict s, double *restrict w, double *restrict v)
{
    for (int i = 0; i < n; ++i) {
        const ga_rotor r = rotor(s[i]);
        w[i] = r.w, v[i] = r.v;
    }
}

/* Grows without bound as w -> 0 (angle pi), and is not finite there. */
static double unrotor(double w, double n2)
{
    (void)n2;
    return 2 / w;
}

static double angle(double x) { return 2 * atan(x / 2); }

/* Periodic: gives the x of the angle modulo 2 pi. */
static double unangle(double theta) { return 2 * tan(theta / 2); }

static void tangent(double s, ga_rotor r, int order, ga_jet *jet)
{
    (void)s;
    (void)order;
    double k = r.w * r.w;
    double dk = -k * k / 4, ddk = k * k * k / 8;
    *jet = (ga_jet){
        .a = {k, dk, ddk},
        .b = {-k / 2, -dk / 2, -ddk / 2},
        .axis = {k, dk},
    };
}

static void tangent_inverse(double s, int order, ga_jet *jet)
{
    (void)order;
    *jet = (ga_jet){.a = {1}, .b = {0.5}, .c = {0.25}, .axis = {1 + s / 4, 0.25}};
}

const ga_chart ga_chart_cayley = {
    .rotor = rotor,
    .rotors = rotors,
    .unrotor = unrotor,
    .angle = angle,
    .unangle = unangle,
    .tangent = tangent,
    .tangent_inverse = tangent_inverse,
};
