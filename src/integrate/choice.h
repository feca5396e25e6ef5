/* Which method `auto` goes on with: pure functions of numbers. */
#ifndef GA_INTEGRATE_CHOICE_H
#define GA_INTEGRATE_CHOICE_H

#include <galpha/integrate.h>

#include <stdbool.h>

typedef enum ga_reason {
    GA_REASON_NONE,     /* nothing changes */
    GA_REASON_FIXED,    /* steps of fixed size */
    GA_REASON_LOOSE,    /* tolerance */
    GA_REASON_FRICTION, /* forces that depend on multipliers */
    GA_REASON_SMOOTH,
    GA_REASON_TRY,       /* whether steps of radau are long enough */
    GA_REASON_STIFF,     /* they are */
    GA_REASON_NO_GAIN,   /* they are not */
    GA_REASON_COMPARE,   /* radau with generalized-alpha, whose steps cost less */
    GA_REASON_COARSE,    /* its steps are long enough for the tolerance */
    GA_REASON_NOISE,     /* may be what the explicit method tries to resolve */
    GA_REASON_RESOLVED,  /* radau follows the fastest modes */
    GA_REASON_TOO_STIFF, /* for the explicit method, which has given up */
    GA_REASON_COLLAPSED, /* steps of generalized-alpha, which was to be the only method */
    GA_REASON_STUCK,     /* no step could be made: a singular position, or a failure */
    GA_REASON_SINGULAR,  /* a singular position is just ahead */
    GA_REASON_PASSED,    /* the obstacle has been passed */
    GA_REASON_COUNT
} ga_reason;

typedef struct ga_choice {
    ga_method method;
    bool trial; /* of radau, or of generalized-alpha after radau */
    ga_reason reason;
} ga_choice;

/* What is known before the first step. */
typedef struct ga_task {
    bool adaptive;    /* steps are chosen by the error */
    bool friction;    /* forces depend on the multipliers */
    double tolerance; /* relative */
} ga_task;

ga_choice ga_choose_first(const ga_task *task);

/* What is known between steps, when it is time to look, or when no step could be made. */
typedef struct ga_standing {
    ga_method method; /* in use */
    bool trial;
    ga_method before;           /* trial: the method to go back to */
    ga_reason reason;           /* of the method in use */
    double tolerance;           /* relative */
    int lost;                   /* trials so far of what could take its place */
    ga_status failure;          /* GA_OK: none */
    bool singular;              /* a singular position is near */
    double steps_to_singular;   /* until it is reached; infinite: it is not ahead */
    long steps;                 /* with this method, since it took over */
    double steps_to_end;        /* if all were like the last ones */
    double steps_for_stability; /* the fewest explicit ones for the whole time */
    double h_omega, h_rho;      /* step times frequency and times rate of the fastest modes */
    double gain;                /* trial: the last steps by those of the method before; also of
                                 * generalized-alpha that has won one. 0: unknown */
    double growth;              /* trial: the last steps by those before */
} ga_standing;

ga_choice ga_choose_next(const ga_standing *p);

/* Steps until the first look of a run; until that at a method that has just taken over, for the
 * count-th time; and until the next, `since` steps later, at one that goes on. */
long ga_choice_first_look(void);
long ga_choice_next_look(ga_method method, bool trial, long since);
long ga_choice_wait(ga_method method, bool trial, int count);
/* Is a singular position so close, in steps, that another method has to pass it? */
bool ga_choice_is_close(double steps_to_singular);
/* Is the choice final? */
bool ga_choice_is_final(ga_choice choice);

/* In plain words: "the motion is stiff". */
const char *ga_reason_text(ga_reason reason);

#endif
