/* Every registered element, in models made of its example: a type without one fails.
 *
 * Scenes are random: bodies that stand and turn anyhow, with the joints the example names. In
 * each, with every kind of node, at random states:
 *
 *     derivatives      all that the system gives, against difference quotients; also entries
 *                      outside the patterns, which are made by looking at the elements
 *     energy           d/dt (kinetic + potential) = work - dissipation along the motion,
 *                      dissipation >= 0
 *     rigid motion     everything moves, ground included: accelerations, forces and the way
 *                      back to the constraints are the same in body axes; a rigid velocity on
 *                      top changes no force
 *     kinematics       the same with velocities in world and in body axes
 *     reactions        channels force and torque are what the dynamics feel at the second body;
 *                      forces on all nodes, ground included, balance
 *     coordinates      channels change at the rate their rate channels say, turns are counted
 *     rank             no row depends on others
 *     planar models    move as spatial ones in the plane
 *     inertia          M of each element is symmetric and positive, and the power of its
 * inertia forces is the rate of its kinetic energy kernels          what bodies and joints have
 * side by side is what their elements say
 *
 * Everything is done twice: with kernels, and by the functions of elements alone. A rod with a
 * consistent mass over two nodes, which is none of the library's, is tested as the others are.
 *
 * Rows may be chosen in directions that do not move with the bodies: what is compared does not
 * depend on that choice.
 */
#include "element/joint.h"
#include "model/assembly.h"
#include "test/element/rod.h"
#include "test/support/unit.h"

#include <galpha/sim.h>
#include <lapacke.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { GEOMETRIES = 2, STATES = 3, MAX_NV = 24, MAX_ROWS = 24, MAX_NQ = 28, MAX_SIDE = 48 };
enum { TEXT = 6000 };

static unsigned long long seed;

/* Uniform in (-1, 1). */
static double random_number(void)
{
    seed = seed * 6364136223846793005ULL + 1442695040888963407ULL;
    return (double)(seed >> 11) / 4503599627370496.0 - 1;
}

/* --- what is tested -----------------------------------------------------------------------
 */

/* What a type cannot promise. */
typedef enum exemption {
    WHOLE = 0,
    OUTSIDE = 1, /* acts from outside: no balance of forces */
    WORLD = 2    /* sees the world: another one where it has turned */
} exemption;

typedef struct instance {
    const ga_element_type *type;
    int dimension;
    char text[TEXT];
    int exempt;
    bool held;  /* what can stick, sticks */
    bool rod;   /* between a and b */
    bool plain; /* no kernels */
} instance;

/* Besides the examples: what else elements can be told. */
typedef struct variation {
    const char *section, *name;
    int dimension;
    const char *text;
    int exempt;
} variation;

static const variation variations[] = {
    {"joints", "revolute", 3, "{type: revolute, between: [ground, b], axis: [1, -1, 2]}", 0},
    {"joints", "revolute", 2, "{type: revolute, between: [b, ground], at: [0.1, 0.4]}", 0},
    {"joints", "prismatic", 2, "{type: prismatic, between: [ground, b], axis: [2, 1]}", 0},
    {"joints", "fixed", 3, "{type: fixed, between: [b.p, ground]}", 0},
    {"joints", "universal", 3, "{type: universal, between: [ground, b.p], axis: [1, 0, 0]}", 0},
    {"joints", "distance", 3, "{type: distance, between: [[0.3, 1, 2], b.p]}", 0},
    {"joints", "distance", 2, "{type: distance, between: [a, [3, 1]], length: 2}", 0},
    {"joints", "rolling-disc", 3,
     "{type: rolling-disc, between: [b, a.p], radius: 0.2, axis: [0, 1, 0.1], "
     "plane: {point: [0.1, 0.2, 0.3], normal: [0.1, 0, 1]}}",
     0},
    {"joints", "rolling-disc", 2, "{type: rolling-disc, between: [b, a], radius: 0.2}", 0},
    {"motions", "motion", 3, "{joint: slider, velocity: \"0.5*cos(2*t)\"}", 0},
    {"motions", "motion", 3, "{joint: hinge, velocity: 2}", 0},
    {"motions", "motion", 2,
     "{joint: slider, value: {harmonic: {amplitude: 0.2, frequency: 1}}}", 0},
    {"forces", "force", 3,
     "{type: force, on: a.p, against: b, frame: body, force: [\"sin(t)\", 2, \"hinge.angle\"]}",
     0},
    {"forces", "torque", 3, "{type: torque, on: a, against: b, frame: body, torque: [1, 2, 3]}",
     0},
    {"forces", "torque", 2, "{type: torque, on: a, against: b, torque: \"cos(t)\"}", 0},
    {"forces", "user", 3,
     "{type: user, on: a.p, force: [\"-c.velocity.x\", \"b.p.position.y*t\", "
     "\"-wheel.rate^2\"], "
     "torque: [\"a.angular_velocity.z\", 0, 1]}",
     OUTSIDE | WORLD},
    {"forces", "user", 2,
     "{type: user, on: a.p, force: [\"-b.p.velocity.x\", 1], torque: \"-sin(b.rotation)\"}",
     OUTSIDE | WORLD},
    {"forces", "spring-damper", 3,
     "{type: spring-damper, between: [a, b.p], stiffness: 50, damping: 2, length: 0}", 0},
    {"forces", "spring-damper", 3,
     "{type: spring-damper, between: [[0, 1, 2], b.p], stiffness: 50, damping: 2, length: 0.2, "
     "tension_only: true, transition: 0.5}",
     0},
    {"forces", "spring-damper", 2,
     "{type: spring-damper, between: [a.p, b.p], force: \"3*length^2 + 2*rate\"}", 0},
    {"forces", "spring-damper", 3,
     "{type: spring-damper, between: [a.p, b.p], force: \"sin(t)*length + 2*hinge.angle\"}", 0},
    {"forces", "bushing", 3,
     "{type: bushing, between: [ground, b.p], rotation: {axis: [1, 2, 0], angle: 0.7}, "
     "stiffness: [[9, 1, 0, 0, 2, 0], [1, 8, 0, -2, 0, 0], [0, 0, 7, 0, 0, 0], "
     "[0, -2, 0, 5, 0, 0], [2, 0, 0, 0, 6, 1], [0, 0, 0, 0, 1, 4]], "
     "damping: [3, 2, 1, 1, 0.5, 0.2]}",
     0},
    {"forces", "gravity-field", 3, "{type: gravity-field, center: [3, 2, 1], strength: 20}",
     OUTSIDE | WORLD},
    {"forces", "gravity-field", 3, "{type: gravity-field, acceleration: [0, \"sin(3*t)\", 1]}",
     OUTSIDE | WORLD},
};

/* Forces from outside, by their examples. A plug-in is what its author made of it; the one here
 * has a damper that resists rigid rotation. */
static int exemption_of(const ga_element_type *type)
{
    static const char *const outside[] = {"force", "torque", "user", "gravity-field"};
    for (size_t k = 0; k < sizeof outside / sizeof *outside; ++k)
        if (strcmp(type->section, "forces") == 0 && strcmp(type->name, outside[k]) == 0)
            return OUTSIDE;
    return strcmp(type->name, "plugin") == 0 ? OUTSIDE | WORLD : WHOLE;
}

static const char *example_of(const ga_element_type *type, int dimension)
{
    if (!type->example) fail_msg("%s has no example", type->name);
    return dimension == 2 && type->planar_example ? type->planar_example : type->example;
}

/* What may act along coordinates, as the fields allow: friction, limits, springs. */
typedef enum attached { ATTACH_SMOOTH, ATTACH_SWITCHING } attached;

static bool has_field(const ga_field *fields, const char *name)
{
    for (; fields->name; ++fields)
        if (strcmp(fields->name, name) == 0) return true;
    return false;
}

static void append(char *text, const char *more)
{
    assert_true(strlen(text) + strlen(more) < TEXT);
    strcat(text, more);
}

