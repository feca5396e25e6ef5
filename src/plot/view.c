/* The layout: margins are measured from labels, labels follow from ticks, and ticks from the
 * space that margins leave. Three turns of that circle settle it. Margins are shared by a
 * column (left, right) or a row (top, bottom), so that axes line up.
 */
#include "plot/view.h"

#include "plot/curve.h"
#include "plot/text.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

/* Ranges ---------------------------------------------------------------------------------- */

static bool given(const ga_plot_axis *axis)
{
    if (!isfinite(axis->low) || !isfinite(axis->high) || axis->low >= axis->high) return false;
    return axis->scale != GA_SCALE_LOG || axis->low > 0;
}

static bool is_curve(const ga_plot_series *s)
{
    return s->marker == GA_MARKER_NONE && s->count > 1 && ga_curve_runs_forward(s);
}

/* Curves over time fill the panel from edge to edge; other things keep away from the frame. */
static double margin_x(const ga_panel *p)
{
    if (p->def.equal_aspect) return 0.05;
    for (int k = 0; k < p->series_count; ++k)
        if (!is_curve(&p->series[k])) return 0.05;
    return 0;
}

/* A number counts only if its partner can be shown, too. */
static void add_points(const ga_plot_series *s, ga_plot_scale sx, ga_plot_scale sy, ga_range *x,
                       ga_range *y)
{
    const ga_axis ax = {.scale = sx}, ay = {.scale = sy};
    for (size_t k = 0; k < s->count; ++k)
        if (ga_axis_shows(&ax, s->x[k]) && ga_axis_shows(&ay, s->y[k])) {
            ga_range_add(x, sx, s->x[k]);
            ga_range_add(y, sy, s->y[k]);
        }
}

static ga_range finish_range(ga_range range, const ga_plot_axis *axis, double margin)
{
    if (given(axis)) return ga_range_fit((ga_range){axis->low, axis->high}, axis->scale, 0);
    return ga_range_fit(range, axis->scale, margin);
}

typedef struct ranges {
    ga_range x, y, right;
} ranges;

static ranges collect(const ga_panel *p)
{
    ranges r = {ga_range_empty(), ga_range_empty(), ga_range_empty()};
    for (int k = 0; k < p->series_count; ++k) {
        const ga_plot_series *s = &p->series[k];
        add_points(s, p->def.x.scale, s->right ? p->def.right.scale : p->def.y.scale, &r.x,
                   s->right ? &r.right : &r.y);
    }
    for (int k = 0; k < p->rule_count; ++k) {
        const ga_plot_rule *rule = &p->rules[k];
        if (rule->direction == GA_ALONG_X)
            ga_range_add(&r.y, p->def.y.scale, rule->at);
        else
            ga_range_add(&r.x, p->def.x.scale, rule->at);
    }
    return r;
}

static void set_axis(ga_axis *axis, ga_plot_scale scale, ga_range range)
{
    axis->scale = scale;
    axis->low = range.low;
    axis->high = range.high;
}

static void join(ga_axis *a, const ga_axis *b)
{
    if (a->scale != b->scale) return;
    a->low = fmin(a->low, b->low);
    a->high = fmax(a->high, b->high);
}

static void share(ga_view *views, int count, bool x)
{
    for (int k = 1; k < count; ++k)
        join(x ? &views[0].x : &views[0].y, x ? &views[k].x : &views[k].y);
    for (int k = 1; k < count; ++k)
        join(x ? &views[k].x : &views[k].y, x ? &views[0].x : &views[0].y);
}

/* Zero at one height on both axes, so that signs are read alike: both ranges are extended to
 * the same parts above and below it. */
static void align_zeros(const ga_plot_panel *def, ga_axis *left, ga_axis *right)
{
    if (left->scale != GA_SCALE_LINEAR || right->scale != GA_SCALE_LINEAR) return;
    if (given(&def->y) || given(&def->right)) return;
    if (left->low > 0 || left->high < 0 || right->low > 0 || right->high < 0) return;
    const double one = left->high - left->low, other = right->high - right->low;
    const double above = fmax(left->high / one, right->high / other);
    const double below = fmax(-left->low / one, -right->low / other);
    left->low = -below * one, left->high = above * one;
    right->low = -below * other, right->high = above * other;
}

