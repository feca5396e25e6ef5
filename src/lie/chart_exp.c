/* The exponential map, as functions of s = t^2.
 *
 * Stumpff's functions c_k(s) = sum_j (-s)^j / (2j + k)!:
 *
 *   c0 = cos t,  c1 = sin t / t,  c2 = (1 - cos t)/t^2,  c3 = (t - sin t)/t^3
 *   c1' = (c3 - c2)/2
 *   c2' = (c1 - 2 c2)/(2s)      c2'' = (c1' - 4 c2')/(2s)
 *   c3' = (c2 - 3 c3)/(2s)      c3'' = (c2' - 5 c3')/(2s)          ' = d/ds
 *
 * With the half angle's quaternion, w = cos(t/2) and v = sin(t/2)/t, the first two need no
 * subtraction: c1 = 2 w v, c2 = 2 v^2. So T = c1 I - c2 x~ + c3 x x^T.
 *
 * The inverse, T^-1 = g0 I + x~/2 + g x x^T, has g0 = (t/2) cot(t/2) = 1 - s g and
 *
 *   g  = (1 - g0)/s = 1/12 + s/720 + ... = sum_{m >= 1} 2/((2 pi m)^2 - s)
 *   g0' = -c3/(4 c2),  g0'' = -(c3' c2 - c3 c2')/(4 c2^2)
 *   g' = -(g0' + g)/s, g'' = -(g0'' + 2 g')/s
 *
 * The pole at t = 2 pi (m = 1) is kept as it stands; what remains converges like
 * (s/(4 pi)^2)^n and has positive terms only.
 *
 * Closed forms divide differences by s, each time losing digits below t of about 2; series
 * have no such loss but their alternating terms grow with s. The switches stand where both
 * sides are good; test_so3.c measures both sides against quadruple precision. */
#include "lie/chart.h"

#include <math.h>

/* Below near_zero the first `near_terms` terms do; Newton increments live here. The first
 * neglected term is, relative to the sum, below 2e-19 (c2''; the others are smaller). */
static const double near_zero = 1.0 / 16;
enum { near_half_terms = 6, near_terms = 8 };

/* cos(t/2) and sin(t/2)/t by series up to t = 2: first neglected term 1/20! < 8e-19 of it. */
static const double half_limit = 4;
enum { half_terms = 10 };
/* clang-format off */
static const double half_cos[half_terms] = { /* (-1)^j / (2j)!, in s/4 */
                            1.0,                     -5.0e-1,    4.1666666666666666667e-2,
      -1.3888888888888888889e-3,    2.4801587301587301587e-5,   -2.7557319223985890653e-7,
       2.0876756987868098979e-9,  -1.1470745597729724714e-11,   4.7794773323873852974e-14,
     -1.5619206968586226462e-16,
};
static const double half_sin[half_terms] = { /* (-1)^j / (2 (2j + 1)!), in s/4 */
                         5.0e-1,   -8.3333333333333333333e-2,    4.1666666666666666667e-3,
      -9.9206349206349206349e-5,    1.3778659611992945326e-6,   -1.2526054192720859388e-8,
      8.0295219184108072997e-11,   -3.823581865909908238e-13,   1.4057286271727603816e-15,
     -4.1103176233121648585e-18,
};
/* clang-format on */

/* c_k, c_k', c_k'' (k = 2, 3) by series up to t = 2, 3, 4. First neglected term of
 * c2'' < 8e-19 of it at t = 4; the lower ones are known better still (c2' < 4e-24, t = 3). */
