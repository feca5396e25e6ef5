/* galpha: constrained mechanical systems, integrated with generalized-alpha methods.
 *
 *     model.h, sim.h          mechanisms: bodies, joints, forces, from files or from C
 *     system.h, integrate.h,  your own equations, given by callbacks
 *     simulate.h
 *
 * This header includes all but converge.h and plot.h, and plugin.h, which is for shared objects
 * that a model loads.
 */
#ifndef GALPHA_GALPHA_H
#define GALPHA_GALPHA_H

#include <galpha/coefficients.h>
#include <galpha/integrate.h>
#include <galpha/lie.h>
#include <galpha/messages.h>
#include <galpha/model.h>
#include <galpha/page.h>
#include <galpha/result.h>
#include <galpha/sim.h>
#include <galpha/simulate.h>
#include <galpha/spectrum.h>
#include <galpha/status.h>
#include <galpha/system.h>

#ifdef __cplusplus
extern "C" {
#endif

#define GA_VERSION "0.1.0"

/* The version of the library in use: "0.1.0". */
GA_API const char *ga_version(void);

#ifdef __cplusplus
}
#endif
#endif