static void append_attachments(const ga_field *fields, attached how, char *text)
{
    const bool switching = how == ATTACH_SWITCHING;
    bool first = text[strlen(text) - 1] == '{';
    for (const ga_field *f = fields; f->name; ++f) {
        const char *more = NULL;
        if (strcmp(f->name, "stiffness") == 0) more = "stiffness: 7";
        if (strcmp(f->name, "damping") == 0) more = "damping: 0.4";
        if (strcmp(f->name, "rest") == 0) more = "rest: 0.1";
        if (strcmp(f->name, "limits") == 0)
            more = switching ? "limits: {min: -2, max: 2}"
                             : "limits: {min: -0.1, max: 0.1, model: buffer, stiffness: 30, "
                               "damping: 3, depth: 0.5}";
        if (strcmp(f->name, "friction") == 0)
            more = switching ? "friction: {coefficient: 0.2, static: 0.3, preload: 2, "
                               "model: stiction"
                             : "friction: {coefficient: 0.2, static: 0.3, preload: 2, "
                               "transition: 0.5";
        const bool nested = f->kind == GA_KIND_GROUP && has_field(f->group, "friction");
        if (!more && !nested) continue;
        append(text, first ? "" : ", ");
        first = false;
        if (nested) {
            append(text, f->name);
            append(text, ": {");
            append_attachments(f->group, how, text);
            append(text, "}");
            continue;
        }
        append(text, more);
        if (strcmp(f->name, "friction") == 0)
            append(text, has_field(f->group, "radius") ? ", radius: 0.2}" : "}");
    }
}

/* The example with all that can be attached; false if nothing can. */
static bool attach(instance *it, attached how)
{
    if (!it->type->is_joint) return false;
    it->text[strlen(it->text) - 1] = '\0';
    const size_t before = strlen(it->text);
    append_attachments(it->type->fields, how, it->text);
    const bool any = strlen(it->text) > before;
    append(it->text, "}");
    return any;
}

/* --- scenes -------------------------------------------------------------------------------
 */

static const char body_names[] = "abcd";

typedef struct scene {
    double gravity[3];
    double mass[4], inertia[4][3], position[4][3], turn[4][3], point[4][3];
    int point_mass; /* index of the body that is one; -1: none */
    bool flat;      /* a spatial model in the plane */
} scene;

static void random_vector(double size, double x[3])
{
    for (int k = 0; k < 3; ++k) x[k] = size * random_number();
}

/* Bodies about a length apart, turned by at most 0.6. */
static void random_scene(scene *s)
{
    static const double places[4][3] = {
        {0, 0, 0.3}, {1, 0.2, 0.1}, {0.4, 1.1, 0}, {0, 0.3, 1.2}};
    random_vector(5, s->gravity);
    s->point_mass = -1;
    s->flat = false;
    for (int i = 0; i < 4; ++i) {
        s->mass[i] = 1.5 + random_number();
        for (int k = 0; k < 3; ++k) s->inertia[i][k] = 0.5 + 0.12 * random_number();
        random_vector(0.15, s->position[i]);
        for (int k = 0; k < 3; ++k) s->position[i][k] += places[i][k];
        random_vector(0.6 / sqrt(3), s->turn[i]);
        random_vector(0.3, s->point[i]);
    }
}

static void put_vector(char *text, const char *name, int n, const double *x)
{
    char line[120];
    if (n == 2)
        snprintf(line, sizeof line, "%s: [%.17g, %.17g]", name, x[0], x[1]);
    else
        snprintf(line, sizeof line, "%s: [%.17g, %.17g, %.17g]", name, x[0], x[1], x[2]);
    append(text, line);
}

static void put_body(const scene *s, int dimension, int i, char *text)
{
    char line[300];
    const double *turn = s->turn[i];
    snprintf(line, sizeof line, "  %c: {mass: %.17g, ", body_names[i], s->mass[i]);
    append(text, line);
    put_vector(text, "position", dimension, s->position[i]);
    if (i == s->point_mass) {
        append(text, ", type: point-mass}\n");
        return;
    }
    append(text, ", points: {");
    put_vector(text, "p", dimension, s->point[i]);
    append(text, "}, ");
    if (dimension == 2)
        snprintf(line, sizeof line, "rotation: %.17g, inertia: %.17g}\n", turn[2],
                 s->inertia[i][2]);
    else {
        const double angle = sqrt(turn[0] * turn[0] + turn[1] * turn[1] + turn[2] * turn[2]);
        put_vector(text, "inertia", 3, s->inertia[i]);
        append(text, ", rotation: {");
        put_vector(text, "axis", 3, turn);
        snprintf(line, sizeof line, ", angle: %.17g}}\n", angle);
    }
    append(text, line);
}

static bool mentions(const char *text, const char *name) { return strstr(text, name) != NULL; }

/* The joints an example names: in space, in the plane, in the plane of a spatial model. */
static void put_joints(int form, const char *example, char *text)
{
    static const struct {
        const char *name, *text[3];
    } joints[] = {
        {"hinge",
         {"  hinge: {type: revolute, between: [b, a], at: [0.5, 0.2, 0], axis: [1, 3, 1]}\n",
          "  hinge: {type: revolute, between: [b, a], at: [0.5, 0.2]}\n",
          "  hinge: {type: revolute, between: [b, a], at: [0.5, 0.2, 0]}\n"}},
        {"wheel",
         {"  wheel: {type: revolute, between: [b, c], at: [0.8, 0.7, 0], axis: [1, -1, 2]}\n",
          "  wheel: {type: revolute, between: [b, c], at: [0.8, 0.7]}\n",
          "  wheel: {type: revolute, between: [b, c], at: [0.8, 0.7, 0]}\n"}},
        {"slider",
         {"  slider: {type: prismatic, between: [b, d], axis: [1, 1, -2]}\n",
          "  slider: {type: prismatic, between: [b, d], axis: [1, 3]}\n",
          "  slider: {type: prismatic, between: [b, d], axis: [1, 3, 0]}\n"}},
    };
    for (size_t k = 0; k < sizeof joints / sizeof *joints; ++k)
        if (mentions(example, joints[k].name)) append(text, joints[k].text[form]);
}

static void put_scene(const scene *s, const instance *it, char *text)
{
    char head[80];
    const char *section = it->type->section;
    const bool joint = strcmp(section, "joints") == 0;
    snprintf(head, sizeof head, "galpha: 1\ndimension: %d\n", it->dimension);
    strcpy(text, head);
    put_vector(text, "gravity", it->dimension, s->gravity);
    append(text, "\nbodies:\n");
    put_body(s, it->dimension, 0, text);
    put_body(s, it->dimension, 1, text);
    if (mentions(it->text, "wheel")) put_body(s, it->dimension, 2, text);
    if (mentions(it->text, "slider")) put_body(s, it->dimension, 3, text);
    const bool joints = mentions(it->text, "hinge") || mentions(it->text, "wheel") ||
                        mentions(it->text, "slider");
    if (joints || joint) append(text, "joints:\n");
    put_joints(it->dimension == 2 ? 1 : s->flat ? 2 : 0, it->text, text);
    if (!joint) {
        append(text, section);
        append(text, ":\n");
    }
    append(text, "  it: ");
    append(text, it->text);
    append(text, "\n");
}

static const char *fault(ga_messages *messages, const char *text)
{
    static char line[TEXT + 600];
    char message[500] = "?";
    if (ga_messages_count(messages)) ga_messages_format(messages, 0, message, sizeof message);
    snprintf(line, sizeof line, "%s\n%s", message, text);
    return line;
}

/* With a shared object of the test's in place of the example's, and perhaps a vector that has
 * turned with the rest. */
static ga_model *parse(const scene *s, const instance *it, const char *turned)
{
    static char text[TEXT];
    const char *set[2];
    ga_model_options options = ga_model_options_default();
    options.set = set;
    options.include_anywhere = options.allow_plugins = true;
    ga_messages *messages = ga_messages_create();
    ga_model *model = NULL;
    put_scene(s, it, text);
    if (has_field(it->type->fields, "library"))
        set[options.set_count++] = "forces.it.library=" TEST_PLUGIN;
    if (turned) set[options.set_count++] = turned;
    if (ga_model_parse("scene.yaml", text, strlen(text), &options, &model, messages) != GA_OK)
        fail_msg("%s", fault(messages, text));
    ga_messages_destroy(messages);
    static const double J[3] = {0.2, 0.3, 0.4}, none[3];
    if (it->rod) assert_true(rod_join(model, 2.5, J, none));
    return model;
}

/* --- a model at a state -------------------------------------------------------------------
 */

typedef struct bench {
    const instance *it;
    ga_model *model;
    ga_assembly *a;
    int nq, nv, m, p;
    double t;
    double q[MAX_NQ], v[MAX_NV], vd[MAX_NV], multipliers[MAX_ROWS];
} bench;

