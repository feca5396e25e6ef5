/* Simulating a mechanism.
 *
 *     ga_sim_def def = ga_sim_def_of(model);       what the file says
 *     def.output = print;                          called at every output time
 *     ga_sim *sim = NULL;
 *     ga_report report;
 *     if (ga_sim_create(model, &def, &sim, messages, &report) || ga_sim_run(sim, &report))
 *         puts(report.message);
 *     ga_sim_destroy(sim);
 *
 * All memory of a run is taken in create; steps allocate nothing. A sim borrows its model,
 * which must live as long.
 */
#ifndef GALPHA_SIM_H
#define GALPHA_SIM_H

#include <galpha/model.h>
#include <galpha/result.h>
#include <galpha/simulate.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef struct ga_sim ga_sim;

typedef enum ga_kinematics { GA_KINEMATICS_R3SO3, GA_KINEMATICS_SE3 } ga_kinematics;

typedef struct ga_sim_def {
    double t_start, t_end;
    double step;        /* fixed, where control.relative is 0 */
    ga_control control; /* error control */
    ga_integrator_def integrator;
    ga_kinematics kinematics; /* in planar models: their planar versions */
    /* For large models, 64 at most; 0: two where there are thousands of bodies, else one.
     * Results are the same, bit for bit. */
    int threads;
    double output_every;        /* 0: every step */
    ga_multipliers multipliers; /* what accelerations and reactions are output */
    /* Called at output times; channels have their values then. Anything but GA_EVAL_OK ends
     * the run, which then returns GA_OK. */
    ga_eval (*output)(void *user, const ga_sim *sim);
    /* Called after every accepted step, for progress; channels have no values. */
    ga_eval (*progress)(void *user, const ga_sim *sim);
    void *user;
    /* Channels to compute: names such as top.position, top.position.x, pivot.force, top (all of
     * it), *.position (of all that have one), energy; count 0: positions and rotations of
     * bodies, coordinates and reactions of joints, forces, efforts of motors, energy. */
    int channel_count;
    const char *const *channels;
    /* Also positions and rotations of all bodies, and solver.step, whatever is named: for
     * viewers. */
    bool motion;
} ga_sim_def;

GA_API ga_sim_def ga_sim_def_of(const ga_model *model);

/* GA_ERR_INPUT: unknown channels, in messages (may be null) with places where they come from
 * the file. */
GA_API ga_status ga_sim_create(const ga_model *model, const ga_sim_def *def, ga_sim **sim,
                               ga_messages *messages, ga_report *report);
GA_API void ga_sim_destroy(ga_sim *sim);

/* Makes the start consistent and computes accelerations and reactions there; channels have
 * values. */
GA_API ga_status ga_sim_start(ga_sim *sim, ga_report *report);
/* From the start to t_end. On failure everything up to the last good step was output. */
GA_API ga_status ga_sim_run(ga_sim *sim, ga_report *report);

GA_API double ga_sim_time(const ga_sim *sim);
GA_API double ga_sim_step_size(const ga_sim *sim); /* of the last step */
/* Event functions of the model: of stops, of friction that sticks. */
GA_API int ga_sim_event_count(const ga_sim *sim);
/* Constraints that depend on others at the last start: then reactions are not unique. */
GA_API int ga_sim_redundant_count(const ga_sim *sim);

/* --- warnings ----------------------------------------------------------------------------- */

/* What a user should know about a run that did not fail. Those of the start are there after
 * ga_sim_start, those of the whole run after ga_sim_run. Texts are valid until the next start.
 */
typedef struct ga_warning {
    const char *code;    /* stable, for programs: "energy-balance" */
    const char *message; /* what, where, how much */
    const char *remedy;  /* what to do about it */
    const char *element; /* name of the element or body it is about; null: none */
    double time;         /* when; NaN: no particular time */
} ga_warning;

/* The k-th; its code is null past the last. */
GA_API ga_warning ga_sim_get_warning(const ga_sim *sim, int k);
/* Its message alone; null past the last. */
GA_API const char *ga_sim_warning(const ga_sim *sim, int k);

/* All codes there are, and when each is given; code null past the last. */
typedef struct ga_warning_code {
    const char *code, *when;
} ga_warning_code;
GA_API ga_warning_code ga_warning_code_get(int k);

