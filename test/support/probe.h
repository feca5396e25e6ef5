/* A system around a system: counts the calls of every callback and may tamper with what they
 * answer. */
#ifndef GA_TEST_PROBE_H
#define GA_TEST_PROBE_H

#include <galpha/system.h>
#include <string.h>

typedef enum probe_kind {
    PROBE_MASS,
    PROBE_FORCE,
    PROBE_CONSTRAINT,
    PROBE_GRADIENT,
    PROBE_CONSTRAINT_RATE,
    PROBE_ACCELERATION_RHS,
    PROBE_STIFFNESS,
    PROBE_DAMPING,
    PROBE_VELOCITY_STIFFNESS,
    PROBE_FORCE_LAMBDA,
    PROBE_KINDS
} probe_kind;

typedef struct probe probe;
/* Called after the callback, with its answer in out (size numbers). */
typedef ga_eval probe_tamper(probe *p, probe_kind kind, const ga_point *at, double *out);

struct probe {
    ga_system inner;  /* what is wrapped */
    ga_system system; /* give this one to the library; p must stay where it is */
    long calls[PROBE_KINDS];
    int size[PROBE_KINDS];
    probe_tamper *tamper; /* null: only count */
    void *data;           /* for tamper */
    /* If not null, the callback of this kind writes here and tamper alone fills out: for
     * answers of another size than the library expects. */
    double *detour;
    probe_kind detour_kind;
};

static inline ga_eval probe_call(probe *p, probe_kind kind, ga_callback *callback,
                                 const ga_point *at, double *out)
{
    ++p->calls[kind];
    const bool detour = p->detour && p->tamper && kind == p->detour_kind;
    ga_eval answer = callback(p->inner.user, at, detour ? p->detour : out);
    return answer == GA_EVAL_OK && p->tamper ? p->tamper(p, kind, at, out) : answer;
}

/* X(name of the member, kind, rows, columns); n = nv, m constraints */
#define PROBE_VECTORS(X)                                                                       \
    X(force, PROBE_FORCE, n)                                                                   \
    X(constraint, PROBE_CONSTRAINT, m)                                                         \
    X(constraint_rate, PROBE_CONSTRAINT_RATE, m)                                               \
    X(acceleration_rhs, PROBE_ACCELERATION_RHS, m)
#define PROBE_MATRICES(X)                                                                      \
    X(mass, PROBE_MASS, n, n)                                                                  \
    X(gradient, PROBE_GRADIENT, m, n)                                                          \
    X(stiffness, PROBE_STIFFNESS, n, n)                                                        \
    X(damping, PROBE_DAMPING, n, n)                                                            \
    X(velocity_stiffness, PROBE_VELOCITY_STIFFNESS, m, n)                                      \
    X(force_multipliers, PROBE_FORCE_LAMBDA, n, m)

#define PROBE_WRAPPER(name, kind, ...)                                                         \
    static inline ga_eval probe_##name(void *user, const ga_point *at, double *out)            \
    {                                                                                          \
        probe *p = user;                                                                       \
        return probe_call(p, kind, p->inner.name, at, out);                                    \
    }
PROBE_VECTORS(PROBE_WRAPPER)
PROBE_MATRICES(PROBE_WRAPPER)
#undef PROBE_WRAPPER

static inline void probe_wrap(probe *p, const ga_system *inner)
{
    memset(p, 0, sizeof *p);
    p->inner = p->system = *inner;
    p->system.user = p;
    const int n = ga_system_nv(inner), m = inner->constraint_count;
#define PROBE_VECTOR(name, kind, count)                                                        \
    p->size[kind] = (count);                                                                   \
    if (inner->name) p->system.name = probe_##name;
#define PROBE_MATRIX(name, kind, rows, cols)                                                   \
    p->size[kind] = inner->name##_pattern.row ? inner->name##_pattern.count : (rows) * (cols); \
    if (inner->name) p->system.name = probe_##name;
    PROBE_VECTORS(PROBE_VECTOR)
    PROBE_MATRICES(PROBE_MATRIX)
#undef PROBE_VECTOR
#undef PROBE_MATRIX
}

/* As messages of the library spell it. */
static inline const char *probe_name(probe_kind kind)
{
    static const char *const names[PROBE_KINDS] = {"mass",
                                                   "force",
                                                   "constraint",
                                                   "gradient",
                                                   "constraint_rate",
                                                   "acceleration_rhs",
                                                   "stiffness",
                                                   "damping",
                                                   "velocity_stiffness",
                                                   "force_multipliers"};
    return names[kind];
}

#endif
