/* The frame of a panel, with grid, ticks, labels and title. */
#include "plot/text.h"
#include "plot/view.h"

#include <math.h>

static const unsigned GRID = 0xe4e4e4, MINOR_GRID = 0xf1f1f1, FRAME = 0x444444;

static bool at_edge(double place, double a, double b)
{
    return fabs(place - a) < 0.5 || fabs(place - b) < 0.5;
}

static void draw_grid_lines(const ga_view *v, ga_canvas *c, bool major)
{
    const ga_box *b = &v->box;
    for (int k = 0; k < v->ticks_x.count; ++k) {
        const double x = ga_axis_place(&v->x, v->ticks_x.tick[k].at);
        if (v->ticks_x.tick[k].major != major || at_edge(x, b->left, b->right)) continue;
        if (major || v->x.scale == GA_SCALE_LOG) ga_canvas_segment(c, x, b->top, x, b->bottom);
    }
    for (int k = 0; k < v->ticks_y.count; ++k) {
        const double y = ga_axis_place(&v->y, v->ticks_y.tick[k].at);
        if (v->ticks_y.tick[k].major != major || at_edge(y, b->top, b->bottom)) continue;
        if (major || v->y.scale == GA_SCALE_LOG) ga_canvas_segment(c, b->left, y, b->right, y);
    }
    ga_canvas_stroke(c, major ? GRID : MINOR_GRID, major ? 0.6 : 0.5);
}

static void draw_ticks(const ga_view *v, ga_canvas *c, bool major)
{
    const double length = major ? GA_TICK_MAJOR : GA_TICK_MINOR;
    const ga_box *b = &v->box;
    for (int k = 0; k < v->ticks_x.count; ++k) {
        if (v->ticks_x.tick[k].major != major) continue;
        const double x = ga_axis_place(&v->x, v->ticks_x.tick[k].at);
        ga_canvas_segment(c, x, b->bottom, x, b->bottom + length);
    }
    for (int k = 0; k < v->ticks_y.count; ++k) {
        if (v->ticks_y.tick[k].major != major) continue;
        const double y = ga_axis_place(&v->y, v->ticks_y.tick[k].at);
        ga_canvas_segment(c, b->left - length, y, b->left, y);
    }
    for (int k = 0; v->has_right && k < v->ticks_right.count; ++k) {
        if (v->ticks_right.tick[k].major != major) continue;
        const double y = ga_axis_place(&v->right, v->ticks_right.tick[k].at);
        ga_canvas_segment(c, b->right, y, b->right + length, y);
    }
    ga_canvas_stroke(c, FRAME, major ? 0.8 : 0.6);
}

static void draw_labels_x(const ga_view *v, ga_canvas *c)
{
    const double top = v->box.bottom + GA_TICK_MAJOR + GA_LABEL_GAP;
    for (int k = 0; k < v->ticks_x.count; ++k)
        if (v->ticks_x.tick[k].label[0])
            ga_canvas_text(c, ga_axis_place(&v->x, v->ticks_x.tick[k].at),
                           top + GA_TEXT_CAPITAL * GA_SIZE_TICK + 0.8, GA_ANCHOR_MIDDLE,
                           GA_SIZE_TICK, v->ticks_x.tick[k].label);
    char title[GA_AXIS_TITLE_SIZE];
    ga_axis_title(&v->panel->def.x, title, sizeof title);
    const double width = v->box.right - v->box.left;
    const double factor = ga_text_width(v->ticks_x.factor, GA_SIZE_TICK);
    const double y = top + GA_SIZE_TICK + 3.5 + GA_TEXT_CAPITAL * GA_SIZE_LABEL;
    const double longest = factor > 0 ? width - 2 * (factor + 8) : width + 20;
    const double size = ga_fit_size(title, GA_SIZE_LABEL, longest);
    ga_cut_text(title, size, longest);
    if (title[0])
        ga_canvas_text(c, (v->box.left + v->box.right) / 2, y, GA_ANCHOR_MIDDLE, size, title);
    if (factor > 0)
        ga_canvas_text(c, v->box.right, y, GA_ANCHOR_END, GA_SIZE_TICK, v->ticks_x.factor);
}

static void draw_upwards(const ga_view *v, ga_canvas *c, const ga_plot_axis *axis, double x)
{
    char title[GA_AXIS_TITLE_SIZE];
    ga_axis_title(axis, title, sizeof title);
    if (!title[0]) return;
    const double longest = v->box.bottom - v->box.top;
    const double size = ga_fit_size(title, GA_SIZE_LABEL, longest);
    ga_cut_text(title, size, longest);
    c->type->text(c,
                  &(ga_lettering){.x = x,
                                  .y = (v->box.top + v->box.bottom) / 2,
                                  .anchor = GA_ANCHOR_MIDDLE,
                                  .rgb = GA_CANVAS_INK,
                                  .upwards = true,
                                  .size = size},
                  title);
}

/* Labels beside a vertical axis; returns how wide they are. */
static double draw_labels_y(ga_canvas *c, const ga_axis *axis, const ga_ticks *ticks, double x,
                            ga_text_anchor anchor)
{
    double widest = 0;
    for (int k = 0; k < ticks->count; ++k) {
        const char *label = ticks->tick[k].label;
        if (!label[0]) continue;
        ga_canvas_text(
            c, x, ga_axis_place(axis, ticks->tick[k].at) + GA_TEXT_CAPITAL / 2 * GA_SIZE_TICK,
            anchor, GA_SIZE_TICK, label);
        widest = fmax(widest, ga_text_width(label, GA_SIZE_TICK));
    }
    return widest;
}

void ga_axes_draw(const ga_view *v, ga_canvas *c)
{
    const ga_box *b = &v->box;
    const ga_plot_panel *def = &v->panel->def;
    ga_canvas_box(c, b);
    ga_canvas_stroke(c, FRAME, 0.8);
    draw_ticks(v, c, true);
    draw_ticks(v, c, false);
    const double away = GA_TICK_MAJOR + GA_LABEL_GAP, above = b->top - 4;
    if (v->labels_x) draw_labels_x(v, c);
    if (v->labels_y) {
        const double x = b->left - away;
        draw_labels_y(c, &v->y, &v->ticks_y, x, GA_ANCHOR_END);
        draw_upwards(v, c, &def->y,
                     b->left - v->margin_left + GA_OUTER_GAP + GA_TEXT_CAPITAL * GA_SIZE_LABEL +
                         2);
        if (v->ticks_y.factor[0])
            ga_canvas_text(c, b->left, above, GA_ANCHOR_START, GA_SIZE_TICK, v->ticks_y.factor);
    }
    if (v->has_right) {
        const double x = b->right + away;
        const double wide = draw_labels_y(c, &v->right, &v->ticks_right, x, GA_ANCHOR_START);
        draw_upwards(v, c, &def->right, x + wide + 5 + GA_TEXT_CAPITAL * GA_SIZE_LABEL);
        if (v->ticks_right.factor[0])
            ga_canvas_text(c, b->right, above, GA_ANCHOR_END, GA_SIZE_TICK,
                           v->ticks_right.factor);
    }
    if (def->title)
        ga_canvas_text(c, (b->left + b->right) / 2,
                       b->top - v->margin_top + GA_OUTER_GAP + GA_SIZE_TITLE, GA_ANCHOR_MIDDLE,
                       ga_fit_size(def->title, GA_SIZE_TITLE, b->right - b->left + 40),
                       def->title);
}

void ga_grid_draw(const ga_view *v, ga_canvas *c)
{
    draw_grid_lines(v, c, false);
    draw_grid_lines(v, c, true);
}