/* --- channels ----------------------------------------------------------------------------- */

GA_API int ga_sim_channel_count(const ga_sim *sim);
GA_API ga_channel ga_sim_channel(const ga_sim *sim, int k);
/* All values of the last output, channel after channel. */
GA_API const double *ga_sim_values(const ga_sim *sim);
GA_API int ga_sim_value_count(const ga_sim *sim);

/* --- what a run was like ------------------------------------------------------------------ */

/* kinetic + potential + dissipated - work is constant but for the integration error. */
typedef struct ga_energy {
    double kinetic, potential;
    double dissipated; /* by dampers, friction and impacts, since the start */
    double work;       /* of forces from outside and motions, since the start */
} ga_energy;

typedef struct ga_sim_summary {
    double t;
    ga_statistics statistics;
    ga_control_statistics control;
    ga_energy initial, final;
    double energy_drift_max; /* largest |balance - balance at the start| */
    double energy_scale;     /* largest kinetic energy, or change of a term: to compare with */
} ga_sim_summary;

GA_API ga_sim_summary ga_sim_get_summary(const ga_sim *sim);

/* Who owns row k of (lambda, psi): "hinge3", and which row of it: "rotation about world x". The
 * second text is valid until the next call. */
GA_API const char *ga_sim_row_element(const ga_sim *sim, int row);
GA_API const char *ga_sim_row_name(const ga_sim *sim, int row);
/* The body (or "") that coordinate k of v belongs to. */
GA_API const char *ga_sim_coordinate_body(const ga_sim *sim, int k);

/* --- check -------------------------------------------------------------------------------- */

typedef struct ga_sim_redundancy {
    const char *element, *direction;
    int with_count;
    const char *const *with; /* names of the other elements of its loop */
} ga_sim_redundancy;

typedef struct ga_sim_moved {
    const char *body;
    double distance, angle;
} ga_sim_moved;

/* Where a joint is, in the world at the start, and how well its sides met as they are given. */
typedef struct ga_sim_joint {
    const char *name, *type;
    double first[3],
        second[3];         /* its points on the two bodies, after assembly; planar: z = 0 */
    double gap;            /* m by which its constraints were not met as given */
    double turn;           /* rad likewise */
    const char *centre_of; /* it sits at the centre of this body because no place is named;
                              null: a place is named */
} ga_sim_joint;

typedef struct ga_sim_check {
    int bodies, coordinates, constraints;
    int degrees_of_freedom; /* true: coordinates - rank */
    int grubler;            /* coordinates - constraints */
    int redundant_count;
    const ga_sim_redundancy *redundant;
    int moved_count; /* by making the start consistent */
    const ga_sim_moved *moved;
    int joint_count;
    const ga_sim_joint *joints;
    double tangent_error; /* largest of all derivatives against difference quotients, at a state
                            near the start; NaN for large models */
    const char *tangent_worst; /* which; why not, if that is NaN */
} ga_sim_check;

/* Starts and examines. The result belongs to the sim. */
GA_API ga_status ga_sim_check_model(ga_sim *sim, ga_sim_check *check, ga_report *report);

/* Constraints by element: name, type and number of rows, k-th; name null past the last. */
typedef struct ga_sim_element {
    const char *name, *type;
    int rows;
} ga_sim_element;
GA_API ga_sim_element ga_sim_get_element(const ga_sim *sim, int k);

/* --- looking at the start ----------------------------------------------------------------- */

typedef enum ga_sim_pose {
    GA_POSE_GIVEN,  /* as the model gives it, before assembly */
    GA_POSE_REACHED /* after ga_sim_start: as assembled, or how far assembly got if it failed */
} ga_sim_pose;

/* Computes positions and rotations, and finds the gaps, also where ga_sim_start fails. Channels
 * of forces, accelerations and the solver are NaN or meaningless. */
GA_API ga_status ga_sim_look(ga_sim *sim, ga_sim_pose pose, ga_report *report);
/* The k-th gap of the pose last looked at, the largest first; element null past the last. */
GA_API ga_gap ga_sim_get_gap(const ga_sim *sim, int k);
/* ga_model_scene with these gaps. Null: memory is out. The caller frees it by ga_text_free. */
GA_API char *ga_sim_scene(const ga_sim *sim);

#ifdef __cplusplus
}
#endif
#endif
