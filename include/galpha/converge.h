/* Convergence of a model: the same run with smaller and smaller steps, or tolerances, against a
 * reference of its own making, and what the errors say.
 *
 *     ga_converge_def def = ga_converge_def_of(model);
 *     ga_converge *study = NULL;
 *     if (ga_converge_run(model, &def, &study, messages, &report)) puts(report.message);
 *     puts(ga_converge_get(study)->reason);
 *     ga_converge_destroy(study);
 *
 * What is studied are the values of the scheme itself, at the ends of its steps, over the whole
 * run: transients in accelerations and reactions are seen, which the output of a simulation, of
 * the acceleration level, does not show.
 */
#ifndef GALPHA_CONVERGE_H
#define GALPHA_CONVERGE_H

#include <galpha/sim.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Errors are the largest over time and bodies or joints, of lengths of differences of vectors;
 * rotations differ by the angle between them. */
typedef enum ga_component {
    GA_COMPONENT_POSITION,
    GA_COMPONENT_ROTATION,
    GA_COMPONENT_VELOCITY,
    GA_COMPONENT_ANGULAR_VELOCITY,
    GA_COMPONENT_ACCELERATION,
    GA_COMPONENT_ANGULAR_ACCELERATION,
    GA_COMPONENT_FORCE,  /* of joints, motions and forces */
    GA_COMPONENT_TORQUE, /* the same */
    GA_COMPONENT_ENERGY, /* kinetic + potential; not needed for a verdict */
    GA_COMPONENT_COUNT
} ga_component;

GA_API const char *ga_component_name(ga_component component); /* angular_velocity */
GA_API const char *ga_component_unit(ga_component component); /* rad/s */

typedef enum ga_verdict {
    GA_VERDICT_SECOND_ORDER,
    GA_VERDICT_TRANSIENT,      /* the start disturbs, and the disturbance dies out */
    GA_VERDICT_ROUND_OFF,      /* steps so small that rounding is all there is */
    GA_VERDICT_NOT_ASYMPTOTIC, /* steps too large for the fastest motion */
    GA_VERDICT_DISCONTINUITY,  /* impacts, events, forces that jump */
    GA_VERDICT_CHAOS,          /* errors grow until nothing is left of the solution */
    GA_VERDICT_REFERENCE,      /* the reference is not better than what it is to judge */
    GA_VERDICT_REDUCED_ORDER,  /* a lower order, and none of the above */
    GA_VERDICT_COUNT
} ga_verdict;

GA_API const char *ga_verdict_name(ga_verdict verdict); /* "second order", "round-off" */

typedef struct ga_converge_def {
    ga_sim_def sim;  /* step, control, output and channels of it are not used */
    bool tolerances; /* error control, sizes are tolerances; else fixed steps */
    int size_count;  /* at least 2; 0: chosen */
    const double *sizes;
    int levels; /* how many to choose, each half (a quarter, of tolerances) the one before */
    bool hat;   /* accelerations and reactions of the acceleration level instead */
    /* done: of the whole study, 0 to 1, about. Anything but GA_EVAL_OK ends the study with
     * GA_ERR_STATE. */
    ga_eval (*progress)(void *user, double done);
    void *user;
} ga_converge_def;

/* Fixed steps, 5 levels, around the step of the model; or, where it has a tolerance, around
 * those that a run with a coarse tolerance takes. */
GA_API ga_converge_def ga_converge_def_of(const ga_model *model);

typedef struct ga_converge_level {
    double step;      /* with tolerances: the mean */
    double tolerance; /* 0 with fixed steps */
    long steps;
    bool failed;                      /* this run did not come to an end, and does not count */
    double error[GA_COMPONENT_COUNT]; /* NAN: the model has no such component */
    double order[GA_COMPONENT_COUNT]; /* from the level before; NAN: none */
    bool used[GA_COMPONENT_COUNT];    /* above the errors of reference and rounding */
} ga_converge_level;

typedef struct ga_converge_result {
    int level_count;
    const ga_converge_level *levels;
    double order[GA_COMPONENT_COUNT]; /* NAN: cannot be told */
    double scale[GA_COMPONENT_COUNT]; /* largest value of the reference */
    bool zero[GA_COMPONENT_COUNT];    /* as far as rounding can tell */

    /* the reference */
    ga_formulation reference_formulation;
    double reference_step;                      /* its finest, fixed; 0 with tolerances */
    double reference_tolerance;                 /* 0 with fixed steps */
    double reference_error[GA_COMPONENT_COUNT]; /* estimated */
    bool extrapolated[GA_COMPONENT_COUNT];      /* from three step sizes */

    int redundant; /* constraints: then reactions are not unique, and judged only if they fit */
    int events;    /* where the integration had to start anew */
    ga_verdict verdict;
    double at;          /* time of what is to blame; NAN: none */
    const char *reason; /* some sentences */
} ga_converge_result;

typedef struct ga_converge ga_converge;

/* GA_OK when the study ran, whatever came out. */
GA_API ga_status ga_converge_run(const ga_model *model, const ga_converge_def *def,
                                 ga_converge **study, ga_messages *messages, ga_report *report);
GA_API const ga_converge_result *ga_converge_get(const ga_converge *study);
GA_API void ga_converge_destroy(ga_converge *study);

#ifdef __cplusplus
}
#endif
#endif
