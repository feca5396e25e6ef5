/* Patterns by blocks and by entries describe the same system: the same motion comes out, up to
 * round-off, for every formulation and solver, with given derivatives and with differences. */
#include "test/support/cases.h"

enum { MATRICES = 6, STEPS = 20 };

/* A matrix of a problem, and the same by tiles that have an entry. */
typedef struct tiled {
    ga_callback *callback; /* of the problem */
    int count;             /* of its entries, */
    int *to;               /* each of which goes here among the values of tiles */
    int tiles, size;       /* values */
    int *row, *col, *height, *width;
    double *values;
} tiled;

typedef struct twin {
    const pb_problem *problem;
    ga_system system;
    tiled matrix[MATRICES];
} twin;

static int *integers(int count) { return calloc((size_t)count + 1, sizeof(int)); }

static void place_of(const ga_pattern *p, int rows, int k, int *i, int *j)
{
    *i = p->row ? p->row[k] : k % rows;
    *j = p->row ? p->col[k] : k / rows;
}

/* Tiles of height x width, cut at the edges of the matrix. */
static ga_pattern tile(const ga_pattern *p, int rows, int cols, int height, int width, tiled *t)
{
    const int across = (cols + width - 1) / width, all = (rows + height - 1) / height * across;
    int *number = integers(all), i, j;
    t->count = ga_pattern_size(p, rows, cols);
    t->to = integers(t->count);
    t->row = integers(all), t->col = integers(all);
    t->height = integers(all), t->width = integers(all);
    int *start = integers(all);
    for (int k = 0; k < t->count; ++k) {
        place_of(p, rows, k, &i, &j);
        int *own = &number[i / height * across + j / width];
        if (!*own) {
            const int b = t->tiles++;
            *own = t->tiles;
            t->row[b] = i / height * height, t->col[b] = j / width * width;
            t->height[b] = rows - t->row[b] < height ? rows - t->row[b] : height;
            t->width[b] = cols - t->col[b] < width ? cols - t->col[b] : width;
            start[b] = t->size;
            t->size += t->height[b] * t->width[b];
        }
        const int b = *own - 1;
        t->to[k] = start[b] + i - t->row[b] + (j - t->col[b]) * t->height[b];
    }
    t->values = calloc((size_t)t->count + 1, sizeof *t->values);
    free(number), free(start);
    return (ga_pattern){t->tiles, t->row, t->col, t->height, t->width};
}

static ga_eval fill(void *user, const ga_point *at, int which, double *out)
{
    const twin *w = user;
    const tiled *t = &w->matrix[which];
    const ga_eval result = t->callback(w->problem->system.user, at, t->values);
    memset(out, 0, (size_t)t->size * sizeof *out);
    for (int k = 0; k < t->count; ++k) out[t->to[k]] += t->values[k];
    return result;
}

static ga_eval mass(void *u, const ga_point *at, double *out) { return fill(u, at, 0, out); }
static ga_eval gradient(void *u, const ga_point *at, double *out)
{
    return fill(u, at, 1, out);
}
static ga_eval stiffness(void *u, const ga_point *at, double *out)
{
    return fill(u, at, 2, out);
}
static ga_eval damping(void *u, const ga_point *at, double *out) { return fill(u, at, 3, out); }
static ga_eval swept(void *u, const ga_point *at, double *out) { return fill(u, at, 4, out); }

#define PASS(name)                                                                             \
    static ga_eval name(void *user, const ga_point *at, double *out)                           \
    {                                                                                          \
        const ga_system *s = &((const twin *)user)->problem->system;                           \
        return s->name(s->user, at, out);                                                      \
    }
PASS(force)
PASS(constraint)
PASS(constraint_rate)
PASS(acceleration_rhs)

static void open_twin(const pb_problem *p, bool derivatives, int height, int width, twin *w)
{
    const ga_system *from = &p->system;
    const int n = ga_system_nv(from), m = from->constraint_count;
    *w = (twin){.problem = p, .system = *from};
    ga_system *s = &w->system;
    s->user = w;
    s->all = NULL, s->equations = NULL, s->tangents = NULL;
    const struct {
        ga_callback *from, **to, *own;
        ga_pattern *pattern;
        int rows;
    } all[] = {{from->mass, &s->mass, mass, &s->mass_pattern, n},
               {from->gradient, &s->gradient, gradient, &s->gradient_pattern, m},
               {from->stiffness, &s->stiffness, stiffness, &s->stiffness_pattern, n},
               {from->damping, &s->damping, damping, &s->damping_pattern, n},
               {from->velocity_stiffness, &s->velocity_stiffness, swept,
                &s->velocity_stiffness_pattern, m}};
    for (size_t k = 0; k < sizeof all / sizeof *all; ++k) {
        if (!all[k].from) continue;
        w->matrix[k].callback = all[k].from;
        *all[k].pattern = tile(all[k].pattern, all[k].rows, n, height, width, &w->matrix[k]);
        *all[k].to = derivatives || k == 0 ? all[k].own : NULL;
    }
    s->force = force, s->constraint = constraint;
    if (from->constraint_rate) s->constraint_rate = constraint_rate;
    if (from->acceleration_rhs) s->acceleration_rhs = acceleration_rhs;
}

