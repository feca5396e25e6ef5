/* Block elimination of saddle matrices [S G^T; G -e] of random mechanisms: against the dense
 * backend, whatever the graph, the masses, the rank; what it falls back to; what it costs. */
#include "la/block/tree.h"
#include "la/factor.h"
#include "test/la/random.h"
#include "test/support/allocations.h"
#include "test/support/unit.h"

#include <float.h>
#include <math.h>
#include <string.h>

enum { MOST = 12000 }; /* entries by far */

/* A matrix as it is put together. */
typedef struct mechanism {
    int bodies, joints, size, rows; /* unknowns of a body, rows of a joint */
    int n, count;
    int *row, *col;
    double *values;
    ga_coords coords;
    ga_matrix matrix, full;
    ga_partition partition;
} mechanism;

typedef struct joint {
    int a, b; /* b < 0: to the ground */
} joint;

static int body_at(const mechanism *m, int body) { return body * m->size; }
static int joint_at(const mechanism *m, int j) { return m->bodies * m->size + j * m->rows; }

static void put(mechanism *m, int row, int col, double value)
{
    m->row[m->count] = row;
    m->col[m->count] = col;
    m->values[m->count++] = value;
}

/* Positive definite, not quite symmetric: as M + c K with some damping is. */
static void put_mass(mechanism *m, uint64_t *seed, int body, double mass)
{
    int at = body_at(m, body);
    for (int i = 0; i < m->size; ++i)
        for (int j = 0; j < m->size; ++j) {
            double x = i == j ? 1 + 0.5 * random_value(seed) : 0.1 * random_value(seed);
            put(m, at + i, at + j, mass * x);
        }
}

/* Rows that depend on each other: the last is the sum of the others. */
static void put_joint(mechanism *m, uint64_t *seed, int j, joint which, bool dependent)
{
    const int bodies[2] = {which.a, which.b};
    for (int k = 0; k < 2 && bodies[k] >= 0; ++k)
        for (int c = 0; c < m->size; ++c) {
            double sum = 0;
            for (int r = 0; r < m->rows; ++r) {
                double x = (r == c ? 1 : 0) + 0.3 * random_value(seed);
                if (dependent && r == m->rows - 1) x = sum;
                sum += x;
                put(m, joint_at(m, j) + r, body_at(m, bodies[k]) + c, x);
                put(m, body_at(m, bodies[k]) + c, joint_at(m, j) + r, x);
            }
        }
}

static mechanism *begin(int bodies, int joints, int size, int rows)
{
    mechanism *m = zeroed(1, sizeof *m);
    *m = (mechanism){.bodies = bodies, .joints = joints, .size = size, .rows = rows};
    m->n = bodies * size + joints * rows;
    int most = bodies * size * size + joints * rows * (4 * size + 1) + MOST;
    m->row = zeroed(most, sizeof(int));
    m->col = zeroed(most, sizeof(int));
    m->values = doubles(most);
    return m;
}

static void group(mechanism *m)
{
    assert_int_equal(ga_partition_create(m->n, m->bodies + m->joints, &m->partition), GA_OK);
    for (int g = 0; g < m->bodies + m->joints; ++g) {
        bool joint_group = g >= m->bodies;
        int from = joint_group ? joint_at(m, g - m->bodies) : body_at(m, g);
        m->partition.block_start[g + 1] = g + 1;
        m->partition.constraint[g] = joint_group;
        for (int k = 0; k < (joint_group ? m->rows : m->size); ++k)
            m->partition.row_block[from + k] = m->partition.col_block[from + k] = g;
    }
}

static void finish(mechanism *m)
{
    assert_int_equal(ga_coords_create(m->n, m->n, m->count, m->row, m->col, &m->coords), GA_OK);
    ga_summand block = {&m->coords, 0, 0, NULL};
    assert_int_equal(ga_matrix_create(m->n, 1, &block, false, &m->matrix), GA_OK);
    ga_matrix_add(&m->matrix, 0, 1, m->values);
    group(m);
}