static int rows_of(const ga_figure *f)
{
    return (f->panel_count + f->def.columns - 1) / f->def.columns;
}

void ga_views_ranges(const ga_figure *f, ga_view *views)
{
    for (int k = 0; k < f->panel_count; ++k) {
        ga_view *v = &views[k];
        const ga_panel *p = v->panel = &f->panels[k];
        v->row = k / f->def.columns;
        v->column = k % f->def.columns;
        const ranges r = collect(p);
        const double above = 0.06;
        set_axis(&v->x, p->def.x.scale, finish_range(r.x, &p->def.x, margin_x(p)));
        set_axis(&v->y, p->def.y.scale, finish_range(r.y, &p->def.y, above));
        set_axis(&v->right, p->def.right.scale, finish_range(r.right, &p->def.right, above));
        bool has_left = false;
        for (int s = 0; s < p->series_count; ++s) {
            v->has_right |= p->series[s].right;
            has_left |= !p->series[s].right;
        }
        if (v->has_right && has_left) align_zeros(&p->def, &v->y, &v->right);
        /* Panels that fill a row only in part leave the one above them at the bottom. */
        v->labels_x = !f->def.share_x || k + f->def.columns >= f->panel_count;
        v->labels_y = !f->def.share_y || v->column == 0;
        ga_legend_measure(p, &v->legend);
    }
    if (f->def.share_x) share(views, f->panel_count, true);
    if (f->def.share_y) share(views, f->panel_count, false);
}

/* Labels ---------------------------------------------------------------------------------- */

void ga_axis_title(const ga_plot_axis *axis, char *text, size_t size)
{
    const char *label = axis->label ? axis->label : "";
    if (axis->unit)
        snprintf(text, size, axis->label ? "%s (%s)" : "%s%s", label, axis->unit);
    else
        snprintf(text, size, "%s", label);
}

double ga_fit_size(const char *text, double size, double longest)
{
    const double width = ga_text_width(text, size), smallest = 7;
    return width <= longest ? size : fmax(smallest, size * longest / width);
}

/* Cuts marked-up text before a character: not within one, nor between a backslash and what it
 * escapes, nor within braces, which end at the next one. */
static void cut(char *text, size_t n)
{
    while (n > 0 && ((text[n] & 0xc0) == 0x80 || text[n - 1] == '\\')) --n;
    const char *open = NULL;
    for (size_t k = 0; k < n; ++k) {
        if (text[k] == '{') open = text + k;
        if (text[k] == '}') open = NULL;
    }
    if (open && open > text) n = (size_t)(open - text) - 1;
    strcpy(text + n, "\u2026");
}

void ga_cut_text(char *text, double size, double longest)
{
    size_t n = strlen(text);
    while (n > 4 && ga_text_width(text, size) > longest) cut(text, n -= 4);
}

static double widest_label(const ga_ticks *ticks)
{
    double widest = 0;
    for (int k = 0; k < ticks->count; ++k)
        widest = fmax(widest, ga_text_width(ticks->tick[k].label, GA_SIZE_TICK));
    return widest;
}

/* The nearest two labels of a horizontal axis do not touch. */
static bool labels_apart(const ga_axis *axis, const ga_ticks *ticks)
{
    const double gap = 8;
    double end = -INFINITY;
    for (int k = 0; k < ticks->count; ++k) {
        if (!ticks->tick[k].label[0]) continue;
        const double at = ga_axis_place(axis, ticks->tick[k].at);
        const double half = ga_text_width(ticks->tick[k].label, GA_SIZE_TICK) / 2;
        if (at - half < end + gap) return false;
        end = at + half;
    }
    return true;
}

static int limit(double x, int least, int most)
{
    return x < least ? least : x > most ? most : (int)x;
}

static void find_ticks(ga_view *v)
{
    int most = limit((v->box.right - v->box.left) / 32, 2, 11);
    do ga_ticks_find(&v->x, most, &v->ticks_x);
    while (!labels_apart(&v->x, &v->ticks_x) && --most >= 2);
    most = limit((v->box.bottom - v->box.top) / 26, 2, 10);
    ga_ticks_find(&v->y, most, &v->ticks_y);
    if (v->has_right) ga_ticks_find(&v->right, most, &v->ticks_right);
}

