/* Random numbers of the tests in this folder: the same on every machine. */
#ifndef TEST_RANDOM_DICE_H
#define TEST_RANDOM_DICE_H

#include <math.h>
#include <stdint.h>

typedef struct dice {
    uint64_t state;
} dice;

/* splitmix64 */
static inline double uniform(dice *d)
{
    uint64_t z = d->state += 0x9e3779b97f4a7c15u;
    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9u;
    z = (z ^ (z >> 27)) * 0x94d049bb133111ebu;
    return (double)((z ^ (z >> 31)) >> 11) * 0x1p-53;
}

static inline double between(dice *d, double a, double b) { return a + (b - a) * uniform(d); }

static inline double decades(dice *d, double a, double b)
{
    return exp(between(d, log(a), log(b)));
}

static inline int one_of(dice *d, int n) { return (int)(uniform(d) * n); }

#endif
