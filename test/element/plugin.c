/* Plug-ins for the test: a spring and damper of length 0 between the centers of two bodies,
 * with and without what is optional, and some that are wrong. */
#include <galpha/plugin.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

typedef struct spring {
    double stiffness, damping;
} spring;

static void *create(int body_count, int parameter_count, const double *parameters,
                    char *message, size_t size)
{
    (void)body_count, (void)parameter_count;
    spring *s = malloc(sizeof *s);
    if (!s || parameters[0] < 0) {
        snprintf(message, size, "stiffness %g is negative", parameters[0]);
        free(s);
        return NULL;
    }
    *s = (spring){parameters[0], parameters[1]};
    return s;
}

static void to_world(const double *R, const double *a, double *b)
{
    for (int i = 0; i < 3; ++i) b[i] = R[i] * a[0] + R[3 + i] * a[1] + R[6 + i] * a[2];
}

static void to_body(const double *R, const double *a, double *b)
{
    for (int i = 0; i < 3; ++i)
        b[i] = R[3 * i] * a[0] + R[3 * i + 1] * a[1] + R[3 * i + 2] * a[2];
}

/* Distance and relative velocity of the second, world axes. */
static void difference(const ga_plugin_body *bodies, double d[3], double v[3])
{
    double first[3];
    to_world(bodies[0].R, bodies[0].u, first);
    to_world(bodies[1].R, bodies[1].u, v);
    for (int k = 0; k < 3; ++k) {
        v[k] -= first[k];
        d[k] = bodies[1].x[k] - bodies[0].x[k];
    }
}

static void force(const void *self, double t, const ga_plugin_body *bodies, double *f)
{
    (void)t;
    const spring *s = self;
    double d[3], v[3], F[3];
    difference(bodies, d, v);
    for (int k = 0; k < 3; ++k) F[k] = s->stiffness * d[k] + s->damping * v[k];
    to_body(bodies[0].R, F, f);
    for (int k = 0; k < 3; ++k) F[k] = -F[k];
    to_body(bodies[1].R, F, f + 6);
}

static double potential(const void *self, double t, const ga_plugin_body *bodies)
{
    (void)t;
    double d[3], v[3];
    difference(bodies, d, v);
    return ((const spring *)self)->stiffness * (d[0] * d[0] + d[1] * d[1] + d[2] * d[2]) / 2;
}

static double dissipation(const void *self, double t, const ga_plugin_body *bodies)
{
    (void)t;
    double d[3], v[3];
    difference(bodies, d, v);
    return ((const spring *)self)->damping * (v[0] * v[0] + v[1] * v[1] + v[2] * v[2]);
}

GA_PLUGIN_EXPORT extern const ga_plugin galpha_plugin, bare, other_version, empty;

const ga_plugin galpha_plugin = {.abi_version = GA_PLUGIN_ABI,
                                 .body_count = 2,
                                 .parameter_count = 2,
                                 .create = create,
                                 .destroy = free,
                                 .force = force,
                                 .potential = potential,
                                 .dissipation = dissipation};

/* A push along body x that fades with time, and a brake on spin; its tangent is known. */
static void push(const void *self, double t, const ga_plugin_body *bodies, double *f)
{
    (void)self;
    f[0] = exp(-t);
    f[5] = -2 * bodies[0].w[2];
}

static void push_tangent(const void *self, double t, const ga_plugin_body *bodies, double *K,
                         double *C)
{
    (void)self, (void)t, (void)bodies, (void)K;
    C[6 * 5 + 5] = 2;
}

static double one(const void *self, double t)
{
    (void)self;
    return t < 1 ? 1 : INFINITY;
}

const ga_plugin bare = {.abi_version = GA_PLUGIN_ABI,
                        .parameter_count = -1,
                        .force = push,
                        .tangent = push_tangent,
                        .next_break = one};

const ga_plugin other_version = {.abi_version = GA_PLUGIN_ABI + 1, .force = push};
const ga_plugin empty = {.abi_version = GA_PLUGIN_ABI};
