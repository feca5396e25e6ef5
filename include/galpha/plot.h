/* Figures: curves in panels with axes, written as SVG, PNG or PDF.
 *
 *     ga_figure *figure = ga_figure_create(&(ga_figure_def){
 *         .struct_size = sizeof(ga_figure_def), .title = "Heavy top"});
 *     int panel = ga_figure_panel(figure, &(ga_plot_panel){
 *         .struct_size = sizeof(ga_plot_panel),
 *         .x = {.label = "time", .unit = "s"},
 *         .y = {.label = "error", .unit = "m", .scale = GA_SCALE_LOG}});
 *     ga_figure_series(figure, panel, &(ga_plot_series){
 *         .struct_size = sizeof(ga_plot_series), .label = "index 3", .count = n,
 *         .x = t, .y = error});
 *     status = ga_figure_write(figure, "top.svg", &report);
 *     ga_figure_destroy(figure);
 *
 * Members that are 0 take their default. Lengths are in points, 1/72 inch. Data are
 * copied. If memory runs out, a panel does not exist, or a definition has the size of another
 * version, the figure remembers the error and ga_figure_write reports it, so intermediate calls
 * need no checks; a null figure counts as out of memory.
 *
 * Text is UTF-8. `x_{12}` and `10^{-3}` make sub- and superscripts; a backslash escapes `_`,
 * `^` and `\`. Hyphens become minus signs only in the numbers of axes.
 *
 * Output is reproducible byte for byte: it contains no time, path or version. The layout does
 * not depend on the fonts installed; SVG keeps text as text (DejaVu Sans, or Verdana, which has
 * the same width), PNG and PDF use DejaVu Sans of the system.
 */
#ifndef GALPHA_PLOT_H
#define GALPHA_PLOT_H

#include <galpha/status.h>
#include <stdbool.h>
#include <stddef.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef struct ga_figure ga_figure;

typedef enum ga_plot_scale { GA_SCALE_LINEAR, GA_SCALE_LOG } ga_plot_scale;

typedef enum ga_plot_line {
    GA_LINE_SOLID,
    GA_LINE_DASHED,
    GA_LINE_DOTTED,
    GA_LINE_DASH_DOT,
    GA_LINE_NONE
} ga_plot_line;

typedef enum ga_plot_marker {
    GA_MARKER_NONE,
    GA_MARKER_CIRCLE,
    GA_MARKER_SQUARE,
    GA_MARKER_TRIANGLE,
    GA_MARKER_DIAMOND,
    GA_MARKER_RING, /* an open circle */
    GA_MARKER_CROSS,
    GA_MARKER_PLUS,
    GA_MARKER_DOT
} ga_plot_marker;

/* The first seven are distinguishable with any kind of colour vision; automatic uses them in
 * turn, dashed from the eighth curve on. Any other: GA_COLOR_RGB(0xd55e00). */
enum {
    GA_COLOR_AUTOMATIC,
    GA_COLOR_BLUE,
    GA_COLOR_RED,
    GA_COLOR_GREEN,
    GA_COLOR_PURPLE,
    GA_COLOR_ORANGE,
    GA_COLOR_SKY,
    GA_COLOR_BLACK,
    GA_COLOR_GRAY,
    GA_COLOR_LIGHT
};
#define GA_COLOR_RGB(rgb) (0x1000000u | (rgb))

typedef enum ga_plot_legend {
    GA_LEGEND_AUTOMATIC, /* inside where it covers no data, otherwise outside */
    GA_LEGEND_NONE,
    GA_LEGEND_OUTSIDE, /* to the right of the panel */
    GA_LEGEND_TOP_LEFT,
    GA_LEGEND_TOP_RIGHT,
    GA_LEGEND_BOTTOM_LEFT,
    GA_LEGEND_BOTTOM_RIGHT
} ga_plot_legend;

typedef struct ga_figure_def {
    size_t struct_size;   /* sizeof(ga_figure_def) */
    double width, height; /* 0: 460 wide, as high as the panels need */
    const char *title;    /* above all panels */
    int columns;          /* panels fill rows from the left; 0: 1 */
    bool share_x;         /* same range in x; the lowest panel of a column has the labels */
    bool share_y;         /* same range in y; the first panel of a row has the labels */
    double dots_per_inch; /* of PNG; 0: 150 */
} ga_figure_def;

