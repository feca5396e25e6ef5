/* Kernels against the functions of the joint itself, which test_joints.c and
 * test_every_element.c compare with difference quotients. With twists W v, W = diag(R^T, 1),
 * and E, F as in model/node.h:
 *
 *     B W,    W^T (S + F) W,    (Z + B E) W
 */
#include "element/kernel.h"

#include "test/element/rig.h"

enum { SIDE = GA_PAIR };

static const double close_enough = 1e-13;

typedef struct kernel_case {
    const char *name;
    bool spatial, planar;
    bool upright; /* its axis is z */
} kernel_case;

static const kernel_case cases[] = {
    {"fixed", true, true, false},         {"revolute", true, true, false},
    {"prismatic", true, true, false},     {"cylindrical", true, false, false},
    {"spherical", true, false, false},    {"universal", true, false, false},
    {"planar", true, false, false},       {"distance", true, true, false},
    {"point-on-line", true, true, false}, {"point-on-plane", true, false, false},
    {"revolute", true, false, true},      {"fixed", true, true, true},
    {"universal", true, false, true}};

static ga_joint *make(rig *r, const kernel_case *c, int first, int second)
{
    const char *name = c->name;
    ga_joint *joint = rig_new(ga_element_type_find("joints", name));
    const bool planar = r->setup.dimension == 2;
    rig_join(joint, first, second);
    for (const ga_field *f = joint->element.type->fields; f->name; ++f) {
        double *at = (double *)(void *)((char *)joint + f->offset);
        if (strcmp(f->name, "at") == 0) at[0] = 0.4, at[1] = -0.3, at[2] = planar ? 0 : 0.7;
        if (strcmp(f->name, "axis") == 0 && !(planar && f->where == GA_SPATIAL))
            rig_set3(joint, "axis", c->upright ? 0 : 0.5, c->upright ? 0 : 0.7,
                     c->upright ? 1 : (planar ? 0 : -0.4));
    }
    if (strcmp(name, "distance") == 0) {
        joint->between[0].p[0] = 0.3;
        joint->between[0].whole = joint->between[1].whole = false;
    }
    if (strcmp(name, "universal") == 0) rig_set3(joint, "second_axis", 0.7, -0.5, 0);
    return rig_add(r, joint);
}

/* --- what the joint itself gives, in the variations of kernels --------------------------- */

typedef struct truth {
    double Phi[6], B[6 * SIDE], K[SIDE * SIDE], Z[6 * SIDE], push[3];
} truth;

/* row := row W */
static void turn_row(const ga_element_state *state, const int *nodes, double *row)
{
    for (int b = 0; b < 2; ++b)
        ga_vec3_store(ga_rotate(state->frames[nodes[b]].R, ga_vec3_load(row + 6 * b)),
                      row + 6 * b);
}

static void turn_matrix(const ga_element_state *state, const int *nodes, double *K)
{
    double T[SIDE * SIDE];
    for (int round = 0; round < 2; ++round) { /* rows, then columns */
        for (int i = 0; i < SIDE; ++i) turn_row(state, nodes, K + SIDE * i);
        for (int i = 0; i < SIDE; ++i)
            for (int j = 0; j < SIDE; ++j) T[SIDE * j + i] = K[SIDE * i + j];
        memcpy(K, T, sizeof T);
    }
}

/* scale times x~ into the translation-rotation block of body b */
static void add_skew(double *K, int b, double scale, const double *x)
{
    const double skew[9] = {0, -x[2], x[1], x[2], 0, -x[0], -x[1], x[0], 0};
    for (int i = 0; i < 3; ++i)
        for (int j = 0; j < 3; ++j)
            K[SIDE * (6 * b + i) + 6 * b + 3 + j] += scale * skew[3 * i + j];
}

static void expect(const rig *r, const ga_joint *joint, truth *t)
{
    const ga_element *e = &joint->element;
    const ga_element_state *state = &r->state;
    double force[SIDE] = {0};
    memset(t, 0, sizeof *t);
    e->type->constraint(joint, state, t->Phi);
    e->type->gradient(joint, state, t->B);
    e->type->geometric(joint, state, r->lambda, t->K);
    e->type->speed_stiffness(joint, state, t->Z);
    for (int k = 0; k < e->rows; ++k)
        for (int i = 0; i < SIDE; ++i) force[i] += t->B[SIDE * k + i] * r->lambda[k];
    for (int b = 0; b < 2; ++b) {
        const double *u = state->frames[e->nodes[b]].u;
        add_skew(t->K, b, -1, force + 6 * b);
        for (int k = 0; k < e->rows; ++k) {
            const double *row = t->B + SIDE * k + 6 * b;
            const ga_vec3 x = ga_vec3_cross(ga_vec3_load(row), ga_vec3_load(u));
            double *z = t->Z + SIDE * k + 6 * b + 3;
            ga_vec3_store(ga_vec3_add(ga_vec3_load(z), x), z);
        }
    }
    turn_matrix(state, e->nodes, t->K);
    for (int k = 0; k < e->rows; ++k) {
        turn_row(state, e->nodes, t->B + SIDE * k);
        turn_row(state, e->nodes, t->Z + SIDE * k);
    }
    ga_vec3_store(ga_rotate(state->frames[e->nodes[1]].R, ga_vec3_load(force + 6)), t->push);
}

