/* The figure of `galpha plot`: which curves share a panel and an axis, and what they are
 * called.
 *
 * Curves of one unit belong together. One unit: one panel. Two: the second has the axis on the
 * right, as long as there are few curves. More: a panel for each, one above the other. With
 * --panels each word of the command line has its own.
 *
 * What names have in common goes to the axis, what tells them apart to the legend: of
 * top.position.x and top.position.y the axis says top.position, the legend x and y.
 */
#include "cli/plot.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

enum { MOST_ON_TWO_AXES = 4, PANEL_HEIGHT = 190, MARKUP = 2 * CLI_PLOT_NAME };

/* Where a curve is drawn. */
typedef struct place {
    int panel;
    bool right;
} place;

/* Curves of one axis. */
typedef struct group {
    const cli_picture *plot;
    const place *places;
    place at;
} group;

static bool belongs(const group *g, int k)
{
    return g->places[k].panel == g->at.panel && g->places[k].right == g->at.right;
}

/* --- who sits where ----------------------------------------------------------------------- */

/* An expression without a unit may be an angle in rad. */
static bool may_be_angle(const cli_curve *curve)
{
    return strcmp(curve->unit, "rad") == 0 || (curve->expression && !*curve->unit);
}

/* Whether two curves may share an axis. */
static bool is_alike(const cli_curve *a, const cli_curve *b)
{
    if (a->apart != b->apart) return false;
    return strcmp(a->unit, b->unit) == 0 || (may_be_angle(a) && may_be_angle(b));
}

static int count_units(const cli_picture *plot, int *unit_of)
{
    int units = 0;
    for (int k = 0; k < plot->curve_count; ++k) {
        int same = 0;
        while (same < k && !is_alike(&plot->curves[same], &plot->curves[k])) ++same;
        unit_of[k] = same < k ? unit_of[same] : units++;
    }
    return units;
}

/* How many panels there are. */
static int place_curves(const cli_picture *plot, place *places)
{
    int unit_of[CLI_PLOT_CURVES], panels = 0;
    const int units = count_units(plot, unit_of);
    if (plot->one_axis) {
        memset(places, 0, CLI_PLOT_CURVES * sizeof *places);
        return 1;
    }
    const bool two_axes = units == 2 && plot->curve_count <= MOST_ON_TWO_AXES && !plot->phase &&
                          !plot->y_range.given && !plot->stacked;
    for (int k = 0; k < plot->curve_count; ++k) {
        places[k] = (place){0};
        if (plot->panels && k > 0)
            places[k].panel =
                places[k - 1].panel + (plot->curves[k].operand != plot->curves[k - 1].operand);
        else if (!plot->panels && two_axes)
            places[k].right = unit_of[k] == 1;
        else if (!plot->panels)
            places[k].panel = unit_of[k];
        if (places[k].panel >= panels) panels = places[k].panel + 1;
    }
    /* a word of several units */
    for (int k = 0; k < plot->curve_count && plot->panels; ++k)
        for (int i = 0; i < k; ++i)
            if (places[i].panel == places[k].panel && !places[i].right &&
                !is_alike(&plot->curves[i], &plot->curves[k]))
                places[k].right = true;
    return panels;
}

/* --- names -------------------------------------------------------------------------------- */

/* Without the meaning _ and ^ have in figures; expressions keep their powers. */
static const char *plain(const char *text, size_t length, char out[MARKUP])
{
    size_t n = 0;
    for (size_t k = 0; k < length && text[k] && n + 2 < MARKUP; ++k) {
        if (strchr("_^\\", text[k])) out[n++] = '\\';
        out[n++] = text[k];
    }
    out[n] = '\0';
    return out;
}

/* A long expression ends with an ellipsis. */
static void shorten(char text[MARKUP])
{
    enum { LONGEST = 64 };
    size_t n = LONGEST;
    if (strlen(text) <= LONGEST) return;
    while (n > 0 && (text[n] & 0xc0) == 0x80) --n; /* within a character of UTF-8 */
    if (text[n - 1] == '\\') --n;
    strcpy(text + n, "\u2026");
}

/* How many bytes all names of a group begin with: whole words with their dot. */
static size_t common_start(const group *g)
{
    const char *first = NULL;
    size_t common = 0;
    for (int k = 0; k < g->plot->curve_count; ++k) {
        if (!belongs(g, k)) continue;
        const char *name = g->plot->curves[k].name;
        if (!first) {
            first = name;
            const char *dot = strrchr(name, '.');
            common = dot ? (size_t)(dot - name) + 1 : 0;
        }
        while (common > 0 && strncmp(first, name, common) != 0) {
            --common;
            while (common > 0 && first[common - 1] != '.') --common;
        }
    }
    return common;
}

