/* The state at both ends of the last step: all that methods without a longer memory keep of the
 * motion. */
#ifndef GA_INTEGRATE_ENDS_H
#define GA_INTEGRATE_ENDS_H

#include "integrate/onestep.h"
#include "integrate/save.h"

/* The arrays lie in one piece of memory. */
typedef struct ga_ends {
    double t, t_old, h;
    long steps; /* since the last start */
    double *q, *v, *vd, *multipliers;
    double *q_old, *v_old, *vd_old, *multipliers_old;
    double *v_start;
    double *own; /* numbers of the method that belong to the last step */
    double *memory;
    size_t size;
} ga_ends;

bool ga_ends_create(const ga_dae *dae, int own, ga_ends *e);
void ga_ends_destroy(ga_ends *e);
void ga_ends_copy(ga_ends *to, const ga_ends *from);
/* Consistent values at t from q and v, which may be those of e, at most so far away; guesses of
 * the multipliers are in e. */
ga_status ga_ends_start(ga_ends *e, ga_consistent *c, double t, const double *q,
                        const double *v, double max_projection, ga_report *report);
/* In the middle of a run: the limit of projections, and what is told of them, are for what the
 * user starts from. */
ga_status ga_ends_restart(ga_ends *e, ga_consistent *c, double t, const double *q,
                          const double *v, ga_report *report);
/* A step of size h to t1, where this is the state, has been accepted. */
void ga_ends_advance(ga_ends *e, const ga_dae *dae, double h, double t1, const double *q,
                     const double *v, const double *vd, const double *multipliers);
/* As runs see it. */
ga_solution ga_ends_view(const ga_ends *e);
void ga_ends_archive(ga_archive *a, ga_ends *e);

#endif
