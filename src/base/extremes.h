/* fmax and fmin without a call: the other one if one is NaN. (Compilers that keep NaN call the
 * mathematical library.) */
#ifndef GA_BASE_EXTREMES_H
#define GA_BASE_EXTREMES_H

static inline double ga_larger(double x, double y)
{
    if (x != x) return y;
    return y > x ? y : x; /* x if y is NaN */
}
static inline double ga_smaller(double x, double y)
{
    if (x != x) return y;
    return y < x ? y : x;
}

#endif
