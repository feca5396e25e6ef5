/* galpha: constrained mechanical systems, integrated with generalized-alpha methods.
 *
 *     model.h, sim.h          mechanisms: bodies, joints, forces, from files or from C
 *     system.h, integrate.h,  your own equations, given by callbacks
 *     simulate.h
 *
 * Three libraries: libgalpha-core has the headers of the second line and spectrum.h; libgalpha
 * adds model.h, sim.h and converge.h; libgalpha-io adds result.h, page.h and plot.h.
 *
 * This header includes all but converge.h and plot.h, and plugin.h, which is for shared objects
 * that a model loads.
 */
#ifndef GALPHA_GALPHA_H
#define GALPHA_GALPHA_H

#include <galpha/channel.h>
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
#include <galpha/version.h>

#endif
