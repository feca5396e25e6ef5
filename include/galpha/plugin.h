/* Forces in C, loaded at run time. A plug-in is a shared object that defines
 *
 *     #include <galpha/plugin.h>
 *     GA_PLUGIN_EXPORT const ga_plugin galpha_plugin = {
 *         .abi_version = GA_PLUGIN_ABI, .force = force, ...
 *     };
 *
 * and needs only this header of galpha. A model names it:
 *
 *     forces:
 *       wind: {type: plugin, library: ./wind.so, bodies: [blade, tower], parameters: [1.2, 8]}
 *
 * The path is relative to the folder of the model. `symbol` gives a name other than
 * galpha_plugin. docs/plugins.md has a complete example.
 *
 * Bodies are frames at their centres of mass. Everything but the position is in body axes:
 *
 *     twist       (u, w) = (R^T x', angular velocity)
 *     force       (f, m): force, and moment about the centre of mass, six numbers per body
 *     variation   (du, dt): x + R du, R exp(dt~)
 *
 * In planar models z is the axis of rotation; out-of-plane components are ignored.
 *
 * One plug-in may be used by several simulations at the same time: functions that take `const
 * void *self` must not modify it. Forces must be smooth functions of their arguments without
 * internal state: the integrator evaluates a step several times and may reject it.
 */
#ifndef GALPHA_PLUGIN_H
#define GALPHA_PLUGIN_H

#include <stddef.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Changes with every incompatible change of this header. */
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

    /* Null: no data, `self` is null. Otherwise returns self, or null on failure, with a message
     * for the user in `message` (size bytes). The parameters remain valid as long as self. */
    void *(*create)(int body_count, int parameter_count, const double *parameters,
                    char *message, size_t size);
    void (*destroy)(void *self);

    /* Writes 6 body_count numbers. Required. */
    void (*force)(const void *self, double t, const ga_plugin_body *bodies, double *f);

    /* The functions below are optional. */

    /* Writes K = -df/d(variation) at fixed twists and C = -df/d(twist), square, row-major,
     * initially zero. Null: finite differences are used. */
    void (*tangent)(const void *self, double t, const ga_plugin_body *bodies, double *K,
                    double *C);
    /* Stored energy, and dissipated power, not negative. If either is given, force times twist
     * must equal -d(potential)/dt - dissipation; without both it counts as external work. */
    double (*potential)(const void *self, double t, const ga_plugin_body *bodies);
    double (*dissipation)(const void *self, double t, const ga_plugin_body *bodies);
    /* The next time after t at which the force jumps or has a kink; infinity: none. */
    double (*next_break)(const void *self, double t);
} ga_plugin;

#ifdef __cplusplus
}
#endif
#endif