/* --- comparison -----------------------------------------------------------------------------
 */

static ga_plane flatten(const ga_frame *f)
{
    ga_plane p = {.x = {f->x[0], f->x[1]}, .c = f->R[0], .s = f->R[1], .w = f->w[2]};
    p.v[0] = f->R[0] * f->u[0] + f->R[3] * f->u[1];
    p.v[1] = f->R[1] * f->u[0] + f->R[4] * f->u[1];
    return p;
}

/* Column c of a kernel among the twelve. */
static int column(int columns, int c)
{
    static const int flat[] = {0, 1, 5, 6, 7, 11};
    return columns == SIDE ? c : flat[c];
}

static void same(const char *name, const char *what, int k, double got, double expected)
{
    if (!(fabs(got - expected) <= close_enough * (1 + fabs(expected))))
        fail_msg("%s: %s[%d] is %.17g, expected %.17g", name, what, k, got, expected);
}

static void compare(const kernel_case *c, int dimension, int first, int second, unsigned seed)
{
    rig r;
    truth t;
    rig_init(&r, dimension, seed);
    ga_joint *joint = make(&r, c, first, second);
    const ga_kernel *kernel = ga_kernel_of(joint, dimension);
    assert_non_null(kernel);
    assert_int_equal(kernel->rows, joint->element.rows);
    double data[GA_KERNEL_MAX_NUMBERS + 1], Phi[6], Phi_again[6], B[6 * SIDE] = {0},
                                                                        K[SIDE * SIDE] = {0};
    double Z[6 * SIDE] = {0}, push[3] = {0};
    assert_true(kernel->numbers <= GA_KERNEL_MAX_NUMBERS);
    data[kernel->numbers] = 12345;
    ga_kernel_pack(kernel, joint, data);
    assert_true(data[kernel->numbers] == 12345);
    for (int b = 1; b <= RIG_NODES; ++b) rig_frame(&r, &r.store[b], 0.4);
    expect(&r, joint, &t);

    const ga_frame *a = &r.state.frames[first], *b = &r.state.frames[second];
    const ga_plane flat_a = flatten(a), flat_b = flatten(b);
    const void *left = dimension == 3 ? (const void *)a : &flat_a;
    const void *right = dimension == 3 ? (const void *)b : &flat_b;
    kernel->rows_of(data, left, right, Phi_again, NULL);
    kernel->rows_of(data, left, right, Phi, B);
    kernel->geometric(data, left, right, r.lambda, K, push);
    kernel->swept(data, left, right, Z);
    assert_memory_equal(Phi, Phi_again, (size_t)kernel->rows * sizeof *Phi);
    int n = kernel->columns;
    for (int k = 0; k < kernel->rows; ++k) {
        same(c->name, "Phi", k, Phi[k], t.Phi[k]);
        for (int i = 0; i < n; ++i) {
            int at = SIDE * k + column(n, i);
            same(c->name, "B", n * k + i, B[n * k + i], t.B[at]);
            same(c->name, "Z", n * k + i, Z[n * k + i], t.Z[at]);
        }
    }
    for (int i = 0; i < n; ++i)
        for (int j = 0; j < n; ++j)
            same(c->name, "K", n * i + j, K[n * i + j],
                 t.K[SIDE * column(n, i) + column(n, j)]);
    for (int i = 0; i < dimension; ++i) same(c->name, "push", i, push[i], t.push[i]);
    rig_free(&r);
}

static void test_kernels(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; ++i)
        for (int dimension = 2; dimension <= 3; ++dimension)
            for (unsigned seed = 1; seed <= 5; ++seed) {
                if (dimension == 2 ? !cases[i].planar : !cases[i].spatial) continue;
                compare(&cases[i], dimension, 0, 1, seed);
                compare(&cases[i], dimension, GA_GROUND, 2, seed);
                compare(&cases[i], dimension, 1, GA_GROUND, seed);
            }
}