/* How many bytes they end with, from a dot on. */
static size_t common_end(const group *g)
{
    const char *first = NULL;
    size_t common = 0;
    for (int k = 0; k < g->plot->curve_count; ++k) {
        if (!belongs(g, k)) continue;
        const char *name = g->plot->curves[k].name;
        const size_t length = strlen(name);
        if (!first) {
            first = name + length;
            const char *dot = strchr(name, '.');
            common = dot ? length - (size_t)(dot - name) : 0;
        }
        while (common > 0 && (common >= length ||
                              memcmp(first - common, name + length - common, common) != 0)) {
            --common;
            while (common > 0 && first[-(ptrdiff_t)common] != '.') --common;
        }
    }
    return common;
}

static int count_curves(const group *g, const cli_curve **only)
{
    int count = 0;
    for (int k = 0; k < g->plot->curve_count; ++k)
        if (belongs(g, k)) {
            *only = &g->plot->curves[k];
            ++count;
        }
    return count;
}

/* Cuts that both the axis and the legend use. */
typedef struct cuts {
    size_t start, end;
} cuts;

static cuts find_cuts(const group *g)
{
    const cli_curve *one = NULL;
    if (count_curves(g, &one) < 2) return (cuts){0};
    for (int k = 0; k < g->plot->curve_count; ++k)
        if (belongs(g, k) && (g->plot->curves[k].expression || g->plot->curves[k].label))
            return (cuts){0};
    const cuts c = {common_start(g), 0};
    return c.start ? c : (cuts){0, common_end(g)};
}

static const char *quantity_of(const char *unit)
{
    static const char *const names[][2] = {
        {"m", "length"},  {"m/s", "velocity"}, {"m/s^2", "acceleration"},
        {"rad", "angle"}, {"rad/s", "rate"},   {"rad/s^2", "angular acceleration"},
        {"deg", "angle"}, {"deg/s", "rate"},   {"deg/s^2", "angular acceleration"},
        {"N", "force"},   {"N m", "torque"},   {"J", "energy"},
        {"W", "power"},   {"s", "time"},       {"kg", "mass"},
    };
    for (size_t k = 0; k < sizeof names / sizeof *names; ++k)
        if (strcmp(names[k][0], unit) == 0) return names[k][1];
    return "";
}

/* The unit of an axis: that of all its curves that have one, or "" if those differ. */
static const char *group_unit(const group *g)
{
    const char *unit = "";
    for (int k = 0; k < g->plot->curve_count; ++k) {
        const char *own = g->plot->curves[k].unit;
        if (!belongs(g, k) || !*own) continue;
        if (*unit && strcmp(unit, own) != 0) return "";
        unit = own;
    }
    return unit;
}

static const char *axis_label(const group *g, char out[MARKUP])
{
    const cli_curve *one = NULL;
    const int count = count_curves(g, &one);
    if (g->plot->y_label) return g->plot->y_label;
    if (count == 0) return NULL;
    if (count == 1) return one->label ? one->label : plain(one->name, strlen(one->name), out);
    const cuts c = find_cuts(g);
    if (c.start) return plain(one->name, c.start - 1, out);
    if (c.end) return plain(one->name + strlen(one->name) - c.end + 1, c.end - 1, out);
    return quantity_of(group_unit(g));
}

/* m/s^2 as m/s\u00b2. */
static const char *unit_text(const char *unit, char out[MARKUP])
{
    static const char *const raised[] = {"\u00b2", "\u00b3"};
    size_t n = 0;
    for (const char *c = unit; *c && n + 4 < MARKUP; ++c) {
        const bool power = *c == '^' && (c[1] == '2' || c[1] == '3') &&
                           !(c[2] >= '0' && c[2] <= '9') && c[2] != '.';
        if (!power) {
            out[n++] = *c;
            continue;
        }
        memcpy(out + n, raised[c[1] - '2'], 2);
        n += 2;
        ++c;
    }
    out[n] = '\0';
    return n > 0 ? out : NULL;
}

static const char *file_name(const char *path)
{
    const char *slash = strrchr(path, '/');
    return slash ? slash + 1 : path;
}

static bool has_two_axes(const group *g)
{
    for (int k = 0; k < g->plot->curve_count; ++k)
        if (g->places[k].panel == g->at.panel && g->places[k].right) return true;
    return false;
}