static void bench_open(const instance *it, const scene *s, bool se, const char *turned,
                       bench *b)
{
    memset(b, 0, sizeof *b);
    b->it = it;
    b->model = parse(s, it, turned);
    assert_int_equal(it->plain ? ga_assembly_create_plain(b->model, se, &b->a, NULL)
                               : ga_assembly_create(b->model, se, &b->a, NULL),
                     GA_OK);
    b->nq = b->a->nq;
    b->nv = b->a->nv;
    b->m = b->model->rows;
    b->p = b->model->speed_rows;
    assert_true(b->nq <= MAX_NQ && b->nv <= MAX_NV && b->m + b->p <= MAX_ROWS);
    ga_assembly_initial(b->a, b->q, b->v);
    ga_assembly_remember(b->a, 0, b->q, b->v);
}

static void bench_close(bench *b)
{
    ga_assembly_destroy(b->a);
    ga_model_destroy(b->model);
}

static ga_point point_of(const bench *b)
{
    return (ga_point){b->t, b->q, b->v, b->vd, b->multipliers, b->multipliers + b->m};
}

static ga_element_state state_of(bench *b)
{
    return ga_assembly_state(b->a, b->t, b->q, b->v, b->multipliers, b->multipliers + b->m);
}

static void move(const bench *b, const double *q, double scale, const double *x, double *out)
{
    for (int i = 0; i < b->model->node_count; ++i) {
        double delta[GA_NODE_MAX_NV];
        for (int k = 0; k < ga_node_nv(b->a->nodes[i]); ++k)
            delta[k] = scale * x[b->a->v_at[i] + k];
        ga_lie_update(b->a->nodes[i], GA_MAP_EXP, q + b->a->q_at[i], delta,
                      out + b->a->q_at[i]);
    }
}

/* Drives that stick or slip decide by the state. Held ones were made to stick. */
static void remember(bench *b)
{
    double zero[MAX_NV] = {0};
    ga_assembly_remember(b->a, b->t, b->q, b->it->held ? zero : b->v);
}

/* Off the initial state by up to `size` in each direction. */
static void random_state(bench *b, double size)
{
    double x[MAX_NV], v[MAX_NV];
    ga_assembly_initial(b->a, b->q, v);
    for (int k = 0; k < b->nv; ++k) {
        x[k] = size * random_number();
        b->v[k] = random_number();
        b->vd[k] = random_number();
    }
    /* not near zero, where sizes of forces have a kink that is blunted over 1e-6 only */
    for (int k = 0; k < b->m + b->p; ++k) {
        const double y = random_number();
        b->multipliers[k] = 3 * y + (y < 0 ? -0.1 : 0.1);
    }
    b->t = 0.5 + 0.4 * random_number();
    move(b, b->q, 1, x, b->q);
    remember(b);
}

static void expand(const ga_pattern *pattern, const double *values, int rows, double *full)
{
    for (int k = 0; k < pattern->count; ++k)
        for (int j = 0; j < pattern->width[k]; ++j)
            for (int i = 0; i < pattern->height[k]; ++i)
                full[pattern->row[k] + i + rows * (pattern->col[k] + j)] += *values++;
}

/* Rows of B, then of N, column-major: from the elements, as patterns hold where ground is. */
static void gradients(bench *b, double *G)
{
    const ga_element_state state = state_of(b);
    const int rows = b->m + b->p;
    memset(G, 0, (size_t)(rows * b->nv) * sizeof *G);
    for (int k = 0; k < b->model->element_count; ++k) {
        const ga_element *e = b->model->elements[k];
        double local[8 * 6 * GA_ELEMENT_MAX_NODES];
        const int n = 6 * e->node_count;
        if (e->rows) e->type->gradient(e, &state, local);
        if (e->speed_rows) e->type->speed_gradient(e, &state, local + n * e->rows);
        for (int i = 0; i < e->rows + e->speed_rows; ++i) {
            double row[MAX_NV] = {0};
            ga_assembly_add_row(b->a, e, local + n * i, row);
            const int at = i < e->rows ? e->row + i : b->m + e->speed_row + i - e->rows;
            for (int j = 0; j < b->nv; ++j) G[at + rows * j] = row[j];
        }
    }
}

/* M x + G^T y = r, G x = c for the first `rows` rows; a row of zeros, a lock that is open, has
 * y = 0. */
static void solve(const bench *b, int rows, const double *G, int all, const double *r,
                  const double *c, double *x, double *y)
{
    static double A[MAX_SIDE * MAX_SIDE], M[MAX_NV * MAX_NV], values[400];
    const ga_system *s = &b->a->system;
    const ga_point at = point_of(b);
    const int n = b->nv, side = n + rows;
    double z[MAX_SIDE];
    lapack_int pivots[MAX_SIDE];
    assert_true(side <= MAX_SIDE && ga_pattern_size(&s->mass_pattern, n, n) <= 400);
    memset(A, 0, sizeof A);
    memset(M, 0, sizeof M);
    s->mass(s->user, &at, values);
    expand(&s->mass_pattern, values, n, M);
    for (int j = 0; j < n; ++j)
        for (int i = 0; i < n; ++i) A[i + side * j] = M[i + n * j];
    for (int i = 0; i < rows; ++i) {
        double size = 0;
        for (int j = 0; j < n; ++j) {
            A[n + i + side * j] = A[j + side * (n + i)] = G[i + all * j];
            size += fabs(G[i + all * j]);
        }
        if (size == 0) A[(n + i) * (side + 1)] = 1;
    }
    for (int i = 0; i < n; ++i) z[i] = r ? r[i] : 0;
    for (int i = 0; i < rows; ++i) z[n + i] = c[i];
    if (LAPACKE_dgesv(LAPACK_COL_MAJOR, side, 1, A, side, pivots, z, side) != 0)
        fail_msg("%s: rows depend on each other", b->it->text);
    memcpy(x, z, (size_t)n * sizeof *x);
    if (y) memcpy(y, z + n, (size_t)rows * sizeof *y);
}

static double largest(int n, const double *x)
{
    double most = 0;
    for (int k = 0; k < n; ++k) most = fmax(most, fabs(x[k]));
    return most;
}

/* One step of Newton's method back to Phi = 0. */
static void way_back(bench *b, double *dq)
{
    static double G[MAX_ROWS * MAX_NV];
    double Phi[MAX_ROWS] = {0};
    const ga_system *s = &b->a->system;
    const ga_point at = point_of(b);
    memset(dq, 0, (size_t)b->nv * sizeof *dq);
    if (!b->m) return;
    gradients(b, G);
    s->constraint(s->user, &at, Phi);
    for (int k = 0; k < b->m; ++k) Phi[k] = -Phi[k];
    solve(b, b->m, G, b->m + b->p, NULL, Phi, dq, NULL);
}

static void project_position(bench *b)
{
    double dq[MAX_NV];
    for (int k = 0; k < 60; ++k) {
        way_back(b, dq);
        const double size = largest(b->nv, dq);
        move(b, b->q, size > 0.3 ? 0.3 / size : 1, dq, b->q);
        if (size < 1e-13) return;
    }
    if (largest(b->nv, dq) > 1e-11) fail_msg("%s: no way to Phi = 0", b->it->text);
}

/* B v + Phi_t, then k */
static void velocity_residual(bench *b, double *w)
{
    static double G[MAX_ROWS * MAX_NV];
    const ga_system *s = &b->a->system;
    const ga_point at = point_of(b);
    memset(w, 0, MAX_ROWS * sizeof *w);
    if (s->constraint_rate) s->constraint_rate(s->user, &at, w);
    gradients(b, G);
    for (int i = 0; i < b->m; ++i)
        for (int j = 0; j < b->nv; ++j) w[i] += G[i + (b->m + b->p) * j] * b->v[j];
    if (b->p) s->nonholonomic(s->user, &at, w + b->m);
}

static void project_velocity(bench *b)
{
    static double G[MAX_ROWS * MAX_NV];
    double w[MAX_ROWS], dv[MAX_NV];
    const int rows = b->m + b->p;
    if (!rows) return;
    velocity_residual(b, w);
    gradients(b, G);
    for (int k = 0; k < rows; ++k) w[k] = -w[k];
    solve(b, rows, G, rows, NULL, w, dv, NULL);
    for (int j = 0; j < b->nv; ++j) b->v[j] += dv[j];
}

static void consistent_state(bench *b)
{
    random_state(b, 0.4);
    project_position(b);
    remember(b); /* where locks hold */
    project_velocity(b);
    remember(b);
}

