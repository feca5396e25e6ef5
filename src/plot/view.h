/* A panel on paper: where its axes are, and what stands around them. */
#ifndef GA_PLOT_VIEW_H
#define GA_PLOT_VIEW_H

#include "plot/figure.h"
#include "plot/scale.h"

/* Sizes in points; one place for the look of all figures. */
#define GA_SIZE_FIGURE_TITLE 13.0
#define GA_SIZE_TITLE 11.0
#define GA_SIZE_LABEL 10.0
#define GA_SIZE_TICK 9.0
#define GA_SIZE_LEGEND 9.0
#define GA_SIZE_NOTE 9.0
#define GA_TICK_MAJOR 3.5
#define GA_TICK_MINOR 2.0
#define GA_LABEL_GAP 3.0 /* between ticks and their labels */
#define GA_OUTER_GAP 5.0 /* around the figure */

typedef enum ga_legend_side {
    GA_LEGEND_INSIDE,
    GA_LEGEND_ABOVE,
    GA_LEGEND_RIGHT
} ga_legend_side;

typedef struct ga_legend_view {
    int count; /* entries; 0: no legend */
    ga_legend_side side;
    int columns;
    double size;  /* of the letters */
    double entry; /* width of a column; 0: each entry has its own */
    double width, height;
    ga_box place;
} ga_legend_view;

typedef struct ga_view {
    const ga_panel *panel;
    int row, column;
    ga_box box; /* of the axes */
    ga_axis x, y, right;
    ga_ticks ticks_x, ticks_y, ticks_right;
    bool has_right;
    bool labels_x, labels_y; /* not if a neighbour has the same */
    double margin_left, margin_right, margin_top, margin_bottom;
    ga_legend_view legend;
} ga_view;

/* Ranges of the axes, from the data and from what neighbours share. */
void ga_views_ranges(const ga_figure *figure, ga_view *views);
/* Boxes and ticks, given which legends are outside. */
void ga_views_arrange(const ga_figure *figure, ga_view *views);

/* "time (s)", or "" */
void ga_axis_title(const ga_plot_axis *axis, char *text, size_t size);
/* The size at which a text is no longer than it may be, at most `size`. */
double ga_fit_size(const char *text, double size, double longest);
/* An axis label is at most this long, with its unit; more is cut off. */
enum { GA_AXIS_TITLE_SIZE = 256 };
/* Ends a text with an ellipsis where it would be longer. */
void ga_cut_text(char *text, double size, double longest);

/* Counts and measures, as one column. */
void ga_legend_measure(const ga_panel *panel, ga_legend_view *legend);
/* Chooses a side outside: above if that takes no more than two lines of this width. */
void ga_legend_leave(const ga_panel *panel, double width, ga_legend_view *legend);
void ga_legend_stack(const ga_plot_panel *def, double width, ga_legend_view *legend);
void ga_legend_draw(const ga_view *view, ga_canvas *canvas);
void ga_marker_draw(ga_canvas *canvas, ga_plot_marker marker, double x, double y, double size);
void ga_markers_paint(ga_canvas *canvas, const ga_plot_series *series);

/* Numbers share a factor that stands above the panel. */
bool ga_view_has_factor(const ga_view *view);
/* x, or the nearer of a and b, in any order. */
double ga_between(double x, double a, double b);
/* The part of a band within the panel. */
ga_box ga_span_box(const ga_view *view, const ga_plot_span *span);
/* Where a rule crosses its axis; false if not within the panel. */
bool ga_rule_place(const ga_view *view, const ga_plot_rule *rule, double *at);

void ga_grid_draw(const ga_view *view, ga_canvas *canvas);
void ga_axes_draw(const ga_view *view, ga_canvas *canvas);
/* Draws a panel with all that is in it. GA_OK or GA_ERR_MEMORY. */
ga_status ga_view_draw(ga_view *view, ga_canvas *canvas);
/* Puts the legend inside where it covers nothing, or chooses a side outside, for which the
 * views must be arranged again. */
ga_status ga_view_place_legend(ga_view *view);

#endif
