/* Convergence study of a model: runs with ever smaller steps or tolerances, compared with a
 * reference that the study computes itself, and a verdict on the errors.
 *
 *     ga_converge_def def = ga_converge_def_of(model);
 *     ga_converge *study = NULL;
 *     if (ga_converge_run(model, &def, &study, messages, &report)) puts(report.message);
 *     puts(ga_converge_get(study)->reason);
 *     ga_converge_destroy(study);
 *
 * The study uses the values of the scheme itself, at the ends of its steps, over the whole run,
 * so it sees transients in accelerations and reactions. The output of a simulation does not
 * show them, because it is recomputed on the acceleration level.
 */
#ifndef GALPHA_CONVERGE_H
#define GALPHA_CONVERGE_H

#include <galpha/sim.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Errors are norms of differences, the largest over time and over bodies or joints; the
 * difference of two rotations is the angle between them. */
typedef enum ga_component {
    GA_COMPONENT_POSITION,
    GA_COMPONENT_ROTATION,
    GA_COMPONENT_VELOCITY,
    GA_COMPONENT_ANGULAR_VELOCITY,
    GA_COMPONENT_ACCELERATION,
    GA_COMPONENT_ANGULAR_ACCELERATION,
    GA_COMPONENT_FORCE,  /* of joints, motions and forces */
    GA_COMPONENT_TORQUE, /* the same */
    GA_COMPONENT_ENERGY, /* kinetic + potential; not part of the verdict */
    GA_COMPONENT_COUNT
} ga_component;

GA_API const char *ga_component_name(ga_component component); /* angular_velocity */
GA_API const char *ga_component_unit(ga_component component); /* rad/s */

typedef enum ga_verdict {
    GA_VERDICT_SECOND_ORDER,
    GA_VERDICT_TRANSIENT,      /* the start values excite a disturbance, which decays */
    GA_VERDICT_ROUND_OFF,      /* steps so small that round-off dominates */
    GA_VERDICT_NOT_ASYMPTOTIC, /* steps too large for the fastest motion */
    GA_VERDICT_DISCONTINUITY,  /* impacts, events, discontinuous forces */
    GA_VERDICT_CHAOS,          /* errors grow until they are as large as the solution */
    GA_VERDICT_REFERENCE,      /* the reference is not more accurate than the runs */
    GA_VERDICT_REDUCED_ORDER,  /* a lower order for none of the above reasons */
    GA_VERDICT_COUNT
} ga_verdict;

GA_API const char *ga_verdict_name(ga_verdict verdict); /* "second order", "round-off" */

typedef struct ga_converge_def {
    size_t struct_size; /* set by the function that gives defaults */
    ga_sim_def sim;     /* its step, control, output and channels are ignored */
    bool tolerances;    /* true: error control, sizes are tolerances; false: fixed steps */
    int size_count;     /* at least 2; 0: chosen */
    const double *sizes;
    int levels; /* number of sizes to choose: each step is half the previous one, each
                   tolerance a quarter */
    bool hat;   /* use accelerations and reactions recomputed on the acceleration level */
    /* What computes the reference. GA_METHOD_GENERALIZED_ALPHA, the default: finer runs of the
     * method studied, in another formulation. GA_METHOD_EXPLICIT, GA_METHOD_RADAU: that method
     * with a tolerance of 1e-11 or 1e-10, independent of the steps studied. Where it fails (the
     * explicit one if the motion is stiff, radau at singular positions), so does the study. */
    ga_method reference;
    /* done: approximate fraction of the study, 0 to 1. Any result but GA_EVAL_OK ends the study
     * with GA_ERR_STATE. */
    ga_eval (*progress)(void *user, double done);
    void *user;
} ga_converge_def;

/* Fixed steps, 5 levels, around the step of the model; if it has a tolerance, around the steps
 * of a run with a coarse tolerance. */
GA_API void ga_converge_def_fill(const ga_model *model, ga_converge_def *def, size_t size);
static inline ga_converge_def ga_converge_def_of(const ga_model *model)
{
    ga_converge_def def;
    ga_converge_def_fill(model, &def, sizeof def);
    return def;
}

typedef struct ga_converge_level {
    double step;      /* with tolerances: the mean */
    double tolerance; /* 0 with fixed steps */
    long steps;
    bool failed;                      /* this run failed and is ignored */
    double error[GA_COMPONENT_COUNT]; /* NAN: the model has no such component */
    double order[GA_COMPONENT_COUNT]; /* relative to the previous level; NAN: none */
    bool used[GA_COMPONENT_COUNT];    /* significant: above round-off and the error of the
                                         reference */
} ga_converge_level;

typedef struct ga_converge_result {
    int level_count;
    const ga_converge_level *levels;
    double order[GA_COMPONENT_COUNT]; /* NAN: cannot be determined */
    double scale[GA_COMPONENT_COUNT]; /* largest value of the reference */
    bool zero[GA_COMPONENT_COUNT];    /* zero up to round-off */

    /* the reference */
    ga_method reference_method;
    ga_formulation reference_formulation;       /* of generalized-alpha */
    double reference_step;                      /* its finest, fixed; 0 with a tolerance */
    double reference_tolerance;                 /* 0 with fixed steps */
    double reference_error[GA_COMPONENT_COUNT]; /* estimated from runs of different accuracy */
    bool extrapolated[GA_COMPONENT_COUNT];      /* from three step sizes */

    int redundant; /* redundant constraints: reactions are then not unique, and judged only if
                      they converge */
    int events;    /* restarts of the integration */
    ga_verdict verdict;
    double at;          /* time of the cause; NAN: none */
    const char *reason; /* explanation, a few sentences */
} ga_converge_result;

typedef struct ga_converge ga_converge;

/* GA_OK if the study ran, whatever its verdict. */
GA_API ga_status ga_converge_run(const ga_model *model, const ga_converge_def *def,
                                 ga_converge **study, ga_messages *messages, ga_report *report);
GA_API const ga_converge_result *ga_converge_get(const ga_converge *study);
GA_API void ga_converge_destroy(ga_converge *study);

#ifdef __cplusplus
}
#endif
#endif
