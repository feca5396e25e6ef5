/* Draws panels from back to front: bands, grid, rules, curves, frame with ticks and labels,
 * slope triangles, notes, legend. What is placed automatically looks at a map of what is taken.
 */
#include "base/memory.h"
#include "base/report.h"
#include "plot/cover.h"
#include "plot/curve.h"
#include "plot/text.h"
#include "plot/view.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

static const unsigned GRID = 0xe4e4e4, MINOR_GRID = 0xf1f1f1, FRAME = 0x444444;

int ga_dashes(ga_plot_line line, double dash[4])
{
    static const double dashed[] = {3.6, 1.8}, dotted[] = {0.1, 2.0},
                        dash_dot[] = {4.0, 2.2, 0.1, 2.2};
    const int counts[] = {0, 2, 2, 4, 0};
    const double *patterns[] = {NULL, dashed, dotted, dash_dot, NULL};
    if (counts[line]) memcpy(dash, patterns[line], (size_t)counts[line] * sizeof *dash);
    return counts[line];
}

static void segment(ga_canvas *c, double x0, double y0, double x1, double y1)
{
    c->type->move(c, x0, y0);
    c->type->line(c, x1, y1);
}

static void rectangle(ga_canvas *c, const ga_box *b)
{
    c->type->move(c, b->left, b->top);
    c->type->line(c, b->right, b->top);
    c->type->line(c, b->right, b->bottom);
    c->type->line(c, b->left, b->bottom);
    c->type->close(c);
}

static void stroke(ga_canvas *c, unsigned rgb, double width)
{
    c->type->paint(c, &(ga_paint){.stroke = true, .stroke_rgb = rgb, .width = width});
}

static void letters(ga_canvas *c, double x, double y, ga_anchor anchor, double size,
                    const char *text)
{
    c->type->text(
        c, &(ga_lettering){.x = x, .y = y, .anchor = anchor, .size = size, .rgb = GA_INK},
        text);
}

/* Grid, frame, ticks, labels -------------------------------------------------------------- */

static bool at_edge(double place, double a, double b)
{
    return fabs(place - a) < 0.5 || fabs(place - b) < 0.5;
}

static void draw_grid(const ga_view *v, ga_canvas *c, bool major)
{
    const ga_box *b = &v->box;
    for (int k = 0; k < v->ticks_x.count; ++k) {
        const double x = ga_axis_place(&v->x, v->ticks_x.tick[k].at);
        if (v->ticks_x.tick[k].major != major || at_edge(x, b->left, b->right)) continue;
        if (major || v->x.scale == GA_SCALE_LOG) segment(c, x, b->top, x, b->bottom);
    }
    for (int k = 0; k < v->ticks_y.count; ++k) {
        const double y = ga_axis_place(&v->y, v->ticks_y.tick[k].at);
        if (v->ticks_y.tick[k].major != major || at_edge(y, b->top, b->bottom)) continue;
        if (major || v->y.scale == GA_SCALE_LOG) segment(c, b->left, y, b->right, y);
    }
    stroke(c, major ? GRID : MINOR_GRID, major ? 0.6 : 0.5);
}

static void draw_ticks(const ga_view *v, ga_canvas *c, bool major)
{
    const double length = major ? GA_TICK_MAJOR : GA_TICK_MINOR;
    const ga_box *b = &v->box;
    for (int k = 0; k < v->ticks_x.count; ++k) {
        if (v->ticks_x.tick[k].major != major) continue;
        const double x = ga_axis_place(&v->x, v->ticks_x.tick[k].at);
        segment(c, x, b->bottom, x, b->bottom + length);
    }
    for (int k = 0; k < v->ticks_y.count; ++k) {
        if (v->ticks_y.tick[k].major != major) continue;
        const double y = ga_axis_place(&v->y, v->ticks_y.tick[k].at);
        segment(c, b->left - length, y, b->left, y);
    }
    for (int k = 0; v->has_right && k < v->ticks_right.count; ++k) {
        if (v->ticks_right.tick[k].major != major) continue;
        const double y = ga_axis_place(&v->right, v->ticks_right.tick[k].at);
        segment(c, b->right, y, b->right + length, y);
    }
    stroke(c, FRAME, major ? 0.8 : 0.6);
}