static void end(mechanism *m)
{
    ga_matrix_destroy(&m->matrix);
    ga_coords_destroy(&m->coords);
    ga_partition_destroy(&m->partition);
    free(m->row), free(m->col), free(m->values), free(m);
}

static mechanism *build(uint64_t *seed, int bodies, int size, int rows, int joints,
                        const joint *list, double spread)
{
    mechanism *m = begin(bodies, joints, size, rows);
    for (int b = 0; b < bodies; ++b) put_mass(m, seed, b, pow(10, spread * random_value(seed)));
    for (int j = 0; j < joints; ++j) put_joint(m, seed, j, list[j], false);
    finish(m);
    return m;
}

/* Joint k carries body k; some more close loops. */
typedef enum shape { CHAIN, TREE, HUB, FREE_TREE, LOOPS, SHAPES } shape;

static int connect(uint64_t *seed, shape kind, int bodies, joint *list)
{
    int count = 0;
    for (int b = 0; b < bodies; ++b) {
        int other = b == 0          ? -1
                    : kind == CHAIN ? b - 1
                    : kind == HUB   ? 0
                                    : random_below(seed, b);
        if (b > 0 || kind != FREE_TREE) list[count++] = (joint){b, other};
    }
    /* one row less than bodies have unknowns: about one loop in five bodies keeps the rank */
    for (int k = 0; kind == LOOPS && k < bodies / 8; ++k) {
        int a = 1 + random_below(seed, bodies - 1);
        list[count++] = (joint){a, random_below(seed, a)};
    }
    return count;
}

/* Largest difference of solutions by the largest component; *residual by |A| |x|. */
static double compare(const mechanism *m, const ga_factor *f, const ga_factor *g,
                      double *residual)
{
    uint64_t seed = 5;
    double *x = random_values(&seed, m->n), *y = doubles(m->n), *r = doubles(m->n);
    double size = 0, worst = 0, largest = 0;
    memcpy(y, x, (size_t)m->n * sizeof *x);
    memcpy(r, x, (size_t)m->n * sizeof *x);
    ga_factor_solve(f, x);
    ga_factor_solve(g, y);
    ga_matrix_multiply(&m->matrix, -1, x, r);
    for (int k = 0; k < m->matrix.count; ++k)
        largest = fmax(largest, fabs(m->matrix.values[k]));
    *residual = 0;
    for (int i = 0; i < m->n; ++i) {
        size = fmax(size, fabs(y[i]));
        worst = fmax(worst, fabs(x[i] - y[i]));
        *residual = fmax(*residual, fabs(r[i]));
    }
    *residual /= 1 + largest * size;
    free(x), free(y), free(r);
    return worst / size;
}

static void factor_both(mechanism *m, ga_factor **block, ga_factor **dense)
{
    assert_int_equal(ga_factor_create_blocks(&m->matrix, &m->partition, block), GA_OK);
    assert_int_equal(ga_factor_create(&m->matrix, GA_BACKEND_DENSE, dense), GA_OK);
    assert_int_equal(ga_factor_numeric(*block), GA_OK);
    assert_int_equal(ga_factor_numeric(*dense), GA_OK);
}

/* The same of the transposed matrix. */
static double compare_transposed(const mechanism *m, const ga_factor *f, const ga_factor *g)
{
    uint64_t seed = 6;
    double *x = random_values(&seed, m->n), *y = doubles(m->n), size = 0, worst = 0;
    memcpy(y, x, (size_t)m->n * sizeof *x);
    ga_factor_solve_transposed(f, x);
    ga_factor_solve_transposed(g, y);
    for (int i = 0; i < m->n; ++i) {
        size = fmax(size, fabs(y[i]));
        worst = fmax(worst, fabs(x[i] - y[i]));
    }
    free(x), free(y);
    return worst / size;
}

