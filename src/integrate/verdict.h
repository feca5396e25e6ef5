/* The stopping rule of Newton's method: from the sizes of increments to a verdict.
 *
 * Increments of q, v and lambda are given in units of their tolerances. With the contraction
 * rate th, what is left after an increment d is th/(1 - th) |d|; the iteration has converged
 * when that is at most one for each of them. Increments below their tolerance that may be
 * round-off need not contract.
 *
 * The rate. Within an attempt it is the quotient of successive increments. Tangents that are
 * some steps old contract the first increment, which is mostly the error of the prediction,
 * faster than those that follow; so the rate is at least what third increments have shown
 * before, in proportion to the age of the tangents. A first increment counts in full (th =
 * 1/2), unless the second increments of earlier steps justify less.
 *
 * Round-off. It is measured, not computed from sizes: an iteration with new tangents that makes
 * no progress near round-off, twice or after it had contracted well, has arrived there, and its
 * increments show the level. An attempt whose increments of q and v are at that level has
 * converged even if lambda still changes: in index 3 the round-off of Phi enters lambda
 * magnified by 1/h^2.
 *
 * Nothing here depends on the number of unknowns. */
#ifndef GA_INTEGRATE_VERDICT_H
#define GA_INTEGRATE_VERDICT_H

#include <stdbool.h>

enum { GA_POSITION, GA_VELOCITY, GA_MULTIPLIERS, GA_KINDS };

typedef enum ga_newton_decision {
    GA_GO_ON,
    GA_CONVERGED,
    GA_NEW_TANGENT,
    GA_GIVE_UP
} ga_newton_decision;

/* What is asked of the iteration. The same for all increments of an attempt. */
typedef struct ga_newton_goal {
    bool round_off;     /* no tolerance above round-off is asked for */
    bool estimates;     /* of errors, with the same tangents */
    bool may_foresee;   /* the first increment may get credit from steps before */
    double strictness;  /* by which positions must be better than their tolerance for that */
    double hidden_rate; /* smallest rate assumed: two systems in turn do not show it at once */
} ga_newton_goal;

/* One increment. */
typedef struct ga_increment {
    int iteration;           /* 1: the first */
    bool fresh;              /* made with tangents of this attempt */
    double age;              /* steps that the tangents have served; 0 if fresh */
    double norm[GA_KINDS];   /* in units of the tolerances */
    double noise[GA_KINDS];  /* round-off, in the same units */
    double units[2];         /* q and v, in units of round-off */
    double lambda;           /* the increment of lambda itself */
    bool near_round_off;     /* q and v are small enough for round-off to explain them */
    bool lambda_is_noise;    /* lambda is no larger than the round-off of q and v makes it */
    bool next_is_negligible; /* at this rate, the next increment of v is below round-off */
} ga_increment;

/* The attempt up to the increment before. Zero at its beginning. */
typedef struct ga_progress {
    ga_increment last;
    double motion_rate;     /* contraction of q and v by the last increment */
    double lambda_rate;     /* contraction of lambda by it */
    double least[GA_KINDS]; /* smallest norms before the last increment; 0: there was none */
    int settled;            /* increments with q and v at round-off */
    int stalled;            /* increments near round-off without progress */
} ga_progress;

/* How an increment follows from the one before: as this coefficient times the age of the
 * tangents; if they are new, convergence is quadratic, and it is this coefficient times the
 * increment of q and v. */
typedef struct ga_contraction {
    double coefficient[GA_KINDS];
    int steps_left; /* for which it is remembered */
} ga_contraction;

/* What is known of the iteration from steps before. */
typedef struct ga_newton_memory {
    double rate_per_step;        /* contraction rate lost per step of age: largest, fading */
    double motion_rate_per_step; /* the same of q and v, as last seen */
    int steps_unseen;            /* steps since a third increment was seen */
    ga_contraction second[2];    /* of second increments, with old and with new tangents */
    double round_off;            /* its level, in units of the smallest possible; at least 1 */
    double lambda_noise;         /* changes of lambda that were found to be round-off */
} ga_newton_memory;

ga_newton_decision ga_newton_verdict(const ga_newton_goal *goal, const ga_newton_memory *memory,
                                     const ga_progress *before, const ga_increment *now);

/* Takes what an increment shows about tangents and round-off into the memory. */
void ga_newton_learn(const ga_newton_goal *goal, const ga_progress *before,
                     const ga_increment *now, ga_newton_memory *memory);
/* Makes it the last increment of the attempt. */
void ga_newton_follow(const ga_newton_memory *memory, const ga_increment *now,
                      ga_progress *progress);

ga_newton_memory ga_newton_memory_empty(void);
/* After a step: what was seen is forgotten slowly. */
void ga_newton_fade(ga_newton_memory *memory, bool fresh);
/* Tolerances have changed, and with them the units of increments. */
void ga_newton_forget_increments(ga_newton_memory *memory);

/* May a small increment be taken for a small error, whatever stiffness the tangents had? norm:
 * of the increment u; withheld: M^-1 H u; undone: M^-1 (H' - H) u; see trust.c. */
bool ga_trust_is_soft(double norm, double withheld);
bool ga_trust_is_solved(double undone); /* infinite or NaN: no */

#endif