/* How far the last label of the x axis reaches beyond the box. */
static double overhang(const ga_view *v, bool right)
{
    double most = 0;
    for (int k = 0; k < v->ticks_x.count; ++k) {
        const double at = ga_axis_place(&v->x, v->ticks_x.tick[k].at);
        const double half = ga_text_width(v->ticks_x.tick[k].label, GA_SIZE_TICK) / 2;
        most = fmax(most, right ? at + half - v->box.right : v->box.left - (at - half));
    }
    return most;
}

static bool titled(const ga_plot_axis *axis) { return axis->label || axis->unit; }

bool ga_view_has_factor(const ga_view *v)
{
    return (v->labels_y && v->ticks_y.factor[0]) || (v->has_right && v->ticks_right.factor[0]);
}

static void find_margins(ga_view *v)
{
    const ga_plot_panel *def = &v->panel->def;
    const double ticks = GA_TICK_MAJOR + GA_LABEL_GAP, label = GA_SIZE_LABEL * 1.45;
    double m = ticks - GA_LABEL_GAP;
    if (v->labels_y) {
        m = ticks + widest_label(&v->ticks_y);
        if (titled(&def->y)) m += label;
    }
    v->margin_left = fmax(m, overhang(v, false)) + GA_OUTER_GAP;

    m = ticks - GA_LABEL_GAP;
    if (v->labels_x) {
        m = ticks + GA_SIZE_TICK;
        if (titled(&def->x) || v->ticks_x.factor[0]) m += label;
    }
    v->margin_bottom = m + GA_OUTER_GAP;

    m = 0;
    if (v->has_right) {
        m = ticks + widest_label(&v->ticks_right);
        if (titled(&def->right)) m += label;
    }
    if (v->legend.count && v->legend.side == GA_LEGEND_RIGHT) m += v->legend.width + 8;
    v->margin_right = fmax(m, overhang(v, true)) + GA_OUTER_GAP;

    m = GA_OUTER_GAP;
    if (ga_view_has_factor(v)) m += GA_SIZE_TICK + 3;
    if (v->legend.count && v->legend.side == GA_LEGEND_ABOVE) m += v->legend.height;
    if (def->title) m += GA_SIZE_TITLE + 5;
    v->margin_top = m;
}

/* Boxes ----------------------------------------------------------------------------------- */

/* With equal scales: as high as the data are, in a panel of this width, within bounds. */
static double height_of_equal(const ga_panel *p, double width)
{
    const double labels_x = 65, labels_y = 50; /* about */
    const ranges r = collect(p);
    const ga_range x = finish_range(r.x, &p->def.x, margin_x(p));
    const ga_range y = finish_range(r.y, &p->def.y, margin_x(p));
    const double inside = width - labels_x;
    return labels_y + fmin(fmax((y.high - y.low) / (x.high - x.low), 0.25), 1) * inside;
}

void ga_figure_size(const ga_figure *f, double *width, double *height)
{
    const int rows = rows_of(f), columns = f->def.columns;
    *width = f->def.width > 0 ? f->def.width : columns == 1 ? 460 : 620;
    double each = rows == 1 && columns == 1 ? 300 : rows == 1 ? 280 : columns == 1 ? 155 : 205;
    double equal = 0;
    int equals = 0;
    for (int k = 0; k < f->panel_count; ++k) {
        if (!f->panels[k].def.equal_aspect) continue;
        equal = fmax(equal, height_of_equal(&f->panels[k], *width / columns));
        ++equals;
    }
    /* others beside them keep their height */
    if (equals > 0) each = equals == f->panel_count ? equal : fmax(each, equal);
    *height = f->def.height > 0
                  ? f->def.height
                  : each * (rows ? rows : 1) + (f->def.title ? 24 : 0) + (rows > 1 ? 30 : 0);
}

/* The largest margin of the views in a column or a row. */
static double largest(const ga_figure *f, const ga_view *views, size_t member, bool by_row,
                      int index)
{
    double most = 0;
    for (int k = 0; k < f->panel_count; ++k)
        if ((by_row ? views[k].row : views[k].column) == index)
            most = fmax(most, *(const double *)((const char *)&views[k] + member));
    return most;
}

