/* What `galpha plot` draws if no channel is named: coordinates of joints, else rotations (of
 * planar models) and positions, that change, and energies; if there are neither coordinates nor
 * energies, forces as well. Driven joints come first, then joints on the ground, then the
 * others, as they stand in the model. */
#include "cli/plot.h"

#include "cli/input.h"
#include "cli/text.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

typedef struct candidate {
    char name[CLI_PLOT_NAME], unit[CLI_PLOT_UNIT];
    double travel, largest; /* highest less lowest value; largest absolute value */
    int order;              /* of its joint: smaller ones come first */
} candidate;

typedef struct candidates {
    int count, room;
    candidate *all;
} candidates;

typedef struct usual {
    cli_picture *plot;
    ga_model *model; /* null: a result without one */
    int left_out;    /* curves that would have been drawn if there were fewer */
} usual;

/* Panels of curves of one unit. */
enum { USUAL, SMALL, POSITIONS };

enum { MOST_COLUMNS = 2000 }; /* of a crowd not all are read */

/* --- the order of joints ------------------------------------------------------------------ */

static bool acts_on(const ga_model *model, int entry, const char *body)
{
    const char *name;
    for (int k = 0; (name = ga_model_entry_body(model, entry, k)); ++k)
        if (strcmp(name, body) == 0) return true;
    return false;
}

/* A motion between the same bodies. */
static bool is_driven(const ga_model *model, int joint)
{
    const char *first = ga_model_entry_body(model, joint, 0);
    const char *second = first ? ga_model_entry_body(model, joint, 1) : NULL;
    for (int k = 0; second && ga_model_get_entry(model, k).name; ++k)
        if (strcmp(ga_model_get_entry(model, k).section, "motions") == 0 &&
            acts_on(model, k, first) && acts_on(model, k, second))
            return true;
    return false;
}

static int order_of(const ga_model *model, const char *channel)
{
    enum { DRIVEN = 0, ON_GROUND = 1000000, OTHER = 2000000 };
    const size_t length = strcspn(channel, ".");
    for (int k = 0; model && ga_model_get_entry(model, k).name; ++k) {
        const ga_model_entry entry = ga_model_get_entry(model, k);
        if (strcmp(entry.section, "joints") != 0 || strlen(entry.name) != length ||
            memcmp(entry.name, channel, length) != 0)
            continue;
        return k + (is_driven(model, k)           ? DRIVEN
                    : acts_on(model, k, "ground") ? ON_GROUND
                                                  : OTHER);
    }
    return OTHER;
}

static int by_order(const void *a, const void *b)
{
    const candidate *one = a, *two = b;
    if (one->order != two->order) return one->order < two->order ? -1 : 1;
    return strcmp(one->name, two->name);
}

/* --- what moves --------------------------------------------------------------------------- */

static void measure(const cli_curve *curve, candidate *c)
{
    double low = INFINITY, high = -INFINITY;
    for (size_t k = 0; k < curve->count[0]; ++k) {
        if (!isfinite(curve->y[0][k])) continue;
        low = fmin(low, curve->y[0][k]);
        high = fmax(high, curve->y[0][k]);
    }
    c->travel = high > low ? high - low : 0;
    c->largest = high >= low ? fmax(fabs(low), fabs(high)) : 0;
}

/* Not just by what integration and rounding leave: by part of the largest of its kind. */
static bool moves(const candidate *c, double largest)
{
    const double smallest = 1e-3; /* energies drift by less */
    return c->travel > smallest * c->largest && c->travel > 1e-6 * largest;
}

static int add_candidate(const usual *u, const ga_result_column *column, candidates *list)
{
    if (list->count == list->room) {
        const int room = list->room ? 2 * list->room : 64;
        candidate *all = realloc(list->all, (size_t)room * sizeof *all);
        if (!all) return cli_out_of_memory();
        list->all = all;
        list->room = room;
    }
    cli_curve *curve = calloc(1, sizeof *curve); /* large for a stack */
    if (!curve) return cli_out_of_memory();
    candidate *c = &list->all[list->count];
    *c = (candidate){.order = order_of(u->model, column->name)};
    snprintf(c->name, sizeof c->name, "%s", column->name);
    snprintf(c->unit, sizeof c->unit, "%s",
             ga_result_reader_channels(u->plot->results[0])[column->channel].unit);
    strcpy(curve->name, c->name);
    const int code = cli_plot_read(u->plot, 1, curve);
    if (code == EXIT_DONE) measure(curve, c);
    cli_plot_free_numbers(curve);
    free(curve);
    ++list->count;
    return code;
}

/* Of joints only numbers: a vector is no coordinate. */
static int collect(const usual *u, const char *pattern, bool vectors, candidates *list)
{
    const ga_channel *channels = ga_result_reader_channels(u->plot->results[0]);
    ga_result_column *columns = NULL;
    int count = 0;
    ga_report report;
    if (ga_result_select(u->plot->results[0], pattern, &columns, &count, &report) != GA_OK) {
        cli_error("%s", report.message);
        return cli_exit_code(report.status);
    }
    int code = EXIT_DONE;
    for (int k = 0; k < count && list->count < MOST_COLUMNS && code == EXIT_DONE; ++k)
        if (strlen(columns[k].name) < CLI_PLOT_NAME &&
            (vectors || channels[columns[k].channel].count == 1))
            code = add_candidate(u, columns + k, list);
    ga_result_columns_free(columns);
    return code;
}

