/* Simulating a mechanism.
 *
 *     ga_sim_def def = ga_sim_def_of(model);       settings of the file
 *     def.output = print;                          called at every output time
 *     ga_sim *sim = NULL;
 *     ga_report report;
 *     if (ga_sim_create(model, &def, &sim, messages, &report) || ga_sim_run(sim, &report))
 *         puts(report.message);
 *     ga_sim_destroy(sim);
 *
 * All memory of a run is allocated in create; steps allocate nothing. A sim borrows its model,
 * which must outlive it.
 */
#ifndef GALPHA_SIM_H
#define GALPHA_SIM_H

#include <galpha/channel.h>
#include <galpha/model.h>
#include <galpha/plugin.h>
#include <galpha/simulate.h>
#include <stddef.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef struct ga_sim ga_sim;

typedef enum ga_kinematics { GA_KINEMATICS_R3SO3, GA_KINEMATICS_SE3 } ga_kinematics;

typedef struct ga_sim_event {
    double t;
    const char *element; /* of the model: the joint */
    int function;        /* of the element's event functions, from 0 */
    bool impact;         /* velocities jump */
} ga_sim_event;

typedef struct ga_sim_def {
    size_t struct_size; /* set by the function that gives defaults */
    double t_start, t_end;
    double step;        /* fixed step, if control.relative is 0 */
    ga_control control; /* error control */
    ga_integrator_def integrator;
    ga_kinematics kinematics; /* in planar models: their planar versions */
    /* At most 64; 0: two for thousands of bodies, otherwise one. Results are bit-for-bit the
     * same. */
    int threads;
    double output_every;        /* 0: every step */
    ga_multipliers multipliers; /* which accelerations and reactions are output */
    /* Called at output times, with the values of all channels. Any result but GA_EVAL_OK ends
     * the run, which then returns GA_OK. */
    ga_eval (*output)(void *user, const ga_sim *sim);
    /* Called after every accepted step, for progress; channels have no values then. */
    ga_eval (*progress)(void *user, const ga_sim *sim);
    /* Called between the steps of a run, where it can be saved. Any result but GA_EVAL_OK makes
     * ga_sim_run and ga_sim_continue return GA_OK; ga_sim_continue resumes it there. */
    ga_eval (*pause)(void *user, const ga_sim *sim);
    /* Called at an event of an element, in the order of time: a stop is hit or left, a joint
     * begins to stick or to slip. */
    void (*event)(void *user, const ga_sim *sim, const ga_sim_event *event);
    /* Within callbacks other than pause, whatever would change or save the simulation returns
     * GA_ERR_STATE, and ga_sim_reset does nothing. */
    void *user;
    /* Channels to compute: names such as top.position, top.position.x, pivot.force, top (all of
     * its channels), *.position (of all bodies), energy; `default`, or count 0: positions and
     * rotations of bodies, coordinates and reactions of joints, forces, efforts of motors,
     * energy. */
    int channel_count;
    const char *const *channels;
    /* Also compute positions and rotations of all bodies and solver.step, for viewers. */
    bool motion;
} ga_sim_def;

GA_API void ga_sim_def_fill(const ga_model *model, ga_sim_def *def, size_t size);
static inline ga_sim_def ga_sim_def_of(const ga_model *model)
{
    ga_sim_def def;
    ga_sim_def_fill(model, &def, sizeof def);
    return def;
}

/* GA_ERR_INPUT: unknown channels, reported in messages (may be null), with locations if they
 * come from the file. */
GA_API ga_status ga_sim_create(const ga_model *model, const ga_sim_def *def, ga_sim **sim,
                               ga_messages *messages, ga_report *report);
/* Another simulation of the same model with the same settings, callbacks and channels, at the
 * same point, from where both continue independently, bit for bit alike. */
GA_API ga_status ga_sim_copy(const ga_sim *sim, ga_sim **copy, ga_report *report);
GA_API void ga_sim_destroy(ga_sim *sim);

/* Makes the initial state consistent and computes its accelerations, its reactions and all
 * channels; decides which joints rest at a stop or stick. Abandons a run that has begun: the
 * next one begins at the initial state. */