/* vd and the multipliers. Where friction depends on these, by repetition: it is small. */
static void accelerate(bench *b)
{
    static double G[MAX_ROWS * MAX_NV];
    const ga_system *s = &b->a->system;
    const int rows = b->m + b->p;
    double f[MAX_NV], c[MAX_ROWS] = {0}, before[MAX_ROWS];
    const ga_point at = point_of(b);
    gradients(b, G);
    if (b->m) s->acceleration_rhs(s->user, &at, c);
    if (b->p) s->nonholonomic_rhs(s->user, &at, c + b->m);
    memset(b->multipliers, 0, sizeof b->multipliers);
    for (int k = 0; k < 200; ++k) {
        memcpy(before, b->multipliers, sizeof before);
        s->force(s->user, &at, f);
        solve(b, rows, G, rows, f, c, b->vd, b->multipliers);
        double change = 0;
        for (int i = 0; i < rows; ++i)
            change = fmax(change, fabs(b->multipliers[i] - before[i]));
        if (change <= 1e-13 * (1 + largest(rows, b->multipliers))) return;
    }
    fail_msg("%s: friction does not settle", b->it->text);
}

/* --- derivatives --------------------------------------------------------------------------
 */

/* Quotients are good to 4e-11 where functions are tame, see system/difference.c; at random
 * states third derivatives reach a thousand times the first (tanh of friction, discs that
 * almost lie flat), and terms of 1e3 cancel in tangents. A wrong sign or factor shows at 1e-2.
 */
static const double derivative_tolerance = 1e-6;

static double worst_derivative;

/* K and C in one call are those of two. */
static void check_tangents_together(bench *b)
{
    enum { MOST = 4 * MAX_NV * MAX_NV };
    static double K[MOST], C[MOST], together[2][MOST];
    const ga_system *s = &b->a->system;
    const ga_point at = point_of(b);
    const int k = ga_pattern_size(&s->stiffness_pattern, b->nv, b->nv),
              c = ga_pattern_size(&s->damping_pattern, b->nv, b->nv);
    assert_true(k <= MOST && c <= MOST);
    s->stiffness(s->user, &at, K);
    s->damping(s->user, &at, C);
    s->tangents(s->user, &at, together[0], together[1]);
    assert_memory_equal(K, together[0], (size_t)k * sizeof *K);
    assert_memory_equal(C, together[1], (size_t)c * sizeof *C);
}

static void check_derivatives(bench *b)
{
    const ga_point at = point_of(b);
    ga_derivative_check result;
    ga_report report;
    const ga_derivative_check_def def = {sizeof def, derivative_tolerance, at};
    if (ga_system_check(&b->a->system, &def, &result, &report) != GA_OK)
        fail_msg("%s, nodes %d: %s", b->it->text, (int)b->a->kinds[0], report.message);
    worst_derivative = fmax(worst_derivative, result.block[result.worst].error);
    check_tangents_together(b);
}

/* --- energy -------------------------------------------------------------------------------
 */

/* d/ds of kinetic and potential energy along the motion, fourth order. Only what is of first
 * order in s counts: v moves along vd, q along v. */
static double energy_rate(bench *b)
{
    static const double weight[4] = {1, -8, 8, -1}, place[4] = {-2, -1, 1, 2};
    const double h = 1e-4;
    double sum = 0;
    for (int k = 0; k < 4; ++k) {
        double q[MAX_NQ], v[MAX_NV];
        ga_powers powers;
        move(b, b->q, place[k] * h, b->v, q);
        for (int j = 0; j < b->nv; ++j) v[j] = b->v[j] + place[k] * h * b->vd[j];
        ga_element_state state = ga_assembly_state(b->a, b->t + place[k] * h, q, v,
                                                   b->multipliers, b->multipliers + b->m);
        ga_assembly_powers(b->a, &state, &powers);
        sum += weight[k] * (powers.kinetic + powers.potential) / (12 * h);
    }
    return sum;
}

static void check_energy(bench *b)
{
    ga_powers powers;
    const double rate = energy_rate(b);
    const ga_element_state state = state_of(b);
    ga_assembly_powers(b->a, &state, &powers);
    /* h^4/30 of the fifth derivative, and 1e-15/h of round-off; stiff buffers enlarge both */
    const double size = 1 + fabs(rate) + fabs(powers.work) + powers.dissipation;
    if (!(fabs(rate - powers.work + powers.dissipation) <= 1e-8 * size))
        fail_msg("%s: energy grows by %.12g, work %.12g, dissipation %.12g", b->it->text, rate,
                 powers.work, powers.dissipation);
    if (!(powers.dissipation >= 0))
        fail_msg("%s: dissipation %g", b->it->text, powers.dissipation);
}

/* --- inertia ------------------------------------------------------------------------------
 */

static double kinetic_after(bench *b, const ga_element *e, double s)
{
    double q[MAX_NQ], v[MAX_NV];
    move(b, b->q, s, b->v, q);
    for (int j = 0; j < b->nv; ++j) v[j] = b->v[j] + s * b->vd[j];
    const ga_element_state state = ga_assembly_state(b->a, b->t + s, q, v, NULL, NULL);
    return e->type->kinetic(e, &state);
}

/* y . (M y' + h) is the rate of the kinetic energy, which is y . M y/2. */
static void check_inertia_of(bench *b, const ga_element *e)
{
    enum { SIDE = 6 * 4 };
    static double M[SIDE * SIDE];
    double y[SIDE], r[SIDE] = {0}, rate[SIDE], least[SIDE];
    const int n = 6 * e->node_count;
    const ga_element_state state = state_of(b);
    assert_true(e->type->gyroscopic && e->type->inertia_tangent && e->type->kinetic);
    assert_true(n <= SIDE);
    memset(M, 0, sizeof M);
    e->type->mass(e, &state, M);
    e->type->gyroscopic(e, &state, r);
    for (int k = 0; k < e->node_count; ++k) {
        const int node = e->nodes[k];
        memcpy(y + 6 * k, state.frames[node].u, 3 * sizeof *y);
        memcpy(y + 6 * k + 3, state.frames[node].w, 3 * sizeof *y);
        ga_node_acceleration(b->a->kinds[node], state.frames + node, b->vd + b->a->v_at[node],
                             rate + 6 * k);
    }
    double power = 0, energy = 0, size = largest(n * n, M);
    for (int i = 0; i < n; ++i)
        for (int j = 0; j < n; ++j) {
            assert_true(fabs(M[i * n + j] - M[j * n + i]) <= 1e-15 * size);
            r[i] += M[i * n + j] * rate[j];
            energy += 0.5 * y[i] * M[i * n + j] * y[j];
        }
    for (int i = 0; i < n; ++i) power += y[i] * r[i];
    assert_true(fabs(energy - e->type->kinetic(e, &state)) <= 1e-14 * (1 + energy));
    const double h = 1e-4;
    const double grows = (kinetic_after(b, e, -2 * h) - kinetic_after(b, e, 2 * h) +
                          8 * (kinetic_after(b, e, h) - kinetic_after(b, e, -h))) /
                         (12 * h);
    if (!(fabs(grows - power) <= 1e-9 * (1 + fabs(power))))
        fail_msg("%s: kinetic energy of %s grows by %.12g, its power is %.12g", b->it->text,
                 e->name, grows, power);
    assert_int_equal(LAPACKE_dsyev(LAPACK_ROW_MAJOR, 'N', 'U', n, M, n, least), 0);
    assert_true(least[0] > -1e-14 * size);
}

static void check_inertia(bench *b)
{
    for (int k = 0; k < b->model->body_count; ++k)
        check_inertia_of(b, &b->model->bodies[k].element);
    for (int k = 0; k < b->model->element_count; ++k)
        if (b->model->elements[k]->type->mass) check_inertia_of(b, b->model->elements[k]);
}

/* --- kernels ------------------------------------------------------------------------------
 */

static void same_numbers(const bench *b, const char *what, int n, const double *x,
                         const double *y)
{
    const double size = 1 + largest(n, x);
    for (int k = 0; k < n; ++k)
        if (!(fabs(x[k] - y[k]) <= 1e-13 * size))
            fail_msg("%s: %s, entry %d: %.17g with kernels, %.17g without", b->it->text, what,
                     k, x[k], y[k]);
}