/* Every view takes the margins of its column and row, so that labels line up, too. */
static void share_margins(const ga_figure *f, ga_view *views)
{
    for (int k = 0; k < f->panel_count; ++k) {
        ga_view *v = &views[k];
        v->margin_left = largest(f, views, offsetof(ga_view, margin_left), false, v->column);
        v->margin_top = largest(f, views, offsetof(ga_view, margin_top), true, v->row);
    }
}

/* Divides a length into boxes of one size with the margins of each before and after it. */
static void divide(const ga_figure *f, ga_view *views, bool by_row, double start, double end)
{
    const size_t before =
        by_row ? offsetof(ga_view, margin_top) : offsetof(ga_view, margin_left);
    const size_t after =
        by_row ? offsetof(ga_view, margin_bottom) : offsetof(ga_view, margin_right);
    const int count = by_row ? rows_of(f) : f->def.columns;
    double space = end - start;
    for (int k = 0; k < count; ++k)
        space -= largest(f, views, before, by_row, k) + largest(f, views, after, by_row, k);
    const double smallest = 10;
    const double size = fmax(smallest, space / count);
    double at = start;
    for (int index = 0; index < count; ++index) {
        at += largest(f, views, before, by_row, index);
        for (int k = 0; k < f->panel_count; ++k) {
            ga_box *box = &views[k].box;
            if (by_row && views[k].row == index) box->top = at, box->bottom = at + size;
            if (!by_row && views[k].column == index) box->left = at, box->right = at + size;
        }
        at += size + largest(f, views, after, by_row, index);
    }
}

/* Widens one range so that a unit has the same length in both directions. */
static void equalize(ga_view *v)
{
    if (!v->panel->def.equal_aspect || v->x.scale != GA_SCALE_LINEAR ||
        v->y.scale != GA_SCALE_LINEAR)
        return;
    const double width = v->box.right - v->box.left, height = v->box.bottom - v->box.top;
    const double unit = fmax((v->x.high - v->x.low) / width, (v->y.high - v->y.low) / height);
    const double x = (v->x.low + v->x.high) / 2, y = (v->y.low + v->y.high) / 2;
    v->x.low = x - unit * width / 2, v->x.high = x + unit * width / 2;
    v->y.low = y - unit * height / 2, v->y.high = y + unit * height / 2;
}

static void put_axes(ga_view *v)
{
    v->x.start = v->box.left, v->x.end = v->box.right;
    v->y.start = v->right.start = v->box.bottom;
    v->y.end = v->right.end = v->box.top;
}

void ga_views_arrange(const ga_figure *f, ga_view *views)
{
    double width, height;
    ga_figure_size(f, &width, &height);
    const double top = f->def.title ? GA_SIZE_FIGURE_TITLE + 10 : 2;
    for (int k = 0; k < f->panel_count; ++k) {
        /* A first guess. */
        views[k].margin_left = 45, views[k].margin_bottom = 35;
        views[k].margin_right = views[k].margin_top = 10;
    }
    enum { TURNS = 3 };
    for (int turn = 0; turn <= TURNS; ++turn) {
        divide(f, views, false, 2, width - 2);
        divide(f, views, true, top, height - 2);
        for (int k = 0; k < f->panel_count; ++k) {
            if (turn == TURNS) equalize(&views[k]);
            put_axes(&views[k]);
            find_ticks(&views[k]);
            if (turn < TURNS) find_margins(&views[k]);
        }
        share_margins(f, views);
    }
}

/* Places ---------------------------------------------------------------------------------- */

double ga_between(double x, double a, double b)
{
    return fmin(fmax(x, fmin(a, b)), fmax(a, b));
}

/* A place on the axis, at its ends for what is beyond them. */
static double place_inside(const ga_axis *axis, double x)
{
    if (isnan(x) || (axis->scale == GA_SCALE_LOG && x <= 0)) return axis->start;
    if (isinf(x)) return x > 0 ? axis->end : axis->start;
    return ga_between(ga_axis_place(axis, x), axis->start, axis->end);
}

ga_box ga_span_box(const ga_view *v, const ga_plot_span *s)
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

bool ga_rule_place(const ga_view *v, const ga_plot_rule *r, double *at)
{
    const ga_axis *axis = r->direction == GA_ALONG_X ? &v->y : &v->x;
    if (!ga_axis_shows(axis, r->at)) return false;
    *at = ga_axis_place(axis, r->at);
    return *at == ga_between(*at, axis->start, axis->end);
}