static void solves_mechanisms(void **state)
{
    (void)state;
    static const int sizes[][2] = {{3, 2}, {6, 5}, {6, 3}, {2, 1}, {1, 1}};
    for (int kind = 0; kind < SHAPES; ++kind)
        for (int k = 0; k < 5; ++k)
            for (int bodies = 2; bodies <= 50; bodies += bodies < 8 ? 1 : 14) {
                uint64_t seed = (uint64_t)(100 * bodies + 10 * kind + k);
                joint list[100];
                int joints = connect(&seed, (shape)kind, bodies, list);
                int rows = kind == LOOPS && sizes[k][0] > 1 ? sizes[k][0] / 2 : sizes[k][1];
                if (kind == LOOPS && sizes[k][0] == 1) continue; /* nothing would move */
                mechanism *m = build(&seed, bodies, sizes[k][0], rows, joints, list, 0);
                ga_factor *block, *dense;
                double residual;
                factor_both(m, &block, &dense);
                double distance = compare(m, block, dense, &residual);
                assert_true(compare_transposed(m, block, dense) < 1e-9);
                if (!(distance < 1e-9 && residual < 1e-13))
                    fail_msg(
                        "shape %d, %d bodies of %d, joints of %d: distance %g, residual %g",
                        kind, bodies, m->size, m->rows, distance, residual);
                ga_factor_destroy(block);
                ga_factor_destroy(dense);
                end(m);
            }
}

/* Masses over twelve orders of magnitude, equilibrated as the integrator does. */
static void solves_ill_scaled(void **state)
{
    (void)state;
    for (int kind = 0; kind < SHAPES; ++kind)
        for (int round = 0; round < 10; ++round) {
            uint64_t seed = (uint64_t)(1000 + 10 * kind + round);
            joint list[100];
            int joints = connect(&seed, (shape)kind, 30, list);
            mechanism *m = build(&seed, 30, 6, kind == LOOPS ? 3 : 5, joints, list, 6);
            double *r = doubles(m->n), *c = doubles(m->n), *work = doubles(2 * m->n);
            for (int i = 0; i < m->n; ++i) r[i] = c[i] = 1;
            ga_matrix_equilibrate(&m->matrix, 3, r, c, work);
            ga_matrix_scale(&m->matrix, r, c);
            ga_factor *block, *dense;
            double residual;
            factor_both(m, &block, &dense);
            compare(m, block, dense, &residual);
            if (!(residual < 1e-13))
                fail_msg("shape %d, round %d: residual %g", kind, round, residual);
            ga_factor_destroy(block);
            ga_factor_destroy(dense);
            free(r), free(c), free(work);
            end(m);
        }
}

/* Joints with a row that depends on its others, regularised: the part of the solution that is
 * determined is that of the matrix without the row. */
static void solves_redundant(void **state)
{
    (void)state;
    for (double eps = 1e-8; eps > 1e-13; eps /= 100)
        for (int kind = 0; kind < LOOPS; ++kind) {
            uint64_t seed = (uint64_t)kind;
            joint list[100];
            int bodies = 20, joints = connect(&seed, (shape)kind, bodies, list);
            mechanism *m = begin(bodies, joints, 6, 5);
            for (int b = 0; b < bodies; ++b) put_mass(m, &seed, b, 1);
            for (int j = 0; j < joints; ++j) put_joint(m, &seed, j, list[j], j % 3 == 0);
            for (int i = joint_at(m, 0); i < m->n; ++i) put(m, i, i, -eps);
            finish(m);
            ga_factor *block, *dense;
            double residual;
            factor_both(m, &block, &dense);
            /* right-hand sides in the range: G vd for some vd */
            double *x = random_values(&seed, m->n), *b = doubles(m->n), *y = doubles(m->n);
            for (int i = joint_at(m, 0); i < m->n; ++i) x[i] = 0;
            ga_matrix_multiply(&m->matrix, 1, x, b);
            memcpy(x, b, (size_t)m->n * sizeof *x);
            memcpy(y, b, (size_t)m->n * sizeof *y);
            ga_factor_solve(block, x);
            ga_factor_solve(dense, y);
            for (int i = 0; i < joint_at(m, 0); ++i)
                if (!(fabs(x[i] - y[i]) < 1e-9))
                    fail_msg("eps %g, shape %d: %g, %g", eps, kind, x[i], y[i]);
            compare(m, block, dense, &residual);
            assert_true(residual < 1e-13);
            free(x), free(b), free(y);
            ga_factor_destroy(block);
            ga_factor_destroy(dense);
            end(m);
        }
}