/* One callback of both, as a full matrix of so many rows. */
static void same_result(const bench *b, const bench *c, const char *what, ga_callback *one,
                        ga_callback *other, int rows, const ga_pattern *p, const ga_pattern *q)
{
    static double x[MAX_SIDE * MAX_SIDE], y[MAX_SIDE * MAX_SIDE], values[4 * MAX_SIDE * MAX_NV];
    const ga_point at = point_of(b);
    if (!one || rows == 0) return;
    memset(x, 0, sizeof x);
    memset(y, 0, sizeof y);
    if (!p) {
        one(b->a, &at, x);
        other(c->a, &at, y);
        same_numbers(b, what, rows, x, y);
        return;
    }
    assert_true(ga_pattern_size(p, rows, b->nv) <= 4 * MAX_SIDE * MAX_NV &&
                ga_pattern_size(q, rows, b->nv) <= 4 * MAX_SIDE * MAX_NV);
    one(b->a, &at, values);
    expand(p, values, rows, x);
    other(c->a, &at, values);
    expand(q, values, rows, y);
    same_numbers(b, what, rows * b->nv, x, y);
}

/* Round-off of a few terms of size one. */
static void check_kernels(const bench *b, const scene *s, bool se)
{
    instance plain = *b->it;
    bench c;
    plain.plain = true;
    bench_open(&plain, s, se, NULL, &c);
    memcpy(c.a->memory, b->a->memory, (size_t)b->model->memory_count * sizeof(double));
    const ga_system *x = &b->a->system, *y = &c.a->system;
    const struct {
        const char *what;
        ga_callback *one, *other;
        int rows;
        const ga_pattern *p, *q;
    } all[] = {
        {"M", x->mass, y->mass, b->nv, &x->mass_pattern, &y->mass_pattern},
        {"f", x->force, y->force, b->nv, NULL, NULL},
        {"Phi", x->constraint, y->constraint, b->m, NULL, NULL},
        {"B", x->gradient, y->gradient, b->m, &x->gradient_pattern, &y->gradient_pattern},
        {"Z", x->velocity_stiffness, y->velocity_stiffness, b->m,
         &x->velocity_stiffness_pattern, &y->velocity_stiffness_pattern},
        {"acceleration_rhs", x->acceleration_rhs, y->acceleration_rhs, b->m, NULL, NULL},
        {"K", x->stiffness, y->stiffness, b->nv, &x->stiffness_pattern, &y->stiffness_pattern},
        {"C", x->damping, y->damping, b->nv, &x->damping_pattern, &y->damping_pattern},
    };
    for (size_t k = 0; k < sizeof all / sizeof *all; ++k)
        same_result(b, &c, all[k].what, all[k].one, all[k].other, all[k].rows, all[k].p,
                    all[k].q);
    if (x->equations) {
        const ga_point at = point_of(b);
        const ga_wanted nothing = {0};
        double r[MAX_NV], other[MAX_NV];
        x->equations(x->user, &at, &nothing, r);
        y->equations(y->user, &at, &nothing, other);
        same_numbers(b, "r", b->nv, r, other);
    }
    bench_close(&c);
}

/* --- rigid motion and kinematics ----------------------------------------------------------
 */

/* What does not depend on axes and rows, six numbers for each body, in body axes. */
typedef struct physics {
    double acceleration[MAX_NV], way_back[MAX_NV], force[MAX_NV], reaction[MAX_NV];
} physics;

static void in_body_axes(const bench *b, const double *x, bool rate, double *out)
{
    for (int i = 0; i < b->model->node_count; ++i) {
        const double *at = x + b->a->v_at[i];
        if (rate)
            ga_node_acceleration(b->a->kinds[i], b->a->frames + i, at, out + 6 * i);
        else
            ga_node_twist(b->a->kinds[i], b->a->frames + i, at, out + 6 * i);
    }
}

/* Forces of elements on nodes, reactions left out, added over elements. */
static void element_forces(bench *b, double *f)
{
    const ga_element_state state = state_of(b);
    memset(f, 0, MAX_NV * sizeof *f);
    for (int e = 0; e < b->model->element_count; ++e) {
        const ga_element *element = b->model->elements[e];
        double local[6 * GA_ELEMENT_MAX_NODES] = {0};
        if (!element->type->force) continue;
        element->type->force(element, &state, local);
        for (int k = 0; k < element->node_count; ++k)
            for (int j = 0; element->nodes[k] >= 0 && j < 6; ++j)
                f[6 * element->nodes[k] + j] += local[6 * k + j];
    }
}

static void reaction_of(bench *b, double *r)
{
    static double G[MAX_ROWS * MAX_NV];
    const int rows = b->m + b->p;
    gradients(b, G);
    memset(r, 0, MAX_NV * sizeof *r);
    for (int j = 0; j < b->nv; ++j)
        for (int i = 0; i < rows; ++i) r[j] -= G[i + rows * j] * b->multipliers[i];
}

static void find_physics(bench *b, physics *p)
{
    double x[MAX_NV];
    memset(p, 0, sizeof *p);
    accelerate(b);
    element_forces(b, p->force);
    in_body_axes(b, b->vd, true, p->acceleration);
    reaction_of(b, x);
    in_body_axes(b, x, false, p->reaction);
    way_back(b, x);
    in_body_axes(b, x, false, p->way_back);
}

static void compare(const bench *b, const char *what, const double *x, const double *y)
{
    /* saddle matrices with condition numbers up to 1e4 */
    const double size = 1 + largest(MAX_NV, x);
    for (int k = 0; k < MAX_NV; ++k)
        if (!(fabs(x[k] - y[k]) <= 1e-10 * size))
            fail_msg("%s: %s of body %d, direction %d: %.12g and %.12g", b->it->text, what,
                     k / 6, k % 6, x[k], y[k]);
}

static void compare_physics(const bench *b, const physics *x, const physics *y)
{
    compare(b, "force", x->force, y->force);
    compare(b, "reaction", x->reaction, y->reaction);
    compare(b, "acceleration", x->acceleration, y->acceleration);
    compare(b, "way back", x->way_back, y->way_back);
}

typedef struct rigid {
    double Q[9], p[4], x[3]; /* rotation as matrix and quaternion, translation */
} rigid;

static void random_rigid(int dimension, rigid *g)
{
    const ga_node so3 = GA_NODE(GA_GROUP_SO3, 0);
    double turn[3];
    random_vector(2, turn);
    random_vector(3, g->x);
    if (dimension == 2) turn[0] = turn[1] = g->x[2] = 0;
    ga_lie_map(so3, GA_MAP_EXP, turn, g->p);
    ga_quaternion_to_matrix(g->p, g->Q);
}

/* The frame after the motion; twists in body axes stay. */
static void move_frame(const rigid *g, ga_frame *f)
{
    double R[9];
    for (int k = 0; k < 3; ++k)
        ga_vec3_store(ga_rotate(g->Q, ga_vec3_load(f->R + 3 * k)), R + 3 * k);
    memcpy(f->R, R, sizeof R);
    ga_vec3_store(ga_vec3_add(ga_vec3_load(g->x), ga_rotate(g->Q, ga_vec3_load(f->x))), f->x);
}

/* The state of another bench, with the same or other nodes, moved. */
static void take_state(const bench *from, const rigid *g, bench *to)
{
    to->t = from->t;
    if (g) move_frame(g, to->a->frames + GA_GROUND);
    for (int i = 0; i < from->model->node_count; ++i) {
        ga_frame f = from->a->frames[i];
        double p[4];
        if (g) move_frame(g, &f);
        ga_quaternion_from_matrix(f.R, p);
        ga_node_coordinates(to->a->kinds[i], f.x, p, to->q + to->a->q_at[i]);
        ga_node_velocity(to->a->kinds[i], &f, to->v + to->a->v_at[i]);
    }
    remember(to);
}

/* "forces.it.force=[...]" for the vector in world axes of the example, turned; null if there is
 * none. */
static const char *turned_vector(const instance *it, const rigid *g)
{
    static char text[200];
    if (mentions(it->text, "frame: body")) return NULL;
    for (const ga_field *f = it->type->fields; f->name; ++f) {
        char name[40], value[120];
        double x[3] = {0};
        if (f->kind != GA_KIND_FUNCTIONS) continue;
        snprintf(name, sizeof name, " %s: [", f->name);
        const char *at = strstr(it->text, name);
        if (!at || sscanf(at + strlen(name), "%lf, %lf, %lf", x, x + 1, x + 2) < 2) continue;
        ga_vec3_store(ga_rotate(g->Q, ga_vec3_load(x)), x);
        value[0] = '\0';
        put_vector(value, "", it->dimension, x);
        snprintf(text, sizeof text, "forces.it.%s=%s", f->name, value + 2);
        return text;
    }
    return NULL;
}