static const double stumpff_limit[3] = {4, 9, 16};
enum { stumpff_terms = 17 };
/* clang-format off */
static const double stumpff2[stumpff_terms] = { /* (-1)^j / (2j + 2)! */
                         5.0e-1,   -4.1666666666666666667e-2,    1.3888888888888888889e-3,
      -2.4801587301587301587e-5,    2.7557319223985890653e-7,   -2.0876756987868098979e-9,
      1.1470745597729724714e-11,  -4.7794773323873852974e-14,   1.5619206968586226462e-16,
     -4.1103176233121648585e-19,   8.8967913924505732867e-22,   -1.611737571096118349e-24,
      2.4795962632247974601e-27,  -3.2798892370698379102e-30,   3.7699876288159056439e-33,
     -3.8003907548547435926e-36,   3.3871575355211618472e-39,
};
static const double stumpff3[stumpff_terms] = { /* (-1)^j / (2j + 3)! */
       1.6666666666666666667e-1,   -8.3333333333333333333e-3,     1.984126984126984127e-4,
      -2.7557319223985890653e-6,    2.5052108385441718775e-8,  -1.6059043836821614599e-10,
      7.6471637318198164759e-13,  -2.8114572543455207632e-15,    8.220635246624329717e-18,
     -1.9572941063391261231e-20,   3.8681701706306840377e-23,  -6.4469502843844733962e-26,
      9.1836898637955461484e-29,  -1.1309962886447716932e-31,   1.2161250415535179496e-34,
     -1.1516335620771950281e-37,   9.6775929586318909921e-41,
};
/* clang-format on */

/* g, g', g'' by the pole at 4 pi^2 and a series for the rest, up to t = 5: the first
 * neglected term of g'' is below 6e-19 of it, those of g and g' smaller still. */
static const double inverse_limit = 25;
static const double first_pole = 39.478417604357434475; /* 4 pi^2 */
enum { inverse_terms = 24 };
/* clang-format off */
static const double poles[inverse_terms] = { /* 2 (zeta(2n + 2) - 1) / (2 pi)^(2n + 2) */
       3.2672741512164447611e-2,    1.0564110705334699024e-4,    5.6373702828768453026e-7,
       3.3571419266574513601e-9,   2.0742872904166045537e-11,   1.3000482138698973965e-13,
      8.1960520556910085984e-16,   5.1801181961697243152e-18,   3.2775391747017918398e-20,
      2.0747401878593604517e-22,   1.3136241807166533778e-24,   8.3180031951892640914e-27,
      5.2672629968342308728e-29,   3.3354842988221443313e-31,   2.1122063323183885457e-33,
      1.3375664093215244457e-35,   8.4702273286502466427e-38,   5.3638310466556986463e-40,
      3.3966848266497806992e-42,   2.1509755511832567368e-44,   1.3621211117593842855e-46,
      8.6257325141131790368e-49,    5.462308871489559307e-51,   3.4590474864883951706e-53,
};
/* clang-format on */

static inline double horner(const double *coef, const int n, double s)
{
    double p = coef[n - 1];
    for (int j = n - 2; j >= 0; --j) p = p * s + coef[j];
    return p;
}

/* Horner's scheme with derivatives: p[0], p[1] = p', p[2] = p''. */
static void horner_jet(const double *coef, int n, double s, double *p)
{
    double p0 = coef[n - 1], p1 = 0, p2 = 0;
    for (int j = n - 2; j >= 0; --j) {
        p2 = p2 * s + p1;
        p1 = p1 * s + p0;
        p0 = p0 * s + coef[j];
    }
    p[0] = p0;
    p[1] = p1;
    p[2] = 2 * p2;
}

static ga_rotor rotor(double s)
{
    if (s < near_zero)
        return (ga_rotor){horner(half_cos, near_half_terms, s / 4),
                          horner(half_sin, near_half_terms, s / 4)};
    if (s < half_limit)
        return (ga_rotor){horner(half_cos, half_terms, s / 4),
                          horner(half_sin, half_terms, s / 4)};
    double t = sqrt(s);
    return (ga_rotor){cos(t / 2), sin(t / 2) / t};
}

/* All near zero in the end is what Newton's method makes of them. */
static void rotors(int n, const double *restrict s, double *restrict w, double *restrict v)
{
    for (int i = 0; i < n; ++i) {
        w[i] = horner(half_cos, near_half_terms, s[i] / 4);
        v[i] = horner(half_sin, near_half_terms, s[i] / 4);
    }
    for (int i = 0; i < n; ++i) {
        if (s[i] < near_zero) continue;
        const ga_rotor r = rotor(s[i]);
        w[i] = r.w, v[i] = r.v;
    }
}

/* f = t / sin(t/2) with t = 2 atan2(n, w) in [0, pi]. The arctangent of the two lengths is
 * accurate at every angle; an arccosine of w is not near 0, an arcsine of n not near pi. */
