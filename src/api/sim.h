/* What the handle ga_sim hides.
 *
 *     sim.c          creation, starts, runs
 *     sim_step.c     stepping, inputs, forces by callback
 *     sim_events.c   event functions, impacts
 *     impact_errors.c  by how much impacts multiply errors
 *     sim_locks.c    which locks may close
 *     sim_energy.c   the energy balance
 *     sim_output.c   channels
 *     sim_warn.c     warnings
 *     sim_save.c     the state as bytes
 *     sim_look.c     what users may ask
 *     sim_check.c    checks of a model
 */
#ifndef GA_API_SIM_H
#define GA_API_SIM_H

#include "api/channels.h"
#include "api/given.h"
#include "api/impact_errors.h"
#include "api/row_text.h"
#include "api/sim_explain.h"
#include "api/sim_report.h"
#include "api/warnings.h"
#include "handle/integrator.h"
#include "model/assembly.h"
#include "model/gap.h"

#include <math.h>

/* A contact that takes part in an impact. */
typedef struct ga_contact {
    const ga_element *element;
    double restitution;
    bool touches;
    double gradient[GA_TWIST * GA_ELEMENT_MAX_NODES]; /* of the gap's rate */
    double before;                                    /* rate of the gap before the impact */
    double target;                                    /* least rate of the gap afterwards */
    double ease;                                      /* rate by impulse */
    double impulse;                                   /* so far; never pulls */
    double full;                                      /* impulse with full restitution */
    double alone; /* ease if nothing held the bodies, without products of inertia */
} ga_contact;

/* What a start without locks tells about an element. */
typedef struct ga_lock_finding {
    bool blocked; /* nothing can move its rate */
    bool follows; /* and motions determine it */
} ga_lock_finding;

/* Nothing in here outlives a call. */
typedef struct ga_sim_work {
    double *q, *v, *vd; /* of a moment between two steps */
    double *multipliers;
    double *scheme;           /* multipliers of the scheme at an output */
    double *now_vd;           /* v' of the acceleration level at a sample */
    double *direction, *jump; /* of an impact */
    double *residual;
    double *memory;         /* of all elements */
    double *kept_memory;    /* as it was before an event */
    ga_lock_finding *locks; /* of each */
    ga_contact *contacts;
    ga_input_line *inputs;
} ga_sim_work;

/* The energy balance, from sample to sample. */
typedef struct ga_balance {
    ga_powers last; /* of the last sample */
    double last_t;
    double *last_v, *last_vd; /* of the last sample, with v' of the acceleration level */
    bool impact;              /* an impact happened, what it cost is to be counted */
    double impact_loss;       /* what its contacts took */
    bool renewed;             /* the integration starts anew where an input changes */
    int next_break;           /* the first break that is not behind */
    ga_energy energy, initial;
    double start; /* balance there */
    double drift_max, drift_time, scale;
    double least_kinetic, largest_kinetic, largest_potential;
    double exchanged; /* the largest change of potential, dissipated, work */
} ga_balance;

/* What ga_sim_check_model, ga_sim_row_name and ga_sim_look have found. */
typedef struct ga_sim_findings {
    ga_sim_redundancy *redundancies;
    ga_sim_moved *moved;
    ga_sim_joint *joints;
    const char **with;
    char (*directions)[GA_ROW_TEXT]; /* of redundancies */
    char *row_text;                  /* of the row asked for last */
    ga_gap *gaps;
    int gap_count;
} ga_sim_findings;

struct ga_sim {
    const ga_model *model;
    ga_sim_def def;
    ga_assembly *assembly;
    ga_pool *pool; /* null: one thread */
    ga_integrator *integrator;
    ga_channels channels;
    double *q0, *v0;      /* as the model gives them */
    bool *unilateral;     /* event functions: all */
    int *event_element;   /* whose event each function is */
    ga_given_times given; /* what functions of time ask of the steps */
    bool loaded;          /* powers depend on multipliers */
    int method_warnings;  /* of the integrator, from its creation */
    ga_warnings lasting;  /* of the model, at every start */

    double from_t; /* where a run begins: at t_start, or where a state was set */
    double *from_q, *from_v;
    double t, step;
    double *now_q, *now_v;  /* where stepping stands */
    bool stepped;           /* a run has begun since the start was set */
    bool running;           /* and is not over */
    bool failed;            /* it is over because of a failure */
    bool busy;              /* callbacks may be running, which must not change the simulation */
    bool fed;               /* an input or a callback has changed where the last step ended, */
    double fed_from;        /* here */
    bool started;           /* the first sample has been accepted */
    ga_status begin;        /* of the warnings about the start, for the call that made them */
    bool lost;              /* steps fail, and the energy balance is lost: to no purpose */
    bool locked;            /* something sticks or rests; its events depend on multipliers */
    ga_forbidden forbidden; /* why the run failed */
    ga_balance balance;
    ga_impact_errors *impact_errors; /* of each element, at its first event function */
    ga_warnings warnings;