/* Without the regularisation it is singular, and a column of a joint is to blame, or of the
 * bodies of that joint. */
static void names_singular(void **state)
{
    (void)state;
    uint64_t seed = 3;
    joint list[100];
    int joints = connect(&seed, CHAIN, 10, list);
    mechanism *m = begin(10, joints, 6, 5);
    for (int b = 0; b < 10; ++b) put_mass(m, &seed, b, 1);
    for (int j = 0; j < joints; ++j) put_joint(m, &seed, j, list[j], false);
    finish(m);
    ga_factor *f;
    assert_int_equal(ga_factor_create_blocks(&m->matrix, &m->partition, &f), GA_OK);
    assert_int_equal(ga_factor_numeric(f), GA_OK);
    int zero = joint_at(m, 4) + 2;
    for (int j = 0; j < m->n; ++j)
        for (int k = m->matrix.colptr[j]; k < m->matrix.colptr[j + 1]; ++k)
            if (j == zero || m->matrix.rowind[k] == zero) m->matrix.values[k] = 0;
    assert_int_equal(ga_factor_numeric(f), GA_ERR_SINGULAR);
    assert_int_equal(ga_factor_singular_column(f), zero);
    ga_matrix_clear(&m->matrix); /* and it recovers */
    ga_matrix_add(&m->matrix, 0, 1, m->values);
    assert_int_equal(ga_factor_numeric(f), GA_OK);
    assert_int_equal(ga_factor_singular_column(f), -1);
    ga_factor_destroy(f);
    end(m);
}

/* Bodies without mass have no pivots of their own, though the matrix is regular: KLU. */
static void falls_back(void **state)
{
    (void)state;
    uint64_t seed = 4;
    joint list[100];
    int joints = connect(&seed, CHAIN, 10, list);
    mechanism *m = build(&seed, 10, 3, 3, joints, list, 0); /* all is determined by joints */
    double *values = m->matrix.values;
    ga_factor *block, *dense;
    double residual;
    factor_both(m, &block, &dense);
    for (int round = 0; round < 6; ++round) {
        int at = body_at(m, round);
        for (int j = at; j < at + 3; ++j)
            for (int k = m->matrix.colptr[j]; k < m->matrix.colptr[j + 1]; ++k)
                if (m->matrix.rowind[k] < joint_at(m, 0)) values[k] = round % 2 ? 0 : 1e-20;
        assert_int_equal(ga_factor_numeric(block), GA_OK);
        assert_int_equal(ga_factor_numeric(dense), GA_OK);
        compare(m, block, dense, &residual);
        assert_true(residual < 1e-13);
    }
    ga_factor_forget(block);
    ga_matrix_clear(&m->matrix);
    ga_matrix_add(&m->matrix, 0, 1, m->values);
    assert_int_equal(ga_factor_numeric(block), GA_OK);
    assert_int_equal(ga_factor_numeric(dense), GA_OK);
    assert_true(compare(m, block, dense, &residual) < 1e-9);
    ga_factor_destroy(block);
    ga_factor_destroy(dense);
    end(m);
}