/* Joints side by side have the bits of each alone, one of them with lengths of zero; B has
 * zeros where a kernel writes nothing. */
static void compare_many(const kernel_case *c, int dimension, unsigned seed)
{
    enum { LANES = GA_KERNEL_LANES, MOST = 6 * SIDE };
    const ga_kernel *kernel = NULL;
    double data[GA_KERNEL_MAX_NUMBERS * LANES], places[2 * 12 * LANES];
    double Phi[LANES][6], B[LANES][MOST] = {{0}}, all_Phi[6 * LANES], all_B[MOST * LANES];
    const int size = dimension == 3 ? 12 : 4;
    for (int v = 0; v < LANES; ++v) {
        rig r;
        double own[GA_KERNEL_MAX_NUMBERS];
        rig_init(&r, dimension, seed + (unsigned)v);
        ga_joint *joint = make(&r, c, v % 3 ? 0 : GA_GROUND, 1);
        kernel = ga_kernel_of(joint, dimension);
        ga_kernel_pack(kernel, joint, own);
        for (int b = 1; v != 2 && b <= RIG_NODES; ++b) rig_frame(&r, &r.store[b], 0.4);
        const ga_frame *frame[2] = {&r.state.frames[v % 3 ? 0 : GA_GROUND], &r.state.frames[1]};
        const ga_plane plane[2] = {flatten(frame[0]), flatten(frame[1])};
        const void *place[2];
        for (int b = 0; b < 2; ++b) {
            place[b] = dimension == 3 ? (const void *)frame[b] : (const void *)(plane + b);
            const double *from = dimension == 3 ? frame[b]->x : plane[b].x;
            for (int k = 0; k < size; ++k) places[(b * size + k) * LANES + v] = from[k];
        }
        for (int k = 0; k < kernel->numbers; ++k) data[k * LANES + v] = own[k];
        kernel->rows_of(own, place[0], place[1], Phi[v], B[v]);
        rig_free(&r);
    }
    for (int round = 0; kernel->rows_of_many && round < 2; ++round) {
        memset(all_Phi, 0, sizeof all_Phi);
        kernel->rows_of_many(data, places, all_Phi, round ? all_B : NULL);
        for (int v = 0; v < LANES; ++v) {
            for (int k = 0; k < kernel->rows; ++k)
                assert_true(all_Phi[k * LANES + v] == Phi[v][k]);
            for (int k = 0; round && k < kernel->rows * kernel->columns; ++k)
                assert_true(all_B[k * LANES + v] == B[v][k]);
        }
    }
}

/* Axes of the world have kernels of their own, where many joints have them. */
static void test_units(void **state)
{
    (void)state;
    rig r;
    rig_init(&r, 3, 7);
    const ga_kernel *turned =
        ga_kernel_of(make(&r, &(kernel_case){.name = "revolute"}, 0, 1), 3);
    const ga_kernel *upright =
        ga_kernel_of(make(&r, &(kernel_case){.name = "revolute", .upright = true}, 0, 1), 3);
    assert_non_null(turned);
    assert_non_null(upright);
    assert_int_equal(turned->numbers - upright->numbers, 9);
    rig_free(&r);
}

static void test_many(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; ++i)
        for (unsigned seed = 1; seed <= 5; ++seed) {
            if (cases[i].planar) compare_many(&cases[i], 2, seed);
            if (cases[i].spatial) compare_many(&cases[i], 3, seed);
        }
}

/* Where more acts than the reaction, or rows are of other kinds, there is none. */
static void test_none(void **state)
{
    (void)state;
    static const char *const others[] = {"screw", "constant-velocity"};
    rig r;
    rig_init(&r, 3, 7);
    ga_joint *ball = make(&r, &(kernel_case){.name = "spherical"}, 0, 1);
    assert_non_null(ga_kernel_of(ball, 3));
    ball->attachment[0].damping = 1;
    assert_null(ga_kernel_of(ball, 3));
    for (size_t k = 0; k < 2; ++k) {
        ga_joint *joint = rig_new(ga_element_type_find("joints", others[k]));
        rig_join(joint, 0, 1);
        rig_set3(joint, "axis", 0, 0, 1);
        if (k == 0) rig_set(joint, "pitch", 1);
        if (k == 1) rig_set3(joint, "second_axis", 0, 0.6, 0.8);
        rig_add(&r, joint);
        assert_null(ga_kernel_of(joint, 3));
    }
    rig_free(&r);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_kernels), cmocka_unit_test(test_many),
        cmocka_unit_test(test_units), cmocka_unit_test(test_none)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
