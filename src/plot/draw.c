/* Draws panels from back to front: bands, grid, rules, curves, frame with ticks and labels,
 * markers, captions, legend. Legends look at a map of what is taken.
 */
#include "base/memory.h"
#include "base/report.h"
#include "plot/captions.h"
#include "plot/cover.h"
#include "plot/curve.h"
#include "plot/view.h"

#include <math.h>

/* Bands, rules, curves -------------------------------------------------------------------- */

static void draw_spans(const ga_view *v, ga_canvas *c)
{
    for (int k = 0; k < v->panel->span_count; ++k) {
        const ga_plot_span *s = &v->panel->spans[k];
        const ga_box b = ga_span_box(v, s);
        if (b.right - b.left <= 0 || b.bottom - b.top <= 0) continue;
        ga_canvas_box(c, &b);
        c->type->paint(c, &(ga_paint){.fill = true, .fill_rgb = s->color, .opacity = 0.25});
    }
}

static void add_move(void *user, double x, double y)
{
    ga_canvas *c = user;
    c->type->move(c, x, y);
}

static void add_line(void *user, double x, double y)
{
    ga_canvas *c = user;
    c->type->line(c, x, y);
}

typedef struct marker_pen {
    ga_canvas *canvas;
    const ga_plot_series *series;
} marker_pen;

static void add_marker(void *user, double x, double y)
{
    const marker_pen *pen = user;
    ga_marker_draw(pen->canvas, pen->series->marker, x, y, pen->series->marker_size);
}

static void draw_series(const ga_view *v, ga_canvas *c, const ga_plot_series *s)
{
    const ga_axis *y = s->right ? &v->right : &v->y;
    if (s->line == GA_LINE_NONE) return;
    const ga_strokes strokes = {add_move, add_line, c};
    ga_curve_trace(s, &v->x, y, &v->box, &strokes);
    c->type->paint(c, &(ga_paint){.stroke = true,
                                  .stroke_rgb = s->color,
                                  .width = s->width,
                                  .opacity = s->opacity,
                                  .line = s->line});
}

/* Over the frame, so that none is cut in half at the edge. */
static void draw_markers(const ga_view *v, ga_canvas *c, const ga_plot_series *s)
{
    if (s->marker == GA_MARKER_NONE) return;
    marker_pen pen = {c, s};
    ga_curve_markers(s, &v->x, s->right ? &v->right : &v->y, &v->box, add_marker, &pen);
    ga_markers_paint(c, s);
}

static void draw_rules(const ga_view *v, ga_canvas *c)
{
    for (int k = 0; k < v->panel->rule_count; ++k) {
        const ga_plot_rule *r = &v->panel->rules[k];
        const bool along_x = r->direction == GA_ALONG_X;
        double at;
        if (!ga_rule_place(v, r, &at)) continue;
        if (along_x)
            ga_canvas_segment(c, v->box.left, at, v->box.right, at);
        else
            ga_canvas_segment(c, at, v->box.top, at, v->box.bottom);
        c->type->paint(
            c,
            &(ga_paint){.stroke = true, .stroke_rgb = r->color, .width = 1, .line = r->line});
    }
}

/* The map of what is taken ---------------------------------------------------------------- */

typedef struct mapper {
    ga_cover *cover;
    double x, y, half;
} mapper;

static void map_move(void *user, double x, double y)
{
    mapper *m = user;
    m->x = x, m->y = y;
}

static void map_line(void *user, double x, double y)
{
    mapper *m = user;
    ga_cover_stroke(m->cover, m->x, m->y, x, y);
    map_move(user, x, y);
}

static void map_marker(void *user, double x, double y)
{
    const mapper *m = user;
    ga_cover_box(m->cover, &(ga_box){x - m->half, y - m->half, x + m->half, y + m->half});
}

static void map_series(const ga_view *v, ga_cover *cover)
{
    for (int k = 0; k < v->panel->series_count; ++k) {
        const ga_plot_series *s = &v->panel->series[k];
        const ga_axis *y = s->right ? &v->right : &v->y;
        mapper m = {.cover = cover, .half = s->marker_size / 2};
        const ga_strokes strokes = {map_move, map_line, &m};
        if (s->line != GA_LINE_NONE) ga_curve_trace(s, &v->x, y, &v->box, &strokes);
        if (s->marker != GA_MARKER_NONE) ga_curve_markers(s, &v->x, y, &v->box, map_marker, &m);
    }
}

/* The legend ------------------------------------------------------------------------------ */

static void place_legend_outside(ga_view *v)
{
    ga_legend_view *legend = &v->legend;
    double left, top;
    if (legend->side == GA_LEGEND_ABOVE) {
        left = (v->box.left + v->box.right - legend->width) / 2;
        top = v->box.top - legend->height - (ga_view_has_factor(v) ? GA_SIZE_TICK + 3 : 0);
    } else {
        left = v->box.right + v->margin_right - GA_OUTER_GAP - legend->width;
        top = v->box.top - 4;
    }
    legend->place = (ga_box){left, top, left + legend->width, top + legend->height};
}

