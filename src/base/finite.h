/* NaN and infinity among many numbers. */
#ifndef GA_BASE_FINITE_H
#define GA_BASE_FINITE_H

#include <stdbool.h>

/* 0 * x is 0 for finite x and NaN otherwise; several sums, so that additions overlap. */
static inline bool ga_all_finite(int count, const double *x)
{
    double s[4] = {0};
    int k = 0;
    for (; k + 4 <= count; k += 4) {
        s[0] += 0 * x[k];
        s[1] += 0 * x[k + 1];
        s[2] += 0 * x[k + 2];
        s[3] += 0 * x[k + 3];
    }
    for (; k < count; ++k) s[0] += 0 * x[k];
    return s[0] + s[1] + s[2] + s[3] == 0;
}

#endif
