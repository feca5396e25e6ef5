/* What stands among the curves: notes, slope triangles, labels of rules and bands. Each looks
 * at the map of what is taken, and enters itself there.
 */
#include "plot/captions.h"

#include "base/buffer.h"
#include "plot/text.h"

#include <math.h>

/* Text with the box it takes. */
typedef struct caption {
    ga_lettering how;
    ga_box box;
} caption;

static caption make_caption(double x, double y, ga_text_anchor anchor, const char *text,
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
        double at;
        if (!r->label || !ga_rule_place(v, r, &at)) continue;
        caption candidates[4];
        for (int n = 0; n < 4; ++n) {
            const ga_text_anchor anchor = n % 2 ? GA_ANCHOR_START : GA_ANCHOR_END;
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
        const ga_box b = ga_span_box(v, s);
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
    ga_canvas_segment(c, x, y, ex - head / 2 * ux, ey - head / 2 * uy);
    ga_canvas_stroke(c, rgb, 0.8);
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
    left = ga_between(left, b->left + 3, fmax(b->left + 3, b->right - 3 - width));
    const double baseline = ga_between(y - dy, b->top + GA_SIZE_NOTE + 2, b->bottom - 4);
    const caption text = make_caption(left, baseline, GA_ANCHOR_START, n->text, n->color);
    if (arrow && c) {
        const double from_x = ga_between(x, left, left + width);
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
    enum { STRIPS = 16 };
    const double gap = 2, tall = fabs(t->height);
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

/* The place of a curve at some x, in points, by its nearest pieces; NAN: it is not there. */
static double curve_at(const ga_view *v, const ga_plot_series *s, double x)
{
    for (size_t k = 1; k < s->count; ++k) {
        if (!ga_axis_shows(&v->x, s->x[k - 1]) || !ga_axis_shows(&v->x, s->x[k]) ||
            !ga_axis_shows(&v->y, s->y[k - 1]) || !ga_axis_shows(&v->y, s->y[k]))
            continue;
        const double x0 = ga_axis_place(&v->x, s->x[k - 1]), x1 = ga_axis_place(&v->x, s->x[k]);
        if ((x - x0) * (x - x1) > 0 || x0 == x1) continue;
        const double y0 = ga_axis_place(&v->y, s->y[k - 1]), y1 = ga_axis_place(&v->y, s->y[k]);
        return y0 + (x - x0) / (x1 - x0) * (y1 - y0);
    }
    return NAN;
}

/* How well a triangle that stands at x fits below a curve: puts it there, and returns by how
 * much, in points, the curve bends away from its long side. */
static double put_below(const ga_view *v, const ga_plot_series *s, triangle *t)
{
    enum { SAMPLES = 5 };
    const double gap = 9;
    double low = INFINITY, high = -INFINITY;
    for (int k = 0; k < SAMPLES; ++k) {
        const double part = (double)k / (SAMPLES - 1);
        const double y = curve_at(v, s, t->x + part * t->width);
        if (isnan(y)) return INFINITY;
        const double away = y + (t->height > 0 ? part * t->height : (part - 1) * t->height);
        low = fmin(low, away);
        high = fmax(high, away);
    }
    t->y = high + gap;
    return high - low;
}

/* Below the curve that has this slope, else anywhere free, else in the corner. */
static void place_triangle(const ga_view *v, ga_cover *cover, triangle *t)
{
    const ga_box *b = &v->box;
    const double step = 4, middle = (b->left + b->right - t->width) / 2;
    double best = INFINITY;
    triangle place = *t;
    place.x = b->right - t->width - 20;
    place.y = b->bottom - 20;
    for (double x = b->left + 6; x + t->width < b->right; x += step) {
        const double aside = 0.1 * fabs(x - middle);
        triangle here = *t;
        here.x = x;
        for (int k = 0; k < v->panel->series_count; ++k) {
            if (v->panel->series[k].right) continue;
            const double bend = put_below(v, &v->panel->series[k], &here);
            /* Lower ones come first if several curves fit. */
            const double score = 3 * bend + aside + 0.03 * (b->bottom - here.y);
            if (score < best && triangle_covers(cover, &here) == 0) best = score, place = here;
        }
        const double poor = 1000;
        for (here.y = b->bottom - 20; here.y > b->top + fabs(t->height); here.y -= step)
            if (poor + aside < best && triangle_covers(cover, &here) == 0)
                best = poor + aside, place = here;
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
    ga_canvas_text(c, t->x + t->width / 2, t->y + down + 3, GA_ANCHOR_MIDDLE, GA_SIZE_NOTE,
                   "1");
    ga_canvas_text(c, t->height > 0 ? right + 4 : t->x - 4, t->y - tall / 2 + down / 2,
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

void ga_captions_draw(const ga_view *v, ga_canvas *c, ga_cover *cover)
{
    for (int k = 0; k < v->panel->note_count; ++k) draw_note(v, c, cover, &v->panel->notes[k]);
    for (int k = 0; k < v->panel->slope_count; ++k)
        draw_slope(v, c, cover, &v->panel->slopes[k]);
    label_rules(v, c, cover);
    label_spans(v, c, cover);
}
