#include "plot/figure.h"

#include "base/memory.h"
#include "base/struct_size.h"

#include <string.h>

/* Okabe and Ito's colors, which stay apart with any kind of color vision, without their yellow,
 * which is lost on white paper; two grays. */
static const unsigned palette[] = {0,        0x0072b2, 0xd55e00, 0x009e73, 0xcc79a7,
                                   0xe69f00, 0x56b4e9, 0x222222, 0x7f7f7f, 0xb8b8b8};
enum { CYCLE = GA_COLOR_BLACK };

static unsigned rgb_of(unsigned color, unsigned automatic)
{
    if (color & GA_COLOR_RGB(0)) return color & 0xffffff;
    if (color == GA_COLOR_AUTOMATIC || color > GA_COLOR_LIGHT) color = automatic;
    return palette[color];
}

static bool is_power_of_two(int n) { return (n & (n - 1)) == 0; }

/* Another item at the end of an array that grows by doubling; null if memory is out. */
static void *append(ga_figure *f, void *items, int *count, size_t size, const void *item)
{
    void *array = items;
    if (*count == 0 || is_power_of_two(*count)) {
        array = ga_arena_alloc(&f->arena, *count ? 2 * (size_t)*count : 1, size);
        if (!array) {
            f->status = GA_ERR_MEMORY;
            return NULL;
        }
        if (*count) memcpy(array, items, (size_t)*count * size);
    }
    memcpy((char *)array + (size_t)*count * size, item, size);
    ++*count;
    return array;
}

/* The array of such items in a panel, with one more; on failure it stays as it was. */
#define APPEND(figure, array, count, item)                                                     \
    do {                                                                                       \
        void *longer = append(figure, array, &(count), sizeof *(array), &(item));              \
        if (longer) (array) = longer;                                                          \
    } while (0)

static const char *keep_text(ga_figure *f, const char *text)
{
    if (!text || !*text) return NULL;
    const char *copy = ga_arena_text(&f->arena, text);
    if (!copy) f->status = GA_ERR_MEMORY;
    return copy;
}

static const double *keep_numbers(ga_figure *f, const double *x, size_t count)
{
    double *copy = GA_ARENA_NEW(&f->arena, double, count);
    if (!copy)
        f->status = GA_ERR_MEMORY;
    else if (count)
        memcpy(copy, x, count * sizeof *x);
    return copy;
}

static ga_panel *find_panel(ga_figure *f, int panel)
{
    if (!f || f->status) return NULL;
    if (panel >= 0 && panel < f->panel_count) return &f->panels[panel];
    f->status = GA_ERR_ARGUMENT;
    return NULL;
}

/* A struct of another size is not read: the figure cannot be written, and says why. */
static bool is_whole(ga_figure *f, const char *name, size_t given, size_t own)
{
    f->status = ga_check_own_size(name, given, own, &f->refused);
    return f->status == GA_OK;
}

#define IS_WHOLE(figure, type, def) is_whole(figure, #type, (def)->struct_size, sizeof(type))

ga_figure *ga_figure_create(const ga_figure_def *def)
{
    ga_figure *f = GA_NEW(ga_figure, 1);
    if (!f || !IS_WHOLE(f, ga_figure_def, def)) return f;
    f->def = *def;
    f->def.title = keep_text(f, def->title);
    if (f->def.columns < 1) f->def.columns = 1;
    if (!(f->def.dots_per_inch > 0)) f->def.dots_per_inch = 150;
    return f;
}

static void keep_axis(ga_figure *f, ga_plot_axis *axis)
{
    axis->label = keep_text(f, axis->label);
    axis->unit = keep_text(f, axis->unit);
}

int ga_figure_panel(ga_figure *f, const ga_plot_panel *def)
{
    if (!f || f->status || !IS_WHOLE(f, ga_plot_panel, def)) return 0;
    ga_panel panel = {.def = *def};
    panel.def.title = keep_text(f, def->title);
    panel.def.legend_title = keep_text(f, def->legend_title);
    keep_axis(f, &panel.def.x);
    keep_axis(f, &panel.def.y);
    keep_axis(f, &panel.def.right);
    APPEND(f, f->panels, f->panel_count, panel);
    return f->panel_count - 1;
}

void ga_figure_series(ga_figure *f, int panel, const ga_plot_series *series)
{
    ga_panel *p = find_panel(f, panel);
    if (!p || !IS_WHOLE(f, ga_plot_series, series)) return;
    ga_plot_series s = *series;
    s.label = keep_text(f, s.label);
    s.x = keep_numbers(f, s.x, s.count);
    s.y = keep_numbers(f, s.y, s.count);
    if (!(s.width > 0)) s.width = 1.5;
    if (!(s.opacity > 0) || s.opacity > 1) s.opacity = 1;
    if (!(s.marker_size > 0)) s.marker_size = 5.5;
    /* After one turn through the colors, dashes tell curves apart. */
    static const ga_plot_line turns[] = {GA_LINE_SOLID, GA_LINE_DASHED, GA_LINE_DOTTED,
                                         GA_LINE_DASH_DOT};
    if (s.color == GA_COLOR_AUTOMATIC && s.line == GA_LINE_SOLID)
        s.line = turns[p->series_count / CYCLE % 4];
    s.color = rgb_of(s.color, GA_COLOR_BLUE + (unsigned)(p->series_count % CYCLE));
    APPEND(f, p->series, p->series_count, s);
}

void ga_figure_rule(ga_figure *f, int panel, const ga_plot_rule *rule)
{
    ga_panel *p = find_panel(f, panel);
    if (!p || !IS_WHOLE(f, ga_plot_rule, rule)) return;
    ga_plot_rule r = *rule;
    r.label = keep_text(f, r.label);
    r.color = rgb_of(r.color, GA_COLOR_GRAY);
    APPEND(f, p->rules, p->rule_count, r);
}

void ga_figure_span(ga_figure *f, int panel, const ga_plot_span *span)
{
    ga_panel *p = find_panel(f, panel);
    if (!p || !IS_WHOLE(f, ga_plot_span, span)) return;
    ga_plot_span s = *span;
    s.label = keep_text(f, s.label);
    s.color = rgb_of(s.color, GA_COLOR_LIGHT);
    APPEND(f, p->spans, p->span_count, s);
}

void ga_figure_slope(ga_figure *f, int panel, const ga_plot_slope *slope)
{
    ga_panel *p = find_panel(f, panel);
    if (!p || !IS_WHOLE(f, ga_plot_slope, slope)) return;
    ga_plot_slope s = *slope;
    s.color = rgb_of(s.color, GA_COLOR_BLACK);
    APPEND(f, p->slopes, p->slope_count, s);
}

void ga_figure_note(ga_figure *f, int panel, const ga_plot_note *note)
{
    ga_panel *p = find_panel(f, panel);
    if (!p || !IS_WHOLE(f, ga_plot_note, note)) return;
    ga_plot_note n = *note;
    n.text = keep_text(f, n.text);
    n.color = rgb_of(n.color, GA_COLOR_BLACK);
    APPEND(f, p->notes, p->note_count, n);
}

void ga_figure_destroy(ga_figure *f)
{
    if (!f) return;
    ga_arena_free(&f->arena);
    ga_free(f);
}
