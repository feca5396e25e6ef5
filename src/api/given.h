/* What the functions of time in a model ask of the steps: where they must end, how long they
 * may be; and what is wrong with functions that no mechanism can follow. */
#ifndef GA_API_GIVEN_H
#define GA_API_GIVEN_H

#include "api/warnings.h"
#include "model/model.h"

/* Ascending, each once. */
typedef struct ga_times {
    int count, room;
    double *at;
} ga_times;

typedef struct ga_given_times {
    ga_times breaks; /* jumps, corners, poles: the integration starts anew */
    ga_times stops;  /* a step has to end, and goes on */
    bool curved;     /* something varies in between: steps need a limit */
    /* Where steps must not go on: just before a break at the end of the run, which belongs to
     * what follows; else the end itself. */
    double end;
    double begin; /* just behind a jump at the start, or the start itself */
    bool changes; /* there is a break within a step of the start, before or after it */
} ga_given_times;

/* 0: not given. */
typedef struct ga_given_limits {
    double fixed_step;  /* steps have this size, and miss what is narrower */
    double max_step;    /* how long the user lets steps be */
    double given_steps; /* else: of the smallest limit, what a step of the method may last */
} ga_given_limits;

/* Looks at all functions between two times. GA_ERR_INPUT: a prescribed position jumps, or a
 * length does not stay positive; also in `messages` (may be null), with its place. */
ga_status ga_given_find(const ga_model *model, double from, double to, ga_given_limits limits,
                        ga_given_times *times, ga_warnings *warnings, ga_messages *messages,
                        ga_report *report);
void ga_given_free(ga_given_times *times);

/* Steps are at most this part of the time where the user does not limit them. */
extern const double ga_given_steps;

#endif
