/* A plug-in that takes three seconds when it first sees that t is a whole number but 0: in
 * steps of a second, not where these are output. */
#define _POSIX_C_SOURCE 200809L /* nanosleep */
#include <galpha/plugin.h>
#include <math.h>
#include <time.h>

static int seen;

static void force(const void *self, double t, const ga_plugin_body *bodies, double *f)
{
    (void)self, (void)bodies;
    if (fabs(t - (seen + 1)) < 1e-9) {
        ++seen;
        nanosleep(&(struct timespec){3, 0}, NULL);
    }
    f[0] = 1;
}

static void tangent(const void *self, double t, const ga_plugin_body *bodies, double *K,
                    double *C)
{
    (void)self, (void)t, (void)bodies, (void)K, (void)C; /* none */
}

GA_PLUGIN_EXPORT const ga_plugin galpha_plugin = {
    .abi_version = GA_PLUGIN_ABI, .force = force, .tangent = tangent};
