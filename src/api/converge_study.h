/* A convergence study in progress: what its reference and its levels share. */
#ifndef GA_API_CONVERGE_STUDY_H
#define GA_API_CONVERGE_STUDY_H

#include "api/converge_judge.h"

enum {
    GA_STUDY_STENCIL = 6,                      /* points of an interpolation */
    GA_STUDY_REACH = GA_STUDY_STENCIL / 2 + 1, /* how far, in grid intervals, it is felt */
    GA_STUDY_EVENTS = 1000,                    /* whose times are kept */
    GA_STUDY_REFERENCES = 3,
    GA_STUDY_NAMES = 16,
};

/* Some numbers of a sample that belong together. */
typedef struct ga_study_quantity {
    ga_component component;
    int at, count;
    bool quaternion;
} ga_study_quantity;

/* Where the integration has started anew. */
typedef struct ga_study_events {
    int count; /* restarts, several of which may be at one time */
    int kept;  /* times, ascending */
    bool full; /* there are more than can be kept */
    double t[GA_STUDY_EVENTS];
} ga_study_events;

struct ga_converge {
    const ga_model *model;
    ga_converge_def def;
    ga_messages *messages;
    double duration;

    int name_count;
    const char *names[GA_STUDY_NAMES]; /* of channels */
    int value_count, quantity_count;
    ga_study_quantity *quantities;

    int size_count;
    double sizes[GA_MOST_LEVELS];

    /* the reference: values at t_start + k every, k < samples */
    double every;
    long samples;
    bool exact_only; /* the grid is coarser than the finest steps: compare on it only */
    double *runs[GA_STUDY_REFERENCES];
    double *reference; /* one of them */
    int run_count;
    ga_study_events
        events[GA_STUDY_REFERENCES]; /* of each run; the last is the most accurate */
    double *interpolated;            /* value_count */

    double done, cost; /* of all runs */

    ga_rung rungs[GA_MOST_LEVELS];
    int rung_level[GA_MOST_LEVELS];
    ga_converge_level levels[GA_MOST_LEVELS];
    ga_ladder ladder;
    ga_judgement judgement;
    ga_converge_result result;
};

/* One simulation of a study. */
typedef struct ga_study_run {
    ga_converge *study;
    double weight; /* of all work */
    bool began;
    double last_t, told;
    ga_study_events *events;
    void (*sample)(struct ga_study_run *run, double t, const double *values);
    double *keep;  /* a reference */
    ga_rung *rung; /* a level */
    bool stopped;
    ga_sim_summary summary;
} ga_study_run;

/* --- converge.c --------------------------------------------------------------------------- */

ga_status ga_study_make_run(ga_study_run *run, ga_sim_def *def, ga_report *report);
/* Error control; absolute tolerances keep their proportion to the relative one. */
void ga_study_set_tolerance(const ga_converge *s, ga_sim_def *def, double tolerance);
/* A size of the ladder: a step or a tolerance. */
void ga_study_set_size(const ga_converge *s, ga_sim_def *def, double size);
/* The number of steps a run with this tolerance takes, without output. */
ga_status ga_study_pilot(ga_converge *s, double tolerance, ga_control_statistics *statistics,
                         ga_report *report);

/* --- converge_reference.c ----------------------------------------------------------------- */

ga_status ga_study_find_reference(ga_converge *s, ga_report *report);
/* Of its runs together, in the unit of ga_study_run.weight. */
double ga_study_reference_cost(const ga_converge *s);
/* The reference at a time: one of its samples, or a polynomial through some of them; null where
 * there is none. */
const double *ga_study_reference_at(const ga_converge *s, double t);

double ga_study_difference(const ga_study_quantity *q, const double *x, const double *y);
int ga_study_window(const ga_converge *s, double t);
const ga_study_events *ga_study_reference_events(const ga_converge *s);
bool ga_study_is_close_to_event(const ga_study_events *events, double t, double reach);
/* Whether t is at an event, or between the times at which different runs have the same one: the
 * reference and a level with these events (may be null). What jumps there cannot be compared.
 */
bool ga_study_is_within_event(const ga_converge *s, const ga_study_events *level, double t);

#endif
