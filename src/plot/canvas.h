/* What drawings are made on. Points, y grows downwards. */
#ifndef GA_PLOT_CANVAS_H
#define GA_PLOT_CANVAS_H

#include "base/buffer.h"

#include <galpha/plot.h>

typedef struct ga_box {
    double left, top, right, bottom;
} ga_box;

typedef struct ga_paint {
    bool fill, stroke;
    unsigned fill_rgb, stroke_rgb;
    double opacity; /* of both; 0: 1 */
    double width;
    ga_plot_line line;
} ga_paint;

typedef enum ga_text_anchor { GA_ANCHOR_START, GA_ANCHOR_MIDDLE, GA_ANCHOR_END } ga_text_anchor;

typedef struct ga_lettering {
    double x, y; /* on the baseline */
    ga_text_anchor anchor;
    double size;
    unsigned rgb;
    bool upwards; /* reads from below to above */
    bool halo;    /* white around the letters */
} ga_lettering;

typedef struct ga_canvas ga_canvas;

/* A path is made by move, line, circle and close, painted once, and then forgotten. */
typedef struct ga_canvas_type {
    void (*move)(ga_canvas *canvas, double x, double y);
    void (*line)(ga_canvas *canvas, double x, double y);
    void (*circle)(ga_canvas *canvas, double x, double y, double radius);
    void (*close)(ga_canvas *canvas);
    void (*paint)(ga_canvas *canvas, const ga_paint *paint);
    void (*text)(ga_canvas *canvas, const ga_lettering *how, const char *text);
    /* Nothing is seen outside the box until unclip. */
    void (*clip)(ga_canvas *canvas, const ga_box *box);
    void (*unclip)(ga_canvas *canvas);
    /* Adds the picture to the bytes, and frees the canvas. */
    ga_status (*finish)(ga_canvas *canvas, ga_buffer *bytes, ga_report *report);
} ga_canvas_type;

struct ga_canvas {
    const ga_canvas_type *type;
};

/* Null if memory is out. */
ga_canvas *ga_canvas_svg(double width, double height, const char *title);
ga_canvas *ga_canvas_png(double width, double height, double dots_per_inch);
ga_canvas *ga_canvas_pdf(double width, double height);

/* Dash lengths in widths of the line; returns how many: 0 for a solid line. */
int ga_dashes(ga_plot_line line, double dash[4]);

#define GA_CANVAS_INK 0x222222u /* of letters */

/* Two points, or a rectangle, are added to the path. */
void ga_canvas_segment(ga_canvas *canvas, double x0, double y0, double x1, double y1);
void ga_canvas_box(ga_canvas *canvas, const ga_box *box);
/* Paints the path as a solid line. */
void ga_canvas_stroke(ga_canvas *canvas, unsigned rgb, double width);
void ga_canvas_text(ga_canvas *canvas, double x, double y, ga_text_anchor anchor, double size,
                    const char *text);

#endif
