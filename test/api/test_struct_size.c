/* Structs of another size, as an older or newer program would pass them, are refused with a
 * sentence; so are those that no default function has filled. */
#include "test/api/examples.h"

#include <galpha/converge.h>
#include <galpha/page.h>
#include <galpha/plot.h>
#include <galpha/spectrum.h>
#include <math.h>
#include <string.h>

static void expect_refusal(ga_status status, const ga_report *report, const char *name)
{
    assert_int_equal(status, GA_ERR_ARGUMENT);
    assert_non_null(strstr(report->message, name));
    assert_non_null(strstr(report->message, "headers of this version"));
}

static const size_t sizes[] = {0, 8, 100000};

static void test_sim(void **state)
{
    (void)state;
    const char *set = "simulate.t_end=0.01";
    ga_model *model = read_example("simple_pendulum", 1, &set);
    for (int k = 0; k < 3; ++k) {
        ga_report report = {0};
        ga_sim *sim = NULL;
        ga_sim_def def = ga_sim_def_of(model);
        def.struct_size = sizes[k];
        expect_refusal(ga_sim_create(model, &def, &sim, NULL, &report), &report, "ga_sim_def");
        assert_null(sim);
        def = ga_sim_def_of(model);
        def.integrator.struct_size = sizes[k];
        expect_refusal(ga_sim_create(model, &def, &sim, NULL, &report), &report,
                       "ga_integrator_def");
        ga_converge_def study = ga_converge_def_of(model);
        ga_converge *result = NULL;
        study.struct_size = sizes[k];
        expect_refusal(ga_converge_run(model, &study, &result, NULL, &report), &report,
                       "ga_converge_def");
    }
    ga_model_destroy(model);
}

static void test_limits(void **state)
{
    (void)state;
    ga_model *model = read_example("stop", 0, NULL);
    int joint = 0;
    while (strcmp(ga_model_get_entry(model, joint).section, "joints") != 0) ++joint;
    ga_model_limits limits = {.struct_size = sizeof limits};
    assert_int_equal(ga_model_entry_limits(model, joint, 0, &limits), 1);
    assert_string_equal(limits.coordinate, "angle");
    assert_string_equal(limits.unit, "rad");
    assert_string_equal(limits.model, "stop");
    assert_true(fabs(limits.min + 0.5235987755982988) < 1e-15 && limits.restitution == 0.4);
    assert_int_equal(ga_model_entry_limits(model, joint, 1, &limits), -1);
    assert_int_equal(ga_model_entry_limits(model, joint, -1, &limits), -1);
    for (int k = 0; k < 3; ++k) {
        limits.struct_size = sizes[k];
        assert_int_equal(ga_model_entry_limits(model, joint, 0, &limits), -1);
    }
    ga_model_destroy(model);
}

static ga_eval one(void *user, const ga_point *at, double *M)
{
    (void)user, (void)at;
    M[0] = 1;
    return GA_EVAL_OK;
}

static void test_integrator(void **state)
{
    (void)state;
    const ga_node line = GA_NODE(GA_GROUP_RN, 1);
    const ga_system system = {.struct_size = sizeof(ga_system),
                              .node_count = 1,
                              .nodes = &line,
                              .mass = one,
                              .force = one};
    const double q = 0, v = 0;
    for (int k = 0; k < 3; ++k) {
        ga_report report = {0};
        ga_integrator *g = NULL;
        ga_integrator_def def = ga_integrator_def_default();
        def.struct_size = sizes[k];
        expect_refusal(ga_integrator_create(&system, &def, &g, &report), &report,
                       "ga_integrator_def");
        def = ga_integrator_def_default();
        assert_int_equal(ga_integrator_create(&system, &def, &g, &report), GA_OK);
        ga_simulation run = ga_simulation_default();
        run.t_end = 1;
        run.struct_size = sizes[k];
        expect_refusal(ga_integrator_simulate(g, 0, &q, &v, &run, &report), &report,
                       "ga_simulation");
        ga_integrator_destroy(g);
        ga_system other = system;
        other.struct_size = sizes[k];
        def = ga_integrator_def_default();
        expect_refusal(ga_integrator_create(&other, &def, &g, &report), &report, "ga_system");
        assert_null(g);
        expect_refusal(ga_system_validate(&other, &report), &report, "sizeof(ga_system)");
        const ga_derivative_check_def check = {sizes[k], 0, {0, &q, &v, NULL, NULL, NULL}};
        ga_derivative_check found;
        expect_refusal(ga_system_check(&system, &check, &found, &report), &report,
                       "ga_derivative_check_def");
        ga_node wrong = line;
        wrong.struct_size = sizes[k];
        other = system;
        other.nodes = &wrong;
        expect_refusal(ga_integrator_create(&other, &def, &g, &report), &report, "ga_node");
        expect_refusal(ga_system_validate(&other, &report), &report, "sizeof(ga_node)");
        assert_int_equal(ga_node_nq(wrong), 0);
        def.coefficients.struct_size = sizes[k];
        expect_refusal(ga_integrator_create(&system, &def, &g, &report), &report,
                       "ga_coefficients");
        assert_null(g);
        expect_refusal(ga_coefficients_check(&def.coefficients, &report), &report,
                       "sizeof(ga_coefficients)");
        ga_spectrum_point point;
        expect_refusal(ga_spectrum_at(&def.coefficients, 0, 0.1, &point, &report), &report,
                       "ga_coefficients");
    }
    /* nodes of a program from before they had a size: a group and a number each */
    const int before[8] = {GA_GROUP_RN, 1, GA_GROUP_RN, 1, GA_GROUP_RN, 1, GA_GROUP_RN, 1};
    ga_node node;
    memcpy(&node, before, sizeof node);
    ga_system older = system;
    older.nodes = &node;
    ga_report report = {0};
    expect_refusal(ga_system_validate(&older, &report), &report, "ga_node");
}

