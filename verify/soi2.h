/* Errors at the end of a run as [JN08] measures and draws them.
 *
 * Euclidean norms at t_n = t_end. The a of SOI2 belongs to t_n + Delta_alpha h_{n-1}, where
 * h_{n-1} is the last step, and is compared with v' there.
 */
#ifndef VERIFY_SOI2_H
#define VERIFY_SOI2_H

#include "verify/ladder.h"

/* Pairs of steps h/3, 2 h/3: the pattern of [JN08] section 8. */
enum { VF_PAIR = 2 };
extern const double vf_pair[VF_PAIR];

/* SOI2 as in [JN08] section 8: rho_inf, a_0 = v'(t_0). */
ga_integrator_def vf_soi2(double rho_inf, ga_step_change change);

/* The job with each of the steps h. The row of VF_VD is that of a. */
bool vf_climb_soi2(vf_run *run, const vf_job *job, int levels, const double *h,
                   vf_ladder *ladder);

/* The letters of [JN08], one for each vf_kind: y, z, a, lambda, psi. */
extern const char *const vf_soi2_letter[VF_KINDS];

/* Errors against h in the paper's letters; kinds without errors are left out. */
void vf_plot_soi2(ga_figure *figure, int panel, const vf_ladder *ladder);

#endif
