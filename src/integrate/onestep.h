/* A one-step method, as runs, error control, events and dense output see it.
 *
 * A method owns the solution (ga_solution) and advances it. The calls of a run, in order:
 *
 *     prepare          memory for a run, before it begins
 *     begin            a new integration: consistent values at t0; all that was learned is
 *                      forgotten
 *     control          with error control only: choose the size of the first step
 *     start            start values for a first step of that size
 *     attempt          one step to t1; the accepted solution is untouched
 *     error            with error control only: estimate the error of the attempt
 *     accept, reject   the attempt becomes the solution, or is forgotten
 *     interpolate      the solution within the last step
 *     hand_over        with error control only, before a step, or where none could be made: may
 *                      go on in another way, then control and start follow
 *     restart          consistent values after a jump, an event or a change of the system; then
 *                      control and start again
 *     keep, go_back    remember the solution, return to it
 *
 * Functions marked optional may be null. A method embeds a ga_onestep as its first member, so a
 * pointer to the one is a pointer to the other. It is one file and one line in method.def.
 */
#ifndef GA_INTEGRATE_ONESTEP_H
#define GA_INTEGRATE_ONESTEP_H

#include "base/archive.h"
#include "base/pool.h"
#include "system/consistent.h"
#include "system/dae.h"

#include <galpha/simulate.h>

typedef struct ga_onestep ga_onestep;

/* The accepted solution. The arrays stay where they are; none is null. */
typedef struct ga_solution {
    double t, t_old; /* the last step led from t_old to t */
    double h;        /* its size; after a start, that of the first step prepared */
    long steps;      /* since the last start */
    const double *q, *v, *vd, *multipliers;                 /* at t */
    const double *q_old, *v_old, *vd_old, *multipliers_old; /* at t_old */
    const double *v_start; /* at a start: the consistent v, which start may perturb */
} ga_solution;

/* Target of error control and the sizes it is relative to, by kind of coordinate; those of
 * states are in the DAE. */
typedef struct ga_tolerance {
    ga_control def;
    double size_q[2], size_v[2]; /* largest values so far */
    double duration;             /* over which errors add up to the tolerance */
    double t_stop;               /* no step goes beyond */
    double h;                    /* of the attempt */
    double known_v[2];           /* size_v when the least sizes of states were found */
} ga_tolerance;

/* What a method knows of the error of its last attempt. */
typedef struct ga_error {
    double *q, *v;        /* exact minus computed solution, nv numbers each */
    double local;         /* largest of them by the tolerances */
    double excess;        /* error by what the step may contribute; accepted up to 1 */
    double contribution;  /* of the tolerance: what the step adds to the error at the end */
    double power;         /* excess is proportional to h^(1/power) */
    double change;        /* of v' over the step, by the tolerance of v; negative: says nothing
                           * about forces that jump. Needed only if excess > 1. */
    double amplification; /* of round-off, near a singular position; else 0 */
    bool positions_only;  /* v does not count */
    bool passed;          /* set by error control: accepted because excess <= 1 */
    bool third_order;     /* set by accept: the step is of third order */
    long stiff;           /* set by accept: so many steps were short because of stiff modes */
} ga_error;

/* How the step size may change after an accepted step. */
typedef struct ga_growth {
    double h;          /* size of the step that the factor is for */
    double wish;       /* factor at which the error would be as aimed at */
    double most;       /* largest factor */
    bool filtered;     /* abrupt changes do harm and are filtered */
    bool small_change; /* changes of a few per cent are made, too */
} ga_growth;

