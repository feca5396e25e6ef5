/* What a figure is made of: panels, and what was put into each. */
#ifndef GA_PLOT_FIGURE_H
#define GA_PLOT_FIGURE_H

#include "base/arena.h"
#include "plot/canvas.h"

#include <galpha/plot.h>

/* All defaults are filled in; colors are rgb. */
typedef struct ga_panel {
    ga_plot_panel def;
    int series_count, rule_count, span_count, slope_count, note_count;
    ga_plot_series *series;
    ga_plot_rule *rules;
    ga_plot_span *spans;
    ga_plot_slope *slopes;
    ga_plot_note *notes;
} ga_panel;

struct ga_figure {
    ga_arena arena; /* of everything below */
    ga_figure_def def;
    int panel_count;
    ga_panel *panels;
    ga_status status;  /* of what was added */
    ga_report refused; /* why, if a struct had another size */
};

/* Draws the figure; GA_OK or GA_ERR_MEMORY. */
ga_status ga_figure_draw(const ga_figure *figure, ga_canvas *canvas);
/* Width and height that the definition leaves open. */
void ga_figure_size(const ga_figure *figure, double *width, double *height);

#endif
