/* A simulation that is saved after some steps and loaded into a fresh one, of a model that is
 * read again, goes on with the same bits as if nothing had happened: outputs, statistics,
 * energies, warnings. Saved bytes that are damaged or not its own are refused.
 */
#include "test/api/examples.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* What a run put out. */
typedef struct trace {
    unsigned long long sum;
    long rows, steps;
    long pause_after; /* so many steps; negative: never */
} trace;

static void add(trace *x, const void *bytes, size_t size)
{
    const unsigned char *b = bytes;
    for (size_t k = 0; k < size; ++k) x->sum = (x->sum ^ b[k]) * 0x100000001b3ull;
}

static ga_eval put_out(void *user, const ga_sim *sim)
{
    trace *x = user;
    const double t = ga_sim_time(sim);
    add(x, &t, sizeof t);
    add(x, ga_sim_values(sim), (size_t)ga_sim_value_count(sim) * sizeof(double));
    ++x->rows;
    return GA_EVAL_OK;
}

static ga_eval look(void *user, const ga_sim *sim)
{
    trace *x = user;
    (void)sim;
    return ++x->steps == x->pause_after ? GA_EVAL_FATAL : GA_EVAL_OK;
}

/* What is set in the file of an example, up to null. */
enum { MOST_SET = 6 };
typedef struct variant {
    const char *set[MOST_SET];
} variant;

static ga_model *read_variant(const char *example, double t_end, const variant *v)
{
    char end[64], step[64];
    snprintf(end, sizeof end, "simulate.t_end=%.17g", t_end);
    snprintf(step, sizeof step, "simulate.step=%.17g", t_end / 100);
    const char *set[MOST_SET + 8] = {end, "simulate.step=null", "simulate.tolerance=null"};
    int n = 3;
    bool fixed = true;
    for (int k = 0; k < MOST_SET && v->set[k]; ++k) {
        set[n++] = v->set[k];
        if (strstr(v->set[k], "tolerance")) fixed = false;
    }
    if (fixed) set[n++] = step;
    return read_example(example, n, set);
}

static ga_sim *create(const ga_model *model, int threads, trace *x)
{
    ga_sim *sim = NULL;
    ga_report report;
    ga_sim_def def = ga_sim_def_of(model);
    def.output = put_out;
    def.pause = look;
    def.user = x;
    def.threads = threads;
    if (ga_sim_create(model, &def, &sim, NULL, &report)) fail_msg("%s", report.message);
    return sim;
}

static void *save(const ga_sim *sim, size_t *size)
{
    ga_report report;
    *size = ga_sim_save_size(sim);
    void *bytes = malloc(*size);
    assert_non_null(bytes);
    if (ga_sim_save(sim, bytes, *size, &report)) fail_msg("%s", report.message);
    return bytes;
}

static void check_summaries(const char *name, const ga_sim *a, const ga_sim *b)
{
    const ga_sim_summary x = ga_sim_get_summary(a), y = ga_sim_get_summary(b);
    if (memcmp(&x.statistics, &y.statistics, sizeof x.statistics))
        fail_msg("%s: other statistics: %ld and %ld factorizations, %ld and %ld iterations",
                 name, x.statistics.factorizations, y.statistics.factorizations,
                 x.statistics.iterations, y.statistics.iterations);
    if (memcmp(&x.control, &y.control, sizeof x.control))
        fail_msg("%s: other statistics of error control", name);
    if (memcmp(&x.final, &y.final, sizeof x.final) ||
        x.energy_drift_max != y.energy_drift_max || x.energy_scale != y.energy_scale)
        fail_msg("%s: other energies", name);
    for (int k = 0;; ++k) {
        const ga_warning v = ga_sim_get_warning(a, k), w = ga_sim_get_warning(b, k);
        assert_int_equal(!v.code, !w.code);
        if (!v.code) break;
        assert_string_equal(v.code, w.code);
        assert_string_equal(v.message, w.message);
        assert_int_equal(!v.element, !w.element);
        if (v.element) assert_string_equal(v.element, w.element);
    }
}

/* The rest of a run: a fresh simulation loads the bytes, is saved again, and a third one goes
 * on. */
static ga_sim *go_on(const char *name, const ga_model *model, const void *bytes, size_t size,
                     trace *x)
{
    ga_report report;
    size_t size_again;
    ga_sim *sim = create(model, 1, x);
    if (ga_sim_load(sim, bytes, size, &report)) fail_msg("%s: %s", name, report.message);
    void *again = save(sim, &size_again);
    assert_int_equal(size, size_again);
    ga_sim_destroy(sim);
    sim = create(model, 2, x);
    if (ga_sim_load(sim, again, size, &report)) fail_msg("%s: %s", name, report.message);
    free(again);
    if (ga_sim_continue(sim, &report)) fail_msg("%s: %s", name, report.message);
    return sim;
}