static void place_legend_corner(ga_view *v, bool right, bool bottom)
{
    ga_legend_view *legend = &v->legend;
    const double gap = 6;
    const double x = right ? v->box.right - gap - legend->width : v->box.left + gap;
    const double y = bottom ? v->box.bottom - gap - legend->height : v->box.top + gap;
    legend->place = (ga_box){x, y, x + legend->width, y + legend->height};
}

ga_status ga_view_place_legend(ga_view *v)
{
    const ga_plot_legend where = v->panel->def.legend;
    if (v->legend.count == 0) return GA_OK;
    if (v->legend.side != GA_LEGEND_INSIDE) {
        place_legend_outside(v);
        return GA_OK;
    }
    if (where != GA_LEGEND_AUTOMATIC) {
        place_legend_corner(v, where == GA_LEGEND_TOP_RIGHT || where == GA_LEGEND_BOTTOM_RIGHT,
                            where == GA_LEGEND_BOTTOM_LEFT || where == GA_LEGEND_BOTTOM_RIGHT);
        return GA_OK;
    }
    ga_cover cover;
    GA_TRY(ga_cover_create(&cover, &v->box));
    map_series(v, &cover);
    ga_captions_draw(v, NULL, &cover);
    const double gap = 6;
    if (ga_cover_place(&cover, v->legend.width, v->legend.height, gap, &v->legend.place) > 0)
        ga_legend_leave(v->panel, v->box.right - v->box.left, &v->legend);
    ga_cover_free(&cover);
    return GA_OK;
}

/* All ------------------------------------------------------------------------------------- */

ga_status ga_view_draw(ga_view *v, ga_canvas *c)
{
    ga_cover cover;
    GA_TRY(ga_cover_create(&cover, &v->box));
    map_series(v, &cover);
    const ga_panel *p = v->panel;
    draw_spans(v, c);
    ga_grid_draw(v, c);
    draw_rules(v, c);
    c->type->clip(c, &v->box);
    for (int k = 0; k < p->series_count; ++k) draw_series(v, c, &p->series[k]);
    c->type->unclip(c);
    ga_axes_draw(v, c);
    for (int k = 0; k < p->series_count; ++k) draw_markers(v, c, &p->series[k]);
    ga_captions_draw(v, c, &cover);
    ga_legend_draw(v, c);
    ga_cover_free(&cover);
    return GA_OK;
}

/* Long entries beside the panel would leave little of it: they stand above. */
static bool lift_wide_legends(const ga_figure *f, ga_view *views)
{
    const double part = 0.4;
    bool lifted = false;
    for (int k = 0; k < f->panel_count; ++k) {
        ga_legend_view *legend = &views[k].legend;
        if (legend->count == 0 || legend->side != GA_LEGEND_RIGHT) continue;
        const double width = views[k].box.right - views[k].box.left + legend->width + 8;
        if (legend->width <= part * width) continue;
        ga_legend_stack(&views[k].panel->def, width, legend);
        lifted = true;
    }
    return lifted;
}

/* Legends that do not fit inside go outside, which makes all panels smaller. */
static ga_status place_legends(const ga_figure *f, ga_view *views)
{
    bool moved = lift_wide_legends(f, views);
    if (moved) ga_views_arrange(f, views);
    for (int k = 0; k < f->panel_count; ++k) {
        const ga_legend_side before = views[k].legend.side;
        GA_TRY(ga_view_place_legend(&views[k]));
        moved |= views[k].legend.side != before;
    }
    if (!moved) return GA_OK;
    ga_views_arrange(f, views);
    if (lift_wide_legends(f, views)) ga_views_arrange(f, views);
    for (int k = 0; k < f->panel_count; ++k) GA_TRY(ga_view_place_legend(&views[k]));
    return GA_OK;
}

static ga_status draw_views(const ga_figure *f, ga_view *views, ga_canvas *c)
{
    double width, height;
    ga_figure_size(f, &width, &height);
    ga_canvas_box(c, &(ga_box){0, 0, width, height});
    c->type->paint(c, &(ga_paint){.fill = true, .fill_rgb = 0xffffff});
    ga_views_ranges(f, views);
    ga_views_arrange(f, views);
    GA_TRY(place_legends(f, views));
    if (f->def.title)
        ga_canvas_text(c, width / 2, 6 + GA_SIZE_FIGURE_TITLE, GA_ANCHOR_MIDDLE,
                       ga_fit_size(f->def.title, GA_SIZE_FIGURE_TITLE, width - 20),
                       f->def.title);
    for (int k = 0; k < f->panel_count; ++k) GA_TRY(ga_view_draw(&views[k], c));
    return GA_OK;
}

ga_status ga_figure_draw(const ga_figure *f, ga_canvas *c)
{
    ga_view *views = GA_NEW(ga_view, f->panel_count);
    if (!views) return GA_ERR_MEMORY;
    const ga_status status = draw_views(f, views, c);
    ga_free(views);
    return status;
}