GA_API ga_status ga_sim_start(ga_sim *sim, ga_report *report);
/* --- step by step ------------------------------------------------------------------------- *
 *
 *     while (!ga_sim_is_over(sim)) {
 *         ga_sim_set_input(sim, torque, control(ga_sim_channel_values(sim, angle)), &report);
 *         if (ga_sim_advance(sim, ga_sim_time(sim) + 1e-3, &report)) ...
 *     }
 *
 * The run begins at the initial state with the first call. Callbacks are called as in a run.
 * After each call, time, state and all channels are those of the point reached. */

/* One step, whose size the simulation chooses, at most to t_end; after an advance that ended
 * within a step, the rest of that step. GA_ERR_STATE: the run is over. */
GA_API ga_status ga_sim_step(ga_sim *sim, ga_report *report);
/* Exactly to t. The last step may end beyond t; state and channels are then interpolated, so
 * that the choice of t does not affect the motion. Callbacks for what lies beyond t are called
 * only when it is reached. If an input or a force is set before that, the step is repeated so
 * as to end at t. */
GA_API ga_status ga_sim_advance(ga_sim *sim, double t, ga_report *report);
GA_API int ga_sim_is_over(const ga_sim *sim); /* at t_end, stopped by a callback, or failed */
/* Back to the initial state and the initial values of the inputs. */
GA_API void ga_sim_reset(ga_sim *sim);
/* Continues from another state, at the current time: coordinates and velocities as in
 * ga_sim_positions, which are made consistent with the constraints first. What elements
 * remember, such as sticking, and the energy balance are reset. If this fails, because there is
 * no consistent state nearby, the simulation is unchanged. */
GA_API ga_status ga_sim_set_state(ga_sim *sim, const double *positions,
                                  const double *velocities, ga_report *report);
GA_API int ga_sim_position_count(const ga_sim *sim);
GA_API int ga_sim_velocity_count(const ga_sim *sim);
/* At the current time, body by body: the position of the centre of mass and the rotation (a
 * unit quaternion, w first; planar: an angle); velocity and angular velocity. */
GA_API const double *ga_sim_positions(const ga_sim *sim);
GA_API const double *ga_sim_velocities(const ga_sim *sim);
/* The index of one of the selected channels; -1: it is not among them. */
GA_API int ga_sim_channel(const ga_sim *sim, const char *name);
/* Its numbers at the current time; the pointer stays valid. Null: there is no such channel. */
GA_API const double *ga_sim_channel_values(const ga_sim *sim, int channel);

/* Inputs: numbers that expressions of forces, motions and lengths use, `inputs: {u: {start:
 * 0}}`. A change takes effect at the current time, where the integration restarts, as it does
 * where a force jumps. The index of an input; -1: none. */
GA_API int ga_sim_input(const ga_sim *sim, const char *name);
GA_API double ga_sim_input_value(const ga_sim *sim,
                                 int input); /* NaN: there is no such input */
/* Held at this value from now on. GA_ERR_ARGUMENT: a prescribed position would jump in the
 * middle of a run. A prescribed velocity may jump: that is an impact. */
GA_API ga_status ga_sim_set_input(ga_sim *sim, int input, double value, ga_report *report);
/* Varies linearly from its current value to this one at time `until`, then is held. */
GA_API ga_status ga_sim_ramp_input(ga_sim *sim, int input, double value, double until,
                                   ga_report *report);

/* A force of this program on bodies of the model, as entered by
 *
 *     forces:
 *       tip: {type: callback, bodies: [rod]}
 *
 * The callback gets the bodies and writes six numbers for each, initially zero, as the `force`
 * of a plug-in does, see <galpha/plugin.h>: it must be a smooth function of its arguments,
 * because it is called several times per step, also with states that are never accepted.
 * Derivatives are computed by finite differences; its power counts as external work. */
typedef void ga_sim_force(void *user, double t, const ga_plugin_body *bodies, double *f);
/* name: "forces.tip". The callback, null for none, applies from the current time on, where the
 * integration restarts; call this again where what it computes changes suddenly. It stays for
 * later runs and resets, and copies of the simulation have it, too, with the same `user`. Saved
 * simulations and checkpoints contain neither callbacks nor their data: before a load give the
 * simulation the same ones. GA_ERR_ARGUMENT: there is no such force, or it has another type. */
