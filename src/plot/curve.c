/* Three stages, each handing points on to the next; none keeps more than a few of them.
 *
 * 1. Cut: segments are cut at a box around the panel, because formats and renderers do not take
 *    coordinates of any size.
 * 2. Columns: of a run of points within one narrow column only the first, the lowest, the
 *    highest and the last are kept, in their order. All extremes survive, and a column is
 * filled to the same height as before.
 * 3. Cone: corners are left out as long as one straight stroke passes all points since the last
 *    corner within a tolerance. The directions that do so form a cone, which narrows with each
 *    point; when it is empty, or when points turn back, the point before becomes a corner.
 */
#include "plot/curve.h"

#include <math.h>

typedef struct point {
    double x, y;
} point;

static const double TOLERANCE = 0.04; /* points, a fifth of what print resolves */
static const double OUTSIDE = 40;     /* how far strokes go beyond the box */
enum { MANY_POINTS = 1500, MANY_MARKERS = 40, SOME_MARKERS = 15 };

typedef struct tracer {
    const ga_strokes *strokes;
    ga_box limit;
    bool inside; /* stage 1: the last point was handed on */
    point last;

    double column_width; /* stage 2; 0: every point passes */
    bool in_column;
    double column;
    point first, low, high, end;
    bool low_before_high;

    bool drawing; /* stage 3: there is a corner */
    point corner, before;
    bool has_before;
    double cone_low, cone_high; /* directions, relative to the first one */
    double direction, reach;
} tracer;

/* Stage 3 --------------------------------------------------------------------------------- */

static void start_cone(tracer *t, point p)
{
    t->corner = p;
    t->has_before = false;
}

static double turn(double angle) { return remainder(angle, 2 * acos(-1)); }

static void open_cone(tracer *t, point p, double length)
{
    t->before = p;
    t->has_before = true;
    t->reach = length;
    t->direction = atan2(p.y - t->corner.y, p.x - t->corner.x);
    const double half = length > TOLERANCE ? asin(TOLERANCE / length) : 2;
    t->cone_low = -half;
    t->cone_high = half;
}

static void cone_point(tracer *t, point p)
{
    const double length = hypot(p.x - t->corner.x, p.y - t->corner.y);
    if (!t->has_before) {
        if (length > 0) open_cone(t, p, length);
        return;
    }
    const double angle = turn(atan2(p.y - t->corner.y, p.x - t->corner.x) - t->direction);
    if (length < t->reach || angle < t->cone_low || angle > t->cone_high) {
        t->strokes->line(t->strokes->user, t->before.x, t->before.y);
        start_cone(t, t->before);
        cone_point(t, p);
        return;
    }
    const double half = length > TOLERANCE ? asin(TOLERANCE / length) : 2;
    t->cone_low = fmax(t->cone_low, angle - half);
    t->cone_high = fmin(t->cone_high, angle + half);
    t->before = p;
    t->reach = length;
}

static void cone_end(tracer *t)
{
    /* A single point is a dot. */
    const point p = t->has_before ? t->before : t->corner;
    if (t->drawing) t->strokes->line(t->strokes->user, p.x, p.y);
    t->drawing = false;
}

static void stage_cone(tracer *t, point p)
{
    if (!t->drawing) {
        t->strokes->move(t->strokes->user, p.x, p.y);
        t->drawing = true;
        start_cone(t, p);
    } else
        cone_point(t, p);
}

/* Stage 2 --------------------------------------------------------------------------------- */

static void flush_column(tracer *t)
{
    if (!t->in_column) return;
    t->in_column = false;
    stage_cone(t, t->first);
    stage_cone(t, t->low_before_high ? t->low : t->high);
    stage_cone(t, t->low_before_high ? t->high : t->low);
    stage_cone(t, t->end);
}

static void stage_columns(tracer *t, point p)
{
    if (t->column_width == 0) {
        stage_cone(t, p);
        return;
    }
    const double column = floor(p.x / t->column_width);
    if (t->in_column && column == t->column) {
        if (p.y < t->low.y) t->low = p, t->low_before_high = false;
        if (p.y > t->high.y) t->high = p, t->low_before_high = true;
        t->end = p;
        return;
    }
    flush_column(t);
    t->in_column = true;
    t->column = column;
    t->first = t->low = t->high = t->end = p;
}