typedef struct ga_plot_axis {
    const char *label, *unit; /* "time (s)"; null: none */
    ga_plot_scale scale;
    double low, high; /* both 0: the range of the data */
} ga_plot_axis;

typedef struct ga_plot_panel {
    size_t struct_size; /* sizeof(ga_plot_panel) */
    const char *title;
    ga_plot_axis x, y, right; /* right: shown if a curve belongs to it */
    bool equal_aspect;        /* equal scales in x and y, for plane motions */
    ga_plot_legend legend;
    const char *legend_title;
} ga_plot_panel;

typedef struct ga_plot_series {
    size_t struct_size; /* sizeof(ga_plot_series) */
    const char *label;  /* in the legend; null: no entry */
    size_t count;
    const double *x,
        *y; /* values that are not finite, or not positive on a log axis, leave a gap */
    unsigned color;
    ga_plot_line line;
    double width;   /* of the line; 0: 1.5 */
    double opacity; /* 0: 1 */
    ga_plot_marker marker;
    double marker_size; /* 0: 5.5 */
    int marker_every;   /* 0: at all points, or at some of a line with many */
    bool right;         /* use the right axis */
} ga_plot_series;

typedef enum ga_plot_direction { GA_ALONG_X, GA_ALONG_Y } ga_plot_direction;

/* A line across the panel: GA_ALONG_X is horizontal, at y = `at`. */
typedef struct ga_plot_rule {
    size_t struct_size; /* sizeof(ga_plot_rule) */
    ga_plot_direction direction;
    double at;
    const char *label; /* beside the line; null: none */
    ga_plot_line line;
    unsigned color; /* automatic: gray */
} ga_plot_rule;

/* A shaded band over the whole panel: GA_ALONG_X from x = low to high. */
typedef struct ga_plot_span {
    size_t struct_size; /* sizeof(ga_plot_span) */
    ga_plot_direction direction;
    double low, high;
    const char *label; /* at its upper edge; null: none */
    unsigned color;    /* automatic: light gray */
} ga_plot_span;

/* A slope triangle in a log-log panel: y ~ x^order. */
typedef struct ga_plot_slope {
    size_t struct_size; /* sizeof(ga_plot_slope) */
    double order;
    double x, y; /* its lower left corner; 0: placed automatically beside the curves */
    unsigned color;
} ga_plot_slope;

/* Text at a point, with an arrow if it is offset. */
typedef struct ga_plot_note {
    size_t struct_size; /* sizeof(ga_plot_note) */
    double x, y;
    const char *text;
    double right, up; /* offset of the text from the point; both 0: beside it, no arrow */
    unsigned color;
    bool axes; /* x and y are fractions of the panel, not data */
} ga_plot_note;

/* Null if out of memory. */
GA_API ga_figure *ga_figure_create(const ga_figure_def *def);
/* Its number, from 0, for the functions below. */
GA_API int ga_figure_panel(ga_figure *figure, const ga_plot_panel *panel);
GA_API void ga_figure_series(ga_figure *figure, int panel, const ga_plot_series *series);
GA_API void ga_figure_rule(ga_figure *figure, int panel, const ga_plot_rule *rule);
GA_API void ga_figure_span(ga_figure *figure, int panel, const ga_plot_span *span);
GA_API void ga_figure_slope(ga_figure *figure, int panel, const ga_plot_slope *slope);
GA_API void ga_figure_note(ga_figure *figure, int panel, const ga_plot_note *note);

/* The name ends in .svg, .png or .pdf. GA_ERR_FILE if it cannot be written. */
GA_API ga_status ga_figure_write(const ga_figure *figure, const char *path, ga_report *report);
/* An <svg> element for a page: no ids, no XML declaration. Free with ga_text_free of
 * <galpha/model.h>. */
GA_API ga_status ga_figure_svg(const ga_figure *figure, char **text, ga_report *report);
GA_API void ga_figure_destroy(ga_figure *figure);

#ifdef __cplusplus
}
#endif
#endif
