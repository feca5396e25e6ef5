/* What the handle hides: integrator.c, simulate.c, analysis/richardson.c. */
#ifndef GA_INTEGRATE_INTEGRATOR_H
#define GA_INTEGRATE_INTEGRATOR_H

#include "integrate/alpha.h"
#include "integrate/auto.h"
#include "integrate/explicit.h"
#include "integrate/radau.h"
#include "integrate/run.h"
#include "system/consistent.h"

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

#endif
