/* What the opaque handle of <galpha/integrate.h> and <galpha/simulate.h> hides, and what
 * simulations of models and analyses ask of it besides its public functions. */
#ifndef GA_HANDLE_INTEGRATOR_H
#define GA_HANDLE_INTEGRATOR_H

#include "base/archive.h"
#include "base/pool.h"
#include "integrate/alpha.h"
#include "integrate/auto.h"
#include "integrate/explicit.h"
#include "integrate/radau.h"
#include "integrate/run.h"
#include "system/nearby.h"

#include <galpha/simulate.h>

enum { MAX_WARNINGS = 6, WARNING_SIZE = 240 };

struct ga_integrator {
    ga_method kind;
    ga_onestep *method;
    ga_stepper *stepper; /* of it, if it has one; else null */
    ga_grid grid;        /* of steps made one by one */
    bool started;
    int method_warnings, warnings; /* of create; with those of the last start */
    char warning[MAX_WARNINGS][WARNING_SIZE];
    double *guess;        /* of the multipliers at the next start */
    double *hat, *vd_hat; /* multipliers and accelerations on the acceleration level */
    double *zero;         /* nv + m zeros */
    ga_nearby nearby;     /* of the method, once prepared */
    ga_run run;           /* the last simulation */
};

/* Is the method one of the generalized-alpha family? */
static inline bool ga_integrator_is_alpha(const ga_integrator *g)
{
    return g->kind == GA_METHOD_GENERALIZED_ALPHA;
}
/* Checks and makes consistent: everything of a start but the start values. */
ga_status ga_integrator_begin(ga_integrator *g, double t0, const double *q0, const double *v0,
                              ga_report *report);
/* Is this a run that can be made? */
ga_status ga_integrator_check_simulation(const ga_integrator *g, double t0,
                                         const ga_simulation *def, ga_report *report);
ga_status ga_integrator_check_started(const ga_integrator *g, ga_report *report);

/* --- for simulations of models ------------------------------------------------------------ */

/* From now on; they must outlive their use. The same bits come out. Null: none. */
ga_status ga_integrator_use(ga_integrator *integrator, ga_pool *pool);
/* ga_integrator_start, with events->settled called as at the start of a run. Null: no events.
 */
ga_status ga_integrator_start_settled(ga_integrator *integrator, double t0, const double *q0,
                                      const double *v0, double h, const ga_events *events,
                                      ga_report *report);
/* Moves q onto the constraints, in the mass metric. */
ga_status ga_integrator_place(ga_integrator *integrator, double t, double *q, const double *v);
/* The same with v; to be called before impulses where rows have changed. */
ga_status ga_integrator_steer(ga_integrator *integrator, double t, const double *q, double *v);

/* mu, of the last ga_integrator_impulse: direction = M dv + G^T mu. */
const double *ga_integrator_impulse_multipliers(const ga_integrator *integrator);

/* Times of output nearer than this cannot be told apart. */
double ga_output_smallest(double t_start, double t_end);
/* Smallest relative tolerance that can be met in double precision. */
double ga_control_smallest(ga_method method, ga_error_mode mode);

/* What the tolerance of the run makes of translations and of rotations, 0 with fixed steps. */
void ga_integrator_position_tolerances(const ga_integrator *integrator, double of_q[2]);
/* The largest values so far that they are relative to, by kind. */
void ga_integrator_sizes(const ga_integrator *integrator, double of_q[2], double of_v[2]);

/* v' and multipliers on the acceleration level at a point of the last step; where they cannot
 * be computed, interpolated ones. With factors of points nearby, once memory has been taken for
 * these (GA_ERR_MEMORY): follow the motion with one point of every step, which may be factored;
 * others are beside it, and change nothing. */
typedef enum ga_reactions_use { GA_REACTIONS_FOLLOW, GA_REACTIONS_BESIDE } ga_reactions_use;
ga_status ga_integrator_prepare_reactions(ga_integrator *integrator, ga_solver solver,
                                          ga_pool *pool);
void ga_integrator_reactions(ga_integrator *integrator, ga_reactions_use use, double t,
                             const double *q, const double *v, double *vd, double *multipliers);

/* ga_integrator_simulate step by step. What run.h has besides these may be asked of the run. */
ga_status ga_integrator_run_begin(ga_integrator *integrator, double t0, const double *q0,
                                  const double *v0, const ga_simulation *simulation,
                                  ga_report *report);
ga_status ga_integrator_run_step(ga_integrator *integrator, ga_report *report);
ga_status ga_integrator_run_renew(ga_integrator *integrator, double t, ga_report *report);
ga_status ga_integrator_run_cut(ga_integrator *integrator, ga_report *report);

/* A run between two steps, with its method and what was found at its start. False: the method
 * cannot be saved. */
bool ga_integrator_can_save(const ga_integrator *integrator);
void ga_integrator_run_save(ga_integrator *integrator, ga_archive *archive); /* or counts */
/* Into an integrator of the same system and definition. The archive has failed if the bytes are
 * not those of such a one. After a failure there is no run. */
ga_status ga_integrator_run_load(ga_integrator *integrator, const ga_simulation *simulation,
                                 ga_archive *archive, ga_report *report);

#endif