static void end_piece(tracer *t)
{
    flush_column(t);
    cone_end(t);
}

/* Stage 1 --------------------------------------------------------------------------------- */

/* Narrows [*from, *to] to where a + s (b - a) is within the limits. */
static void cut(double a, double b, double low, double high, double *from, double *to)
{
    const double d = b - a;
    if (d == 0) {
        if (a < low || a > high) *to = -1;
        return;
    }
    const double s = (low - a) / d, e = (high - a) / d;
    *from = fmax(*from, fmin(s, e));
    *to = fmin(*to, fmax(s, e));
}

static point between(point a, point b, double s)
{
    return s <= 0 ? a : s >= 1 ? b : (point){a.x + s * (b.x - a.x), a.y + s * (b.y - a.y)};
}

static void stage_cut(tracer *t, point a, point b)
{
    double from = 0, to = 1;
    cut(a.x, b.x, t->limit.left, t->limit.right, &from, &to);
    cut(a.y, b.y, t->limit.top, t->limit.bottom, &from, &to);
    if (from > to) {
        if (t->inside) end_piece(t);
        t->inside = false;
        return;
    }
    if (!t->inside) stage_columns(t, between(a, b, from));
    stage_columns(t, between(a, b, to));
    t->inside = to >= 1;
    if (!t->inside) end_piece(t);
}

static bool within(const ga_box *box, double x, double y)
{
    return x >= box->left && x <= box->right && y >= box->top && y <= box->bottom;
}

/* True if x never goes back: then columns may be wider, for only heights count. */
static bool runs_forward(const ga_plot_series *s)
{
    for (size_t k = 1; k < s->count; ++k)
        if (s->x[k] < s->x[k - 1]) return false;
    return true;
}

void ga_curve_trace(const ga_plot_series *s, const ga_axis *x, const ga_axis *y,
                    const ga_box *box, const ga_strokes *strokes)
{
    tracer t = {.strokes = strokes,
                .limit = {box->left - OUTSIDE, box->top - OUTSIDE, box->right + OUTSIDE,
                          box->bottom + OUTSIDE}};
    if (s->count > MANY_POINTS) t.column_width = runs_forward(s) ? 0.5 : 0.1;
    bool known = false; /* the point before is one */
    for (size_t k = 0; k < s->count; ++k) {
        if (!ga_axis_shows(x, s->x[k]) || !ga_axis_shows(y, s->y[k])) {
            if (known && t.inside) end_piece(&t);
            known = t.inside = false;
            continue;
        }
        const point p = {ga_axis_place(x, s->x[k]), ga_axis_place(y, s->y[k])};
        if (known)
            stage_cut(&t, t.last, p);
        else if ((t.inside = within(&t.limit, p.x, p.y)))
            stage_columns(&t, p);
        known = true;
        t.last = p;
    }
    if (t.inside) end_piece(&t);
}

void ga_curve_markers(const ga_plot_series *s, const ga_axis *x, const ga_axis *y,
                      const ga_box *box, void (*at)(void *user, double x, double y), void *user)
{
    size_t every = s->marker_every > 0 ? (size_t)s->marker_every : 1;
    if (s->marker_every <= 0 && s->line != GA_LINE_NONE && s->count > MANY_MARKERS)
        every = s->count / SOME_MARKERS;
    const double closest =
        0.5; /* points; markers nearer than that to the last one add nothing */
    bool any = false;
    double last_x = 0, last_y = 0;
    for (size_t k = 0; k < s->count; k += every) {
        if (!ga_axis_shows(x, s->x[k]) || !ga_axis_shows(y, s->y[k])) continue;
        const double px = ga_axis_place(x, s->x[k]), py = ga_axis_place(y, s->y[k]);
        if (!within(box, px, py)) continue;
        if (any && hypot(px - last_x, py - last_y) < closest) continue;
        at(user, px, py);
        any = true;
        last_x = px, last_y = py;
    }
}
