/* Channels: what a simulation can output, chosen by name. */
#ifndef GA_API_CHANNELS_H
#define GA_API_CHANNELS_H

#include "model/assembly.h"

#include <galpha/sim.h>

/* Everything a channel may be made from. */
typedef struct ga_moment {
    const ga_model *model;
    const ga_assembly *assembly;
    ga_element_state state;
    ga_element_state scheme; /* the same with multipliers of the scheme */
    const double *vd;
    ga_energy energy;
    double step, error, iterations;
    double position_residual, velocity_residual;
} ga_moment;

typedef struct ga_selected {
    ga_channel channel; /* as shown to users; its strings live in the arena */
    int at;             /* of its first value */
    int component;      /* one of several; -1: all */
    int source_count;   /* numbers the source writes */
    /* the source */
    void (*value)(const struct ga_selected *channel, const ga_moment *moment, double *out);
    int node; /* or an input */
    const ga_named_point *point;
    const ga_element *element;
    const ga_channel_type *type;
} ga_selected;

typedef struct ga_channels {
    ga_arena arena;
    int count, room;
    ga_selected *items;
    ga_names names; /* of those chosen so far */
    int value_count;
    bool residuals, work, scheme; /* some channel needs these of a moment */
    double *values;
} ga_channels;

/* What to choose. */
typedef struct ga_channels_def {
    int count; /* 0: a sensible set */
    const char *const *names;
    const ga_place *places; /* of the names; may be null */
    bool motion;            /* also positions and rotations of all bodies, solver.step */
} ga_channels_def;

/* An unknown name is an error, added to messages at its place. GA_OK, GA_ERR_INPUT or
 * GA_ERR_MEMORY. */
ga_status ga_channels_create(const ga_model *model, const ga_channels_def *def,
                             ga_messages *messages, ga_channels *channels, ga_report *report);
void ga_channels_destroy(ga_channels *channels);
/* Computes all values. */
void ga_channels_fill(ga_channels *channels, const ga_moment *moment);

#endif
