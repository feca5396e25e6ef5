/* A simulation that is saved after some steps and loaded by another process, which reads the
 * model again, goes on with the same bits as if nothing had happened: outputs, statistics,
 * energies, warnings. Saved bytes that are damaged or not its own are refused.
 *
 * The other process is this program, called as
 *
 *   test_save --continue EXAMPLE T_END FILE [PATH=VALUE ...]
 */
#define _POSIX_C_SOURCE 200809L /* fork, mkstemp, fdopen */
#include "test/api/examples.h"

#include <galpha/version.h>

#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

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
enum { MOST_SET = 8 };
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

/* What is left of a run: its output, and checksums of its summary. */
typedef struct outcome {
    trace output;
    trace statistics, control, energies, warnings; /* only their sums */
} outcome;

static outcome judge(const ga_sim *sim, const trace *output)
{
    outcome o = {.output = *output};
    const ga_sim_summary x = ga_sim_get_summary(sim);
    add(&o.statistics, &x.statistics, sizeof x.statistics);
    add(&o.control, &x.control, sizeof x.control);
    add(&o.energies, &x.final, sizeof x.final);
    add(&o.energies, &x.energy_drift_max, sizeof x.energy_drift_max);
    add(&o.energies, &x.energy_scale, sizeof x.energy_scale);
    for (int k = 0; ga_sim_get_warning(sim, k).code; ++k) {
        const ga_warning w = ga_sim_get_warning(sim, k);
        add(&o.warnings, w.code, strlen(w.code));
        add(&o.warnings, w.message, strlen(w.message));
        if (w.element) add(&o.warnings, w.element, strlen(w.element));
    }
    return o;
}

static void check_outcome(const char *name, long steps, const outcome *whole,
                          const outcome *pieces)
{
    const trace *a = &whole->output, *b = &pieces->output;
    if (a->steps != b->steps || a->rows != b->rows)
        fail_msg("%s: saved after %ld steps: %ld steps, %ld rows instead of %ld, %ld", name,
                 steps, b->steps, b->rows, a->steps, a->rows);
    if (a->sum != b->sum)
        fail_msg("%s: saved after %ld of %ld steps: other bits", name, steps, a->steps);
    if (whole->statistics.sum != pieces->statistics.sum)
        fail_msg("%s: saved after %ld steps: other statistics", name, steps);
    if (whole->control.sum != pieces->control.sum)
        fail_msg("%s: saved after %ld steps: other statistics of error control", name, steps);
    if (whole->energies.sum != pieces->energies.sum)
        fail_msg("%s: saved after %ld steps: other energies", name, steps);
    if (whole->warnings.sum != pieces->warnings.sum)
        fail_msg("%s: saved after %ld steps: other warnings", name, steps);
}

/* The rest of a run, by two more simulations: one loads the bytes and is saved again, the other
 * goes on from there, with two threads. */
static outcome go_on(const ga_model *model, const void *bytes, size_t size, trace *x)
{
    ga_report report;
    size_t size_again;
    ga_sim *sim = create(model, 1, x);
    if (ga_sim_load(sim, bytes, size, &report)) fail_msg("%s", report.message);
    void *again = save(sim, &size_again);
    assert_int_equal(size, size_again);
    ga_sim_destroy(sim);
    sim = create(model, 2, x);
    if (ga_sim_load(sim, again, size, &report)) fail_msg("%s", report.message);
    free(again);
    if (ga_sim_continue(sim, &report)) fail_msg("%s", report.message);
    const outcome o = judge(sim, x);
    ga_sim_destroy(sim);
    return o;
}

/* --- in another process: a file has the output so far and the bytes, then the outcome ------
 */

static void continue_elsewhere(int argc, char **argv)
{
    assert_true(argc >= 5 && argc <= 5 + MOST_SET);
    variant v = {{NULL}};
    for (int k = 5; k < argc; ++k) v.set[k - 5] = argv[k];
    FILE *file = fopen(argv[4], "rb");
    assert_non_null(file);
    trace x;
    size_t size;
    assert_int_equal(fread(&x, sizeof x, 1, file), 1);
    assert_int_equal(fread(&size, sizeof size, 1, file), 1);
    void *bytes = malloc(size);
    assert_non_null(bytes);
    assert_int_equal(fread(bytes, 1, size, file), size);
    fclose(file);

    ga_model *model = read_variant(argv[2], atof(argv[3]), &v);
    const outcome o = go_on(model, bytes, size, &x);
    ga_model_destroy(model);
    free(bytes);
    file = fopen(argv[4], "wb");
    assert_non_null(file);
    assert_int_equal(fwrite(&o, sizeof o, 1, file), 1);
    fclose(file);
}

static outcome go_on_elsewhere(const char *name, const char *example, double t_end,
                               const variant *v, const trace *x, const void *bytes, size_t size)
{
    char path[] = "/tmp/galpha_save_XXXXXX", end[64];
    FILE *file = fdopen(mkstemp(path), "wb");
    assert_non_null(file);
    assert_int_equal(fwrite(x, sizeof *x, 1, file), 1);
    assert_int_equal(fwrite(&size, sizeof size, 1, file), 1);
    assert_int_equal(fwrite(bytes, 1, size, file), size);
    fclose(file);

    snprintf(end, sizeof end, "%.17g", t_end);
    char *words[6 + MOST_SET] = {"test_save", "--continue", (char *)example, end, path};
    for (int k = 0; k < MOST_SET && v->set[k]; ++k) words[5 + k] = (char *)v->set[k];
    const pid_t child = fork();
    if (child == 0) {
        execv("/proc/self/exe", words);
        _exit(127);
    }
    int status = 0;
    outcome o;
    assert_int_equal(waitpid(child, &status, 0), child);
    if (!WIFEXITED(status) || WEXITSTATUS(status)) fail_msg("%s: did not go on", name);
    file = fopen(path, "rb");
    assert_non_null(file);
    assert_int_equal(fread(&o, sizeof o, 1, file), 1);
    fclose(file);
    remove(path);
    return o;
}