/* The label of a curve in the legend; null where the axis says all. With two axes it is the
 * whole name, since neither axis speaks for all curves. */
static const char *curve_label(const group *g, const cli_curve *curve, bool alone,
                               char out[MARKUP])
{
    if (alone) return NULL;
    if (curve->label) return curve->label;
    const cuts c = has_two_axes(g) ? (cuts){0} : find_cuts(g);
    const size_t length = strlen(curve->name) - c.start - c.end;
    plain(curve->name + c.start, length, out);
    shorten(out);
    const size_t n = strlen(out);
    if (g->at.right) snprintf(out + n, MARKUP - n, " (right)");
    return out;
}

/* --- drawing ------------------------------------------------------------------------------ */

static const ga_plot_line dashes[] = {GA_LINE_SOLID, GA_LINE_DASHED, GA_LINE_DOTTED,
                                      GA_LINE_DASH_DOT};

/* Curves that lie on each other to the width of a line. */
static bool coincide(const cli_curve *a, const cli_curve *b, double range)
{
    const double width = 2e-3;
    if (a->count[0] != b->count[0]) return false;
    for (size_t n = 0; n < a->count[0]; ++n)
        if (!(fabs(a->y[0][n] - b->y[0][n]) <= width * range)) return false;
    return true;
}

static double range_of(const group *g)
{
    double low = INFINITY, high = -INFINITY;
    for (int k = 0; k < g->plot->curve_count; ++k) {
        const cli_curve *curve = &g->plot->curves[k];
        for (size_t n = 0; belongs(g, k) && n < curve->count[0]; ++n) {
            if (!isfinite(curve->y[0][n])) continue;
            low = fmin(low, curve->y[0][n]);
            high = fmax(high, curve->y[0][n]);
        }
    }
    return high > low ? high - low : 0;
}

/* Dashed where it lies on an earlier curve, so that both can be seen; with several results
 * dashes are used to tell these apart. */
static ga_plot_line line_of(const group *g, int k)
{
    int below = 0;
    if (g->plot->result_count > 1) return GA_LINE_SOLID;
    const double range = range_of(g);
    for (int i = 0; i < k; ++i)
        below += belongs(g, i) && coincide(&g->plot->curves[i], &g->plot->curves[k], range);
    return dashes[below < 3 ? below : 3];
}

static void draw_curve(ga_figure *figure, const group *g, int k, int number, bool alone)
{
    const cli_picture *plot = g->plot;
    const cli_curve *curve = &plot->curves[k];
    char label[MARKUP], file[MARKUP];
    const unsigned color = GA_COLOR_BLUE + (unsigned)(number % 7);
    const ga_plot_line line = line_of(g, k);
    for (int r = 0; r < plot->result_count; ++r) {
        const double *x = plot->phase
                              ? plot->x.y[r]
                              : ga_result_reader_times(plot->results[r]) + plot->first[r];
        /* of one curve the files have colors, of several their colors say which they are */
        const bool by_file = alone && plot->result_count > 1;
        const char *name = file_name(plot->files[r]);
        ga_figure_series(figure, g->at.panel,
                         &(ga_plot_series){
                             .struct_size = sizeof(ga_plot_series),
                             .label = by_file  ? plain(name, strlen(name), file)
                                      : r == 0 ? curve_label(g, curve, alone, label)
                                               : NULL,
                             .count = curve->count[r],
                             .x = x,
                             .y = curve->y[r],
                             .color = by_file ? GA_COLOR_BLUE + (unsigned)(r % 7) : color,
                             .line = r == 0              ? line
                                     : by_file && r >= 4 ? GA_LINE_SOLID
                                                         : dashes[r % 4],
                             .marker = curve->count[r] == 1 ? GA_MARKER_CIRCLE : GA_MARKER_NONE,
                             .right = g->at.right,
                         });
    }
}

/* Lines in the legend that say which file has which dashes. */
static void explain_dashes(ga_figure *figure, const cli_picture *plot, int panel)
{
    static const double nowhere = NAN;
    const double x =
        plot->phase ? NAN : ga_result_reader_times(plot->results[0])[plot->first[0]];
    char label[MARKUP];
    for (int r = 0; r < plot->result_count; ++r) {
        const char *name = file_name(plot->files[r]);
        ga_figure_series(figure, panel,
                         &(ga_plot_series){.struct_size = sizeof(ga_plot_series),
                                           .label = plain(name, strlen(name), label),
                                           .count = 1,
                                           .x = &x,
                                           .y = &nowhere,
                                           .color = GA_COLOR_GRAY,
                                           .line = dashes[r % 4]});
    }
}

