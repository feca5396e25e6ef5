/* x = k pi/2 + r, |r| <= pi/4, then the Taylor series of cos r and sin r: what they leave out
 * is below r^18/18! = 2e-18 and r^19/19! = 9e-20. There are no branches, so that compilers take
 * several angles at a time.
 *
 * pi/2 is subtracted in three pieces. The first two have 33 bits, so their products with
 * |k| < 2^20 are exact; with the third, pi/2 is off by 2^-122. What r has no digits for,
 * `rest`, enters in first order. Angles beyond, and what is no number, go to the library's cos
 * and sin.
 */
#include "lie/turns.h"

#include <math.h>
#include <stdint.h>
#include <string.h>

static const double piece1 = 0x1.921fb54400000p+0, piece2 = 0x1.0b4611a600000p-34,
                    piece3 = 0x1.3198a2e037073p-69;
static const double two_by_pi = 0x1.45f306dc9c883p-1;
static const double farthest = 1e6; /* k < 2^20 */

/* Numbers near this are whole, with the last bits of the number in the last bits of the sum. */
static const double whole = 0x1.8p52;

static inline uint64_t bits_of(double x)
{
    uint64_t bits;
    memcpy(&bits, &x, sizeof bits);
    return bits;
}

static inline double number_of(uint64_t bits)
{
    double x;
    memcpy(&x, &bits, sizeof x);
    return x;
}

static inline void turn(double x, double *c, double *s)
{
    const double shifted = x * two_by_pi + whole, k = shifted - whole;
    const uint64_t quarter = bits_of(shifted); /* modulo 4 */
    const double t = x - k * piece1, w = k * piece2;
    const double first = t - w, lost = ((t - first) - w) - k * piece3;
    const double r = first + lost, rest = (first - r) + lost, z = r * r;

    double even = 1.0 / 20922789888000; /* 1/16! */
    even = even * z - 1.0 / 87178291200;
    even = even * z + 1.0 / 479001600;
    even = even * z - 1.0 / 3628800;
    even = even * z + 1.0 / 40320;
    even = even * z - 1.0 / 720;
    even = even * z + 1.0 / 24;
    double odd = 1.0 / 355687428096000; /* 1/17! */
    odd = odd * z - 1.0 / 1307674368000;
    odd = odd * z + 1.0 / 6227020800;
    odd = odd * z - 1.0 / 39916800;
    odd = odd * z + 1.0 / 362880;
    odd = odd * z - 1.0 / 5040;
    odd = odd * z + 1.0 / 120;
    odd = odd * z - 1.0 / 6;
    const double half = 0.5 * z, top = 1 - half; /* what 1 - half lost comes back */
    const double cosine = top + (((1 - top) - half) + (z * z * even - r * rest));
    const double sine = r + (r * z * odd + rest * top);

    /* quarters: (c, s), (-s, c), (-c, -s), (s, -c) */
    const uint64_t odd_quarter = 0 - (quarter & 1);
    const uint64_t a = bits_of(cosine), b = bits_of(sine);
    *c = number_of(((a & ~odd_quarter) | (b & odd_quarter)) ^ (((quarter + 1) & 2) << 62));
    *s = number_of(((b & ~odd_quarter) | (a & odd_quarter)) ^ ((quarter & 2) << 62));
}

void ga_turns(int n, const double *restrict x, double *restrict c, double *restrict s)
{
    int64_t far = 0;
    for (int k = 0; k < n; ++k) {
        turn(x[k], c + k, s + k);
        far |= !(fabs(x[k]) < farthest);
    }
    for (int k = 0; far && k < n; ++k)
        if (!(fabs(x[k]) < farthest)) c[k] = cos(x[k]), s[k] = sin(x[k]);
}
