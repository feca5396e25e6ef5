#include "plot/text.h"
#include "plot/view.h"

#include <math.h>

/* Beside a panel a legend takes at most this part of its width. */
static const double WIDEST_BESIDE = 0.4;
static const double SAMPLE = 20, SPACE = 6, PAD = 5, LEADING = 1.5, BETWEEN = 16;

void ga_legend_measure(const ga_panel *p, ga_legend_view *legend)
{
    const double size = GA_SIZE_LEGEND;
    *legend = (ga_legend_view){.size = size, .columns = 1};
    if (p->def.legend == GA_LEGEND_OUTSIDE) legend->side = GA_LEGEND_RIGHT;
    if (p->def.legend == GA_LEGEND_NONE) return;
    double width = 0;
    for (int k = 0; k < p->series_count; ++k) {
        if (!p->series[k].label) continue;
        ++legend->count;
        width = fmax(width, SAMPLE + SPACE + ga_text_width(p->series[k].label, size));
    }
    if (legend->count == 0) return;
    int lines = legend->count;
    if (p->def.legend_title) {
        ++lines;
        width = fmax(width, ga_text_width(p->def.legend_title, size));
    }
    legend->entry = width;
    legend->width = width + 2 * PAD;
    legend->height = lines * LEADING * size - (LEADING - 1) * size + 2 * PAD;
}

/* The title, or entry k. */
static const char *cell_text(const ga_panel *p, int k)
{
    return k < 0 ? p->def.legend_title : p->series[k].label;
}

static double cell_width(const ga_panel *p, int k, double size)
{
    return (k < 0 ? 0 : SAMPLE + SPACE) + ga_text_width(cell_text(p, k), size);
}

/* In columns above the panel, as many as fit. */
void ga_legend_stack(const ga_plot_panel *def, double width, ga_legend_view *legend)
{
    const int cells = legend->count + (def->legend_title ? 1 : 0);
    const int fit = (int)((width + BETWEEN) / (legend->entry + BETWEEN));
    legend->side = GA_LEGEND_ABOVE;
    legend->columns = fit < 1 ? 1 : fit > cells ? cells : fit;
    const int lines = (cells + legend->columns - 1) / legend->columns;
    legend->width = legend->columns * (legend->entry + BETWEEN) - BETWEEN;
    legend->height = lines * LEADING * legend->size + 3;
}

void ga_legend_leave(const ga_panel *p, double width, ga_legend_view *legend)
{
    const int cells = legend->count + (p->def.legend_title ? 1 : 0);
    double one_line = -BETWEEN;
    for (int k = -1; k < p->series_count; ++k)
        if (cell_text(p, k)) one_line += cell_width(p, k, legend->size) + BETWEEN;
    const int fit = (int)((width + BETWEEN) / (legend->entry + BETWEEN));
    legend->side = GA_LEGEND_ABOVE;
    if (one_line <= width) {
        legend->columns = cells;
        legend->entry = 0;
        legend->width = one_line;
        legend->height = LEADING * legend->size + 3;
    } else if (2 * fit >= cells) {
        legend->columns = (cells + 1) / 2;
        legend->width = legend->columns * (legend->entry + BETWEEN) - BETWEEN;
        legend->height = 2 * LEADING * legend->size + 3;
    } else if (legend->entry > WIDEST_BESIDE * width) {
        legend->width = legend->entry;
        legend->height = cells * LEADING * legend->size + 3;
    } else
        legend->side = GA_LEGEND_RIGHT;
}