static double unrotor(double w, double n2)
{
    /* n2 may underflow; the limit 2/w is then off by n2/(3 w^2) < 4e-21. */
    if (n2 < 1e-20) return 2 / w;
    double n = sqrt(n2);
    return 2 * atan2(n, w) / n;
}

static double same(double x) { return x; }

static void tangent(double s, ga_rotor r, int order, ga_jet *jet)
{
    double z2[3] = {0}, z3[3] = {0};
    if (s < stumpff_limit[order]) {
        int n = s < near_zero ? near_terms : stumpff_terms;
        if (order == 0) {
            z3[0] = horner(stumpff3, n, s);
        } else {
            horner_jet(stumpff2, n, s, z2);
            horner_jet(stumpff3, n, s, z3);
        }
    }
    double c1 = 2 * r.w * r.v;
    double c2 = 2 * r.v * r.v;
    double c3 = s < stumpff_limit[0] ? z3[0] : (1 - c1) / s;
    jet->a[0] = c1;
    jet->b[0] = -c2;
    jet->c[0] = c3;
    jet->axis[0] = 1;
    jet->axis[1] = 0;
    if (order < 1) return;

    double dc1 = (c3 - c2) / 2;
    double dc2 = s < stumpff_limit[1] ? z2[1] : (c1 - 2 * c2) / (2 * s);
    double dc3 = s < stumpff_limit[1] ? z3[1] : (c2 - 3 * c3) / (2 * s);
    jet->a[1] = dc1;
    jet->b[1] = -dc2;
    jet->c[1] = dc3;
    if (order < 2) return;

    jet->a[2] = (dc3 - dc2) / 2;
    jet->b[2] = -(s < stumpff_limit[2] ? z2[2] : (dc1 - 4 * dc2) / (2 * s));
    jet->c[2] = s < stumpff_limit[2] ? z3[2] : (dc2 - 5 * dc3) / (2 * s);
}

/* g, g', g'' from the pole sum. */
static void inverse_near(double s, int order, ga_jet *jet)
{
    double g[3];
    double pole = 1 / (first_pole - s);
    int n = s < near_zero ? near_terms : inverse_terms;
    if (order == 0) {
        g[0] = horner(poles, n, s);
    } else {
        horner_jet(poles, n, s, g);
        jet->c[1] = g[1] + 2 * pole * pole;
        jet->c[2] = g[2] + 4 * pole * pole * pole;
        jet->a[2] = -2 * jet->c[1] - s * jet->c[2];
    }
    jet->c[0] = g[0] + 2 * pole;
    jet->a[0] = 1 - s * jet->c[0];
    if (order > 0) jet->a[1] = -jet->c[0] - s * jet->c[1];
}

/* The closed forms, t >= 5. Unbounded at t = 2 pi, 4 pi, ..., where T is singular; no double
 * but 0 is a multiple of pi, so the result is large there and still finite. */
static void inverse_far(double s, int order, ga_jet *jet)
{
    ga_rotor r = rotor(s);
    ga_jet T;
    tangent(s, r, order, &T);
    jet->a[0] = r.w / (2 * r.v); /* (t/2) cot(t/2) */
    jet->c[0] = (1 - jet->a[0]) / s;
    if (order < 1) return;

    double c2 = -T.b[0], c3 = T.c[0];
    jet->a[1] = -c3 / (4 * c2);
    jet->c[1] = -(jet->a[1] + jet->c[0]) / s;
    if (order < 2) return;

    double dc2 = -T.b[1], dc3 = T.c[1];
    jet->a[2] = -(dc3 * c2 - c3 * dc2) / (4 * c2 * c2);
    jet->c[2] = -(jet->a[2] + 2 * jet->c[1]) / s;
}

static void tangent_inverse(double s, int order, ga_jet *jet)
{
    if (s < inverse_limit)
        inverse_near(s, order, jet);
    else
        inverse_far(s, order, jet);
    jet->b[0] = 0.5;
    jet->b[1] = jet->b[2] = 0;
    jet->axis[0] = 1;
    jet->axis[1] = 0;
}

const ga_chart ga_chart_exp = {
    .rotor = rotor,
    .rotors = rotors,
    .unrotor = unrotor,
    .angle = same,
    .unangle = same,
    .plain_angles = true,
    .tangent = tangent,
    .tangent_inverse = tangent_inverse,
};