GA_API ga_status ga_sim_set_force(ga_sim *sim, const char *name, ga_sim_force *callback,
                                  void *user, ga_report *report);

/* --- whole runs --------------------------------------------------------------------------- */

/* From the start to t_end. On failure everything up to the last good step was output. */
GA_API ga_status ga_sim_run(ga_sim *sim, ga_report *report);
/* From the current time to t_end: after a pause, after single steps, or after a load.
 * GA_ERR_STATE: it has failed before. */
GA_API ga_status ga_sim_continue(ga_sim *sim, ga_report *report);

/* --- saving ------------------------------------------------------------------------------- *
 *
 *     size_t size = ga_sim_save_size(sim);
 *     void *bytes = malloc(size);
 *     if (ga_sim_save(sim, bytes, size, &report)) ...
 *
 * The complete state of a simulation between two steps, as bytes that may be written to a file.
 * Loaded into a simulation of the same model with the same settings, also in another process,
 * it continues, bit for bit, like the one that was saved. Saving changes nothing. t_end,
 * output, channels and threads may differ; with another t_end the tolerance still refers to the
 * original duration. */

GA_API size_t ga_sim_save_size(const ga_sim *sim);
/* `size` must be that of ga_sim_save_size. */
GA_API ga_status ga_sim_save(const ga_sim *sim, void *bytes, size_t size, ga_report *report);
/* GA_ERR_INPUT: bytes that are damaged, of another model, of other settings or of another
 * version of galpha. The simulation is then at its initial state, or unchanged. If its channels
 * differ from those of the one that was saved, they have no values before the next step. */
GA_API ga_status ga_sim_load(ga_sim *sim, const void *bytes, size_t size, ga_report *report);

/* The same in a file, together with a note: any bytes, such as the path of the model. The file
 * is written beside the one it replaces, flushed, and renamed: if the program is killed at any
 * moment, either the old or the new file is there. */
typedef struct ga_checkpoint ga_checkpoint;
GA_API ga_status ga_checkpoint_write(const char *path, const ga_sim *sim, const char *note,
                                     size_t note_size, ga_report *report);
/* GA_ERR_INPUT: not a checkpoint, or damaged; GA_ERR_FILE: cannot be read. */
GA_API ga_status ga_checkpoint_read(const char *path, ga_checkpoint **checkpoint,
                                    ga_report *report);
GA_API void ga_checkpoint_free(ga_checkpoint *checkpoint);
/* The note, followed by a zero byte; size, without that byte, may be null. */
GA_API const char *ga_checkpoint_note(const ga_checkpoint *checkpoint, size_t *size);
/* As ga_sim_load. */
GA_API ga_status ga_checkpoint_load(const ga_checkpoint *checkpoint, ga_sim *sim,
                                    ga_report *report);

GA_API double ga_sim_time(const ga_sim *sim);
GA_API double ga_sim_step_size(const ga_sim *sim); /* of the last step */
/* Longest step under error control: max_step, or the limit of models with motions or functions
 * of time; 0: no limit. */
GA_API double ga_sim_max_step(const ga_sim *sim);
/* Number of event functions of the model: stops, stiction. */
GA_API int ga_sim_event_count(const ga_sim *sim);
/* Redundant constraints at the last start: reactions are not unique if there are any. */
GA_API int ga_sim_redundant_count(const ga_sim *sim);

/* --- warnings ----------------------------------------------------------------------------- */

/* Warnings about a run that did not fail: those of the start after ga_sim_start, those of the
 * whole run after ga_sim_run. Texts are valid until the next start.
 */
typedef struct ga_warning {
    const char *code;    /* stable, for programs: "energy-balance" */
    const char *message; /* what happened, where, how much */
    const char *remedy;  /* what to do about it */
    const char *element; /* name of the element or body concerned; null: none */
    double time;         /* when; NaN: no particular time */
} ga_warning;

/* The k-th; its code is null past the last. */
GA_API ga_warning ga_sim_get_warning(const ga_sim *sim, int k);
/* Its message alone; null past the last. */
GA_API const char *ga_sim_warning(const ga_sim *sim, int k);

/* All codes, and when each is issued; code null past the last. */
typedef struct ga_warning_code {
    const char *code, *when;
} ga_warning_code;
GA_API ga_warning_code ga_warning_code_get(int k);

