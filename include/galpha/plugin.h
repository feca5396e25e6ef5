/* Forces in C, loaded at run time. A plug-in is a shared object that defines
 *
 *     #include <galpha/plugin.h>
 *     GA_PLUGIN_EXPORT const ga_plugin galpha_plugin = {
 *         .abi_version = GA_PLUGIN_ABI, .force = force, ...
 *     };
 *
 * and needs nothing of galpha but this header. A model names it:
 *
 *     forces:
 *       wind: {type: plugin, library: ./wind.so, bodies: [blade, tower], parameters: [1.2, 8]}
 *
 * The path starts at the folder of the model. Another name than galpha_plugin is given by
 * `symbol`. docs/plugins.md has a complete example.
 *
 * Bodies are frames at their centers of mass. All is in body axes, besides the position:
 *
 *     twist       (u, w) = (R^T x', angular velocity)
 *     force       (f, m): force, and moment about the center of mass, six numbers for each body
 *     variation   (du, dt): x + R du, R exp(dt~)
 *
 * In planar models z is the axis of rotation; forces out of the plane are ignored.
 *
 * One plug-in may serve several simulations at the same time: functions that get `const void
 * *self` must not change what it points to. Forces have to be smooth functions of their
 * arguments: the integrator looks at a step more than once, and takes some back.
 */
#ifndef GALPHA_PLUGIN_H
#define GALPHA_PLUGIN_H

#include <stddef.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Grows with every change of this header that an old plug-in would not survive. */
#define GA_PLUGIN_ABI 1

#if defined(__GNUC__)
#define GA_PLUGIN_EXPORT __attribute__((visibility("default")))
#else
#define GA_PLUGIN_EXPORT
#endif

typedef struct ga_plugin_body {
    double x[3];       /* world */
    double R[9];       /* column-major, body to world axes */
    double u[3], w[3]; /* body axes */
} ga_plugin_body;

typedef struct ga_plugin {
    int abi_version;     /* GA_PLUGIN_ABI */
    int body_count;      /* 0: any, up to 12 */
    int parameter_count; /* negative: any */

    /* Null: there is nothing to keep, `self` is null then. Otherwise returns self, and null
     * after a failure, with a sentence for the user in `message` (size bytes). The parameters
     * live as long as self. */
    void *(*create)(int body_count, int parameter_count, const double *parameters,
                    char *message, size_t size);
    void (*destroy)(void *self);

    /* Writes 6 body_count numbers. Required. */
    void (*force)(const void *self, double t, const ga_plugin_body *bodies, double *f);

    /* What is null below is left out. */

    /* Writes K = -df/d(variation) at fixed twists and C = -df/d(twist), square, row-major, zero
     * before. Null: difference quotients. */
    void (*tangent)(const void *self, double t, const ga_plugin_body *bodies, double *K,
                    double *C);
    /* Energy stored, and power lost, not negative. If one of them is there, force times twist
     * has to be -d(potential)/dt - dissipation; without both it is work from outside. */
    double (*potential)(const void *self, double t, const ga_plugin_body *bodies);
    double (*dissipation)(const void *self, double t, const ga_plugin_body *bodies);
    /* The next time after t at which the force jumps or has a kink; infinity: none. */
    double (*next_break)(const void *self, double t);
} ga_plugin;

#ifdef __cplusplus
}
#endif
#endif