static void allocates_only_at_creation(void **state)
{
    (void)state;
    if (!in_front()) return;
    uint64_t seed = 6;
    joint list[100];
    int joints = connect(&seed, TREE, 40, list);
    mechanism *m = build(&seed, 40, 6, 5, joints, list, 0);
    ga_factor *f = NULL;
    start_counting(0, false);
    ga_status status = ga_factor_create_blocks(&m->matrix, &m->partition, &f);
    stop_counting();
    assert_int_equal(status, GA_OK);
    const long total = watch.taken;
    double *x = doubles(m->n);
    start_counting(0, false);
    for (int k = 0; k < 3; ++k) {
        status = ga_factor_numeric(f);
        ga_factor_solve(f, x);
    }
    stop_counting();
    assert_int_equal(status, GA_OK);
    assert_int_equal(watch.taken, 0);
    ga_factor_destroy(f);
    for (long k = 1; k <= total; ++k)
        for (int after = 0; after < 2; ++after) {
            start_counting(k, after);
            status = ga_factor_create_blocks(&m->matrix, &m->partition, &f);
            stop_counting();
            assert_int_equal(status, GA_ERR_MEMORY);
            assert_null(f);
            assert_int_equal(watch.live, 0);
        }
    free(x);
    end(m);
}

/* Work and structure grow in proportion: long chains, and a hub with thousands of joints. */
static void costs_are_linear(void **state)
{
    (void)state;
    static const shape kinds[] = {CHAIN, HUB};
    for (int kind = 0; kind < 2; ++kind) {
        double flops[2];
        for (int large = 0; large < 2; ++large) {
            uint64_t seed = 8;
            int bodies = large ? 20000 : 2000;
            joint *list = zeroed(bodies + bodies, sizeof *list);
            int joints = connect(&seed, kinds[kind], bodies, list);
            mechanism *m = build(&seed, bodies, 3, 2, joints, list, 0);
            ga_elimination plan;
            assert_int_equal(ga_elimination_create(&m->matrix, &m->partition, &plan), GA_OK);
            flops[large] = plan.flops;
            assert_true(plan.rest_start[plan.fronts] < 4 * bodies);
            for (int f = 0; f < plan.fronts; ++f)
                assert_true(plan.parent[f] < 0 || plan.parent[f] > f);
            ga_elimination_destroy(&plan);
            ga_factor *block;
            double residual;
            assert_int_equal(ga_factor_create_blocks(&m->matrix, &m->partition, &block), GA_OK);
            assert_int_equal(ga_factor_numeric(block), GA_OK);
            compare(m, block, block, &residual);
            assert_true(residual < 1e-13);
            ga_factor_destroy(block);
            end(m);
            free(list);
        }
        assert_true(flops[1] < 10.1 * flops[0] && flops[0] < 500 * 2000.);
    }
}

/* The same bits with any number of threads; and the work can be shared. */
static void threads_agree(void **state)
{
    (void)state;
    static const shape kinds[] = {CHAIN, TREE, HUB};
    for (int kind = 0; kind < 3; ++kind) {
        uint64_t seed = 9;
        int bodies = 6000, n = 0;
        joint *list = zeroed(2 * bodies, sizeof *list);
        int joints = connect(&seed, kinds[kind], bodies, list);
        mechanism *m = build(&seed, bodies, 3, 2, joints, list, 0);
        n = m->n;
        assert_true(n >= GA_THREADS_FROM_UNKNOWNS);
        double *x[3], residual;
        for (int threads = 0; threads < 3; ++threads) {
            ga_pool *pool = NULL;
            ga_factor *f;
            if (threads > 0) assert_int_equal(ga_pool_create(threads, &pool), GA_OK);
            assert_int_equal(ga_factor_create_blocks(&m->matrix, &m->partition, &f), GA_OK);
            ga_factor_use(f, pool);
            for (int round = 0; round < 3; ++round) {
                assert_int_equal(ga_factor_numeric(f), GA_OK);
                compare(m, f, f, &residual);
                assert_true(residual < 1e-13);
            }
            seed = 11;
            x[threads] = random_values(&seed, n);
            ga_factor_solve(f, x[threads]);
            ga_factor_destroy(f);
            ga_pool_destroy(pool);
        }
        assert_memory_equal(x[0], x[1], (size_t)n * sizeof(double));
        assert_memory_equal(x[0], x[2], (size_t)n * sizeof(double));
        for (int k = 0; k < 3; ++k) free(x[k]);
        free(list);
        end(m);
    }
}