typedef struct ga_onestep_type {
    const char *name;
    ga_status (*create)(const ga_system *system, const ga_integrator_def *def, ga_onestep **m,
                        ga_report *report);
    void (*destroy)(ga_onestep *m); /* null is fine */
    /* From now on with these threads, which must outlive their use; null: none. Optional. */
    ga_status (*use)(ga_onestep *m, ga_pool *pool);

    /* Memory for a run. Optional. */
    ga_status (*prepare)(ga_onestep *m, const ga_simulation *def);
    /* guess (may be null): of the multipliers. */
    ga_status (*begin)(ga_onestep *m, double t0, const double *q0, const double *v0,
                       const double *guess, ga_report *report);
    /* q and v may be those of the solution. Before t_begin the motion was another: no
     * derivative may look back beyond. */
    ga_status (*restart)(ga_onestep *m, double t, const double *q, const double *v,
                         double t_begin, ga_report *report);
    /* May go on from the solution in another way: before a step, or where no step could be made
     * (failure: why; else GA_OK). Then *handed is true and *h, which was to be the next step,
     * is the guess of a first one, 0: none. Memory may be taken. Optional. */
    ga_status (*hand_over)(ga_onestep *m, ga_status failure, bool *handed, double *h,
                           ga_report *report);
    /* The first step from the current state: *h is the guess of the user, or 0. Null: the
     * guess, or a cautious step. */
    ga_status (*control)(ga_onestep *m, double *h);
    /* h = 0: no step will follow. forward: derivatives are taken forward in time only. */
    ga_status (*start)(ga_onestep *m, double h, bool forward);
    /* Takes what memory the steps need. Optional. */
    ga_status (*warm)(ga_onestep *m);

    ga_status (*attempt)(ga_onestep *m, double h, double t1);
    /* After an attempt that may end elsewhere: had it better end earlier, not at a singular
     * position? Then shorter attempts follow. Optional. */
    bool (*evade)(ga_onestep *m, ga_status status);
    void (*error)(ga_onestep *m, ga_error *e);
    /* e: null without error control. On failure *shorter is the part of the step to try next, 0
     * if there is none. */
    ga_status (*accept)(ga_onestep *m, ga_error *e, double *shorter);
    /* e: the error that was too large; null if something else went wrong. Optional. */
    void (*reject)(ga_onestep *m, const ga_error *e);
    /* After an accepted step: changes what error control would do with the step size, where an
     * excess of `aim` is aimed at. Optional. */
    void (*plan)(ga_onestep *m, double aim, ga_growth *growth);
    void (*keep)(ga_onestep *m);
    void (*go_back)(ga_onestep *m); /* to what was kept last */

    /* Within the last step; any output may be null. */
    void (*interpolate)(ga_onestep *m, double t, double *q, double *v, double *vd,
                        double *multipliers);

    /* One sentence about a step of size h that failed; false: nothing to add. Optional. */
    bool (*explain)(const ga_onestep *m, ga_status status, double h, ga_report *report);
    /* Matrix of the linear equations of a step of size h from the current state, column by
     * column. Optional. */
    ga_status (*linearise)(ga_onestep *m, double h, ga_scaling scaling, double *matrix);

    /* The solution and all that was learned as bytes; writing and counting them changes
     * nothing. Read into a method of the same system and definition that was prepared for the
     * same run, or any that was used, it continues with the same bits; the archive has failed
     * if the bytes are not of such a one. Another status: memory, or the equations. Optional.
     */
    ga_status (*archive)(ga_onestep *m, ga_archive *a);
} ga_onestep_type;

/* Workspace of the cubic interpolation. */
typedef struct ga_cubic {
    double *U, *end, *x; /* nv */
    long steps;          /* the step U and end belong to; -1: none */
} ga_cubic;

/* `given_steps` below, of the methods that have another than 0. */
#define GA_EXPLICIT_GIVEN_STEPS 10.0
#define GA_RADAU_GIVEN_STEPS 2.5

struct ga_onestep {
    const ga_onestep_type *type;
    ga_dae *dae;               /* the equations and their sizes */
    ga_consistent *consistent; /* consistent values: redundancy, projections, impulses */
    ga_consistent *output;     /* the same between steps, may be another: ga_onestep_output */
    const int *kind;           /* of each velocity: 0 translation, 1 rotation */
    bool velocity_level;       /* v is on its constraints at the ends of steps */
    bool acceleration_level;   /* v' and multipliers at the ends of steps are of that level */
    struct ga_nearby *nearby;  /* for ga_dense_follow; null: none */
    int max_halvings;          /* of a step of fixed size */
    /* A step across a jump of a force may cost this much of the tolerance. */
    double jump_part;
    /* How many of ga_control.given_step a step may last: it sees the forces at several times in
     * between. 0: one, of a method that sees them at its ends. */
    double given_steps;
    ga_solution now;
    double pivot; /* smallest of the saddle matrix at starts, the largest of these */
    /* Root of the smallest eigenvalue of G M^-1 G^T, which falls like the distance from a
     * singular position: where the last step began and ended, and the largest one at starts. Of
     * methods that factor the saddle matrix there. */
    double root_old, root, root_start;
    int iterations;                /* of the last accepted attempt */
    int unmet;                     /* constraint that a step has left unmet; -1: none */
    ga_statistics *stats;          /* counted by the method and by runs */
    const ga_tolerance *tolerance; /* null: no error control */
    ga_cubic cubic;
};

/* onestep.c */
/* By name; null if there is none. */
const ga_onestep_type *ga_onestep_find(const char *name);
/* What a definition has for every method, and the system. */
ga_status ga_onestep_check(const ga_system *system, const ga_integrator_def *def,
                           ga_report *report);
