/* Every joint: derivatives against difference quotients, balance of forces, rank, invariance.
 */
#include "problems/problems.h"
#include "test/element/rig.h"

typedef struct joint_case {
    const char *name;
    bool planar;
    int rows, planar_rows, speed_rows;
} joint_case;

static const joint_case cases[] = {
    {"fixed", true, 6, 3, 0},           {"revolute", true, 5, 2, 0},
    {"prismatic", true, 5, 2, 0},       {"cylindrical", false, 4, 0, 0},
    {"spherical", false, 3, 0, 0},      {"universal", false, 4, 0, 0},
    {"planar", false, 3, 0, 0},         {"screw", false, 5, 0, 0},
    {"distance", true, 1, 1, 0},        {"point-on-line", true, 2, 1, 0},
    {"point-on-plane", false, 1, 0, 0}, {"constant-velocity", false, 4, 0, 0},
    {"rolling-disc", true, 1, 1, 2},
};
enum { CASES = sizeof cases / sizeof *cases };

/* A joint of some type in general position, with `at` and `axis` where it has them, or between
 * points. */
static ga_joint *make(rig *r, const joint_case *c, int first, int second)
{
    ga_joint *joint = rig_new(ga_element_type_find("joints", c->name));
    const bool planar = r->setup.dimension == 2;
    rig_join(joint, first, second);
    for (const ga_field *f = joint->element.type->fields; f->name; ++f) {
        double *at = (double *)(void *)((char *)joint + f->offset);
        if (strcmp(f->name, "at") == 0) {
            at[0] = 0.4;
            at[1] = -0.3;
            at[2] = planar ? 0 : 0.7;
        }
        if (strcmp(f->name, "axis") == 0 && !(planar && f->where == GA_SPATIAL))
            rig_set3(joint, "axis", 0.5, 0.7, planar ? 0 : -0.4);
        if (strcmp(f->name, "pitch") == 0) *at = 0.3;
        if (strcmp(f->name, "radius") == 0) *at = 0.4;
    }
    if (strcmp(c->name, "distance") == 0) {
        joint->between[0].p[0] = 0.3;
        joint->between[0].whole = joint->between[1].whole = false;
        *(ga_function **)rig_field(joint, "length") =
            rig_time_function(r, "1.3 + 0.2*sin(2*t)");
    }
    if (strcmp(c->name, "rolling-disc") == 0 && !planar) { /* upright, more or less */
        const ga_vec3 level = {0.7, 0.7, 0.2};
        const ga_vec3 axis = ga_rotate_back(r->state.frames[second].R, level);
        rig_set3(joint, "axis", axis.x, axis.y, axis.z);
    }
    if (strcmp(c->name, "universal") == 0) rig_set3(joint, "second_axis", 0.7, -0.5, 0);
    if (strcmp(c->name, "constant-velocity") == 0)
        rig_set3(joint, "second_axis", 0.7, 0.5, 0.2);
    return rig_add(r, joint);
}

static void shake(rig *r, double size)
{
    for (int b = 1; b <= RIG_NODES; ++b) rig_frame(r, &r->store[b], size);
}

static void each_case(void (*check)(const joint_case *c, int dimension, int first, int second,
                                    unsigned seed))
{
    for (int i = 0; i < CASES; ++i)
        for (int dimension = cases[i].planar ? 2 : 3; dimension <= 3; ++dimension)
            for (unsigned seed = 1; seed <= 3; ++seed) {
                check(&cases[i], dimension, 0, 1, seed);
                check(&cases[i], dimension, GA_GROUND, 2, seed);
                if (strcmp(cases[i].name, "rolling-disc") != 0)
                    check(&cases[i], dimension, 1, GA_GROUND, seed);
            }
}

static void derive(const joint_case *c, int dimension, int first, int second, unsigned seed)
{
    rig r;
    rig_init(&r, dimension, seed);
    ga_joint *joint = make(&r, c, first, second);
    r.state.t = 0.3;
    shake(&r, 0.4); /* inconsistent */
    rig_check(&r, &joint->element);
    rig_project(&r, &joint->element);
    rig_check(&r, &joint->element);
    rig_free(&r);
}

static void derivatives(void **unused)
{
    (void)unused;
    each_case(derive);
}