/* Of a figure whose structs, one after the other, have a size that is none. */
static void test_figures(void **state)
{
    (void)state;
    static const char *const names[] = {"",
                                        "ga_figure_def",
                                        "ga_plot_panel",
                                        "ga_plot_series",
                                        "ga_plot_rule",
                                        "ga_plot_span",
                                        "ga_plot_slope",
                                        "ga_plot_note"};
    const double x[] = {1, 2};
    for (int wrong = 0; wrong < 8; ++wrong)
        for (int k = 0; k < 3; ++k) {
#define SIZE(place, type) (wrong == (place) ? sizes[k] : sizeof(type))
            ga_figure *f =
                ga_figure_create(&(ga_figure_def){.struct_size = SIZE(1, ga_figure_def)});
            const int panel =
                ga_figure_panel(f, &(ga_plot_panel){.struct_size = SIZE(2, ga_plot_panel)});
            ga_figure_series(
                f, panel,
                &(ga_plot_series){
                    .struct_size = SIZE(3, ga_plot_series), .count = 2, .x = x, .y = x});
            ga_figure_rule(f, panel, &(ga_plot_rule){.struct_size = SIZE(4, ga_plot_rule)});
            ga_figure_span(f, panel,
                           &(ga_plot_span){.struct_size = SIZE(5, ga_plot_span), .high = 1});
            ga_figure_slope(f, panel, &(ga_plot_slope){.struct_size = SIZE(6, ga_plot_slope)});
            ga_figure_note(f, panel, &(ga_plot_note){.struct_size = SIZE(7, ga_plot_note)});
            ga_report report = {0};
            char *text = NULL;
            const ga_status status = ga_figure_svg(f, &text, &report);
            if (wrong)
                expect_refusal(status, &report, names[wrong]);
            else
                assert_int_equal(status, GA_OK);
            ga_text_free(text);
            ga_figure_destroy(f);
        }
}

static void test_model(void **state)
{
    (void)state;
    const char text[] = "galpha: 1\nbodies: {a: {mass: 1, inertia: [1, 1, 1]}}\n";
    ga_model *model = NULL;
    for (int k = 0; k < 3; ++k) {
        ga_model_options options = ga_model_options_default();
        options.struct_size = sizes[k];
        ga_messages *messages = ga_messages_create();
        ga_report report = {0};
        ga_status status = ga_model_parse("a", text, strlen(text), &options, &model, messages);
        assert_null(model);
        ga_messages_format(messages, 0, report.message, sizeof report.message);
        expect_refusal(status, &report, "ga_model_options");
        status = ga_model_read("no_such_file.yaml", &options, &model, NULL);
        assert_int_equal(status, GA_ERR_ARGUMENT);
        assert_null(model);
        ga_messages_destroy(messages);
    }
    const ga_model_options options = ga_model_options_default();
    assert_int_equal(ga_model_parse("a", text, strlen(text), &options, &model, NULL), GA_OK);
    ga_model_destroy(model);
}

