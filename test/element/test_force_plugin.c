/* Plug-ins: loading, values, tangents by differences, energy, and every way to fail. */
#include "force_checks.h"

/* A world that may load plug-ins from anywhere. */
static ga_document document;

static world *plugin_world(uint64_t seed, int dimension)
{
    world *w = world_create(seed, dimension);
    document = (ga_document){.folder = ".", .include_anywhere = true, .allow_plugins = true};
    w->reader.document = &document;
    return w;
}

static void *plugin_of(world *w, const char *symbol, int bodies, int parameters)
{
    static const int nodes[] = {2, 0, 1};
    static const double numbers[] = {7, 3, 5};
    void *e = element_create(w, &ga_force_plugin);
    *(const char **)member(w, e, "library") = TEST_PLUGIN;
    *(const char **)member(w, e, "symbol") = symbol;
    *(ga_node_list *)member(w, e, "bodies") = (ga_node_list){bodies, nodes};
    *(ga_number_list *)member(w, e, "parameters") = (ga_number_list){parameters, numbers};
    return e;
}

static void test_spring(void **state)
{
    (void)state;
    world *w = plugin_world(3, 3);
    void *e = plugin_of(w, NULL, 2, 2);
    element_start(w, e);
    world_move(w, 0.5);
    check_tangent(w, e); /* its differences are good to 1e-9 */
    check_power(w, e);
    assert_true(ga_force_plugin.power(e, &w->state) == 0);
    double F[6];
    const ga_channel_type *channel = ga_force_plugin.channels;
    assert_int_equal(channel->size(e), 6);
    channel->value(e, &w->state, F);
    const ga_frame *a = &w->state.frames[2], *b = &w->state.frames[0];
    ga_vec3 v = ga_vec3_sub(ga_mat3_apply(b->R, ga_vec3_load(b->u)),
                            ga_mat3_apply(a->R, ga_vec3_load(a->u)));
    check_near(F[0], 7 * (b->x[0] - a->x[0]) + 3 * v.x, 1e-13);
    check_near(F[3], -F[0], 1e-13);
    ga_force_plugin.release(e);
    world_destroy(w);
}

/* Without energies, its power comes from outside. */
static void test_push(void **state)
{
    (void)state;
    world *w = plugin_world(3, 3);
    void *e = plugin_of(w, "bare", 1, 3);
    element_start(w, e);
    check_tangent(w, e);
    check_power(w, e);
    assert_true(ga_force_plugin.power(e, &w->state) != 0);
    double f[MAX_SIZE];
    force_of(w, e, f);
    check_near(f[0], exp(-0.3), 1e-15);
    assert_true(ga_force_plugin.next_break(e, 0) == 1);
    ga_force_plugin.release(e);
    world_destroy(w);
}

static void check_failure(const char *symbol, int bodies, int parameters, const char *words)
{
    world *w = plugin_world(1, 3);
    void *e = plugin_of(w, symbol, bodies, parameters);
    check_message(w, e, GA_SEVERITY_ERROR, words);
    ga_force_plugin.release(e);
    ga_force_plugin.release(e); /* twice does no harm */
    world_destroy(w);
}

static void test_messages(void **state)
{
    (void)state;
    check_failure("missing", 1, 0, "symbol: the library does not define missing");
    check_failure("other_version", 1, 0, "was built for version 2 of the plug-in interface");
    check_failure("empty", 1, 0, "has no function `force`");
    check_failure(NULL, 3, 2, "bodies: 3 given, the plug-in expects 2");
    check_failure(NULL, 2, 1, "parameters: 1 given, the plug-in expects 2");
    check_failure(NULL, 0, 2, "bodies: 0 bodies, expected 1 to 12");

    world *w = plugin_world(1, 3);
    const double negative[2] = {-1, 0};
    void *e = plugin_of(w, NULL, 2, 2);
    *(ga_number_list *)member(w, e, "parameters") = (ga_number_list){2, negative};
    check_message(w, e, GA_SEVERITY_ERROR, "parameters: stiffness -1 is negative");
    ga_force_plugin.release(e);

    /* A plain name is a file here, not a library of the system. */
    e = plugin_of(w, NULL, 2, 2);
    *(const char **)member(w, e, "library") = "libm.so.6";
    check_message(w, e, GA_SEVERITY_ERROR, "library: cannot be loaded: No such file");
    ga_force_plugin.release(e);
    e = plugin_of(w, NULL, 2, 2);
    *(const char **)member(w, e, "library") = "/dev/zero";
    check_message(w, e, GA_SEVERITY_ERROR, "library: cannot be loaded: is a device");
    ga_force_plugin.release(e);
    world_destroy(w);
}

/* Nothing is loaded without permission, from outside, or by preparing alone. */
static void test_admission(void **state)
{
    (void)state;
    world *w = plugin_world(1, 3);
    document.allow_plugins = false;
    check_message(w, plugin_of(w, NULL, 2, 2), GA_SEVERITY_ERROR,
                  "library: plug-ins run native code and are loaded only with "
                  "--allow-plugins");
    document.allow_plugins = true;
    document.include_anywhere = false;
    document.folder = "/usr";
    check_message(w, plugin_of(w, NULL, 2, 2), GA_SEVERITY_ERROR,
                  "library: is outside the folder of the model");
    document.folder = "/";
    void *e = plugin_of(w, NULL, 2, 2);
    assert_true(ga_force_plugin.prepare(e, &w->setup));
    ga_force_plugin.release(e);
    world_destroy(w);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_spring),
        cmocka_unit_test(test_push),
        cmocka_unit_test(test_messages),
        cmocka_unit_test(test_admission),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