/* As many rows as promised, none depends on others, forces balance. */
static void count(const joint_case *c, int dimension, int first, int second, unsigned seed)
{
    rig r;
    double G[8 * RIG_COLUMNS];
    rig_init(&r, dimension, seed);
    ga_joint *joint = make(&r, c, first, second);
    ga_element *e = &joint->element;
    assert_int_equal(e->rows, dimension == 3 ? c->rows : c->planar_rows);
    assert_int_equal(e->speed_rows, dimension == 3 ? c->speed_rows : c->speed_rows / 2);
    for (int k = 0; k < e->rows + e->speed_rows; ++k) assert_non_null(e->type->row_name(e, k));
    shake(&r, 0.5);
    rig_project(&r, e);
    rig_rows(&r, e, G);
    assert_true(rig_orthogonalise(G, e->rows + e->speed_rows, 12) > 1e-2);
    rig_check_balance(&r, e, rig_reaction, 1e-12);
    if (e->speed_rows > 0) rig_check_balance(&r, e, rig_speed_reaction, 1e-12);
    rig_free(&r);
}

static void rows(void **unused)
{
    (void)unused;
    each_case(count);
}

/* At the position they are made from all rows vanish, and coordinates are zero. */
static void start(const joint_case *c, int dimension, int first, int second, unsigned seed)
{
    rig r;
    double Phi[6];
    rig_init(&r, dimension, seed);
    ga_joint *joint = make(&r, c, first, second);
    joint->element.type->constraint(joint, &r.state, Phi);
    const bool given = strcmp(c->name, "rolling-disc") == 0 || strcmp(c->name, "distance") == 0;
    for (int k = 0; k < joint->element.rows; ++k) assert_true(given || fabs(Phi[k]) < 1e-14);
    for (int k = 0; k < ga_joint_coordinates(joint); ++k) {
        ga_scalar s;
        ga_joint_coordinate(joint, k, &r.state, GA_ORDER_VALUE, &s);
        assert_true(joint->kind->coordinate[k].absolute || fabs(s.value) < 1e-14);
    }
    rig_free(&r);
}

static void home(void **unused)
{
    (void)unused;
    each_case(start);
}

/* The world turned and shifted before anything is made: the same joint. Rows may be other
 * combinations of each other, as perpendicular axes are chosen in the world; B^T B and |Phi|
 * do not see that. */
static void superpose(rig *r, const double *motion)
{
    ga_frame m = {.R = {1, 0, 0, 0, 1, 0, 0, 0, 1}};
    rig_turn(&m, motion);
    for (int b = 0; b <= RIG_NODES; ++b) {
        ga_frame *f = &r->store[b];
        double R[9];
        for (int j = 0; j < 3; ++j)
            ga_vec3_store(ga_rotate(m.R, ga_vec3_load(f->R + 3 * j)), R + 3 * j);
        memcpy(f->R, R, sizeof R);
        ga_vec3_store(ga_vec3_add(ga_vec3_load(m.x), ga_rotate(m.R, ga_vec3_load(f->x))), f->x);
    }
}

static void gram(rig *r, const ga_element *e, double *G, double *size)
{
    double B[6 * 12], Phi[6];
    e->type->gradient(e, &r->state, B);
    e->type->constraint(e, &r->state, Phi);
    *size = 0;
    memset(G, 0, 144 * sizeof *G);
    for (int k = 0; k < e->rows; ++k) {
        *size += Phi[k] * Phi[k];
        for (int i = 0; i < 12; ++i)
            for (int j = 0; j < 12; ++j) G[12 * i + j] += B[12 * k + i] * B[12 * k + j];
    }
}

