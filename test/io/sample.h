/* A small result to write: a number, a vector, a channel of unnamed parts, and a name that is
 * hard on both formats. */
#ifndef GA_TEST_IO_SAMPLE_H
#define GA_TEST_IO_SAMPLE_H

#include <galpha/result.h>
#include <stddef.h>

enum { SAMPLE_CHANNELS = 4, SAMPLE_VALUES = 7 };

static const char *const sample_parts[] = {"x", "y", "z"};
static const ga_channel sample_channels[SAMPLE_CHANNELS] = {
    {sizeof(ga_channel), "energy.total", "J", "kinetic and potential energy", 1, NULL},
    {sizeof(ga_channel), "top.position", "m", "center of mass, world", 3, sample_parts},
    {sizeof(ga_channel), "hinge.multipliers", "", "Lagrange multipliers", 2, NULL},
    {sizeof(ga_channel), "odd/\"50%\", \xc3\xbc", "", NULL, 1, NULL},
};
static const char sample_model[] = "galpha: 1\nname: Pr\xc3\xbc"
                                   "fling\n";

/* Row n: all different, no short decimals. */
static void sample_row(int n, double *t, double *values)
{
    *t = n / 7.0;
    for (int k = 0; k < SAMPLE_VALUES; ++k) values[k] = (n + 1) / 3.0 + 1000.0 * k;
}

#endif