static void check_rigid(bench *b, const scene *s, bool se)
{
    rigid g;
    scene turned = *s;
    physics here, there;
    bench moved;
    if (b->it->exempt & WORLD || s->point_mass >= 0) return;
    random_rigid(b->it->dimension, &g);
    double gravity[3] = {s->gravity[0], s->gravity[1],
                         b->it->dimension == 2 ? 0 : s->gravity[2]};
    ga_vec3_store(ga_rotate(g.Q, ga_vec3_load(gravity)), turned.gravity);
    bench_open(b->it, &turned, se, turned_vector(b->it, &g), &moved);
    find_physics(b, &here);
    take_state(b, &g, &moved);
    find_physics(&moved, &there);
    compare_physics(b, &here, &there);
    bench_close(&moved);
}

/* Velocities in world axes and in body axes. */
static void check_kinematics(bench *b, const scene *s, bool se)
{
    physics here, there;
    bench other;
    bench_open(b->it, s, !se, NULL, &other);
    find_physics(b, &here);
    take_state(b, NULL, &other);
    find_physics(&other, &there);
    compare_physics(b, &here, &there);
    bench_close(&other);
}

/* Everything, ground included, turns about a point of the world besides what it does. */
static void add_rigid_velocity(bench *b, ga_vec3 v, ga_vec3 w)
{
    for (int i = GA_GROUND; i < b->model->node_count; ++i) {
        ga_frame *f = b->a->frames + i;
        const ga_vec3 at = ga_vec3_add(v, ga_vec3_cross(w, ga_vec3_load(f->x)));
        ga_vec3_store(ga_vec3_add(ga_vec3_load(f->u), ga_rotate_back(f->R, at)), f->u);
        ga_vec3_store(ga_vec3_add(ga_vec3_load(f->w), ga_rotate_back(f->R, w)), f->w);
    }
}

static void local_force(const ga_element *e, const ga_element_state *state, double *f)
{
    memset(f, 0, sizeof(double) * 6 * GA_ELEMENT_MAX_NODES);
    if (e->type->force) e->type->force(e, state, f);
}

/* Twists times the rows of an element, and k. */
static void local_speeds(const ga_element *e, const ga_element_state *state, double *out)
{
    double B[6 * 6 * GA_ELEMENT_MAX_NODES];
    const int n = 6 * e->node_count;
    memset(out, 0, 8 * sizeof *out);
    if (e->rows) e->type->gradient(e, state, B);
    for (int k = 0; k < e->rows; ++k)
        for (int i = 0; i < n; ++i) {
            const ga_frame *f = state->frames + e->nodes[i / 6];
            out[k] += B[n * k + i] * (i % 6 < 3 ? f->u[i % 6] : f->w[i % 6 - 3]);
        }
    if (e->speed_rows) e->type->speed(e, state, out + 6);
}

/* At a consistent state: elsewhere rows with directions fixed in the world see the turning. */
static void check_objective(bench *b)
{
    double before[4][6 * GA_ELEMENT_MAX_NODES], after[6 * GA_ELEMENT_MAX_NODES];
    double speeds[4][8], speeds_after[8], x[3], w[3];
    if (b->it->exempt & WORLD) return;
    random_vector(1, x);
    random_vector(1, w);
    if (b->it->dimension == 2) x[2] = w[0] = w[1] = 0;
    const ga_element_state state = state_of(b);
    const int count = b->model->element_count < 4 ? b->model->element_count : 4;
    for (int e = 0; e < count; ++e) {
        local_force(b->model->elements[e], &state, before[e]);
        local_speeds(b->model->elements[e], &state, speeds[e]);
    }
    add_rigid_velocity(b, ga_vec3_load(x), ga_vec3_load(w));
    for (int e = 0; e < count; ++e) {
        local_force(b->model->elements[e], &state, after);
        local_speeds(b->model->elements[e], &state, speeds_after);
        const double size = 1 + largest(6 * GA_ELEMENT_MAX_NODES, after);
        for (int k = 0; k < 6 * GA_ELEMENT_MAX_NODES; ++k)
            if (!(fabs(after[k] - before[e][k]) < 1e-11 * size))
                fail_msg("%s: force %d changes from %g to %g with the observer", b->it->text, k,
                         before[e][k], after[k]);
        for (int k = 0; k < 8; ++k)
            if (!(fabs(speeds_after[k] - speeds[e][k]) < 1e-11))
                fail_msg("%s: row %d: speed %g becomes %g with the observer", b->it->text, k,
                         speeds[e][k], speeds_after[k]);
    }
    ga_frame *ground = b->a->frames + GA_GROUND;
    memset(ground->u, 0, sizeof ground->u);
    memset(ground->w, 0, sizeof ground->w);
    b->a->placed = b->a->moved = false;
}

/* --- reactions ----------------------------------------------------------------------------
 */

/* Force of an element on each of its nodes, reactions included, body axes. */
static void all_forces(const bench *b, const ga_element *e, const ga_element_state *state,
                       double *f)
{
    double G[6 * 6 * GA_ELEMENT_MAX_NODES];
    const int n = 6 * e->node_count;
    local_force(e, state, f);
    if (e->rows) e->type->gradient(e, state, G);
    for (int k = 0; k < e->rows; ++k)
        for (int i = 0; i < n; ++i) f[i] -= G[n * k + i] * b->multipliers[e->row + k];
    if (e->speed_rows) e->type->speed_gradient(e, state, G);
    for (int k = 0; k < e->speed_rows; ++k)
        for (int i = 0; i < n; ++i)
            f[i] -= G[n * k + i] * b->multipliers[b->m + e->speed_row + k];
}

/* At a consistent state: else the two points of a joint are apart. */
static void check_balance(bench *b)
{
    const ga_element_state state = state_of(b);
    if (b->it->exempt & OUTSIDE) return;
    for (int k = 0; k < b->model->element_count; ++k) {
        const ga_element *e = b->model->elements[k];
        double f[6 * GA_ELEMENT_MAX_NODES], size = 1;
        ga_vec3 force = {0, 0, 0}, moment = {0, 0, 0};
        all_forces(b, e, &state, f);
        for (int i = 0; i < e->node_count; ++i) {
            const ga_frame *frame = state.frames + e->nodes[i];
            const ga_vec3 F = ga_rotate(frame->R, ga_vec3_load(f + 6 * i));
            const ga_vec3 T = ga_rotate(frame->R, ga_vec3_load(f + 6 * i + 3));
            force = ga_vec3_add(force, F);
            moment = ga_vec3_add(moment, ga_vec3_cross(ga_vec3_load(frame->x), F));
            moment = ga_vec3_add(moment, T);
        }
        size += largest(6 * e->node_count, f);
        const double off = sqrt(ga_vec3_dot(force, force) + ga_vec3_dot(moment, moment));
        if (!(off < 1e-11 * size))
            fail_msg("%s: forces of %s are off balance by %g", b->it->text, e->type->name, off);
    }
}

static const ga_channel_type *channel_of(const ga_element *e, const char *name)
{
    for (const ga_channel_type *c = e->type->channels; c && c->name; ++c)
        if (strcmp(c->name, name) == 0) return c;
    return NULL;
}

static const ga_element *element_of(const bench *b)
{
    for (int k = 0; k < b->model->element_count; ++k)
        if (strcmp(b->model->elements[k]->name, "it") == 0 &&
            b->model->elements[k]->type == b->it->type)
            return b->model->elements[k];
    fail_msg("%s: no element", b->it->text);
    return NULL;
}

/* Newton and Euler for the second body: what the joint must exert so that the body moves as it
 * does, at the joint's point, is what the channels say. The example is all there is. */
static void check_reaction_channels(bench *b)
{
    const ga_element *e = element_of(b);
    if (!e->type->is_joint || e->nodes[1] < 0 || b->it->rod) return;
    const ga_joint *joint = (const ga_joint *)e;
    const ga_body *body = b->model->bodies + e->nodes[1];
    const ga_element_state state = state_of(b);
    const ga_frame *f = state.frames + e->nodes[1];
    double rate[MAX_NV] = {0}, force[3], torque[3];
    in_body_axes(b, b->vd, true, rate);
    const double *at = rate + 6 * e->nodes[1];
    const ga_vec3 w = ga_vec3_load(f->w), u = ga_vec3_load(f->u);
    const ga_vec3 a = ga_vec3_add(ga_vec3_load(at), ga_vec3_cross(w, u));
    const ga_vec3 g = ga_vec3_load(b->model->gravity);
    const ga_vec3 F = ga_vec3_scale(body->mass, ga_vec3_sub(ga_rotate(f->R, a), g));
    const ga_vec3 Jw = ga_rotate(body->inertia, w); /* symmetric */
    ga_vec3 T =
        ga_vec3_add(ga_rotate(body->inertia, ga_vec3_load(at + 3)), ga_vec3_cross(w, Jw));
    T = ga_rotate(f->R, T);
    T = ga_vec3_sub(T, ga_vec3_cross(ga_rotate(f->R, ga_vec3_load(joint->marker[1].p)), F));
    channel_of(e, "force")->value(e, &state, force);
    channel_of(e, "torque")->value(e, &state, torque);
    const double expected[6] = {F.x, F.y, F.z, T.x, T.y, T.z};
    const bool planar = b->it->dimension == 2;
    for (int k = 0; k < 6; ++k) {
        if (planar && k >= 2 && k < 5) continue;
        const double got = k < 3 ? force[k] : torque[k - 3];
        if (!(fabs(got - expected[k]) < 1e-10 * (1 + largest(6, expected))))
            fail_msg("%s: reaction %d is %.12g, the body needs %.12g", b->it->text, k, got,
                     expected[k]);
    }
}