static void test_draft(void **state)
{
    (void)state;
    const ga_property mass = {.struct_size = sizeof mass - 8, .name = "mass", .count = -1};
    const ga_property list[] = {mass, {0}};
    for (int k = 0; k < 2; ++k) {
        ga_draft *draft = ga_draft_create();
        ga_model *model = NULL;
        ga_messages *messages = ga_messages_create();
        ga_report report = {0};
        assert_int_equal(k ? ga_draft_set(draft, &mass)
                           : ga_draft_add(draft, "bodies", "a", list),
                         GA_ERR_ARGUMENT);
        const ga_status status = ga_draft_finish(draft, &model, messages);
        ga_messages_format(messages, 0, report.message, sizeof report.message);
        expect_refusal(status, &report, "ga_property");
        ga_messages_destroy(messages);
    }
}

/* A program that was compiled when structs were smaller: the library writes nothing beyond
 * them, and refuses them. */
static void test_older_program(void **state)
{
    (void)state;
    const char *set = "simulate.t_end=0.01";
    ga_model *model = read_example("simple_pendulum", 1, &set);
    union {
        size_t struct_size;
        unsigned char bytes[2000];
        ga_sim_def sim;
        ga_converge_def converge;
        ga_integrator_def integrator;
        ga_simulation simulation;
        ga_model_options options;
        ga_result_def result;
        ga_page_def page;
    } def;
    ga_report report = {0};
    ga_sim *sim = NULL;
    for (int k = 0; k < 7; ++k) {
        memset(&def, 0x55, sizeof def);
        const size_t size = 16;
        switch (k) {
        case 0:
            ga_sim_def_fill(model, &def.sim, size);
            break;
        case 1:
            ga_converge_def_fill(model, &def.converge, size);
            break;
        case 2:
            ga_integrator_def_fill(&def.integrator, size);
            break;
        case 3:
            ga_simulation_fill(&def.simulation, size);
            break;
        case 4:
            ga_model_options_fill(&def.options, size);
            break;
        case 5:
            ga_result_def_fill(&def.result, size);
            break;
        default:
            ga_page_def_fill(&def.page, size);
        }
        assert_int_equal(def.struct_size, size);
        for (size_t i = size; i < sizeof def; ++i) assert_int_equal(def.bytes[i], 0x55);
        if (k == 0)
            expect_refusal(ga_sim_create(model, &def.sim, &sim, NULL, &report), &report,
                           "ga_sim_def");
    }
    ga_model_destroy(model);
}

static void test_files(void **state)
{
    (void)state;
    for (int k = 0; k < 3; ++k) {
        ga_report report = {0};
        ga_result *result = NULL;
        ga_result_def contents = ga_result_def_default();
        contents.struct_size = sizes[k];
        expect_refusal(ga_result_create_with("no_folder/r.csv", GA_RESULT_CSV, &contents,
                                             &result, &report),
                       &report, "ga_result_def");
        expect_refusal(ga_result_create_after("no_folder/r.csv", GA_RESULT_CSV, &contents,
                                              "no_folder/s.csv", 1, NULL, &result, &report),
                       &report, "ga_result_def");
        ga_result_sums sums = ga_result_sums_none();
        sums.struct_size = sizes[k];
        ga_result_sums_add(&sums, 1, NULL, 0);
        assert_true(sums.times == 0);
        contents.struct_size = sizeof contents;
        expect_refusal(ga_result_create_after("no_folder/r.csv", GA_RESULT_CSV, &contents,
                                              "no_folder/s.csv", 1, &sums, &result, &report),
                       &report, "ga_result_sums");
        assert_null(result);
        const ga_attribute wrong[] = {{sizes[k] + 1, "a", "b", 0}};
        ga_channel x = {.struct_size = sizes[k], .name = "x", .unit = "m", .count = 1};
        expect_refusal(
            ga_result_create("no_folder/r.csv", GA_RESULT_CSV, 1, &x, NULL, &result, &report),
            &report, "ga_channel");
        assert_null(result);
        x.struct_size = sizeof x;
        assert_int_equal(
            ga_result_create("struct_size.csv", GA_RESULT_CSV, 1, &x, NULL, &result, NULL),
            GA_OK);
        expect_refusal(ga_result_close(result, wrong, &report), &report, "ga_attribute");
        result = NULL;
        ga_page_def page = ga_page_def_default();
        page.struct_size = sizes[k];
        expect_refusal(ga_page_write("no_folder/p.html", 0, NULL, &page, NULL, &report),
                       &report, "ga_page_def");
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_sim),           cmocka_unit_test(test_integrator),
        cmocka_unit_test(test_model),         cmocka_unit_test(test_files),
        cmocka_unit_test(test_figures),       cmocka_unit_test(test_draft),
        cmocka_unit_test(test_older_program), cmocka_unit_test(test_limits)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