static void draw_labels_x(const ga_view *v, ga_canvas *c)
{
    const double top = v->box.bottom + GA_TICK_MAJOR + GA_LABEL_GAP;
    for (int k = 0; k < v->ticks_x.count; ++k)
        if (v->ticks_x.tick[k].label[0])
            letters(c, ga_axis_place(&v->x, v->ticks_x.tick[k].at),
                    top + GA_TEXT_CAPITAL * GA_SIZE_TICK + 0.8, GA_ANCHOR_MIDDLE, GA_SIZE_TICK,
                    v->ticks_x.tick[k].label);
    char title[GA_AXIS_TITLE_SIZE];
    ga_axis_title(&v->panel->def.x, title, sizeof title);
    const double width = v->box.right - v->box.left;
    const double factor = ga_text_width(v->ticks_x.factor, GA_SIZE_TICK);
    const double y = top + GA_SIZE_TICK + 3.5 + GA_TEXT_CAPITAL * GA_SIZE_LABEL;
    const double longest = factor > 0 ? width - 2 * (factor + 8) : width + 20;
    if (title[0])
        letters(c, (v->box.left + v->box.right) / 2, y, GA_ANCHOR_MIDDLE,
                ga_fit_size(title, GA_SIZE_LABEL, longest), title);
    if (factor > 0) letters(c, v->box.right, y, GA_ANCHOR_END, GA_SIZE_TICK, v->ticks_x.factor);
}

static void draw_upwards(const ga_view *v, ga_canvas *c, const ga_plot_axis *axis, double x)
{
    char title[GA_AXIS_TITLE_SIZE];
    ga_axis_title(axis, title, sizeof title);
    if (!title[0]) return;
    const double longest = v->box.bottom - v->box.top + 20;
    c->type->text(c,
                  &(ga_lettering){.x = x,
                                  .y = (v->box.top + v->box.bottom) / 2,
                                  .anchor = GA_ANCHOR_MIDDLE,
                                  .rgb = GA_INK,
                                  .upwards = true,
                                  .size = ga_fit_size(title, GA_SIZE_LABEL, longest)},
                  title);
}

/* Labels beside a vertical axis; returns how wide they are. */
static double draw_labels_y(ga_canvas *c, const ga_axis *axis, const ga_ticks *ticks, double x,
                            ga_anchor anchor)
{
    double widest = 0;
    for (int k = 0; k < ticks->count; ++k) {
        const char *label = ticks->tick[k].label;
        if (!label[0]) continue;
        letters(c, x,
                ga_axis_place(axis, ticks->tick[k].at) + GA_TEXT_CAPITAL / 2 * GA_SIZE_TICK,
                anchor, GA_SIZE_TICK, label);
        widest = fmax(widest, ga_text_width(label, GA_SIZE_TICK));
    }
    return widest;
}

static void draw_axes(const ga_view *v, ga_canvas *c)
{
    const ga_box *b = &v->box;
    const ga_plot_panel *def = &v->panel->def;
    rectangle(c, b);
    stroke(c, FRAME, 0.8);
    draw_ticks(v, c, true);
    draw_ticks(v, c, false);
    const double away = GA_TICK_MAJOR + GA_LABEL_GAP, above = b->top - 4;
    if (v->labels_x) draw_labels_x(v, c);
    if (v->labels_y) {
        const double x = b->left - away;
        const double wide = draw_labels_y(c, &v->y, &v->ticks_y, x, GA_ANCHOR_END);
        draw_upwards(v, c, &def->y, x - wide - 5);
        letters(c, b->left, above, GA_ANCHOR_START, GA_SIZE_TICK, v->ticks_y.factor);
    }
    if (v->has_right) {
        const double x = b->right + away;
        const double wide = draw_labels_y(c, &v->right, &v->ticks_right, x, GA_ANCHOR_START);
        draw_upwards(v, c, &def->right, x + wide + 5 + GA_TEXT_CAPITAL * GA_SIZE_LABEL);
        letters(c, b->right, above, GA_ANCHOR_END, GA_SIZE_TICK, v->ticks_right.factor);
    }
    if (!def->title) return;
    const bool factor =
        (v->labels_y && v->ticks_y.factor[0]) || (v->has_right && v->ticks_right.factor[0]);
    letters(c, (b->left + b->right) / 2, b->top - 6 - (factor ? GA_SIZE_TICK + 2 : 0),
            GA_ANCHOR_MIDDLE, ga_fit_size(def->title, GA_SIZE_TITLE, b->right - b->left + 40),
            def->title);
}