static void close_twin(twin *w)
{
    for (int k = 0; k < MATRICES; ++k) {
        tiled *t = &w->matrix[k];
        free(t->to), free(t->row), free(t->col), free(t->height), free(t->width);
        free(t->values);
    }
}

static ga_integrator *run_steps(const ga_system *s, const pb_problem *p, ga_formulation form,
                                ga_solver solver, double h)
{
    ga_integrator_def def = ga_integrator_def_default();
    def.formulation = form;
    def.solver = solver;
    ga_integrator *run = NULL;
    ga_report report;
    assert_status(ga_integrator_create(s, &def, &run, &report), GA_OK, report);
    assert_status(ga_integrator_start(run, p->t0, p->q0, p->v0, h, &report), GA_OK, report);
    for (int k = 0; k < STEPS; ++k)
        assert_status(ga_integrator_step(run, &report), GA_OK, report);
    return run;
}

static double distance(int n, const double *x, const double *y)
{
    double most = 0, size = 1;
    for (int i = 0; i < n; ++i) {
        most = fmax(most, fabs(x[i] - y[i]));
        size = fmax(size, fabs(x[i]));
    }
    return most / size;
}

/* What the iteration leaves: round-off in q, divided by h in v and by h^2 in the multipliers;
 * differences add their own error, which is that of their round-off. */
static void compare(const pb_problem *p, ga_formulation form, ga_solver solver,
                    bool derivatives, int height, int width)
{
    const double h = 1e-3, round_off = derivatives ? 1e-13 : 1e-10;
    const int nq = ga_system_nq(&p->system), nv = ga_system_nv(&p->system);
    twin entries, w;
    open_twin(p, derivatives, 1, 1, &entries);
    open_twin(p, derivatives, height, width, &w);
    ga_integrator *one = run_steps(&entries.system, p, form, solver, h);
    ga_integrator *other = run_steps(&w.system, p, form, solver, h);
    const double q = distance(nq, ga_integrator_q(one), ga_integrator_q(other)),
                 v = distance(nv, ga_integrator_v(one), ga_integrator_v(other)),
                 l = distance(p->system.constraint_count, ga_integrator_lambda(one),
                              ga_integrator_lambda(other));
    if (!(q <= round_off && v <= round_off / h && l <= round_off / (h * h)))
        fail_msg("%s, formulation %d, solver %d, %d x %d: %g %g %g", p->name, (int)form,
                 (int)solver, height, width, q, v, l);
    ga_integrator_destroy(one);
    ga_integrator_destroy(other);
    close_twin(&entries);
    close_twin(&w);
}

static void compare_all(pb_problem *p, int height, int width)
{
    static const ga_formulation forms[] = {GA_INDEX3, GA_INDEX2, GA_SOI2, GA_HHT_I3};
    static const ga_solver solvers[] = {GA_SOLVER_AUTO, GA_SOLVER_DENSE, GA_SOLVER_SPARSE,
                                        GA_SOLVER_BLOCK};
    for (int f = 0; f < 4; ++f)
        for (int k = 0; k < 4; ++k) compare(p, forms[f], solvers[k], true, height, width);
    compare(p, GA_INDEX2, GA_SOLVER_AUTO, false, height, width);
    pb_destroy(p);
}

static void test_planar_chain(void **state)
{
    (void)state;
    const int sizes[][2] = {{2, 3}, {2, 1}, {3, 2}, {1000, 1000}};
    for (int k = 0; k < 4; ++k) {
        pb_problem *p;
        assert_int_equal(pb_chain_create(12, &p), GA_OK);
        compare_all(p, sizes[k][0], sizes[k][1]);
    }
}

static void test_groups(void **state)
{
    (void)state;
    static const ga_group groups[] = {GA_GROUP_R3SO3, GA_GROUP_SE3};
    const int sizes[][2] = {{3, 3}, {3, 6}, {2, 4}};
    for (int g = 0; g < 2; ++g)
        for (int k = 0; k < 3; ++k) {
            pb_problem *p;
            assert_int_equal(pb_heavy_top_create(groups[g], &p), GA_OK);
            compare_all(p, sizes[k][0], sizes[k][1]);
        }
}

/* One node for all coordinates: which belong together is known from the blocks of M. */
static void test_vector_space(void **state)
{
    (void)state;
    pb_problem *p;
    assert_int_equal(pb_slider_crank_create(&p), GA_OK);
    compare_all(p, 3, 3);
    assert_int_equal(pb_andrews_absolute_create(&p), GA_OK);
    compare_all(p, 2, 2);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_planar_chain),
        cmocka_unit_test(test_groups),
        cmocka_unit_test(test_vector_space),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
