/* NaN and infinity among many numbers. */
#ifndef GA_BASE_FINITE_H
#define GA_BASE_FINITE_H

#include <stdbool.h>

/* 0 * x is 0 for finite x and NaN otherwise; several sums, so that additions overlap. */
static inline bool ga_all_finite(int count, const double *x)
{
    enum { SUMS = 8 };
    double s[SUMS] = {0}, sum = 0;
    int k = 0;
    if (count < SUMS) {
        for (; k < count; ++k) sum += 0 * x[k];
        return sum == 0;
    }
    for (; k + SUMS <= count; k += SUMS)
        for (int j = 0; j < SUMS; ++j) s[j] += 0 * x[k + j];
    for (; k < count; ++k) s[0] += 0 * x[k];
    for (int j = 0; j < SUMS; ++j) sum += s[j];
    return sum == 0;
}

#endif