/* Bands, rules, curves -------------------------------------------------------------------- */

static double inside(double x, double a, double b)
{
    return fmin(fmax(x, fmin(a, b)), fmax(a, b));
}

/* A place on the axis, at its ends for what is beyond them. */
static double place_inside(const ga_axis *axis, double x)
{
    if (isnan(x) || (axis->scale == GA_SCALE_LOG && x <= 0)) return axis->start;
    if (isinf(x)) return x > 0 ? axis->end : axis->start;
    return inside(ga_axis_place(axis, x), axis->start, axis->end);
}

static ga_box span_box(const ga_view *v, const ga_plot_span *s)
{
    ga_box b = v->box;
    const ga_axis *axis = s->direction == GA_ALONG_X ? &v->x : &v->y;
    const double low = place_inside(axis, s->low), high = place_inside(axis, s->high);
    if (s->direction == GA_ALONG_X)
        b.left = fmin(low, high), b.right = fmax(low, high);
    else
        b.top = fmin(low, high), b.bottom = fmax(low, high);
    return b;
}

static void draw_spans(const ga_view *v, ga_canvas *c)
{
    for (int k = 0; k < v->panel->span_count; ++k) {
        const ga_plot_span *s = &v->panel->spans[k];
        const ga_box b = span_box(v, s);
        if (b.right - b.left <= 0 || b.bottom - b.top <= 0) continue;
        rectangle(c, &b);
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
        const ga_axis *axis = along_x ? &v->y : &v->x;
        if (!ga_axis_shows(axis, r->at)) continue;
        const double at = ga_axis_place(axis, r->at);
        if (at != inside(at, axis->start, axis->end)) continue;
        if (along_x)
            segment(c, v->box.left, at, v->box.right, at);
        else
            segment(c, at, v->box.top, at, v->box.bottom);
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

/* Labels of rules and bands, notes, triangles --------------------------------------------- */

/* Text with the box it takes. */
typedef struct caption {
    ga_lettering how;
    ga_box box;
} caption;

static caption make_caption(double x, double y, ga_anchor anchor, const char *text,
                            unsigned rgb)
{
    const double width = ga_text_width(text, GA_SIZE_NOTE);
    const double left = anchor == GA_ANCHOR_START    ? x
                        : anchor == GA_ANCHOR_MIDDLE ? x - width / 2
                                                     : x - width;
    return (caption){
        .how =
            {.x = x, .y = y, .anchor = anchor, .size = GA_SIZE_NOTE, .rgb = rgb, .halo = true},
        .box = {left, y - GA_TEXT_CAPITAL * GA_SIZE_NOTE - 1, left + width, y + 2}};
}

static void put_caption(ga_canvas *c, ga_cover *cover, const caption *put, const char *text)
{
    ga_cover_box(cover, &put->box);
    if (c) c->type->text(c, &put->how, text);
}

/* The first of some captions that covers least. */
static const caption *best_caption(ga_cover *cover, const caption *candidates, int count)
{
    int best = 0, least = -1;
    for (int k = 0; k < count; ++k) {
        const int covered = ga_cover_count(cover, &candidates[k].box);
        if (least < 0 || covered < least) least = covered, best = k;
    }
    return &candidates[best];
}

static void label_rules(const ga_view *v, ga_canvas *c, ga_cover *cover)
{
    const ga_box *b = &v->box;
    const double up = 3.5, down = GA_TEXT_CAPITAL * GA_SIZE_NOTE + 4;
    for (int k = 0; k < v->panel->rule_count; ++k) {
        const ga_plot_rule *r = &v->panel->rules[k];
        const bool along_x = r->direction == GA_ALONG_X;
        const ga_axis *axis = along_x ? &v->y : &v->x;
        if (!r->label || !ga_axis_shows(axis, r->at)) continue;
        const double at = ga_axis_place(axis, r->at);
        if (at != inside(at, axis->start, axis->end)) continue;
        caption candidates[4];
        for (int n = 0; n < 4; ++n) {
            const ga_anchor anchor = n % 2 ? GA_ANCHOR_START : GA_ANCHOR_END;
            if (along_x)
                candidates[n] =
                    make_caption(n % 2 ? b->left + 5 : b->right - 5,
                                 n < 2 ? at - up : at + down, anchor, r->label, r->color);
            else
                candidates[n] = make_caption(at + (n % 2 ? 4 : -4),
                                             n < 2 ? b->top + down + 2 : b->bottom - up - 2,
                                             anchor, r->label, r->color);
        }
        put_caption(c, cover, best_caption(cover, candidates, 4), r->label);
    }
}

static void label_spans(const ga_view *v, ga_canvas *c, ga_cover *cover)
{
    const double down = GA_TEXT_CAPITAL * GA_SIZE_NOTE + 5;
    for (int k = 0; k < v->panel->span_count; ++k) {
        const ga_plot_span *s = &v->panel->spans[k];
        const ga_box b = span_box(v, s);
        if (!s->label || b.right - b.left <= 0 || b.bottom - b.top <= 0) continue;
        const double x = (b.left + b.right) / 2;
        const caption candidates[] = {
            make_caption(x, b.top + down, GA_ANCHOR_MIDDLE, s->label, 0x555555),
            make_caption(x, b.bottom - 5, GA_ANCHOR_MIDDLE, s->label, 0x555555),
            make_caption(b.left + 5, b.top + down, GA_ANCHOR_START, s->label, 0x555555),
            make_caption(b.right - 5, b.top + down, GA_ANCHOR_END, s->label, 0x555555),
            make_caption(b.left + 5, b.bottom - 5, GA_ANCHOR_START, s->label, 0x555555),
            make_caption(b.right - 5, b.bottom - 5, GA_ANCHOR_END, s->label, 0x555555),
        };
        put_caption(c, cover, best_caption(cover, candidates, 6), s->label);
    }
}

/* From (x, y) to the tip, with a small head. */
static void draw_arrow(ga_canvas *c, double x, double y, double tip_x, double tip_y,
                       unsigned rgb)
{
    const double dx = tip_x - x, dy = tip_y - y, length = hypot(dx, dy), gap = 3;
    if (length < 2 * gap) return;
    const double ux = dx / length, uy = dy / length, head = 5, half = 2;
    const double ex = tip_x - gap * ux, ey = tip_y - gap * uy;
    segment(c, x, y, ex - head / 2 * ux, ey - head / 2 * uy);
    stroke(c, rgb, 0.8);
    c->type->move(c, ex, ey);
    c->type->line(c, ex - head * ux - half * uy, ey - head * uy + half * ux);
    c->type->line(c, ex - head * ux + half * uy, ey - head * uy - half * ux);
    c->type->close(c);
    c->type->paint(c, &(ga_paint){.fill = true, .fill_rgb = rgb});
}

static void draw_note(const ga_view *v, ga_canvas *c, ga_cover *cover, const ga_plot_note *n)
{
    const ga_box *b = &v->box;
    double x, y;
    if (n->axes) {
        x = b->left + n->x * (b->right - b->left);
        y = b->bottom - n->y * (b->bottom - b->top);
    } else if (ga_axis_shows(&v->x, n->x) && ga_axis_shows(&v->y, n->y)) {
        x = ga_axis_place(&v->x, n->x);
        y = ga_axis_place(&v->y, n->y);
    } else
        return;
    if (!n->text || !isfinite(x) || !isfinite(y)) return;
    const bool arrow = n->right != 0 || n->up != 0;
    const double width = ga_text_width(n->text, GA_SIZE_NOTE);
    const double dx = arrow ? n->right : n->axes ? 0 : 5, dy = arrow ? n->up : n->axes ? 0 : 4;
    /* The text stays within the panel. */
    double left = arrow && fabs(dx) < width / 2 ? x + dx - width / 2
                  : dx < 0                      ? x + dx - width
                                                : x + dx;
    left = inside(left, b->left + 3, fmax(b->left + 3, b->right - 3 - width));
    const double baseline = inside(y - dy, b->top + GA_SIZE_NOTE + 2, b->bottom - 4);
    const caption text = make_caption(left, baseline, GA_ANCHOR_START, n->text, n->color);
    if (arrow && c) {
        const double from_x = inside(x, left, left + width);
        const double from_y = y > baseline ? baseline + 3 : text.box.top - 1;
        draw_arrow(c, from_x, from_y, x, y, n->color);
    }
    put_caption(c, cover, &text, n->text);
}

typedef struct triangle {
    double x, y;          /* lower left corner */
    double width, height; /* height > 0 if the slope is */
    char order[16];
} triangle;

static ga_box order_box(const triangle *t)
{
    const double width = ga_text_width(t->order, GA_SIZE_NOTE), half = GA_SIZE_NOTE / 2;
    const double y = t->y - t->height / 2,
                 x = t->height > 0 ? t->x + t->width : t->x - width - 6;
    return (ga_box){x, y - half, x + width + 6, y + half};
}

static ga_box one_box(const triangle *t)
{
    const double x = t->x + t->width / 2;
    return (ga_box){x - 4, t->y, x + 4, t->y + GA_SIZE_NOTE + 4};
}

/* Cells that the triangle covers, in strips below its long side, and its labels. */
static int triangle_covers(ga_cover *cover, const triangle *t)
{
    enum { STRIPS = 6 };
    const double gap = 3, tall = fabs(t->height);
    int covered = 0;
    for (int k = 0; k < STRIPS; ++k) {
        const int high = t->height > 0 ? k + 1 : STRIPS - k;
        const ga_box strip = {t->x + t->width * k / STRIPS - gap,
                              t->y - tall * high / STRIPS - gap,
                              t->x + t->width * (k + 1) / STRIPS + gap, t->y + gap};
        covered += ga_cover_count(cover, &strip);
    }
    triangle up = *t;
    up.height = tall;
    if (t->height < 0) up.x -= t->width + 12;
    const ga_box order = order_box(&up), one = one_box(t);
    return covered + ga_cover_count(cover, &order) + ga_cover_count(cover, &one);
}

/* As near as possible to something above it, and to the middle of the panel. */
static void place_triangle(const ga_view *v, ga_cover *cover, triangle *t)
{
    const ga_box *b = &v->box;
    const double step = 4, tall = fabs(t->height);
    const double middle = (b->left + b->right - t->width) / 2;
    double best = INFINITY;
    triangle place = *t;
    place.x = b->right - t->width - 20;
    place.y = b->bottom - 20;
    for (double x = b->left + 6; x + t->width < b->right; x += step) {
        bool blocked = false;
        double above = 0;
        for (double y = b->top + tall; y < b->bottom; y += step) {
            triangle here = *t;
            here.x = x, here.y = y;
            if (triangle_covers(cover, &here) > 0) {
                /* Only curves count as neighbours, not the frame. */
                blocked = y > b->top + tall + 8;
                above = y;
                continue;
            }
            const double score = (blocked ? 0 : 200) + (y - above) + 0.5 * fabs(x - middle);
            if (score < best) best = score, place = here;
            break;
        }
    }
    *t = place;
}

static void draw_triangle(const triangle *t, ga_canvas *c, unsigned rgb)
{
    const double tall = fabs(t->height), right = t->x + t->width;
    const double corner = t->height > 0 ? right : t->x;
    c->type->move(c, t->x, t->y);
    c->type->line(c, right, t->y);
    c->type->line(c, corner, t->y - tall);
    c->type->close(c);
    c->type->paint(c, &(ga_paint){.fill = true,
                                  .fill_rgb = 0xf4f4f4,
                                  .stroke = true,
                                  .stroke_rgb = rgb,
                                  .width = 0.8});
    const double down = GA_TEXT_CAPITAL * GA_SIZE_NOTE;
    letters(c, t->x + t->width / 2, t->y + down + 3, GA_ANCHOR_MIDDLE, GA_SIZE_NOTE, "1");
    letters(c, t->height > 0 ? right + 4 : t->x - 4, t->y - tall / 2 + down / 2,
            t->height > 0 ? GA_ANCHOR_START : GA_ANCHOR_END, GA_SIZE_NOTE, t->order);
}

static void draw_slope(const ga_view *v, ga_canvas *c, ga_cover *cover, const ga_plot_slope *s)
{
    if (v->x.scale != GA_SCALE_LOG || v->y.scale != GA_SCALE_LOG) return;
    if (!isfinite(s->order) || s->order == 0) return;
    const ga_box *b = &v->box;
    const double per_x = (b->right - b->left) / (log10(v->x.high) - log10(v->x.low));
    const double per_y = (b->bottom - b->top) / (log10(v->y.high) - log10(v->y.low));
    triangle t = {.width = fmin(48, 0.2 * (b->right - b->left))};
    t.height = s->order * t.width / per_x * per_y;
    const double tallest = 0.3 * (b->bottom - b->top);
    if (fabs(t.height) > tallest) {
        t.width *= tallest / fabs(t.height);
        t.height = copysign(tallest, t.height);
    }
    ga_number_write(fabs(s->order), 3, t.order, sizeof t.order);
    if (s->x > 0 && s->y > 0) {
        t.x = ga_axis_place(&v->x, s->x);
        t.y = ga_axis_place(&v->y, s->y);
    } else
        place_triangle(v, cover, &t);
    if (c) draw_triangle(&t, c, s->color);
    const ga_box order = order_box(&t);
    const ga_box whole = {fmin(t.x, order.left), t.y - fabs(t.height),
                          fmax(t.x + t.width, order.right), t.y + GA_SIZE_NOTE + 4};
    ga_cover_box(cover, &whole);
}

/* All that stands among the curves; without a canvas it is only entered in the map. */
static void draw_captions(const ga_view *v, ga_canvas *c, ga_cover *cover)
{
    for (int k = 0; k < v->panel->note_count; ++k) draw_note(v, c, cover, &v->panel->notes[k]);
    for (int k = 0; k < v->panel->slope_count; ++k)
        draw_slope(v, c, cover, &v->panel->slopes[k]);
    label_rules(v, c, cover);
    label_spans(v, c, cover);
}

/* The legend ------------------------------------------------------------------------------ */

static void place_legend_outside(ga_view *v)
{
    ga_legend_view *legend = &v->legend;
    const double left = v->box.right + v->margin_right - GA_OUTER_GAP - legend->width;
    legend->place =
        (ga_box){left, v->box.top - 4, left + legend->width, v->box.top - 4 + legend->height};
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
    if (v->legend.outside) {
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
    draw_captions(v, NULL, &cover);
    const double gap = 6;
    if (ga_cover_place(&cover, v->legend.width, v->legend.height, gap, &v->legend.place) > 0)
        v->legend.outside = true;
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
    draw_grid(v, c, false);
    draw_grid(v, c, true);
    draw_rules(v, c);
    c->type->clip(c, &v->box);
    for (int k = 0; k < p->series_count; ++k) draw_series(v, c, &p->series[k]);
    c->type->unclip(c);
    draw_axes(v, c);
    for (int k = 0; k < p->series_count; ++k) draw_markers(v, c, &p->series[k]);
    draw_captions(v, c, &cover);
    ga_legend_draw(v, c);
    ga_cover_free(&cover);
    return GA_OK;
}

/* Legends that do not fit inside go outside, which makes all panels smaller. */
static ga_status place_legends(const ga_figure *f, ga_view *views)
{
    bool moved = false;
    for (int k = 0; k < f->panel_count; ++k) {
        const bool before = views[k].legend.outside;
        GA_TRY(ga_view_place_legend(&views[k]));
        moved |= views[k].legend.outside != before;
    }
    if (!moved) return GA_OK;
    ga_views_arrange(f, views);
    for (int k = 0; k < f->panel_count; ++k) GA_TRY(ga_view_place_legend(&views[k]));
    return GA_OK;
}

static ga_status draw_views(const ga_figure *f, ga_view *views, ga_canvas *c)
{
    double width, height;
    ga_figure_size(f, &width, &height);
    rectangle(c, &(ga_box){0, 0, width, height});
    c->type->paint(c, &(ga_paint){.fill = true, .fill_rgb = 0xffffff});
    ga_views_ranges(f, views);
    ga_views_arrange(f, views);
    GA_TRY(place_legends(f, views));
    if (f->def.title)
        letters(c, width / 2, 6 + GA_SIZE_FIGURE_TITLE, GA_ANCHOR_MIDDLE,
                ga_fit_size(f->def.title, GA_SIZE_FIGURE_TITLE, width - 20), f->def.title);
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