/* --- rank ---------------------------------------------------------------------------------
 */

/* Does the row belong to an element that switches it on and off? */
static bool is_lock(const bench *b, int row)
{
    for (int e = 0; e < b->model->element_count; ++e) {
        const ga_element *element = b->model->elements[e];
        if (element->event_count && element->rows && element->row == row) return true;
    }
    return false;
}

static void check_rank(bench *b)
{
    static double G[MAX_ROWS * MAX_NV];
    double sizes[MAX_ROWS], work[MAX_ROWS];
    const int rows = b->m + b->p;
    if (!rows) return;
    gradients(b, G);
    assert_true(rows <= b->nv);
    int locks = 0; /* that are open */
    for (int i = 0; i < rows; ++i) {
        bool zero = true;
        for (int j = 0; j < b->nv; ++j) zero = zero && G[i + rows * j] == 0;
        locks += zero && is_lock(b, i);
    }
    assert_int_equal(LAPACKE_dgesvd(LAPACK_COL_MAJOR, 'N', 'N', rows, b->nv, G, rows, sizes,
                                    NULL, 1, NULL, 1, work),
                     0);
    const double least = sizes[rows - 1 - locks];
    if (!(least > 1e-4 * sizes[0]))
        fail_msg("%s: rows depend on each other: %g of %g", b->it->text, least, sizes[0]);
}

/* The same, as `galpha check` finds it. */
static void check_degrees_of_freedom(const instance *it, const scene *s)
{
    ga_model *model = parse(s, it, NULL);
    ga_sim_def def = ga_sim_def_of(model);
    ga_sim *sim = NULL;
    ga_sim_check check;
    ga_report report;
    def.t_end = 1;
    def.step = 0.01;
    if (ga_sim_create(model, &def, &sim, NULL, &report) != GA_OK ||
        ga_sim_check_model(sim, &check, &report) != GA_OK)
        fail_msg("%s: %s", it->text, report.message);
    if (check.redundant_count || check.degrees_of_freedom != check.grubler)
        fail_msg("%s: %d degrees of freedom, %d - %d expected, %d redundant", it->text,
                 check.degrees_of_freedom, check.coordinates, check.constraints,
                 check.redundant_count);
    if (check.tangent_error > derivative_tolerance)
        fail_msg("%s: %s is off by %g", it->text, check.tangent_worst, check.tangent_error);
    ga_sim_destroy(sim);
    ga_model_destroy(model);
}

/* --- coordinates --------------------------------------------------------------------------
 */

/* A number and its rate: channels that stand one after the other, x and rate, or x and x_rate.
 */
static bool is_rate(const ga_channel_type *c)
{
    const size_t n = strlen(c->name);
    return n >= 4 && strcmp(c->name + n - 4, "rate") == 0;
}

static double channel_value(const ga_channel_type *c, const ga_element *e,
                            const ga_element_state *state)
{
    double x;
    c->value(e, state, &x);
    return x;
}

static bool is_there(const ga_channel_type *c, const ga_element *e)
{
    return !c->there || c->there(e);
}

static double value_after(bench *b, const ga_channel_type *c, const ga_element *e, double s)
{
    double q[MAX_NQ];
    move(b, b->q, s, b->v, q);
    const ga_element_state state =
        ga_assembly_state(b->a, b->t + s, q, b->v, b->multipliers, b->multipliers + b->m);
    return channel_value(c, e, &state);
}

static void check_rates(bench *b)
{
    const ga_element *e = element_of(b);
    const double h = 1e-4;
    for (const ga_channel_type *c = e->type->channels; c && c->name; ++c) {
        if (!is_rate(c) || !is_there(c, e)) continue;
        const double rate =
            (value_after(b, c - 1, e, -2 * h) - value_after(b, c - 1, e, 2 * h) +
             8 * (value_after(b, c - 1, e, h) - value_after(b, c - 1, e, -h))) /
            (12 * h);
        const ga_element_state state = state_of(b);
        const double given = channel_value(c, e, &state);
        if (!(fabs(given - rate) < 1e-8 * (1 + fabs(rate))))
            fail_msg("%s: %s is %.12g, %s changes by %.12g", b->it->text, c->name, given,
                     c[-1].name, rate);
    }
}

/* Rates are linear in v: their gradient in coordinates. */
static void rate_row(bench *b, const ga_channel_type *c, const ga_element *e, double *g)
{
    for (int j = 0; j < b->nv; ++j) {
        double v[MAX_NV] = {0};
        v[j] = 1;
        const ga_element_state state =
            ga_assembly_state(b->a, b->t, b->q, v, b->multipliers, b->multipliers + b->m);
        g[j] = channel_value(c, e, &state);
    }
}

/* v with rate 1 of this channel, 0 of the others, along the constraints. */
static void turn_at_rate_one(bench *b, const ga_channel_type *turning, const ga_element *e)
{
    static double G[MAX_ROWS * MAX_NV], all[MAX_ROWS * MAX_NV];
    double rows_of[3][MAX_NV], c[MAX_ROWS] = {0};
    int more = 0;
    for (const ga_channel_type *k = e->type->channels; k->name; ++k) {
        if (!is_rate(k) || !is_there(k, e)) continue;
        c[b->m + more] = k == turning;
        rate_row(b, k, e, rows_of[more++]);
    }
    const int rows = b->m + more;
    assert_true(b->p == 0 && more <= 3 && rows <= MAX_ROWS);
    gradients(b, G);
    for (int j = 0; j < b->nv; ++j) {
        for (int i = 0; i < b->m; ++i) all[i + rows * j] = G[i + b->m * j];
        for (int i = 0; i < more; ++i) all[b->m + i + rows * j] = rows_of[i][j];
    }
    solve(b, rows, all, rows, NULL, c, b->v, NULL);
}

/* Three turns there in 100 steps. The angle that comes out is that of the way: each step adds
 * rate times time, but for what projection takes away again. */
static void check_turns(bench *b)
{
    const ga_element *e = element_of(b);
    const double step = 6 * 3.14159265358979323846 / 100;
    if (b->p || b->it->held || strcmp(e->type->section, "motions") == 0) return;
    for (const ga_channel_type *c = e->type->channels; c && c->name; ++c) {
        if (!is_rate(c) || !is_there(c, e) || strcmp(c[-1].unit, "rad") != 0) continue;
        consistent_state(b);
        b->t = 0;
        ga_element_state state = state_of(b);
        double value = channel_value(c - 1, e, &state);
        const double start = value;
        for (int k = 0; k < 100; ++k) {
            turn_at_rate_one(b, c, e);
            move(b, b->q, step, b->v, b->q);
            b->t += step;
            project_position(b);
            state = state_of(b);
            const double next = channel_value(c - 1, e, &state);
            if (!(fabs(next - value - step) < 0.3 * step))
                fail_msg("%s: %s goes from %g to %g in a step of %g", b->it->text, c[-1].name,
                         value, next, step);
            value = next;
            ga_assembly_commit(b->a, &state);
        }
        if (!(fabs(value - start - 100 * step) < 1)) /* a turn lost or won shows as 6.28 */
            fail_msg("%s: %s is %g after three turns", b->it->text, c[-1].name, value - start);
    }
}

/* --- all together -------------------------------------------------------------------------
 */

static void check_so(const instance *it, const scene *s)
{
    for (int se = 0; se < 2; ++se) {
        bench b;
        bench_open(it, s, se, NULL, &b);
        for (int k = 0; k < STATES; ++k) {
            random_state(&b, 0.45);
            check_derivatives(&b);
            check_rates(&b);
            check_inertia(&b);
            if (!it->plain) check_kernels(&b, s, se);
            consistent_state(&b);
            check_derivatives(&b);
            check_rank(&b);
            check_objective(&b);
            accelerate(&b);
            check_energy(&b);
            check_balance(&b);
            check_reaction_channels(&b);
            check_kinematics(&b, s, se);
            check_rigid(&b, s, se);
        }
        check_turns(&b);
        bench_close(&b);
    }
    check_degrees_of_freedom(it, s);
}