/* --- what is drawn ------------------------------------------------------------------------ */

/* Up to `most` curves of these names that move. */
static int add_moving(usual *u, const char *const *patterns, bool vectors, int most)
{
    candidates list = {0};
    int code = EXIT_DONE, added = 0;
    for (; *patterns && code == EXIT_DONE; ++patterns)
        code = collect(u, *patterns, vectors, &list);
    if (list.count) qsort(list.all, (size_t)list.count, sizeof *list.all, by_order);
    double largest = 0;
    for (int k = 0; k < list.count; ++k) largest = fmax(largest, list.all[k].largest);
    for (int k = 0; k < list.count && code == EXIT_DONE; ++k) {
        const candidate *c = &list.all[k];
        if (!moves(c, largest)) continue;
        if (added == most) {
            ++u->left_out;
            continue;
        }
        cli_curve *curve = &u->plot->curves[u->plot->curve_count++];
        strcpy(curve->name, c->name);
        strcpy(curve->unit, c->unit);
        curve->travel = c->travel;
        code = cli_plot_read(u->plot, u->plot->result_count, curve);
        ++added;
    }
    free(list.all);
    return code;
}

/* Coordinates that move much less than others have a panel of their own. */
static void set_apart(cli_picture *plot)
{
    const double much_less = 0.2;
    for (int k = 0; k < plot->curve_count; ++k)
        for (int i = 0; i < plot->curve_count; ++i)
            if (strcmp(plot->curves[k].unit, plot->curves[i].unit) == 0 &&
                plot->curves[k].travel < much_less * plot->curves[i].travel)
                plot->curves[k].apart = SMALL;
}

static int add_coordinates(usual *u)
{
    static const char *const angles[] = {"*.angle", "*.angle1", "*.angle2", NULL};
    static const char *const rotations[] = {"*.rotation", NULL};
    static const char *const displacements[] = {"*.displacement", NULL};
    static const char *const positions[] = {"*.position", "*.*.position", NULL};
    enum { MOST = 6, ENOUGH = 4 };
    int code = add_moving(u, angles, false, MOST);
    if (code == EXIT_DONE && u->plot->curve_count == 0)
        code = add_moving(u, rotations, false, MOST);
    if (code == EXIT_DONE) code = add_moving(u, displacements, false, MOST);
    set_apart(u->plot);
    const int coordinates = u->plot->curve_count;
    if (code != EXIT_DONE || coordinates >= ENOUGH) return code;
    code = add_moving(u, positions, true, MOST);
    for (int k = coordinates; k < u->plot->curve_count; ++k)
        u->plot->curves[k].apart = POSITIONS;
    return code;
}

/* The total alone only shows what integration leaves of a constant. */
static int add_energies(usual *u)
{
    static const char *const names[][2] = {
        {"energy.kinetic"}, {"energy.potential"}, {"energy.dissipated"}, {"energy.work"}};
    static const char *const total[] = {"energy.total", NULL};
    const int before = u->plot->curve_count;
    int code = EXIT_DONE;
    for (size_t k = 0; k < sizeof names / sizeof *names && code == EXIT_DONE; ++k)
        code = add_moving(u, names[k], false, 1);
    if (code != EXIT_DONE || u->plot->curve_count == before) return code;
    return add_moving(u, total, false, 1);
}

static int add_all(usual *u)
{
    static const char *const everything[] = {"*", NULL};
    static const char *const efforts[] = {"*.force", "*.torque", "*.effort", NULL};
    enum { MOST_EFFORTS = 4 };
    int code = add_coordinates(u);
    const int before = u->plot->curve_count;
    if (code == EXIT_DONE) code = add_energies(u);
    if (code == EXIT_DONE && u->plot->curve_count == before)
        code = add_moving(u, efforts, false, MOST_EFFORTS);
    if (code == EXIT_DONE && u->plot->curve_count == 0)
        code = add_moving(u, everything, true, 6);
    return code;
}

int cli_plot_usual(cli_picture *plot)
{
    usual u = {.plot = plot};
    const char *text = ga_result_reader_model(plot->results[0]);
    /* the order of the result, if the model cannot be read */
    if (*text) ga_model_parse(plot->files[0], text, strlen(text), NULL, &u.model, NULL);
    const int code = add_all(&u);
    ga_model_destroy(u.model);
    plot->stacked = true;
    if (code != EXIT_DONE) return code;
    if (plot->curve_count == 0) {
        cli_error("%s: nothing in it changes; name a channel", plot->files[0]);
        return EXIT_INPUT;
    }
    if (u.left_out > 0)
        cli_error("%s: %d more coordinates change and are not drawn; name those you want, "
                  "`galpha plot %s --list` lists them",
                  plot->files[0], u.left_out, plot->files[0]);
    return EXIT_DONE;
}