/* No front has more than some of the work below it, where a graph can be cut. */
static void check_halves(const mechanism *m)
{
    ga_elimination plan;
    assert_int_equal(ga_elimination_create(&m->matrix, &m->partition, &plan), GA_OK);
    int *below = zeroed(plan.fronts, sizeof *below);
    for (int f = 0; f < plan.fronts; ++f) {
        ++below[f];
        if (plan.parent[f] >= 0) below[plan.parent[f]] += below[f];
    }
    int halves = 0;
    for (int f = 0; f < plan.fronts; ++f)
        halves += plan.parent[f] >= 0 && below[f] > 0.4 * plan.fronts &&
                  below[f] < 0.6 * plan.fronts && below[plan.parent[f]] > 0.9 * plan.fronts;
    assert_int_equal(halves, 2);
    free(below);
    ga_elimination_destroy(&plan);
}

/* Open chains, and rings, which no body alone cuts. */
static void chains_are_cut(void **state)
{
    (void)state;
    for (int ring = 0; ring < 2; ++ring) {
        uint64_t seed = 9;
        int bodies = 6000;
        joint *list = zeroed(2 * bodies, sizeof *list);
        int joints = connect(&seed, CHAIN, bodies, list);
        if (ring) list[joints++] = (joint){bodies - 1, 0};
        mechanism *m = build(&seed, bodies, 3, 2, joints, list, 0);
        check_halves(m);
        free(list);
        end(m);
    }
}

/* Joints that know their neighbours, as those of index 2 do: no group alone cuts the chain, but
 * a body with its joints does; and threads that are given later find the same bits, with scales
 * or without. */
static void ladders_agree(void **state)
{
    (void)state;
    enum { BODIES = 6000, SIZE = 3, ROWS = 2 };
    uint64_t seed = 9;
    joint *list = zeroed(2 * BODIES, sizeof *list);
    const int joints = connect(&seed, CHAIN, BODIES, list);
    mechanism *m = begin(BODIES, joints, SIZE, ROWS);
    for (int b = 0; b < BODIES; ++b) put_mass(m, &seed, b, 1);
    for (int j = 0; j < joints; ++j) put_joint(m, &seed, j, list[j], false);
    for (int j = 0; j + 1 < joints; ++j) {
        put(m, joint_at(m, j), joint_at(m, j + 1), 0.1);
        put(m, joint_at(m, j + 1), joint_at(m, j), 0.1);
    }
    finish(m);
    check_halves(m);
    double *x[2], *scaled = doubles(m->n), *row = random_values(&seed, m->n),
                  *col = random_values(&seed, m->n);
    for (int threads = 1; threads <= 2; ++threads) {
        ga_pool *pool = NULL;
        ga_factor *f;
        double residual;
        assert_int_equal(ga_pool_create(threads, &pool), GA_OK);
        assert_int_equal(ga_factor_create_blocks(&m->matrix, &m->partition, &f), GA_OK);
        ga_factor_use(f, pool);
        assert_int_equal(ga_factor_numeric(f), GA_OK);
        compare(m, f, f, &residual);
        assert_true(residual < 1e-13);
        seed = 11;
        x[threads - 1] = random_values(&seed, m->n);
        ga_factor_solve_scaled(f, true, row, x[threads - 1], col, scaled);
        for (int i = 0; i < m->n; ++i) x[threads - 1][i] *= row[i];
        ga_factor_solve_rough(f, x[threads - 1]);
        for (int i = 0; i < m->n; ++i) x[threads - 1][i] *= col[i];
        assert_memory_equal(x[threads - 1], scaled, (size_t)m->n * sizeof(double));
        ga_factor_destroy(f);
        ga_pool_destroy(pool);
    }
    assert_memory_equal(x[0], x[1], (size_t)m->n * sizeof(double));
    free(x[0]), free(x[1]), free(list), free(scaled), free(row), free(col);
    end(m);
}

