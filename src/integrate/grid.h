/* Steps of fixed size, at t_start + k h. */
#ifndef GA_INTEGRATE_GRID_H
#define GA_INTEGRATE_GRID_H

#include "integrate/onestep.h"

/* Called after every accepted step or piece of one. *ended: the solution was changed, or is to
 * stay as it is. */
typedef ga_status ga_follow(void *user, bool *ended, ga_report *report);

typedef struct ga_grid {
    ga_onestep *m;
    double t_start, h;
    long count; /* steps done since t_start */
    bool off;   /* the last one ended early */
    /* In a run: pieces of a step that has to be cut are steps of their own, and remain if a
     * later one fails. Null: a step is made entirely or not at all. */
    ga_follow *follow;
    void *user;
    bool keeps; /* what follows a step may go back to where it began */
    bool kept;  /* while a step is cut: its beginning is remembered */
} ga_grid;

/* A grid with steps of size h begins where the solution is. */
void ga_grid_begin(ga_grid *g, double h);
/* One step of the grid, or up to t_end if that comes first; cut in pieces where needed. Without
 * `follow` a failure leaves the solution as it was. The report is filled. */
ga_status ga_grid_step(ga_grid *g, double t_end, ga_report *report);
/* One step of size h to t1, likewise; the grid begins anew where it ends. */
ga_status ga_grid_step_to(ga_grid *g, double h, double t1, ga_report *report);

#endif
