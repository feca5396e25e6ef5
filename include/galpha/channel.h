/* Channels: the quantities of a simulation that can be output. */
#ifndef GALPHA_CHANNEL_H
#define GALPHA_CHANNEL_H

#include <stddef.h>

/* A quantity of one or several numbers. Those of a simulation are complete; fill your own, for
 * results you write yourself, with {.struct_size = sizeof(ga_channel), .name = ...}. */
typedef struct ga_channel {
    size_t struct_size; /* sizeof(ga_channel) */
    const char *name;   /* top.position */
    const char *unit;   /* m; "" for none */
    const char *description;
    int count;
    const char *const *parts; /* x, y, z; null for a single number */
} ga_channel;

#endif