/* Fronts of a chain are factored in one go, up to one whose pivots are not to be inverted. */
static void chains_stumble(void **state)
{
    (void)state;
    enum { BODIES = 60 };
    static const int sizes[][2] = {{3, 2}, {6, 3}, {6, 5}};
    static const int light[] = {9, 10, 30, 31, 45, BODIES - 2, BODIES - 1};
    for (int k = 0; k < 3; ++k)
        for (int which = 0; which < 8; ++which) {
            uint64_t seed = (uint64_t)(10 * k + which);
            joint list[BODIES];
            const int joints = connect(&seed, CHAIN, BODIES, list);
            mechanism *m = begin(BODIES, joints, sizes[k][0], sizes[k][1]);
            for (int b = 0; b < BODIES; ++b)
                put_mass(m, &seed, b, which < 7 && b == light[which] ? 1e-8 : 1);
            for (int j = 0; j < joints; ++j) put_joint(m, &seed, j, list[j], false);
            finish(m);
            ga_factor *block, *dense;
            double residual;
            factor_both(m, &block, &dense);
            const double distance = compare(m, block, dense, &residual);
            if (!(distance < 1e-9 && residual < 1e-13))
                fail_msg("bodies of %d, joints of %d, light body %d: distance %g, residual %g",
                         m->size, m->rows, which < 7 ? light[which] : -1, distance, residual);
            ga_factor_destroy(block);
            ga_factor_destroy(dense);
            end(m);
        }
}

/* Unknowns that are scaled on their way through fronts, in place or not, are those that are
 * scaled before and after. */
static void scales_on_the_way(void **state)
{
    (void)state;
    static const int sizes[][2] = {{3, 2}, {6, 5}, {6, 3}, {1, 1}};
    for (int kind = 0; kind < SHAPES - 1; ++kind)
        for (int k = 0; k < 4; ++k)
            for (int bodies = 1; bodies <= 90; bodies += bodies < 16 ? 1 : 37) {
                uint64_t seed = (uint64_t)(100 * bodies + 10 * kind + k);
                joint list[100];
                const int joints = connect(&seed, (shape)kind, bodies, list);
                mechanism *m = build(&seed, bodies, sizes[k][0], sizes[k][1], joints, list, 0);
                const size_t size = (size_t)m->n * sizeof(double);
                double *row = random_values(&seed, m->n), *col = random_values(&seed, m->n),
                       *x = random_values(&seed, m->n), *y = doubles(m->n);
                ga_factor *f;
                assert_int_equal(ga_factor_create_blocks(&m->matrix, &m->partition, &f), GA_OK);
                assert_int_equal(ga_factor_numeric(f), GA_OK);
                ga_factor_solve_scaled(f, true, row, x, col, y);
                double *z = doubles(m->n);
                for (int i = 0; i < m->n; ++i) z[i] = x[i] * row[i];
                ga_factor_solve_rough(f, z);
                for (int i = 0; i < m->n; ++i) z[i] *= col[i];
                assert_memory_equal(y, z, size);
                ga_factor_solve_scaled(f, true, row, x, col, x);
                assert_memory_equal(x, z, size);
                free(row), free(col), free(x), free(y), free(z);
                ga_factor_destroy(f);
                end(m);
            }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(solves_mechanisms), cmocka_unit_test(solves_ill_scaled),
        cmocka_unit_test(solves_redundant),  cmocka_unit_test(names_singular),
        cmocka_unit_test(falls_back),        cmocka_unit_test(allocates_only_at_creation),
        cmocka_unit_test(costs_are_linear),  cmocka_unit_test(threads_agree),
        cmocka_unit_test(ladders_agree),     cmocka_unit_test(chains_are_cut),
        cmocka_unit_test(scales_on_the_way), cmocka_unit_test(chains_stumble),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
