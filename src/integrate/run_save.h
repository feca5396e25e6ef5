/* A run as bytes: what lies between two of its steps. */
#ifndef GA_INTEGRATE_RUN_SAVE_H
#define GA_INTEGRATE_RUN_SAVE_H

#include "base/archive.h"
#include "integrate/run.h"

/* The run with its method. Reading: into a run that was created for the same equations and
 * settings; t_end and the times of output may be others. A method that cannot be saved fails
 * the archive. GA_OK unless the method cannot be restored. */
ga_status ga_run_archive(ga_run *run, ga_archive *a);

#endif
