/* Truths about forces that need no numbers: tangents are derivatives, internal forces feel no
 * rigid motion and have no sum and no moment, power is accounted for. Elements are made as a
 * model makes them, through their field tables.
 */
#ifndef GA_TEST_ELEMENT_FORCE_CHECKS_H
#define GA_TEST_ELEMENT_FORCE_CHECKS_H

#include "test/support/unit.h"

#include <galpha/lie.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "element/observe.h"

enum { BODIES = 4, MEMORY = 64, MAX_SIZE = GA_TWIST * GA_ELEMENT_MAX_NODES };

extern const ga_element_type ga_force_force, ga_force_torque, ga_force_user,
    ga_force_spring_damper, ga_force_torsion_spring, ga_force_bushing, ga_force_gravity_field,
    ga_force_plugin;

#define check_near(got, expected, tolerance)                                                   \
    do {                                                                                       \
        double got_ = (got), expected_ = (expected);                                           \
        if (!(fabs(got_ - expected_) <= (tolerance)))                                          \
            fail_msg("%s is %.16g, expected %.16g", #got, got_, expected_);                    \
    } while (0)

/* --- worlds: the ground and some bodies ----------------------------------------------------
 */

typedef struct world {
    ga_frame all[1 + BODIES];
    ga_frame start[1 + BODIES]; /* where bodies are at t = 0 */
    double mass[BODIES];
    double memory[MEMORY];
    ga_element_state state;
    ga_arena arena;
    ga_messages *messages;
    ga_reader reader;
    ga_setup setup;
    uint64_t seed;
} world;

static inline double uniform(world *w)
{
    w->seed = w->seed * 6364136223846793005u + 1442695040888963407u;
    return (double)(uint32_t)(w->seed >> 33) * 0x1p-30 - 1;
}

static inline void turn_frame(ga_frame *frame, const double turn[3])
{
    const ga_node so3 = GA_NODE(GA_GROUP_SO3, 0);
    double p[4], Q[9], R[9];
    ga_lie_map(so3, GA_MAP_EXP, turn, p);
    ga_quaternion_to_matrix(p, Q);
    for (int c = 0; c < 3; ++c)
        ga_vec3_store(ga_mat3_apply(frame->R, ga_vec3_load(Q + 3 * c)), R + 3 * c);
    memcpy(frame->R, R, sizeof R);
}

static inline ga_frame frame_at_rest(void)
{
    return (ga_frame){.R = {1, 0, 0, 0, 1, 0, 0, 0, 1}};
}

/* Moves and turns a frame by up to about `size`, and lets it go somewhere. */
static inline void shake(world *w, ga_frame *frame, double size)
{
    double turn[3];
    for (int k = 0; k < 3; ++k) {
        turn[k] = size * uniform(w);
        frame->x[k] += size * uniform(w);
        frame->u[k] = uniform(w);
        frame->w[k] = uniform(w);
    }
    turn_frame(frame, turn);
}

static inline world *world_create(uint64_t seed, int dimension)
{
    world *w = calloc(1, sizeof *w);
    assert_non_null(w);
    w->seed = seed;
    for (int k = 0; k <= BODIES; ++k) {
        w->start[k] = frame_at_rest();
        if (k) shake(w, &w->start[k], 1.5);
        if (k) w->mass[k - 1] = 1.5 + uniform(w);
    }
    memcpy(w->all, w->start, sizeof w->all);
    w->messages = ga_messages_create();
    w->reader = (ga_reader){.messages = w->messages, .dimension = dimension};
    w->state = (ga_element_state){.t = 0.3, .frames = w->all + 1, .memory = w->memory};
    w->setup = (ga_setup){.reader = &w->reader,
                          .arena = &w->arena,
                          .dimension = dimension,
                          .frames = w->start + 1,
                          .node_count = BODIES,
                          .mass = w->mass};
    return w;
}

static inline void world_destroy(world *w)
{
    ga_arena_free(&w->arena);
    ga_messages_destroy(w->messages);
    free(w);
}

/* Somewhere else than at t = 0. */
static inline void world_move(world *w, double size)
{
    memcpy(w->all, w->start, sizeof w->all);
    for (int k = 1; k <= BODIES; ++k) shake(w, &w->all[k], size);
}

/* --- elements ------------------------------------------------------------------------------
 */

static inline const ga_field *field_of(const ga_element_type *type, const char *name,
                                       int dimension)
{
    for (const ga_field *f = type->fields; f->name; ++f) {
        ga_dimensions other = dimension == 2 ? GA_SPATIAL : GA_PLANAR;
        if (strcmp(f->name, name) == 0 && f->where != other) return f;
    }
    fail_msg("no field %s", name);
    return NULL;
}

static inline void *member(world *w, void *element, const char *name)
{
    const ga_element *e = element;
    return (char *)element + field_of(e->type, name, w->reader.dimension)->offset;
}

static inline void *element_create(world *w, const ga_element_type *type)
{
    ga_element *e = ga_arena_alloc(&w->arena, 1, type->size);
    assert_non_null(e);
    e->type = type;
    e->name = "it";
    e->place = (ga_place){"model.yaml", 7, 3};
    for (const ga_field *f = type->fields; f->name; ++f) {
        void *at = (char *)e + f->offset;
        if (f->kind == GA_KIND_NUMBER) *(double *)at = f->fallback[0];
        if (f->kind == GA_KIND_VECTOR || f->kind == GA_KIND_PLACE)
            memcpy(at, f->fallback, sizeof f->fallback);
        if (f->kind == GA_KIND_BODY) *(int *)at = (int)f->fallback[0];
        if (f->kind == GA_KIND_ROTATION) *(double *)at = 1;
    }
    return e;
}

static inline void set_number(world *w, void *e, const char *name, double x)
{
    *(double *)member(w, e, name) = x;
}

static inline void set_int(world *w, void *e, const char *name, int x)
{
    *(int *)member(w, e, name) = x;
}

static inline void set_vector(world *w, void *e, const char *name, double x, double y, double z)
{
    double *a = member(w, e, name);
    a[0] = x;
    a[1] = y;
    a[2] = z;
}

static inline void set_between(world *w, void *e, ga_anchor a, ga_anchor b)
{
    ga_anchor *between = member(w, e, "between");
    between[0] = a;
    between[1] = b;
}

/* What names in expressions mean here. */
typedef struct named {
    const char *name;
    ga_observed what;
} named;

typedef struct naming {
    ga_observation *list;
    ga_arena *arena;
    const named *names;
} naming;

static inline ga_symbol find_symbol(void *user, const char *name, size_t length)
{
    naming *n = user;
    for (const named *k = n->names; k && k->name; ++k)
        if (strlen(k->name) == length && memcmp(k->name, name, length) == 0) {
            ga_symbol symbol = {GA_SYMBOL_VARIABLE, 0, 0};
            assert_int_equal(ga_observe(n->list, n->arena, &k->what, &symbol.variable), GA_OK);
            return symbol;
        }
    return (ga_symbol){GA_SYMBOL_UNKNOWN, 0, 0};
}

static inline ga_function *make_function(world *w, ga_observation *list, const named *names,
                                         const char *text)
{
    naming n = {list, &w->arena, names};
    ga_symbols symbols = {.user = &n, .find = find_symbol};
    ga_value value = {.kind = GA_VALUE_SCALAR, .text = text};
    ga_function *f = NULL;
    assert_true(ga_function_read(&w->reader, &value, &symbols, &f));
    return f;
}

/* `count` components, by expressions. */
static inline void set_functions(world *w, void *e, const char *name, int count,
                                 const char *const *texts, const named *names)
{
    const ga_element_type *type = ((ga_element *)e)->type;
    ga_observation *list =
        type->observation_at ? (void *)((char *)e + type->observation_at) : NULL;
    ga_function **f = member(w, e, name);
    for (int k = 0; k < count; ++k) f[k] = make_function(w, list, names, texts[k]);
}

static inline void free_functions(world *w, void *e, const char *name, int count)
{
    ga_function **f = member(w, e, name);
    for (int k = 0; k < count; ++k) ga_function_destroy(f[k]);
}

/* As a model does: prepare, then remember. */
static inline void element_start(world *w, void *element)
{
    ga_element *e = element;
    bool good =
        e->type->prepare(e, &w->setup) && (!e->type->load || e->type->load(e, &w->setup));
    if (!good) {
        char line[512] = "";
        ga_messages_format(w->messages, 0, line, sizeof line);
        fail_msg("%s", line);
    }
    assert_true(e->memory_count <= MEMORY);
    ga_element_state start = {.frames = w->start + 1, .memory = w->memory};
    if (e->type->remember) e->type->remember(e, &start, w->memory);
}

/* Preparing or loading fails (or warns) with a message that holds these words. */
static inline void check_message(world *w, void *element, ga_severity severity,
                                 const char *words)
{
    ga_element *e = element;
    bool good =
        e->type->prepare(e, &w->setup) && (!e->type->load || e->type->load(e, &w->setup));
    assert_int_equal(good, severity == GA_SEVERITY_WARNING);
    int count = ga_messages_count(w->messages);
    assert_true(count > 0);
    ga_message message = ga_messages_get(w->messages, count - 1);
    assert_int_equal(message.severity, severity);
    assert_int_equal(message.line, 7);
    char line[512];
    ga_messages_format(w->messages, count - 1, line, sizeof line);
    if (!strstr(line, words)) fail_msg("`%s` does not hold `%s`", line, words);
}

/* --- checks --------------------------------------------------------------------------------
 */

static inline void force_of(world *w, const void *element, double *f)
{
    const ga_element *e = element;
    memset(f, 0, sizeof(double) * MAX_SIZE);
    e->type->force(e, &w->state, f);
}

static inline double largest(int n, const double *x)
{
    double size = 0;
    for (int k = 0; k < n; ++k) size = fmax(size, fabs(x[k]));
    return size;
}

/* Frame k of all moved by h along entry i of its variation, or of its twist. */
static inline void vary(world *w, int node, int i, bool twist, double h)
{
    ga_frame *frame = &w->all[1 + node];
    if (twist) {
        *(i < 3 ? &frame->u[i] : &frame->w[i - 3]) += h;
        return;
    }
    double turn[3] = {0};
    if (i < 3)
        for (int k = 0; k < 3; ++k) frame->x[k] += h * frame->R[3 * i + k];
    else {
        turn[i - 3] = h;
        turn_frame(frame, turn);
    }
}

/* Central differences of steps h and 2 h, extrapolated: error h^4 and 1e-16/h. */
static inline void difference(world *w, const void *element, int node, int i, bool twist,
                              double *df)
{
    const double h = 1e-3;
    static const double step[4] = {-2, -1, 1, 2},
                        weight[4] = {1 / 12.0, -8 / 12.0, 8 / 12.0, -1 / 12.0};
    ga_frame kept = w->all[1 + node];
    memset(df, 0, sizeof(double) * MAX_SIZE);
    for (int s = 0; s < 4; ++s) {
        double f[MAX_SIZE];
        vary(w, node, i, twist, step[s] * h);
        force_of(w, element, f);
        w->all[1 + node] = kept;
        for (int k = 0; k < MAX_SIZE; ++k) df[k] += weight[s] / h * f[k];
    }
}

/* K and C are minus the derivatives of f; error relative to the largest entry. */
static inline double tangent_error(world *w, const void *element)
{
    const ga_element *e = element;
    int n = GA_TWIST * e->node_count;
    static double M[2][MAX_SIZE * MAX_SIZE];
    memset(M, 0, sizeof M);
    e->type->tangent(e, &w->state, M[0], M[1]);
    double worst = 0;
    for (int part = 0; part < 2; ++part) {
        double size = 1e-3 + largest(n * n, M[part]);
        for (int j = 0; j < n; ++j) {
            double df[MAX_SIZE];
            difference(w, e, e->nodes[j / GA_TWIST], j % GA_TWIST, part, df);
            for (int i = 0; i < n; ++i)
                worst = fmax(worst, fabs(M[part][i * n + j] + df[i]) / size);
        }
    }
    return worst;
}

/* h^4 with fifth derivatives of moderate size: the lengths of these worlds are near 1. */
static inline void check_tangent(world *w, const void *element)
{
    double error = tangent_error(w, element);
    if (!(error < 2e-8)) fail_msg("tangent off by %g", error);
}

/* Turns and moves the whole world, ground included, and adds a rigid velocity. */
static inline void superpose(world *w)
{
    ga_frame motion = frame_at_rest();
    shake(w, &motion, 2);
    ga_vec3 omega = {0.7, -0.4, 1.1}, velocity = {-0.3, 0.8, 0.5};
    for (int k = 0; k <= BODIES; ++k) {
        ga_frame *f = &w->all[k];
        double R[9];
        ga_vec3 x = ga_mat3_apply(motion.R, ga_vec3_load(f->x));
        x = ga_vec3_add(x, ga_vec3_load(motion.x));
        ga_vec3_store(x, f->x);
        for (int c = 0; c < 3; ++c)
            ga_vec3_store(ga_mat3_apply(motion.R, ga_vec3_load(f->R + 3 * c)), R + 3 * c);
        memcpy(f->R, R, sizeof R);
        ga_vec3 v = ga_vec3_add(velocity, ga_vec3_cross(omega, x));
        ga_vec3_store(ga_vec3_add(ga_vec3_load(f->u), ga_mat3_apply_transposed(R, v)), f->u);
        ga_vec3_store(ga_vec3_add(ga_vec3_load(f->w), ga_mat3_apply_transposed(R, omega)),
                      f->w);
    }
}

static inline void check_invariance(world *w, const void *element)
{
    double before[MAX_SIZE], after[MAX_SIZE];
    ga_frame kept[1 + BODIES];
    memcpy(kept, w->all, sizeof kept);
    force_of(w, element, before);
    superpose(w);
    force_of(w, element, after);
    memcpy(w->all, kept, sizeof kept);
    double size = 1 + largest(MAX_SIZE, before);
    for (int k = 0; k < MAX_SIZE; ++k) assert_true(fabs(after[k] - before[k]) < 1e-12 * size);
}

/* No sum of forces, no sum of moments. */
static inline void check_balance(world *w, const void *element)
{
    const ga_element *e = element;
    double f[MAX_SIZE];
    force_of(w, e, f);
    ga_vec3 sum = {0, 0, 0}, moment = {0, 0, 0};
    for (int i = 0; i < e->node_count; ++i) {
        const ga_frame *frame = &w->state.frames[e->nodes[i]];
        ga_vec3 F = ga_mat3_apply(frame->R, ga_vec3_load(f + GA_TWIST * i));
        ga_vec3 M = ga_mat3_apply(frame->R, ga_vec3_load(f + GA_TWIST * i + 3));
        sum = ga_vec3_add(sum, F);
        moment = ga_vec3_add(moment, M);
        moment = ga_vec3_add(moment, ga_vec3_cross(ga_vec3_load(frame->x), F));
    }
    double size = 1e-13 * (1 + 3 * largest(MAX_SIZE, f));
    assert_true(ga_vec3_dot(sum, sum) < size * size);
    assert_true(ga_vec3_dot(moment, moment) < size * size);
}

/* All bodies move on along their twists for a time h. */
static inline double potential_later(world *w, const void *element, double h)
{
    const ga_element *e = element;
    const ga_node se3 = GA_NODE(GA_GROUP_SE3, 0);
    ga_frame kept[1 + BODIES];
    memcpy(kept, w->all, sizeof kept);
    for (int k = 1; k <= BODIES; ++k) {
        ga_frame *f = &w->all[k];
        double q[7], x[6];
        memcpy(q, f->x, sizeof f->x);
        ga_quaternion_from_matrix(f->R, q + 3);
        for (int i = 0; i < 3; ++i) {
            x[i] = h * f->u[i];
            x[3 + i] = h * f->w[i];
        }
        ga_lie_update(se3, GA_MAP_EXP, q, x, q);
        memcpy(f->x, q, sizeof f->x);
        ga_quaternion_to_matrix(q + 3, f->R);
    }
    double U = e->type->potential(e, &w->state);
    memcpy(w->all, kept, sizeof kept);
    return U;
}

/* f . twists = power - dU/dt - dissipation, and dissipation is not negative. */
static inline void check_power(world *w, const void *element)
{
    const ga_element *e = element;
    const ga_element_type *type = e->type;
    const double h = 2e-4; /* error h^4 times fifth derivatives, and 1e-15/h */
    double rate = 0, loss = 0, outside = 0;
    if (type->potential) {
        double U[4];
        for (int k = 0; k < 4; ++k) U[k] = potential_later(w, e, h * (k < 2 ? k - 2 : k - 1));
        rate = (U[0] - 8 * U[1] + 8 * U[2] - U[3]) / (12 * h);
    }
    if (type->dissipation) loss = type->dissipation(e, &w->state);
    if (type->power) outside = type->power(e, &w->state);
    double got = ga_force_power(e, &w->state);
    double size = 1 + fabs(rate) + fabs(loss) + fabs(outside);
    assert_true(loss >= -1e-13 * size);
    if (!(fabs(got - (outside - rate - loss)) < 1e-9 * size))
        fail_msg("power %.12g, accounted for %.12g", got, outside - rate - loss);
}

static inline void check_internal(world *w, const void *element)
{
    check_tangent(w, element);
    check_invariance(w, element);
    check_balance(w, element);
    check_power(w, element);
}

/* Points for everyone. */
static inline ga_anchor point_on(int node, double x, double y, double z)
{
    return (ga_anchor){.node = node, .p = {x, y, z}, .whole = false};
}

static inline ga_anchor whole(int node)
{
    return (ga_anchor){.node = node, .p = {0, 0, 0}, .whole = true};
}

#endif