/* Here ground moves too: it is a frame like others. */
static void invariant(const joint_case *c, int dimension, int first, int second, unsigned seed)
{
    rig r, moved;
    const double motion[6] = {0.3,
                              -0.8,
                              dimension == 3 ? 1.1 : 0,
                              dimension == 3 ? 0.7 : 0,
                              dimension == 3 ? -0.4 : 0,
                              0.9};
    ga_frame m = {.R = {1, 0, 0, 0, 1, 0, 0, 0, 1}};
    rig_turn(&m, motion);
    if (strcmp(c->name, "rolling-disc") == 0) return; /* its plane is told in the world */
    rig_init(&r, dimension, seed);
    rig_init(&moved, dimension, seed);
    superpose(&moved, motion);

    ga_joint *joint = make(&r, c, first, second);
    ga_joint *twin = calloc(1, joint->element.type->size);
    assert_non_null(twin);
    memcpy(twin, joint, joint->element.type->size);
    memset(twin->coupled, 0, sizeof twin->coupled);
    const ga_vec3 at = ga_rotate(m.R, ga_vec3_load(joint->at));
    ga_vec3_store(ga_vec3_add(ga_vec3_load(m.x), at), twin->at);
    ga_vec3_store(ga_rotate(m.R, ga_vec3_load(joint->axis)), twin->axis);
    for (const ga_field *f = joint->element.type->fields; f->name; ++f)
        if (strcmp(f->name, "second_axis") == 0) {
            double *axis = (double *)(void *)((char *)twin + f->offset);
            ga_vec3_store(ga_rotate(m.R, ga_vec3_load(axis)), axis);
        }
    assert_true(twin->element.type->prepare(twin, &moved.setup));
    moved.elements[0] = &twin->element;
    moved.count = 1;

    shake(&r, 0.3);
    memcpy(moved.store, r.store, sizeof r.store);
    superpose(&moved, motion);
    double G[144], H[144], a, b;
    gram(&r, &joint->element, G, &a);
    gram(&moved, &twin->element, H, &b);
    if (!(fabs(a - b) < 1e-12)) fail_msg("%s: |Phi|^2 %g, %g", c->name, a, b);
    for (int i = 0; i < 144; ++i)
        if (!(fabs(G[i] - H[i]) < 1e-11)) fail_msg("%s: %g %g", c->name, G[i], H[i]);
    rig_free(&r);
    rig_free(&moved);
}

static void invariance(void **unused)
{
    (void)unused;
    each_case(invariant);
}

/* --- turns ---------------------------------------------------------------------------------
 */

/* A hinge and a screw on ground turned forward in steps of a third of a turn, with its rate. */
static void turns(void **unused)
{
    (void)unused;
    for (int i = 0; i < 2; ++i) {
        rig r;
        rig_init(&r, 3, 5);
        ga_joint *joint = rig_new(ga_element_type_find("joints", i ? "screw" : "revolute"));
        rig_join(joint, GA_GROUND, 0);
        joint->at[0] = joint->at[1] = joint->at[2] = 0;
        if (i) rig_set(joint, "pitch", 0.1);
        ga_frame *f = &r.store[1];
        *f = (ga_frame){.R = {1, 0, 0, 0, 1, 0, 0, 0, 1}};
        rig_add(&r, joint);
        const double step = 2.1, pi = 3.14159265358979323846;
        for (int n = 1; n <= 20; ++n) {
            const double turn[6] = {0, 0, i ? step * 0.1 / (2 * pi) : 0, 0, 0, step};
            rig_turn(f, turn);
            f->w[2] = step;
            r.state.t = n;
            double Phi[6];
            ga_scalar s;
            joint->element.type->constraint(joint, &r.state, Phi);
            for (int k = 0; k < joint->element.rows; ++k) assert_true(fabs(Phi[k]) < 1e-13);
            ga_joint_coordinate(joint, 0, &r.state, GA_ORDER_VALUE, &s);
            assert_true(fabs(s.value - step * n) < 1e-12);
            assert_true(fabs(ga_joint_rate(joint, 0, &r.state) - step) < 1e-14);
            joint->element.type->commit(joint, &r.state, r.memory);
        }
        rig_free(&r);
    }
}

/* --- reactions -----------------------------------------------------------------------------
 */

/* What joints transmit: nothing along their freedoms, nothing beside the joint's place. */
static void reactions(void **unused)
{
    (void)unused;
    for (int i = 0; i < CASES; ++i) {
        if (strcmp(cases[i].name, "rolling-disc") == 0) continue;
        rig r;
        rig_init(&r, 3, 11);
        ga_joint *joint = make(&r, &cases[i], 0, 1);
        shake(&r, 0.5);
        rig_project(&r, &joint->element);
        ga_pair pair;
        ga_pair_locate(joint, &r.state, &pair);
        double F[3], T[3];
        ga_joint_reaction(joint, &r.state, F, T);
        const ga_vec3 force = ga_vec3_load(F), torque = ga_vec3_load(T), z = pair.axis[0][2];
        const char *name = cases[i].name;
        if (strcmp(name, "spherical") == 0) {
            assert_true(ga_vec3_dot(torque, torque) < 1e-24);
            const ga_vec3 l = ga_vec3_load(r.lambda),
                          sum = ga_vec3_add(force, ga_rotate(joint->E, l));
            assert_true(ga_vec3_dot(sum, sum) < 1e-24);
        }
        if (strcmp(name, "revolute") == 0 || strcmp(name, "cylindrical") == 0)
            assert_true(fabs(ga_vec3_dot(torque, z)) < 1e-12);
        if (strcmp(name, "prismatic") == 0 || strcmp(name, "cylindrical") == 0 ||
            strcmp(name, "point-on-line") == 0)
            assert_true(fabs(ga_vec3_dot(force, z)) < 1e-12);
        if (strcmp(name, "distance") == 0) {
            const ga_vec3 across = ga_vec3_cross(force, pair.d);
            assert_true(ga_vec3_dot(across, across) < 1e-24);
        }
        rig_free(&r);
    }
}

