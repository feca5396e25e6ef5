/* A figure with some of everything in it. */
#ifndef GA_TEST_PLOT_SAMPLE_H
#define GA_TEST_PLOT_SAMPLE_H

#include <galpha/plot.h>
#include <math.h>

static ga_figure *make_sample(void)
{
    static const double x[] = {1, 2, 3, 4}, y[] = {1, 0.3, NAN, 0.05};
    ga_figure *f = ga_figure_create(
        &(ga_figure_def){.struct_size = sizeof(ga_figure_def), .title = "a < b & \"c\""});
    for (int n = 0; n < 2; ++n) {
        const int p = ga_figure_panel(
            f, &(ga_plot_panel){.struct_size = sizeof(ga_plot_panel),
                                .title = "panel",
                                .x = {.label = "time", .unit = "s", .scale = GA_SCALE_LOG},
                                .y = {.label = "e_{1}", .scale = GA_SCALE_LOG}});
        ga_figure_series(f, p,
                         &(ga_plot_series){.struct_size = sizeof(ga_plot_series),
                                           .label = "<script>",
                                           .count = 4,
                                           .x = x,
                                           .y = y,
                                           .marker = GA_MARKER_CIRCLE});
        ga_figure_series(f, p,
                         &(ga_plot_series){.struct_size = sizeof(ga_plot_series),
                                           .label = "two",
                                           .count = 4,
                                           .x = x,
                                           .y = x,
                                           .right = n == 1});
        ga_figure_rule(f, p,
                       &(ga_plot_rule){.struct_size = sizeof(ga_plot_rule),
                                       .direction = GA_ALONG_X,
                                       .at = 0.1,
                                       .label = "r"});
        ga_figure_span(f, p,
                       &(ga_plot_span){.struct_size = sizeof(ga_plot_span),
                                       .direction = GA_ALONG_Y,
                                       .low = 0.1,
                                       .high = 0.2,
                                       .label = "s"});
        ga_figure_slope(f, p,
                        &(ga_plot_slope){.struct_size = sizeof(ga_plot_slope), .order = 2});
        ga_figure_note(
            f, p,
            &(ga_plot_note){
                .struct_size = sizeof(ga_plot_note), .x = 2, .y = 0.3, .text = "n", .up = 20});
    }
    return f;
}

#endif