/* A run in one go, and one that is saved after a part of its steps and continued by another
 * process. */
static void compare(const char *example, double t_end, const variant *v, double part)
{
    char name[400];
    int length = snprintf(name, sizeof name, "%s", example);
    for (int k = 0; k < MOST_SET && v->set[k]; ++k)
        length += snprintf(name + length, sizeof name - (size_t)length, " %s", v->set[k]);
    ga_report report;
    trace x = {.pause_after = -1}, y = {0};
    ga_model *model = read_variant(example, t_end, v);
    ga_sim *a = create(model, 1, &x), *b = create(model, 1, &y);
    if (ga_sim_run(a, &report)) fail_msg("%s: %s", name, report.message);

    const long steps = 1 + (long)(part * (double)x.steps);
    y.pause_after = steps;
    if (ga_sim_run(b, &report)) fail_msg("%s: %s", name, report.message);
    size_t size, size_again;
    void *bytes = save(b, &size), *again = save(b, &size_again);
    assert_int_equal(size, size_again);
    assert_memory_equal(bytes, again, size);

    y.pause_after = -1;
    const outcome whole = judge(a, &x);
    const outcome pieces = go_on_elsewhere(name, example, t_end, v, &y, bytes, size);
    check_outcome(name, steps, &whole, &pieces);
    ga_sim_destroy(a);
    ga_sim_destroy(b);
    ga_model_destroy(model);
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

/* Extrapolation is of index 2 alone. */
static void test_error_modes(void **state)
{
    (void)state;
    static const variant variants[] = {
        {{"simulate.formulation=index2", "simulate.tolerance=1e-4", "simulate.error=auto"}},
        {{"simulate.formulation=index3", "simulate.tolerance=1e-3", "simulate.error=auto"}},
        {{"simulate.formulation=soi2", "simulate.tolerance=1e-3", "simulate.error=auto"}},
        {{"simulate.formulation=index2", "simulate.tolerance=1e-3", "simulate.error=full"}},
        {{"simulate.formulation=index3", "simulate.tolerance=1e-3", "simulate.error=full"}},
        {{"simulate.formulation=soi2", "simulate.tolerance=1e-3", "simulate.error=full"}},
        {{"simulate.formulation=index2", "simulate.tolerance=1e-4",
          "simulate.error=extrapolate", "simulate.kinematics=se3"}},
        {{"simulate.formulation=index2", "simulate.tolerance=1e-3", "simulate.error=positions",
          "simulate.rho_inf=0.5"}},
        {{"simulate.formulation=index3", "simulate.tolerance=1e-3", "simulate.error=positions",
          "simulate.rho_inf=0.5"}},
        {{"simulate.formulation=soi2", "simulate.tolerance=1e-3", "simulate.error=positions",
          "simulate.rho_inf=0.5"}}};
    compare_all(sizeof variants / sizeof *variants, variants);
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

/* As large as threads are used for: the rest has two, the run in one go has one. */
static void test_threads(void **state)
{
    (void)state;
    static const variant variants[] = {
        {{"parameters.n=600", "simulate.formulation=index2"}},
        {{"parameters.n=600", "simulate.formulation=index2", "simulate.tolerance=1e-3"}}};
    for (int k = 0; k < 2; ++k) compare("chain_swing", 0.05, variants + k, random_part());
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

/* Of another version, whatever else has changed with it: the name of the state has 16 bytes,
 * then come the format, the order of bytes and the version. */
static void test_another_version_is_refused(void **state)
{
    (void)state;
    trace x = {0};
    size_t size;
    unsigned char *bytes = save_pendulum(&x, &size);
    ga_model *model = read_variant("simple_pendulum", 1, &plain);
    ga_sim *sim = create(model, 1, &x);
    char version[24];
    assert_string_equal((char *)bytes + 24, GA_VERSION);
    memcpy(version, bytes + 24, sizeof version);
    memset(bytes + 24, '9', sizeof version);
    check_refused(sim, bytes, size, "999 (format");
    memcpy(bytes + 24, version, sizeof version);
    bytes[16] ^= 1;
    check_refused(sim, bytes, size, "saved by galpha " GA_VERSION " (format ");
    bytes[16] ^= 1;
    bytes[20] ^= 1;
    check_refused(sim, bytes, size, "another byte order");
    bytes[20] ^= 1;
    assert_int_equal(ga_sim_load(sim, bytes, size, NULL), GA_OK);
    ga_sim_destroy(sim);
    ga_model_destroy(model);
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

int main(int argc, char **argv)
{
    if (argc > 1 && strcmp(argv[1], "--continue") == 0) {
        continue_elsewhere(argc, argv);
        return 0;
    }
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_fixed_steps),
        cmocka_unit_test(test_error_modes),
        cmocka_unit_test(test_other_methods),
        cmocka_unit_test(test_damage_is_refused),
        cmocka_unit_test(test_another_is_refused),
        cmocka_unit_test(test_another_version_is_refused),
        cmocka_unit_test(test_later_end),
        cmocka_unit_test(test_threads),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