static void check_instance(const instance *it, const scene *s)
{
    instance plain = *it;
    plain.plain = true;
    check_so(it, s);
    check_so(&plain, s);
}

static bool lives_in(const ga_element_type *type, int dimension)
{
    return type->where == GA_ANYWHERE || (type->where == GA_PLANAR) == (dimension == 2);
}

static void every_example(void **unused)
{
    (void)unused;
    const ga_element_type *type;
    int count = 0;
    for (int k = 0; (type = ga_element_type_get(k)); ++k) {
        if (!type->section) continue;
        for (int dimension = 2; dimension <= 3; ++dimension) {
            if (!lives_in(type, dimension)) continue;
            instance it = {.type = type, .dimension = dimension, .exempt = exemption_of(type)};
            append(it.text, example_of(type, dimension));
            for (int i = 0; i < GEOMETRIES; ++i) {
                scene s;
                random_scene(&s);
                check_instance(&it, &s);
            }
            ++count;
        }
    }
    assert_true(count > 30);
}

/* Its page shows the example as a file would have it, whole but for line breaks. */
static void pages_show_them(void **unused)
{
    (void)unused;
    const ga_element_type *type;
    for (int k = 0; (type = ga_element_type_get(k)); ++k) {
        if (!type->section) continue;
        char *page = ga_model_reference(type->name), start[12];
        assert_non_null(page);
        snprintf(start, sizeof start, "%s", type->example);
        const char *title = strstr(page, "\nExample\n");
        assert_true(title && strstr(title, start));
        ga_text_free(page);
    }
}

static void variations_of_them(void **unused)
{
    (void)unused;
    for (size_t k = 0; k < sizeof variations / sizeof *variations; ++k) {
        const variation *v = variations + k;
        scene s;
        instance it = {.type = ga_element_type_find(v->section, v->name),
                       .dimension = v->dimension,
                       .exempt = v->exempt};
        assert_non_null(it.type);
        append(it.text, v->text);
        random_scene(&s);
        check_instance(&it, &s);
    }
}

/* Springs, dampers, friction and limits along every coordinate of every joint. */
static void with_attachments(void **unused)
{
    (void)unused;
    const ga_element_type *type;
    for (int k = 0; (type = ga_element_type_get(k)); ++k)
        for (int dimension = 2; dimension <= 3; ++dimension)
            for (int way = 0; way < 3; ++way) {
                if (!type->section || !lives_in(type, dimension)) continue;
                instance it = {.type = type, .dimension = dimension, .held = way == 2};
                scene s;
                append(it.text, example_of(type, dimension));
                if (!attach(&it, way ? ATTACH_SWITCHING : ATTACH_SMOOTH)) continue;
                if (way && !mentions(it.text, "limits")) continue; /* no stiction either */
                random_scene(&s);
                check_instance(&it, &s);
            }
}

/* --- planar models ------------------------------------------------------------------------
 */

/* The text for a spatial model. Lists of two numbers get a third, 0; others say more: */
static void make_spatial(const instance *planar, instance *spatial)
{
    static const char *const others[][2] = {
        {"torque", "{type: torque, on: a, torque: [0, 0, 2]}"},
        {"user", "{type: user, on: a.p, frame: body, force: [1, \"-2*hinge.rate\", 0], "
                 "torque: [0, 0, hinge.angle]}"},
        {"torsion-spring", "{type: torsion-spring, between: [a, b], axis: [0, 0, 1], "
                           "stiffness: 5, damping: 0.3}"},
        {"bushing", "{type: bushing, between: [a, b], at: [0.3, 0.2, 0], "
                    "stiffness: [90, 150, 1, 1, 1, 8], damping: [2, 3, 1, 1, 1, 0.2]}"}};
    *spatial = *planar;
    spatial->dimension = 3;
    if (!planar->type->planar_example) return;
    for (size_t k = 0; k < sizeof others / sizeof *others; ++k)
        if (strcmp(planar->type->name, others[k][0]) == 0) {
            strcpy(spatial->text, others[k][1]);
            return;
        }
    char *to = spatial->text;
    for (const char *from = planar->text; *from;) {
        double x, y;
        int length = 0;
        if (sscanf(from, "[%lf, %lf]%n", &x, &y, &length) == 2 && length > 0) {
            to += sprintf(to, "[%g, %g, 0]", x, y);
            from += length;
        } else
            *to++ = *from++;
    }
    *to = '\0';
}

static void flatten(scene *s)
{
    s->flat = true;
    s->gravity[2] = 0;
    for (int i = 0; i < 4; ++i)
        s->position[i][2] = s->point[i][2] = s->turn[i][0] = s->turn[i][1] = 0;
}

/* A planar model is the plane of a spatial one: the rows it leaves out hold by themselves, and
 * no other. */
static void planar_is_flat(void **unused)
{
    (void)unused;
    const ga_element_type *type;
    for (int k = 0; (type = ga_element_type_get(k)); ++k) {
        if (!type->section || type->where != GA_ANYWHERE) continue;
        instance planar = {.type = type, .dimension = 2}, spatial;
        scene s;
        physics x, y;
        bench b, c;
        append(planar.text, example_of(type, 2));
        make_spatial(&planar, &spatial);
        random_scene(&s);
        flatten(&s);
        bench_open(&planar, &s, false, NULL, &b);
        bench_open(&spatial, &s, false, NULL, &c);
        for (int i = 0; i < STATES; ++i) {
            random_state(&b, 0.45);
            find_physics(&b, &x);
            take_state(&b, NULL, &c);
            find_physics(&c, &y);
            compare_physics(&b, &x, &y);
        }
        bench_close(&b);
        bench_close(&c);
    }
}

/* An element that shares its mass between two nodes, alone and where they are joined. */
static void with_a_rod(void **unused)
{
    static const struct {
        const char *section, *name, *text[2];
    } joined[] = {
        {"forces",
         "spring-damper",
         {"{type: spring-damper, between: [a.p, b.p], stiffness: 50, length: 0.5}",
          "{type: spring-damper, between: [a.p, b.p], stiffness: 50, length: 0.5}"}},
        {"joints",
         "revolute",
         {"{type: revolute, between: [a, b], at: [0.5, 0.3], stiffness: 3}",
          "{type: revolute, between: [a, b], at: [0.5, 0.3, 0.1], axis: [1, 2, 0]}"}},
    };
    (void)unused;
    for (size_t k = 0; k < sizeof joined / sizeof *joined; ++k)
        for (int dimension = 2; dimension <= 3; ++dimension) {
            scene s;
            instance it = {.type = ga_element_type_find(joined[k].section, joined[k].name),
                           .dimension = dimension,
                           .rod = true};
            append(it.text, joined[k].text[dimension - 2]);
            random_scene(&s);
            check_instance(&it, &s);
        }
}

/* One of the bodies does not turn. Rows may be lost that way: derivatives only. */
static void on_point_masses(void **unused)
{
    (void)unused;
    const ga_element_type *type;
    for (int k = 0; (type = ga_element_type_get(k)); ++k)
        for (int dimension = 2; dimension <= 3; ++dimension) {
            if (!type->section || !lives_in(type, dimension)) continue;
            instance it = {.type = type, .dimension = dimension};
            scene s;
            append(it.text, example_of(type, dimension));
            random_scene(&s);
            s.point_mass = mentions(it.text, "b.p") ? 0 : 1;
            if (mentions(it.text, "a.p") && s.point_mass == 0) continue;
            bench b;
            for (int se = 0; se < 2; ++se) {
                bench_open(&it, &s, se, NULL, &b);
                random_state(&b, 0.45);
                check_derivatives(&b);
                bench_close(&b);
            }
        }
}

int main(void)
{
    seed = 20261116;
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_example),      cmocka_unit_test(pages_show_them),
        cmocka_unit_test(variations_of_them), cmocka_unit_test(with_attachments),
        cmocka_unit_test(planar_is_flat),     cmocka_unit_test(on_point_masses),
        cmocka_unit_test(with_a_rod),
    };
    const int failed = cmocka_run_group_tests(tests, NULL, NULL);
    print_message("largest error of a derivative: %.1e\n", worst_derivative);
    return failed;
}