/* A run in one go, and one that is saved after a part of its steps and continued by another. */
static void compare(const char *example, double t_end, const variant *v, double part)
{
    char name[200];
    int length = snprintf(name, sizeof name, "%s", example);
    for (int k = 0; k < MOST_SET && v->set[k]; ++k)
        length += snprintf(name + length, sizeof name - (size_t)length, " %s", v->set[k]);
    ga_report report;
    trace whole = {.pause_after = -1}, pieces = {0};
    ga_model *model = read_variant(example, t_end, v);
    ga_sim *a = create(model, 1, &whole), *b = create(model, 1, &pieces);
    if (ga_sim_run(a, &report)) fail_msg("%s: %s", name, report.message);

    const long steps = 1 + (long)(part * (double)whole.steps);
    pieces.pause_after = steps;
    if (ga_sim_run(b, &report)) fail_msg("%s: %s", name, report.message);
    size_t size, size_again;
    void *bytes = save(b, &size), *again = save(b, &size_again);
    assert_int_equal(size, size_again);
    assert_memory_equal(bytes, again, size);
    ga_sim_destroy(b);

    ga_model *read_again = read_variant(example, t_end, v);
    pieces.pause_after = -1;
    b = go_on(name, read_again, bytes, size, &pieces);
    if (pieces.steps != whole.steps || pieces.rows != whole.rows)
        fail_msg("%s: saved after %ld steps: %ld steps, %ld rows instead of %ld, %ld", name,
                 steps, pieces.steps, pieces.rows, whole.steps, whole.rows);
    if (pieces.sum != whole.sum)
        fail_msg("%s: saved after %ld of %ld steps: other bits", name, steps, whole.steps);
    check_summaries(name, a, b);
    ga_sim_destroy(a);
    ga_sim_destroy(b);
    ga_model_destroy(model);
    ga_model_destroy(read_again);
    free(bytes);
    free(again);
}

/* Stops, stiction, impacts, motions, nonholonomic and redundant constraints. */
static const struct {
    const char *name;
    double t_end;
} examples[] = {{"heavy_top", 0.2},
                {"slider_crank", 0.5},
                {"stop", 2},
                {"stick_slip", 2},
                {"four_bar_spatial", 0.5},
                {"rolling_disc", 0.5},
                {"double_pendulum", 1},
                {"andrews_squeezer", 0.01},
                {"clutch", 1},
                {"gear_train", 0.5},
                {"puck", 1},
                {"stewart_platform", 0.5},
                {"suspension_corner", 0.5},
                {"cardan_shaft", 0.2},
                {"bricard", 0.5},
                {"robot_arm", 0.5}};
enum { EXAMPLES = sizeof examples / sizeof *examples };

/* In [0, 1), always the same. */
static double random_part(void)
{
    static unsigned long long seed = 88172645463325252ull;
    seed ^= seed << 13;
    seed ^= seed >> 7;
    seed ^= seed << 17;
    return (double)(seed >> 11) / 9007199254740992.0;
}

static void compare_all(int count, const variant *variants)
{
    for (int k = 0; k < EXAMPLES; ++k)
        for (int i = 0; i < count; ++i)
            compare(examples[k].name, examples[k].t_end, variants + i, random_part());
}

static void test_fixed_steps(void **state)
{
    (void)state;
    static const variant variants[] = {
        {{"simulate.formulation=index3"}},
        {{"simulate.formulation=index2"}},
        {{"simulate.formulation=soi2"}},
        {{"simulate.formulation=hht-i3", "simulate.kinematics=se3"}}};
    compare_all(4, variants);
}

static void test_error_modes(void **state)
{
    (void)state;
    static const variant variants[] = {
        {{"simulate.formulation=index2", "simulate.tolerance=1e-4", "simulate.error=auto"}},
        {{"simulate.formulation=index2", "simulate.tolerance=1e-3", "simulate.error=full"}},
        {{"simulate.formulation=index3", "simulate.tolerance=1e-3", "simulate.error=full"}},
        {{"simulate.formulation=soi2", "simulate.tolerance=1e-3", "simulate.error=full"}},
        {{"simulate.tolerance=1e-4", "simulate.error=extrapolate", "simulate.kinematics=se3"}},
        {{"simulate.tolerance=1e-3", "simulate.error=positions", "simulate.rho_inf=0.5"}}};
    compare_all(6, variants);
}

static void test_other_methods(void **state)
{
    (void)state;
    static const variant variants[] = {
        {{"simulate.formulation=null", "simulate.rho_inf=null", "simulate.error=null",
          "simulate.method=radau", "simulate.tolerance=1e-4"}},
        {{"simulate.formulation=null", "simulate.rho_inf=null", "simulate.error=null",
          "simulate.method=auto", "simulate.tolerance=1e-5"}},
        {{"simulate.formulation=null", "simulate.rho_inf=null", "simulate.error=null",
          "simulate.method=explicit", "simulate.tolerance=1e-4"}}};
    compare_all(3, variants);
}