void ga_marker_draw(ga_canvas *c, ga_plot_marker marker, double x, double y, double size)
{
    const double r = size / 2;
    switch (marker) {
    case GA_MARKER_NONE:
        break;
    case GA_MARKER_CIRCLE:
    case GA_MARKER_RING:
        c->type->circle(c, x, y, r);
        break;
    case GA_MARKER_DOT:
        c->type->circle(c, x, y, r / 2);
        break;
    case GA_MARKER_SQUARE: {
        const double a = 0.88 * r;
        c->type->move(c, x - a, y - a);
        c->type->line(c, x + a, y - a);
        c->type->line(c, x + a, y + a);
        c->type->line(c, x - a, y + a);
        c->type->close(c);
        break;
    }
    case GA_MARKER_TRIANGLE: {
        const double a = 1.15 * r;
        c->type->move(c, x, y - a);
        c->type->line(c, x + 0.9 * a, y + 0.6 * a);
        c->type->line(c, x - 0.9 * a, y + 0.6 * a);
        c->type->close(c);
        break;
    }
    case GA_MARKER_DIAMOND: {
        const double a = 1.2 * r;
        c->type->move(c, x, y - a);
        c->type->line(c, x + a, y);
        c->type->line(c, x, y + a);
        c->type->line(c, x - a, y);
        c->type->close(c);
        break;
    }
    case GA_MARKER_CROSS: {
        const double a = 0.8 * r;
        c->type->move(c, x - a, y - a);
        c->type->line(c, x + a, y + a);
        c->type->move(c, x - a, y + a);
        c->type->line(c, x + a, y - a);
        break;
    }
    case GA_MARKER_PLUS:
        c->type->move(c, x - r, y);
        c->type->line(c, x + r, y);
        c->type->move(c, x, y - r);
        c->type->line(c, x, y + r);
        break;
    }
}

/* Filled ones have a thin white edge, so that neighbours stay apart. */
void ga_markers_paint(ga_canvas *c, const ga_plot_series *s)
{
    ga_paint paint = {
        .opacity = s->opacity, .stroke = true, .stroke_rgb = s->color, .width = 1.3};
    if (s->marker == GA_MARKER_RING) {
        paint.fill = true;
        paint.fill_rgb = 0xffffff;
    } else if (s->marker != GA_MARKER_CROSS && s->marker != GA_MARKER_PLUS) {
        paint.fill = true;
        paint.fill_rgb = s->color;
        paint.stroke_rgb = 0xffffff;
        paint.width = 0.6;
    }
    c->type->paint(c, &paint);
}

static void draw_sample(ga_canvas *c, const ga_plot_series *s, double left, double y)
{
    if (s->line != GA_LINE_NONE) {
        c->type->move(c, left, y);
        c->type->line(c, left + SAMPLE, y);
        c->type->paint(c, &(ga_paint){.stroke = true,
                                      .stroke_rgb = s->color,
                                      .width = s->width,
                                      .opacity = s->opacity,
                                      .line = s->line});
    }
    if (s->marker != GA_MARKER_NONE) {
        ga_marker_draw(c, s->marker, left + SAMPLE / 2, y, s->marker_size);
        ga_markers_paint(c, s);
    }
}

static void draw_background(ga_canvas *c, const ga_box *b)
{
    ga_canvas_box(c, b);
    c->type->paint(c, &(ga_paint){.fill = true, .fill_rgb = 0xffffff, .opacity = 0.85});
    ga_canvas_box(c, b);
    c->type->paint(c, &(ga_paint){.stroke = true, .stroke_rgb = 0xcccccc, .width = 0.6});
}

/* Cells are filled line by line. */
void ga_legend_draw(const ga_view *v, ga_canvas *c)
{
    const ga_legend_view *legend = &v->legend;
    if (legend->count == 0) return;
    const ga_panel *p = v->panel;
    if (legend->side == GA_LEGEND_INSIDE) draw_background(c, &legend->place);
    const double pad = legend->side == GA_LEGEND_ABOVE ? 0 : PAD;
    const double left = legend->place.left + pad, baseline = GA_TEXT_CAPITAL / 2 * legend->size;
    double x = left, y = legend->place.top + pad + legend->size / 2;
    int column = 0;
    for (int k = -1; k < p->series_count; ++k) {
        if (!cell_text(p, k)) continue;
        if (k >= 0) draw_sample(c, &p->series[k], x, y);
        const ga_lettering how = {.x = x + (k < 0 ? 0 : SAMPLE + SPACE),
                                  .y = y + baseline,
                                  .size = legend->size,
                                  .rgb = GA_CANVAS_INK};
        c->type->text(c, &how, cell_text(p, k));
        x += (legend->entry > 0 ? legend->entry : cell_width(p, k, legend->size)) + BETWEEN;
        if (++column == legend->columns) column = 0, x = left, y += LEADING * legend->size;
    }
}
