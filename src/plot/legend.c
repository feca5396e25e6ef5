#include "plot/text.h"
#include "plot/view.h"

#include <math.h>

static const double SAMPLE = 20, SPACE = 6, PAD = 5, LEADING = 1.5;

void ga_legend_measure(const ga_panel *p, double size, ga_legend_view *legend)
{
    double width = 0;
    legend->count = 0;
    legend->size = size;
    legend->outside = p->def.legend == GA_LEGEND_OUTSIDE;
    if (p->def.legend == GA_LEGEND_NONE) return;
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
    legend->width = width + 2 * PAD;
    legend->height = lines * LEADING * size - (LEADING - 1) * size + 2 * PAD;
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
    c->type->move(c, b->left, b->top);
    c->type->line(c, b->right, b->top);
    c->type->line(c, b->right, b->bottom);
    c->type->line(c, b->left, b->bottom);
    c->type->close(c);
    c->type->paint(c, &(ga_paint){.fill = true, .fill_rgb = 0xffffff, .opacity = 0.85});
    c->type->move(c, b->left, b->top);
    c->type->line(c, b->right, b->top);
    c->type->line(c, b->right, b->bottom);
    c->type->line(c, b->left, b->bottom);
    c->type->close(c);
    c->type->paint(c, &(ga_paint){.stroke = true, .stroke_rgb = 0xcccccc, .width = 0.6});
}

void ga_legend_draw(const ga_view *v, ga_canvas *c)
{
    const ga_legend_view *legend = &v->legend;
    if (legend->count == 0) return;
    const ga_panel *p = v->panel;
    if (!legend->outside) draw_background(c, &legend->place);
    const double left = legend->place.left + PAD, line = LEADING * legend->size;
    double y = legend->place.top + PAD + legend->size / 2;
    const double baseline = GA_TEXT_CAPITAL / 2 * legend->size;
    if (p->def.legend_title) {
        c->type->text(
            c,
            &(ga_lettering){.x = left, .y = y + baseline, .size = legend->size, .rgb = GA_INK},
            p->def.legend_title);
        y += line;
    }
    for (int k = 0; k < p->series_count; ++k) {
        if (!p->series[k].label) continue;
        draw_sample(c, &p->series[k], left, y);
        c->type->text(c,
                      &(ga_lettering){.x = left + SAMPLE + SPACE,
                                      .y = y + baseline,
                                      .size = legend->size,
                                      .rgb = GA_INK},
                      p->series[k].label);
        y += line;
    }
}
