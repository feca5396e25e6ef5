/* Problems that are model files: those in verify/models and examples are part of the program.
 */
#ifndef VERIFY_MODEL_H
#define VERIFY_MODEL_H

#include "verify/verify.h"

#include <galpha/sim.h>

typedef struct vf_model_file {
    const char *name, *text;
} vf_model_file;

extern const vf_model_file vf_model_files[]; /* ends with a null name */

/* What to run, and what to do with the results. */
typedef struct vf_simulation {
    const char *model;           /* name of the file, without .yaml */
    const char *const *set;      /* "simulate.step=1e-3", ends with null; may be null */
    const char *const *channels; /* ends with null */
    /* Called for every output; values in the order of channels. May be null. */
    void (*output)(void *user, double t, const double *values);
    void *user;
} vf_simulation;

/* Runs; the values of the channels at the end go to `final` (may be null), at most room
 * numbers. False after reporting the failure to `run`. */
bool vf_simulate(vf_run *run, const vf_simulation *simulation, double *final, int room,
                 ga_sim_summary *summary);

#endif