/* What does not change once the equations are there; for a method that has v on its constraints
 * at the ends of steps. */
void ga_onestep_connect(ga_onestep *m, const ga_onestep_type *type, struct ga_consistent *c,
                        ga_statistics *stats, int max_halvings, ga_solution now);
/* Consistent values between steps, with the redundancy that is known to the steps. */
ga_consistent *ga_onestep_output(ga_onestep *m);
/* How near a singular position is: at a start, where `now` is known, and where an accepted step
 * ends, at which the saddle matrix has been factored. */
void ga_onestep_look_at_start(ga_onestep *m);
void ga_onestep_look_at_end(ga_onestep *m);
/* Is the smallest pivot as last factored one that singular positions leave? Long chains have
 * small ones everywhere, so it is compared with that of starts. */
bool ga_onestep_is_weak(const ga_onestep *m);
/* Steps of size h until there is a singular position, by the fall of the root; infinite: there
 * is none ahead. */
double ga_onestep_steps_to_singular(const ga_onestep *m, double h);
/* v' and multipliers from the dynamics and the constraints on acceleration level. Given:
 * guesses of the multipliers. */
ga_status ga_onestep_accelerate(ga_onestep *m, double t, const double *q, const double *v,
                                double *vd, double *multipliers);
/* |Phi| and |w| at the end of a step of size h, with G there in the saddle matrix, into the
 * statistics. GA_ERR_INCONSISTENT: dependent constraints contradict each other. */
ga_status ga_onestep_record(ga_onestep *m, double t, const double *q, const double *v,
                            double h);
/* May a smaller step, or another linearisation, help? */
bool ga_step_may_retry(ga_status status);
/* A sentence about a step of size h that failed. */
void ga_onestep_explain(const ga_onestep *m, ga_status status, double h, ga_report *report);

/* control.c */
/* Largest error by the tolerances; error_v null: of positions alone. NaN if one is. */
double ga_tolerance_weigh(const ga_onestep *m, const double *error_q, const double *error_v);
/* Size of position or velocity i; of a state, which has no position. */
double ga_tolerance_size(const ga_onestep *m, int i, bool of_q);
/* Tolerances of q and of v, by kind. */
void ga_tolerance_weights(const ga_tolerance *tolerance, double of_q[2], double of_v[2]);
/* The largest size by its tolerance. */
double ga_tolerance_largest(const ga_onestep *m);
/* Largest difference of two v' by the tolerance of v. */
double ga_tolerance_change(const ga_onestep *m, const double *vd_old, const double *vd);
/* The first step from its leading error c h^(1 + 1/power), or c h^(1/power) where errors count
 * per step; `leading` finds c with differences of spacing ds. For `control`. */
typedef ga_status ga_leading_error(ga_onestep *m, double ds, double *c);
ga_status ga_tolerance_first_step(ga_onestep *m, ga_leading_error *leading, bool per_step,
                                  double power, double *h);
/* A first step that nobody has an idea of. */
double ga_tolerance_cautious_step(const ga_onestep *m);
/* The longest step of the method; infinite: no limit. */
double ga_tolerance_max_step(const ga_onestep *m);
/* At most that. */
double ga_tolerance_clamp(const ga_onestep *m, double h);

/* dense.c */
ga_status ga_cubic_create(ga_onestep *m); /* sizes are known */
void ga_cubic_destroy(ga_onestep *m);
/* Cubic Hermite interpolation, for `interpolate`. */
void ga_cubic_interpolate(ga_onestep *m, double t, double *q, double *v, double *vd,
                          double *multipliers);
/* The solution at t within the last step with q and v, which must be given, on the constraints
 * as at the ends of steps. */
void ga_dense_output(ga_onestep *m, double t, double *q, double *v, double *vd,
                     double *multipliers);
/* The same with v on its constraints always. */
void ga_dense_consistent(ga_onestep *m, double t, double *q, double *v, double *vd,
                         double *multipliers);
/* v' and multipliers on the acceleration level at a point of the last step; where there are
 * none, the interpolated ones. */
void ga_dense_acceleration(ga_onestep *m, double t, const double *q, const double *v,
                           double *vd, double *multipliers);
/* The same at one point after another of the motion, where factors of earlier ones serve, which
 * m->nearby has. Output must not use it: it would change what follows. */
void ga_dense_follow(ga_onestep *m, double t, const double *q, const double *v, double *vd,
                     double *multipliers);
/* The same nearby, which changes nothing. */
void ga_dense_beside(ga_onestep *m, double t, const double *q, const double *v, double *vd,
                     double *multipliers);

#endif