/* --- channels ----------------------------------------------------------------------------- */

GA_API int ga_sim_channel_count(const ga_sim *sim);
GA_API ga_channel ga_sim_get_channel(const ga_sim *sim, int k);
/* All values of the last output, channel by channel. */
GA_API const double *ga_sim_values(const ga_sim *sim);
GA_API int ga_sim_value_count(const ga_sim *sim);

/* --- summary ------------------------------------------------------------------------------ */

/* kinetic + potential + dissipated - work is constant up to the integration error. */
typedef struct ga_energy {
    double kinetic, potential;
    double dissipated; /* by dampers, friction and impacts, since the start */
    double work;       /* of external forces and motions, since the start */
} ga_energy;

typedef struct ga_sim_summary {
    double t;
    ga_statistics statistics;
    ga_control_statistics control;
    ga_energy initial, final;
    double energy_drift_max; /* largest |balance - balance at the start| */
    double
        energy_scale; /* what to relate it to: the largest kinetic energy or change of a term */
    double energy_round_off; /* below this energies and their errors mean nothing */
    ga_method_use methods;
} ga_sim_summary;

GA_API ga_sim_summary ga_sim_get_summary(const ga_sim *sim);

/* Element that row k of (lambda, psi) belongs to, "hinge3", and the name of the row, "rotation
 * about world x", which is valid until the next call. */
GA_API const char *ga_sim_row_element(const ga_sim *sim, int row);
GA_API const char *ga_sim_row_name(const ga_sim *sim, int row);
/* Body that coordinate k of v belongs to, or "". */
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
    /* where it is after assembly: a unit quaternion, planar one angle, or no numbers at all */
    double position[3], rotation[4];
    int rotation_count;
} ga_sim_moved;

/* Location of a joint in the world at the start, and how far its two sides were apart in the
 * file. */
typedef struct ga_sim_joint {
    const char *name, *type;
    double first[3],
        second[3];         /* its points on the two bodies, after assembly; planar: z = 0 */
    double gap;            /* distance between its sides in the file, m */
    double turn;           /* angle between its sides in the file, rad */
    const char *centre_of; /* it sits at the centre of mass of this body because no location is
                              given; null: a location is given */
} ga_sim_joint;

typedef struct ga_sim_check {
    int bodies, coordinates, constraints;
    int degrees_of_freedom; /* coordinates - rank */
    int grubler;            /* coordinates - constraints that hold at the start */
    int is_singular;        /* constraints depend on each other only at the start */
    int redundant_count;
    const ga_sim_redundancy *redundant;
    int moved_count; /* bodies moved by assembly */
    const ga_sim_moved *moved;
    int joint_count;
    const ga_sim_joint *joints;
    double tangent_error; /* largest difference of any derivative from finite differences, at a
                             state near the start; NaN for large models */
    const char *tangent_worst; /* in which derivative; the reason, if NaN */
} ga_sim_check;

/* Starts and checks the model. The result belongs to the sim. */
GA_API ga_status ga_sim_check_model(ga_sim *sim, ga_sim_check *check, ga_report *report);

/* The k-th element with constraints: name, type and number of rows; name null past the last. */
typedef struct ga_sim_element {
    const char *name, *type;
    int rows;
} ga_sim_element;
GA_API ga_sim_element ga_sim_get_element(const ga_sim *sim, int k);

/* --- initial state ------------------------------------------------------------------------ */

typedef enum ga_sim_pose {
    GA_POSE_GIVEN,  /* as given in the model, before assembly */
    GA_POSE_REACHED /* after ga_sim_start: as assembled, or the last iterate if assembly failed
                     */
} ga_sim_pose;

/* Computes positions, rotations and gaps, even if ga_sim_start fails. Channels of forces,
 * accelerations and the solver are undefined. */
GA_API ga_status ga_sim_look(ga_sim *sim, ga_sim_pose pose, ga_report *report);
/* The k-th gap of the last pose, largest first; element null past the last. */
GA_API ga_gap ga_sim_get_gap(const ga_sim *sim, int k);
/* ga_model_scene with these gaps. Null if out of memory; free with ga_text_free. */
GA_API char *ga_sim_scene(const ga_sim *sim);

#ifdef __cplusplus
}
#endif
#endif