/* --- refusal ------------------------------------------------------------------------------ */

static const variant plain = {{"simulate.formulation=index2"}};

static void check_refused(ga_sim *sim, const void *bytes, size_t size, const char *word)
{
    ga_report report;
    assert_int_equal(ga_sim_load(sim, bytes, size, &report), GA_ERR_INPUT);
    if (!strstr(report.message, word)) fail_msg("expected `%s`: %s", word, report.message);
}

static void *save_pendulum(trace *x, size_t *size)
{
    ga_model *model = read_variant("simple_pendulum", 1, &plain);
    x->pause_after = 17;
    ga_sim *sim = create(model, 1, x);
    assert_int_equal(ga_sim_run(sim, NULL), GA_OK);
    void *bytes = save(sim, size);
    ga_sim_destroy(sim);
    ga_model_destroy(model);
    return bytes;
}

static void test_damage_is_refused(void **state)
{
    (void)state;
    trace x = {0};
    size_t size;
    unsigned char *bytes = save_pendulum(&x, &size);
    ga_model *model = read_variant("simple_pendulum", 1, &plain);
    ga_sim *sim = create(model, 1, &x);
    for (size_t k = 0; k < size; ++k) {
        bytes[k] ^= 0x10;
        assert_int_equal(ga_sim_load(sim, bytes, size, NULL), GA_ERR_INPUT);
        bytes[k] ^= 0x10;
    }
    for (size_t n = 0; n < size; n += 1 + n / 10)
        assert_int_equal(ga_sim_load(sim, bytes, n, NULL), GA_ERR_INPUT);
    check_refused(sim, bytes, size - 1, "damaged");
    check_refused(sim, "nothing of the kind", 19, "not a saved simulation");
    assert_int_equal(ga_sim_load(sim, bytes, size, NULL), GA_OK);
    ga_sim_destroy(sim);
    ga_model_destroy(model);
    free(bytes);
}

static void test_another_is_refused(void **state)
{
    (void)state;
    static const struct {
        const char *example, *set, *word;
    } others[] = {{"double_pendulum", "simulate.formulation=index2", "another model"},
                  {"simple_pendulum", "gravity=[0, -9.8]", "another model"},
                  {"simple_pendulum", "simulate.formulation=index3", "formulation"},
                  {"simple_pendulum", "simulate.rho_inf=0.7", "coefficients"},
                  {"simple_pendulum", "simulate.t_end=0.1", "t_end"}};
    trace x = {0};
    size_t size;
    void *bytes = save_pendulum(&x, &size);
    for (size_t k = 0; k < sizeof others / sizeof *others; ++k) {
        const variant v = {{others[k].set}};
        ga_model *model = read_variant(others[k].example, 1, &v);
        ga_sim *sim = create(model, 1, &x);
        check_refused(sim, bytes, size, others[k].word);
        assert_int_equal(ga_sim_run(sim, NULL), GA_OK); /* it is as good as new */
        ga_sim_destroy(sim);
        ga_model_destroy(model);
    }
    free(bytes);
}

/* A run that was over goes on to a later end, as it is; and with other channels. */
static void test_later_end(void **state)
{
    (void)state;
    static const variant step = {{"simulate.step=0.01"}};
    static const char *const one[] = {"energy.total"};
    trace x = {.pause_after = -1}, y = {.pause_after = -1};
    ga_report report;
    size_t size;
    ga_model *model = read_variant("simple_pendulum", 1, &step);
    ga_sim_def def = ga_sim_def_of(model);
    def.output = put_out;
    def.step = 0.01;
    def.channels = one;
    def.channel_count = 1;
    def.user = &x;
    def.t_end = 0.5;
    ga_sim *first = NULL, *second = NULL;
    assert_int_equal(ga_sim_create(model, &def, &first, NULL, &report), GA_OK);
    assert_int_equal(ga_sim_run(first, &report), GA_OK);
    void *bytes = save(first, &size);
    def.t_end = 1;
    def.channel_count = 0;
    def.user = &y;
    assert_int_equal(ga_sim_create(model, &def, &second, NULL, &report), GA_OK);
    if (ga_sim_load(second, bytes, size, &report)) fail_msg("%s", report.message);
    assert_false(ga_sim_is_over(second));
    assert_int_equal(ga_sim_continue(second, &report), GA_OK);
    assert_true(ga_sim_time(second) == 1);
    assert_int_equal(ga_sim_get_summary(second).statistics.steps, 100);
    free(bytes);
    ga_sim_destroy(first);
    ga_sim_destroy(second);
    ga_model_destroy(model);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_fixed_steps),        cmocka_unit_test(test_error_modes),
        cmocka_unit_test(test_other_methods),      cmocka_unit_test(test_damage_is_refused),
        cmocka_unit_test(test_another_is_refused), cmocka_unit_test(test_later_end),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