static bool is_length(const char *unit) { return strcmp(unit, "m") == 0; }

static void set_range(ga_plot_axis *axis, cli_plot_range range)
{
    if (!range.given) return;
    axis->low = range.low;
    axis->high = range.high;
}

static int add_panel(ga_figure *figure, const group *left, const group *right)
{
    const cli_picture *plot = left->plot;
    const cli_curve *one = NULL, *other = NULL;
    char x[MARKUP], y[MARKUP], y2[MARKUP], x_unit[MARKUP], y_unit[MARKUP], y2_unit[MARKUP];
    const int count = count_curves(left, &one);
    const int others = count_curves(right, &other);
    if (!one) one = other;
    const bool lengths = plot->phase && is_length(plot->x.unit) && is_length(one->unit);
    ga_plot_panel panel = {
        .struct_size = sizeof(ga_plot_panel),
        .x = {.label =
                  plot->x_label ? plot->x_label : plain(plot->x.name, strlen(plot->x.name), x),
              .unit = plot->x_label ? NULL : unit_text(plot->x.unit, x_unit),
              .scale = plot->log_x ? GA_SCALE_LOG : GA_SCALE_LINEAR},
        .y = {.label = axis_label(left, y),
              .unit =
                  plot->y_label ? NULL : unit_text(group_unit(count ? left : right), y_unit),
              .scale = plot->log_y ? GA_SCALE_LOG : GA_SCALE_LINEAR},
        .equal_aspect = lengths && !plot->log_x && !plot->log_y && !plot->x_range.given &&
                        !plot->y_range.given,
        /* long lists beside the panel, not in it */
        .legend =
            count + others + plot->result_count > 8 ? GA_LEGEND_OUTSIDE : GA_LEGEND_AUTOMATIC,
    };
    if (other)
        panel.right = (ga_plot_axis){.label = axis_label(right, y2),
                                     .unit = unit_text(group_unit(right), y2_unit),
                                     .scale = panel.y.scale};
    set_range(&panel.x, plot->phase ? plot->x_range : plot->time);
    if (plot->x_range.given) set_range(&panel.x, plot->x_range);
    set_range(&panel.y, plot->y_range);
    return ga_figure_panel(figure, &panel);
}

static void draw_panel(ga_figure *figure, const cli_picture *plot, const place *places, int at)
{
    const group left = {plot, places, {at, false}}, right = {plot, places, {at, true}};
    const cli_curve *one = NULL;
    const int left_count = count_curves(&left, &one),
              count = left_count + count_curves(&right, &one);
    add_panel(figure, &left, &right);
    int number = 0;
    for (int k = 0; k < plot->curve_count; ++k) {
        if (places[k].panel != at) continue;
        draw_curve(figure, places[k].right ? &right : &left, k, number++, count == 1);
    }
    if (plot->result_count > 1 && count > 1) explain_dashes(figure, plot, at);
}

static const char *default_title(const cli_picture *plot)
{
    for (const ga_attribute *a = ga_result_reader_attributes(plot->results[0]); a->name; ++a)
        if (strcmp(a->name, "model") == 0 && a->text && *a->text) return a->text;
    return file_name(plot->files[0]);
}

ga_status cli_plot_draw(const cli_picture *plot, ga_report *report)
{
    place places[CLI_PLOT_CURVES];
    char title[MARKUP];
    const int panels = place_curves(plot, places);
    const char *text = plot->title ? plot->title : default_title(plot);
    char spectrum[MARKUP];
    if (plot->fft && !plot->title) {
        snprintf(spectrum, sizeof spectrum, "%.200s: amplitude spectrum, %s", text,
                 cli_window_text(plot->window));
        text = spectrum;
    }
    double height = plot->height;
    if (height == 0 && panels > 1) height = 60 + PANEL_HEIGHT * panels;
    ga_figure *figure = ga_figure_create(
        &(ga_figure_def){.struct_size = sizeof(ga_figure_def),
                         .title = plot->title ? text : plain(text, strlen(text), title),
                         .width = plot->width > 0 ? plot->width : 520,
                         .height = height,
                         .share_x = panels > 1});
    for (int k = 0; k < panels; ++k) draw_panel(figure, plot, places, k);
    const ga_status status = ga_figure_write(figure, plot->path, report);
    ga_figure_destroy(figure);
    return status;
}
