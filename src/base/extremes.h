/* fmax and fmin without a call: the other one if one is NaN. (Compilers that keep NaN call the
 * mathematical library.) */
#ifndef GA_BASE_EXTREMES_H
#define GA_BASE_EXTREMES_H

static inline double ga_larger(double x, double y)
{
    const double z = y > x ? y : x; /* x if one of them is NaN */
    return z == z ? z : y;
}
static inline double ga_smaller(double x, double y)
{
    const double z = y < x ? y : x;
    return z == z ? z : y;
}

#endif