/* A body that hangs in a fixed joint beside its centre, weight 10: the ground exerts 10 upward
 * and the moment that holds it, on the second body. */
static void hanging(void **unused)
{
    (void)unused;
    rig r;
    rig_init(&r, 3, 1);
    ga_joint *joint = rig_new(ga_element_type_find("joints", "fixed"));
    rig_join(joint, GA_GROUND, 0);
    joint->at[0] = joint->at[1] = joint->at[2] = 0;
    r.store[1] = (ga_frame){.x = {2, 0, 0}, .R = {1, 0, 0, 0, 1, 0, 0, 0, 1}};
    rig_add(&r, joint);
    /* 0 = f - B^T lambda with f = (0, 0, -10) at the centre */
    double B[72], F[3], T[3];
    joint->element.type->gradient(joint, &r.state, B);
    const double lambda[6] = {0, 0, -10, 0, 20, 0};
    memcpy(r.lambda, lambda, sizeof lambda);
    double f[12];
    rig_reaction(&r, &joint->element, f);
    const double weight[6] = {0, 0, -10, 0, 0, 0};
    for (int i = 0; i < 6; ++i) assert_true(fabs(f[6 + i] - weight[i]) < 1e-14);
    ga_joint_reaction(joint, &r.state, F, T);
    assert_true(fabs(F[2] - 10) < 1e-14 && fabs(T[1] + 20) < 1e-14);
    assert_true(fabs(F[0]) + fabs(F[1]) + fabs(T[0]) + fabs(T[2]) < 1e-14);
    rig_free(&r);
}

/* --- rolling disc --------------------------------------------------------------------------
 */

static void disc_of_problem(void **unused)
{
    (void)unused;
    pb_problem *problem;
    assert_int_equal(pb_rolling_disc_create(0.3, &problem), GA_OK);
    rig r;
    rig_init(&r, 3, 3);
    ga_joint *joint = rig_new(ga_element_type_find("joints", "rolling-disc"));
    rig_join(joint, GA_GROUND, 0);
    rig_set(joint, "radius", 1);
    rig_add(&r, joint);
    for (int n = 0; n < 5; ++n) {
        ga_frame *f = &r.store[1];
        rig_frame(&r, f, 0.5);
        double q[7], v[6], Phi[1], k[2], expected[24], B[12], N[24], Z[24], c[2];
        memcpy(q, f->x, sizeof f->x);
        ga_quaternion_from_matrix(f->R, q + 3);
        ga_vec3_store(ga_rotate(f->R, ga_vec3_load(f->u)), v);
        memcpy(v + 3, f->w, sizeof f->w);
        const ga_point at = {.q = q, .v = v};
        const ga_system *sys = &problem->system;
        const ga_element *e = &joint->element;

        e->type->constraint(e, &r.state, Phi);
        sys->constraint(sys->user, &at, expected);
        assert_true(fabs(Phi[0] - expected[0]) < 1e-13);
        e->type->speed(e, &r.state, k);
        sys->nonholonomic(sys->user, &at, expected);
        assert_true(fabs(k[0] - expected[0]) + fabs(k[1] - expected[1]) < 1e-13);

        e->type->gradient(e, &r.state, B);
        sys->gradient(sys->user, &at, expected);
        for (int i = 0; i < 3; ++i) assert_true(fabs(B[9 + i] - expected[3 + i]) < 1e-13);
        e->type->speed_gradient(e, &r.state, N);
        sys->nonholonomic_gradient(sys->user, &at, expected);
        for (int row = 0; row < 2; ++row)
            for (int i = 0; i < 3; ++i)
                assert_true(fabs(N[12 * row + 9 + i] - expected[row + 2 * (3 + i)]) < 1e-13);

        /* D (B v) v with the twist fixed in body axes, where x' turns too: with h the gradient
         * by x', h.(w x x') more than the problem has, whose x' is fixed in the world. */
        e->type->speed_stiffness(e, &r.state, Z);
        const ga_vec3 turned =
            ga_rotate(f->R, ga_vec3_cross(ga_vec3_load(f->w), ga_vec3_load(f->u)));
        const double more[3] = {turned.x, turned.y, turned.z};
        sys->acceleration_rhs(sys->user, &at, c);
        double sum = 0;
        for (int i = 0; i < 3; ++i) sum += Z[6 + i] * f->u[i] + Z[9 + i] * f->w[i];
        assert_true(fabs(sum + c[0] - more[2]) < 1e-12);
        sys->nonholonomic_rhs(sys->user, &at, c);
        e->type->speed_speed_stiffness(e, &r.state, Z);
        for (int row = 0; row < 2; ++row) {
            sum = 0;
            for (int i = 0; i < 3; ++i)
                sum += Z[12 * row + 6 + i] * f->u[i] + Z[12 * row + 9 + i] * f->w[i];
            assert_true(fabs(sum + c[row] - more[row]) < 1e-12);
        }
    }
    rig_free(&r);
    pb_destroy(problem);
}

