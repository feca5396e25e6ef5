/* galpha: constrained mechanical systems, integrated with generalized-alpha methods. */
#ifndef GALPHA_GALPHA_H
#define GALPHA_GALPHA_H

#include <galpha/integrate.h>
#include <galpha/lie.h>
#include <galpha/method.h>
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
