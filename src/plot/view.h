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
#define GA_INK 0x222222

typedef struct ga_legend_view {
    int count; /* entries; 0: no legend */
    bool outside;
    double size; /* of the letters */
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

/* Size of the legend of a panel, for letters of this size. */
void ga_legend_measure(const ga_panel *panel, double size, ga_legend_view *legend);
void ga_legend_draw(const ga_view *view, ga_canvas *canvas);
void ga_marker_draw(ga_canvas *canvas, ga_plot_marker marker, double x, double y, double size);
void ga_markers_paint(ga_canvas *canvas, const ga_plot_series *series);

/* Draws a panel with all that is in it. GA_OK or GA_ERR_MEMORY. */
ga_status ga_view_draw(ga_view *view, ga_canvas *canvas);
/* Puts the legend inside where it covers nothing, or says that it must go outside. */
ga_status ga_view_place_legend(ga_view *view);

#endif
