/* From the errors of a ladder of runs to orders and a verdict; numbers only. */
#ifndef GA_API_CONVERGE_JUDGE_H
#define GA_API_CONVERGE_JUDGE_H

#include <galpha/converge.h>

/* The time of a run is cut into so many equal parts, to see where errors come from. */
enum { GA_WINDOWS = 16, GA_MOST_LEVELS = 16 };

typedef struct ga_rung {
    double h;
    /* largest errors: in each part of the time, and close to events, which the parts leave out;
     * NAN: none seen */
    double window[GA_COMPONENT_COUNT][GA_WINDOWS];
    double near[GA_COMPONENT_COUNT];
} ga_rung;

typedef struct ga_ladder {
    int count; /* of rungs, h descending */
    const ga_rung *rungs;
    bool present[GA_COMPONENT_COUNT];
    double scale[GA_COMPONENT_COUNT];
    double reference[GA_COMPONENT_COUNT][GA_WINDOWS]; /* error of the reference */
    double t_start, t_end;
    bool tolerances; /* steps by error control; h is their mean */
    bool high_order; /* the method may have an order above 2, or change its order */
    int redundant;   /* constraints; then forces and torques are not unique */
    int events;
    double first_event;
} ga_ladder;

enum { GA_REASON_SIZE = 640 };

typedef struct ga_judgement {
    double error[GA_MOST_LEVELS][GA_COMPONENT_COUNT];
    double pair[GA_MOST_LEVELS][GA_COMPONENT_COUNT];
    bool used[GA_MOST_LEVELS][GA_COMPONENT_COUNT];
    double order[GA_COMPONENT_COUNT];
    bool zero[GA_COMPONENT_COUNT];
    ga_verdict verdict;
    double at;
    char reason[GA_REASON_SIZE];
} ga_judgement;

void ga_ladder_judge(const ga_ladder *ladder, ga_judgement *judgement);

#endif
