/* Channels: the quantities of a simulation that can be output. */
#ifndef GALPHA_CHANNEL_H
#define GALPHA_CHANNEL_H

/* A quantity of one or several numbers. */
typedef struct ga_channel {
    const char *name; /* top.position */
    const char *unit; /* m; "" for none */
    const char *description;
    int count;
    const char *const *parts; /* x, y, z; null for a single number */
} ga_channel;

#endif
