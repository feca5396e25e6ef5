/* Steps of fixed size, at t_start + k h. */
#ifndef GA_INTEGRATE_GRID_H
#define GA_INTEGRATE_GRID_H

#include "integrate/onestep.h"

typedef enum ga_followed {
    GA_FOLLOWED,       /* the next piece may come */
    GA_FOLLOWED_ENDED, /* the solution was changed, or is to stay as it is */
    GA_FOLLOWED_WAITS  /* not all was done yet: the next piece has to wait */
} ga_followed;

/* Called after every accepted step or piece of one. */
typedef ga_status ga_follow(void *user, ga_followed *done, ga_report *report);

/* A step, or what is left of one that had to be cut. */
typedef struct ga_grid_piece {
    double h, t1;
    int halvings; /* so many more */
    bool free_end;
} ga_grid_piece;

enum { GA_GRID_MOST_PIECES = 52 }; /* max_halvings is at most 50 */

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
    bool last;  /* the grid begins anew behind the step */
    int pieces; /* of the step that are left; the next one stands last */
    ga_grid_piece piece[GA_GRID_MOST_PIECES];
} ga_grid;

/* A grid with steps of size h begins where the solution is. */
void ga_grid_begin(ga_grid *g, double h);
/* One step of the grid, or up to t_end if that comes first; cut in pieces where needed; where
 * `follow` has made pieces wait, these. Without `follow` a failure leaves the solution as it
 * was. The report is filled. */
ga_status ga_grid_step(ga_grid *g, double t_end, ga_report *report);
/* One step of size h to t1, likewise; the grid begins anew where it ends. */
ga_status ga_grid_step_to(ga_grid *g, double h, double t1, ga_report *report);

#endif
