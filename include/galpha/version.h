/* The version of galpha. */
#ifndef GALPHA_VERSION_H
#define GALPHA_VERSION_H

#include <galpha/status.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Of the headers a program is compiled with. */
#define GA_VERSION_MAJOR 0
#define GA_VERSION_MINOR 1
#define GA_VERSION_PATCH 0
#define GA_VERSION "0.1.0"

/* The version of the library in use: "0.1.0". */
GA_API const char *ga_version(void);

#ifdef __cplusplus
}
#endif
#endif