/* --- mistakes ------------------------------------------------------------------------------
 */

static void refuse(const char *name, int first, int second, void (*spoil)(void *),
                   const char *message)
{
    rig r;
    rig_init(&r, 3, 2);
    ga_joint *joint = rig_new(ga_element_type_find("joints", name));
    rig_join(joint, first, second);
    if (spoil) spoil(joint);
    assert_false(joint->element.type->prepare(joint, &r.setup));
    assert_string_equal(r.reader.path, "");
    if (!strstr(rig_message(&r), message)) fail_msg("%s: %s", name, rig_message(&r));
    free(joint);
    rig_free(&r);
}

static void wrong_limits(void *joint)
{
    ga_limits *l = rig_field(joint, "limits");
    l->head.given = true;
    l->min = 1;
    l->max = 0.5;
}

static void outside(void *joint)
{
    ga_limits *l = rig_field(joint, "limits");
    l->head.given = true;
    l->min = 1;
}

static void no_radius(void *joint)
{
    ga_friction *f = rig_field(joint, "friction");
    f->head.given = true;
    f->coefficient = 0.1;
}

static void parallel(void *joint) { rig_set3(joint, "second_axis", 0, 0, 1); }

static void opposite(void *joint) { rig_set3(joint, "second_axis", 0, 0, -1); }

static void coincident(void *joint)
{
    ga_anchor *between = rig_field(joint, "between");
    rig r;
    rig_init(&r, 3, 2);
    memcpy(between[0].p, r.store[1].x, sizeof r.store[1].x);
    between[0].whole = false;
    rig_free(&r);
}

static void mistakes(void **unused)
{
    (void)unused;
    refuse("revolute", 1, 1, NULL, "between: connects a body to itself");
    refuse("fixed", GA_GROUND, GA_GROUND, NULL, "between: connects ground to ground");
    refuse("screw", 0, 1, NULL, "pitch: is zero");
    refuse("universal", 0, 1, parallel, "second_axis: not perpendicular");
    refuse("constant-velocity", 0, 1, opposite, "second_axis: opposite");
    refuse("distance", GA_GROUND, 0, NULL, "between: `ground` alone is not a point");
    refuse("distance", GA_GROUND, 0, coincident, "between: the two points coincide");
    refuse("revolute", 0, 1, wrong_limits, "limits: `min` is not less than `max`");
    refuse("prismatic", 0, 1, outside, "limits: excludes the position given in the model file");
    refuse("revolute", 0, 1, no_radius, "friction.radius: friction of a rotation");
    refuse("rolling-disc", 0, GA_GROUND, NULL, "between: the second entry is the disc");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(derivatives), cmocka_unit_test(rows),
        cmocka_unit_test(home),        cmocka_unit_test(invariance),
        cmocka_unit_test(turns),       cmocka_unit_test(reactions),
        cmocka_unit_test(hanging),     cmocka_unit_test(disc_of_problem),
        cmocka_unit_test(mistakes),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
