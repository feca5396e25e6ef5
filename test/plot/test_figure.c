/* Whole figures: the same bytes every time, clear refusals, no leak when memory runs out. */
#include "test/plot/sample.h"
#include "test/support/allocations.h"
#include "test/support/unit.h"

#include <galpha/model.h>
#include <galpha/plot.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

static char *svg_of(const ga_figure *figure)
{
    char *text = NULL;
    ga_report report;
    assert_int_equal(ga_figure_svg(figure, &text, &report), GA_OK);
    return text;
}

static void same_bytes(void **state)
{
    (void)state;
    ga_figure *one = make_sample(), *two = make_sample();
    char *a = svg_of(one), *b = svg_of(two), *again = svg_of(one);
    assert_string_equal(a, b);
    assert_string_equal(a, again);
    ga_text_free(a), ga_text_free(b), ga_text_free(again);
    ga_figure_destroy(one), ga_figure_destroy(two);
}

static void text_is_escaped(void **state)
{
    (void)state;
    ga_figure *f = make_sample();
    char *text = svg_of(f);
    assert_null(strstr(text, "<script>"));
    assert_non_null(strstr(text, "&lt;script&gt;"));
    assert_non_null(strstr(text, "aria-label=\"a &lt; b &amp; &quot;c&quot;\""));
    assert_non_null(strstr(text, "<tspan")); /* the index of e */
    assert_null(strstr(text, " id="));
    assert_null(strstr(text, "nan"));
    ga_text_free(text);
    ga_figure_destroy(f);
}

static void refusals(void **state)
{
    (void)state;
    ga_report report;
    char *text = NULL;
    ga_figure *f = make_sample();
    assert_int_equal(ga_figure_write(f, "picture.jpg", &report), GA_ERR_ARGUMENT);
    assert_non_null(strstr(report.message, ".svg, .png or .pdf"));
    assert_int_equal(ga_figure_write(f, "no/such/folder/picture.svg", &report), GA_ERR_FILE);
    assert_non_null(strstr(report.message, "no/such/folder/picture.svg: "));
    assert_int_equal(ga_figure_write(f, "/dev/full/a.svg", NULL), GA_ERR_FILE);
    assert_int_equal(ga_figure_write(NULL, "picture.svg", &report), GA_ERR_MEMORY);
    ga_figure_series(f, 7, &(ga_plot_series){.struct_size = sizeof(ga_plot_series)});
    assert_int_equal(ga_figure_svg(f, &text, &report), GA_ERR_ARGUMENT);
    assert_null(text);
    ga_figure_destroy(f);
    ga_figure_destroy(NULL);

    f = ga_figure_create(
        &(ga_figure_def){.struct_size = sizeof(ga_figure_def), .width = 1e6, .height = 10});
    assert_int_equal(ga_figure_svg(f, &text, &report), GA_ERR_ARGUMENT);
    ga_figure_destroy(f);
}

/* Figures with nothing, or hardly anything, in them are pictures all the same. */
static void little(void **state)
{
    (void)state;
    ga_figure *f = ga_figure_create(&(ga_figure_def){.struct_size = sizeof(ga_figure_def)});
    ga_text_free(svg_of(f));
    int p = ga_figure_panel(f, &(ga_plot_panel){.struct_size = sizeof(ga_plot_panel),
                                                .x = {.scale = GA_SCALE_LOG}});
    ga_text_free(svg_of(f));
    const double nothing = NAN, zero = 0;
    ga_figure_series(f, p,
                     &(ga_plot_series){.struct_size = sizeof(ga_plot_series), .label = "none"});
    ga_figure_series(f, p,
                     &(ga_plot_series){.struct_size = sizeof(ga_plot_series),
                                       .label = "nan",
                                       .count = 1,
                                       .x = &nothing,
                                       .y = &zero});
    ga_figure_series(f, p,
                     &(ga_plot_series){.struct_size = sizeof(ga_plot_series),
                                       .label = "log",
                                       .count = 1,
                                       .x = &zero,
                                       .y = &zero});
    ga_figure_rule(
        f, p, &(ga_plot_rule){.struct_size = sizeof(ga_plot_rule), .at = NAN, .label = "none"});
    ga_figure_span(
        f, p,
        &(ga_plot_span){
            .struct_size = sizeof(ga_plot_span), .low = NAN, .high = NAN, .label = "none"});
    ga_figure_note(
        f, p,
        &(ga_plot_note){.struct_size = sizeof(ga_plot_note), .x = NAN, .y = 0, .text = "none"});
    ga_figure_slope(f, p, &(ga_plot_slope){.struct_size = sizeof(ga_plot_slope), .order = NAN});
    char *text = svg_of(f);
    assert_null(strstr(text, "nan\""));
    ga_text_free(text);
    ga_figure_destroy(f);

    f = ga_figure_create(&(ga_figure_def){
        .struct_size = sizeof(ga_figure_def), .width = 30, .height = 20, .columns = 5});
    for (int k = 0; k < 7; ++k)
        ga_figure_panel(
            f, &(ga_plot_panel){.struct_size = sizeof(ga_plot_panel), .title = "small"});
    ga_text_free(svg_of(f));
    ga_figure_destroy(f);
}

/* The k-th allocation fails, for every k: an answer of "out of memory", and no leak. */
static void every_allocation_fails(void **state)
{
    (void)state;
    if (!in_front()) skip();
    bool done = false;
    for (long k = 1; !done; ++k) {
        ga_report report = {0};
        char *text = NULL;
        start_counting(k, false);
        ga_figure *f = make_sample();
        const ga_status status = ga_figure_svg(f, &text, &report);
        stop_counting();
        done = watch.failed == 0;
        assert_int_equal(status, done ? GA_OK : GA_ERR_MEMORY);
        assert_true(done == (text != NULL));
        ga_text_free(text);
        ga_figure_destroy(f);
        assert_int_equal(watch.live, 0);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(same_bytes),
        cmocka_unit_test(text_is_escaped),
        cmocka_unit_test(refusals),
        cmocka_unit_test(little),
        cmocka_unit_test(every_allocation_fails),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