    ga_sim_work work;
    ga_sim_findings found;
};

/* sim.c */
/* GA_ERR_STATE within a callback, from where nothing may be changed. */
ga_status ga_sim_check_outside(const ga_sim *sim, ga_report *report);
/* GA_ERR_INPUT if nobody has said when the run ends. */
ga_status ga_sim_check_end(const ga_sim *sim, ga_report *report);
/* What the integrator is asked for. */
ga_simulation ga_sim_describe_run(ga_sim *sim);
/* Begins a run, and takes a step of it. */
ga_status ga_sim_run_begin(ga_sim *sim, ga_report *report);
ga_status ga_sim_run_step(ga_sim *sim, ga_report *report);
/* After each call of the integrator, which made the simulation busy: what there is to say when
 * the run is over or has failed. */
ga_status ga_sim_conclude(ga_sim *sim, ga_status status, ga_report *report);

/* sim_step.c */
/* Begins the run if there is none, and anew where an input or a callback has changed. */
ga_status ga_sim_go_on(ga_sim *sim, ga_report *report);
/* GA_ERR_STATE, for what a run that is over cannot do. */
ga_status ga_sim_has_ended(const ga_sim *sim, ga_report *report);
/* Times that differ by this much are one. */
double ga_sim_time_slack(const ga_sim *sim, double t);
/* Where the next ramp of an input ends; infinite: there is none. */
double ga_sim_next_corner(const ga_sim *sim);

/* sim_energy.c */
/* Does power depend on multipliers, as that of motions and of friction in joints does? */
bool ga_sim_is_loaded(const ga_model *model);
void ga_sim_powers(ga_sim *sim, const ga_sample *at, ga_powers *powers);
/* Adds what was lost and put in from the last accepted sample to this one, where powers are
 * `now`; changes nothing else. */
void ga_sim_add_work(ga_sim *sim, const ga_powers *now, const ga_sample *at, ga_energy *energy);
/* An accepted sample. */
void ga_sim_account(ga_sim *sim, const ga_sample *at);

/* sim_events.c */
void ga_sim_describe_events(ga_sim *sim, ga_events *events);
/* Rows of elements with events are switched on and off: how many are on, or off? */
int ga_sim_count_switched(ga_sim *sim, const ga_element_state *state, bool on);

/* sim_locks.c */
/* How far an impulse along a rate changes it, compared with what it would do to the bodies
 * alone. 0: others determine that rate, up to round-off. */
double ga_sim_mobility(ga_sim *sim, const ga_element *element, const double *row, double t,
                       const double *q, const double *v);
/* Would a lock of the element's rate contradict others? */
/* The mobility of a rate that nothing but round-off moves. */
bool ga_sim_is_immobile(double mobility);
/* What an impulse along the row would do to its rate if its bodies were alone. */
double ga_sim_ease_alone(const ga_sim *sim, const ga_element *element, const double *row);
/* Motions that take part in what the last impulse met. */
int ga_sim_find_motions(const ga_sim *sim, int room, const ga_element **motions);
bool ga_sim_is_determined(ga_sim *sim, const ga_element *element, double t, const double *q,
                          const double *v);
/* Which locks are closed at the start; the elements remember. Fails only for want of memory. */
ga_status ga_sim_choose_locks(ga_sim *sim, ga_report *report);
bool ga_sim_is_driven(const ga_model *model);

/* sim_output.c */
/* A run that stops just before a break at its end has come to the end. */
double ga_sim_shown_time(const ga_sim *sim, double t);
/* |Phi|; |B v + Phi_t| and |k|. */
void ga_sim_residuals(ga_sim *sim, const ga_sample *at, ga_moment *moment);
void ga_sim_fill_channels(ga_sim *sim, const ga_sample *at);
/* Channels and state of this moment. */
void ga_sim_stand_at(ga_sim *sim, const ga_sample *at);
ga_eval ga_sim_put_out(void *sim, const ga_sample *at);

/* sim_warn.c */
ga_status ga_sim_warn_begin(ga_sim *sim); /* fails only for want of memory */
void ga_sim_warn_step(ga_sim *sim);       /* after an accepted step */
void ga_sim_warn_over(ga_sim *sim);       /* when a run is over, or has failed */

static inline double ga_sim_dot(int n, const double *x, const double *y)
{
    double sum = 0;
    for (int k = 0; k < n; ++k) sum += x[k] * y[k];
    return sum;
}

static inline double ga_sim_largest(int n, const double *x)
{
    double most = 0;
    for (int k = 0; k < n; ++k) most = fmax(most, fabs(x[k]));
    return most;
}

#endif
