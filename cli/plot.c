/* galpha plot: curves of results, over time or over each other; their spectra; tables. */
#include "cli/plot.h"

#include "cli/command.h"
#include "cli/content.h"
#include "cli/guard.h"
#include "cli/input.h"
#include "cli/plot_table.h"
#include "cli/text.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* --- what to draw ------------------------------------------------------------------------- */

static int refuse(const ga_report *report)
{
    cli_error("%s", report->message);
    return cli_exit_code(report->status);
}

/* Whether the model has a channel of this name, as far as the model in the results can be
 * read. */
static bool is_of_model(const ga_result_reader *result, const char *file, const char *name)
{
    const char *text = ga_result_reader_model(result);
    ga_model *model = NULL;
    ga_sim *sim = NULL;
    ga_report report;
    if (!*text || ga_model_parse(file, text, strlen(text), NULL, &model, NULL) != GA_OK)
        return false;
    ga_sim_def def = ga_sim_def_of(model);
    def.channels = &name;
    def.channel_count = 1;
    const bool found = ga_sim_create(model, &def, &sim, NULL, &report) == GA_OK;
    ga_sim_destroy(sim);
    ga_model_destroy(model);
    return found;
}

/* A name that is near, or where to look. */
static int unknown_channel(const ga_result_reader *result, const char *file, const char *name)
{
    char near[GA_RESULT_NAME_SIZE];
    if (is_of_model(result, file, name))
        cli_error("%s: '%s' is a channel of the model, but it is not in the results; add it to "
                  "`output.channels` and run again (`[default, %s]`: beside the default ones)",
                  file, name, name);
    else if (access(name, F_OK) == 0)
        cli_error("%s: there is no channel '%s', which is a file; to compare with that result: "
                  "--compare %s",
                  file, name, name);
    else if (ga_result_suggest(result, name, near))
        cli_error("%s: there is no channel '%s'; did you mean '%s'?", file, name, near);
    else if (ga_result_reader_channel_count(result) > 0)
        cli_error("%s: there is no channel '%s'; `galpha plot %s --list` lists them", file,
                  name, file);
    else
        cli_error("%s has no channels", file);
    return EXIT_INPUT;
}

static cli_curve *new_curve(cli_picture *plot, const char *text)
{
    if (plot->curve_count == CLI_PLOT_CURVES) {
        cli_error("'%s' gives more than %d curves", text, CLI_PLOT_CURVES);
        return NULL;
    }
    return &plot->curves[plot->curve_count++];
}

static bool set_name(cli_curve *curve, const char *name)
{
    if (strlen(name) >= sizeof curve->name) {
        cli_error("'%.40s...' is too long, %d characters at most", name, CLI_PLOT_NAME - 1);
        return false;
    }
    strcpy(curve->name, name);
    return true;
}

static void set_unit(cli_curve *curve, const char *unit)
{
    snprintf(curve->unit, sizeof curve->unit, "%s", unit);
}

/* All that a name stands for; EXIT_DONE with nothing added if that is nothing. */
static int add_columns(cli_picture *plot, const char *name, int operand)
{
    ga_result_column *columns = NULL;
    int count = 0, code = EXIT_DONE;
    ga_report report;
    if (ga_result_select(plot->results[0], name, &columns, &count, &report) != GA_OK)
        return refuse(&report);
    for (int k = 0; k < count && code == EXIT_DONE; ++k) {
        cli_curve *curve = new_curve(plot, name);
        if (!curve || !set_name(curve, columns[k].name)) {
            code = EXIT_INPUT;
            break;
        }
        set_unit(curve, ga_result_reader_channels(plot->results[0])[columns[k].channel].unit);
        curve->operand = operand;
    }
    ga_result_columns_free(columns);
    return code;
}

/* A lone name that is none gets a better message than the compiler's; so does a pattern, whose
 * `*` is beside a dot or at an end. */
static bool looks_like_name(const char *text)
{
    if (strpbrk(text, "+-/^()<>=!&|?:, ") || (text[0] >= '0' && text[0] <= '9')) return false;
    if (!strchr(text, '*')) return true;
    for (const char *star = strchr(text, '*'); star; star = strchr(star + 1, '*'))
        if (star == text || star[-1] == '.' || !star[1] || star[1] == '.') return true;
    return false;
}

int cli_plot_compile(ga_result_reader *result, const char *file, const char *text,
                     ga_result_expression **expression)
{
    ga_report report;
    const ga_status status = ga_result_expression_compile(result, text, expression, &report);
    if (status == GA_OK) return EXIT_DONE;
    if (status == GA_ERR_INPUT && looks_like_name(text))
        return unknown_channel(result, file, text);
    if (status == GA_ERR_INPUT)
        cli_error("%s: '%s', column %d: %s", file, text, report.column + 1, report.message);
    else
        cli_error("%s", report.message);
    return cli_exit_code(status);
}

static int set_expression(cli_picture *plot, cli_curve *curve, const char *text)
{
    ga_result_expression *expression = NULL;
    if (!set_name(curve, text)) return EXIT_INPUT;
    const int code = cli_plot_compile(plot->results[0], plot->files[0], text, &expression);
    if (code != EXIT_DONE) return code;
    set_unit(curve, ga_result_expression_unit(expression));
    curve->expression = true;
    ga_result_expression_destroy(expression);
    return EXIT_DONE;
}

bool cli_plot_is_product(ga_result_reader *result, const char *text)
{
    ga_result_expression *expression = NULL;
    ga_report report;
    if (!strchr(text, '*')) return false;
    const bool compiles =
        ga_result_expression_compile(result, text, &expression, &report) == GA_OK;
    ga_result_expression_destroy(expression);
    return compiles;
}

static int add_word(cli_picture *plot, const char *word, int operand)
{
    const int before = plot->curve_count;
    const bool product = cli_plot_is_product(plot->results[0], word);
    const int code = product ? EXIT_DONE : add_columns(plot, word, operand);
    if (code != EXIT_DONE || plot->curve_count > before) return code;
    cli_curve *curve = new_curve(plot, word);
    if (!curve) return EXIT_INPUT;
    curve->operand = operand;
    return set_expression(plot, curve, word);
}

/* The horizontal axis: one column, or an expression. */
static int set_x(cli_picture *plot, const char *text)
{
    plot->phase = text && strcmp(text, "time") != 0;
    if (!plot->phase) {
        strcpy(plot->x.name, "time");
        set_unit(&plot->x, "s");
        return EXIT_DONE;
    }
    ga_result_column *columns = NULL;
    int count = 0;
    ga_report report;
    if (ga_result_select(plot->results[0], text, &columns, &count, &report) != GA_OK)
        return refuse(&report);
    int code = EXIT_DONE;
    if (count > 1) {
        cli_error("--x %s: %d numbers, expected one such as %s", text, count, columns[0].name);
        code = EXIT_INPUT;
    } else if (count == 1) {
        code = set_name(&plot->x, columns[0].name) ? EXIT_DONE : EXIT_INPUT;
        set_unit(&plot->x,
                 ga_result_reader_channels(plot->results[0])[columns[0].channel].unit);
    } else {
        code = set_expression(plot, &plot->x, text);
    }
    ga_result_columns_free(columns);
    return code;
}

/* --- numbers ------------------------------------------------------------------------------ */

/* Frames first .. first + count - 1 of a result lie in the times asked for; of curves one more
 * on each side, so that they reach the edges. */
static size_t choose_frames(const cli_picture *plot, int result, size_t *first)
{
    const double *t = ga_result_reader_times(plot->results[result]);
    size_t last = ga_result_reader_frames(plot->results[result]) - 1;
    *first = 0;
    if (!plot->time.given) return last + 1;
    if (plot->fft) {
        while (*first < last && t[*first] < plot->time.low) ++*first;
        while (last > *first && t[last] > plot->time.high) --last;
        return last - *first + 1;
    }
    while (*first < last && t[*first + 1] <= plot->time.low) ++*first;
    while (last > *first && t[last - 1] >= plot->time.high) --last;
    return last - *first + 1;
}

static int read_column(cli_picture *plot, int result, size_t first, cli_curve *curve)
{
    ga_result_reader *reader = plot->results[result];
    ga_result_column *column = NULL;
    int count = 0;
    ga_report report;
    if (ga_result_select(reader, curve->name, &column, &count, &report) != GA_OK)
        return refuse(&report);
    if (count != 1) {
        ga_result_columns_free(column);
        return unknown_channel(reader, plot->files[result], curve->name);
    }
    const size_t parts = (size_t)ga_result_reader_channels(reader)[column->channel].count;
    const size_t n = curve->count[result];
    double *values = calloc(n * parts, sizeof *values);
    ga_status status = GA_OK;
    if (values)
        status = ga_result_reader_read(reader, column->channel, first, 1, n, values, &report);
    for (size_t k = 0; values && k < n; ++k)
        curve->y[result][k] = values[k * parts + (size_t)column->part];
    free(values);
    ga_result_columns_free(column);
    if (!values) return cli_out_of_memory();
    return status == GA_OK ? EXIT_DONE : refuse(&report);
}

static int read_expression(cli_picture *plot, int result, size_t first, cli_curve *curve)
{
    ga_result_expression *expression = NULL;
    const int code =
        cli_plot_compile(plot->results[result], plot->files[result], curve->name, &expression);
    if (code != EXIT_DONE) return code;
    ga_report report;
    const ga_status status = ga_result_expression_read(
        expression, first, 1, curve->count[result], curve->y[result], &report);
    ga_result_expression_destroy(expression);
    return status == GA_OK ? EXIT_DONE : refuse(&report);
}

int cli_plot_read(cli_picture *plot, int results, cli_curve *curve)
{
    for (int r = 0; r < results; ++r) {
        curve->count[r] = choose_frames(plot, r, &plot->first[r]);
        curve->y[r] = calloc(curve->count[r], sizeof *curve->y[r]);
        if (!curve->y[r]) return cli_out_of_memory();
        const int code = curve->expression ? read_expression(plot, r, plot->first[r], curve)
                                           : read_column(plot, r, plot->first[r], curve);
        if (code != EXIT_DONE) return code;
    }
    return EXIT_DONE;
}

void cli_plot_free_numbers(cli_curve *curve)
{
    for (int r = 0; r < CLI_PLOT_RESULTS; ++r) {
        free(curve->y[r]);
        curve->y[r] = NULL;
    }
}

/* --- arguments ---------------------------------------------------------------------------- */

int cli_plot_range_of(const cli_arguments *arguments, const char *option, cli_plot_range *range)
{
    const char *text = cli_value(arguments, option);
    if (!text) return EXIT_DONE;
    char *end;
    range->given = true;
    range->low = strtod(text, &end);
    const bool first = end != text && *end == ':';
    const char *second = end + 1;
    if (first) range->high = strtod(second, &end);
    if (first && end != second && !*end && isfinite(range->low) && isfinite(range->high) &&
        range->low < range->high)
        return EXIT_DONE;
    cli_error("--%s %s: expected LOW:HIGH, two numbers", option, text);
    return EXIT_INPUT;
}

static int parse_size(cli_picture *plot, const char *text)
{
    const double least = 100, most = 4000;
    if (!text) return EXIT_DONE;
    char *end;
    plot->width = strtod(text, &end);
    bool good = end != text && *end == 'x';
    const char *second = end + 1;
    if (good) {
        plot->height = strtod(second, &end);
        good = end != second && !*end;
    }
    if (good && plot->width >= least && plot->width <= most && plot->height >= least &&
        plot->height <= most)
        return EXIT_DONE;
    cli_error("--size %s: expected WIDTHxHEIGHT in points, each from %g to %g", text, least,
              most);
    return EXIT_INPUT;
}

static int set_labels(cli_picture *plot, const cli_arguments *arguments)
{
    int n = 0;
    for (int k = 0; k < arguments->given_count; ++k) {
        if (strcmp(arguments->given[k].option->name, "label") != 0) continue;
        if (n == plot->curve_count) {
            cli_error("--label %s: there are only %d curves", arguments->given[k].value, n);
            return EXIT_INPUT;
        }
        plot->curves[n++].label = arguments->given[k].value;
    }
    return EXIT_DONE;
}

static int check_logarithms(const cli_picture *plot)
{
    const struct {
        bool log;
        const char *axis;
        const cli_plot_range *range;
    } axes[] = {{plot->log_x, "x", &plot->x_range},
                {plot->log_y, "y", &plot->y_range},
                {plot->log_x && !plot->phase && !plot->fft, "x", &plot->time}};
    for (int k = 0; k < 3; ++k)
        if (axes[k].log && axes[k].range->given && axes[k].range->low <= 0) {
            cli_error("--log-%s: the range must be above 0", axes[k].axis);
            return EXIT_INPUT;
        }
    return EXIT_DONE;
}

static int add_result(cli_picture *plot, const char *path)
{
    if (plot->result_count == CLI_PLOT_RESULTS) {
        cli_error("too many results, at most %d", CLI_PLOT_RESULTS);
        return EXIT_INPUT;
    }
    if (cli_same_file(plot->path, path)) {
        cli_error("%s would be overwritten by the picture", path);
        return EXIT_INPUT;
    }
    ga_report report;
    plot->files[plot->result_count] = path;
    if (ga_result_open(path, &plot->results[plot->result_count], &report) != GA_OK)
        return refuse(&report);
    ++plot->result_count;
    return EXIT_DONE;
}

static int open_results(cli_picture *plot, const cli_arguments *arguments)
{
    int code = add_result(plot, arguments->operands[0]);
    for (int k = 0; k < arguments->given_count && code == EXIT_DONE; ++k)
        if (strcmp(arguments->given[k].option->name, "compare") == 0)
            code = add_result(plot, arguments->given[k].value);
    return code;
}

/* Options of pictures that a table or a spectrum does not have. */
static int refuse_options(const cli_arguments *arguments, const char *with,
                          const char *const *names)
{
    for (; *names; ++names)
        if (cli_given(arguments, *names)) {
            cli_error("--%s cannot be combined with --%s", with, *names);
            return EXIT_INPUT;
        }
    return EXIT_DONE;
}

static int check_options(const cli_arguments *arguments)
{
    static const char *const of_pictures[] = {
        "fft",   "output",  "x",     "panels", "one-axis", "x-range", "y-range", "log-x",
        "log-y", "degrees", "title", "label",  "x-label",  "y-label", "size",    NULL};
    static const char *const of_curves[] = {"x", NULL};
    const bool list = cli_given(arguments, "list"), stats = cli_given(arguments, "stats");
    if (list && stats) {
        cli_error("give either --list or --stats, not both");
        return EXIT_INPUT;
    }
    if (list || stats) {
        const int code = refuse_options(arguments, list ? "list" : "stats", of_pictures);
        if (code != EXIT_DONE) return code;
    } else if (cli_given(arguments, "json")) {
        cli_error("--json needs --list or --stats");
        return EXIT_INPUT;
    }
    if (cli_given(arguments, "panels") && cli_given(arguments, "one-axis")) {
        cli_error("give either --panels or --one-axis, not both");
        return EXIT_INPUT;
    }
    if (cli_given(arguments, "fft")) return refuse_options(arguments, "fft", of_curves);
    if (!cli_given(arguments, "window")) return EXIT_DONE;
    cli_error("--window needs --fft");
    return EXIT_INPUT;
}

static int parse_window(cli_picture *plot, const char *name)
{
    plot->window = CLI_WINDOW_HANN;
    if (!name || cli_window_find(name, &plot->window)) return EXIT_DONE;
    cli_error("--window %s: expected hann, flat-top or none", name);
    return EXIT_INPUT;
}

static int parse(cli_picture *plot, const cli_arguments *arguments)
{
    plot->fft = cli_given(arguments, "fft");
    plot->panels = cli_given(arguments, "panels");
    plot->one_axis = cli_given(arguments, "one-axis");
    plot->log_x = cli_given(arguments, "log-x");
    plot->log_y = cli_given(arguments, "log-y");
    plot->degrees = cli_given(arguments, "degrees");
    plot->title = cli_value(arguments, "title");
    plot->x_label = cli_value(arguments, "x-label");
    plot->y_label = cli_value(arguments, "y-label");
    int code = parse_size(plot, cli_value(arguments, "size"));
    if (code == EXIT_DONE) code = parse_window(plot, cli_value(arguments, "window"));
    if (code == EXIT_DONE) code = cli_plot_range_of(arguments, "range", &plot->time);
    if (code == EXIT_DONE) code = cli_plot_range_of(arguments, "x-range", &plot->x_range);
    if (code == EXIT_DONE) code = cli_plot_range_of(arguments, "y-range", &plot->y_range);
    return code;
}

/* --- the command -------------------------------------------------------------------------- */

static int choose_curves(cli_picture *plot, const cli_arguments *arguments)
{
    int code = set_x(plot, cli_value(arguments, "x"));
    if (code != EXIT_DONE) return code;
    if (plot->phase && (code = cli_plot_read(plot, plot->result_count, &plot->x)) != EXIT_DONE)
        return code;
    if (arguments->operand_count == 1) {
        code = cli_plot_usual(plot);
    } else {
        for (int k = 1; k < arguments->operand_count && code == EXIT_DONE; ++k)
            code = add_word(plot, arguments->operands[k], k);
        for (int k = 0; k < plot->curve_count && code == EXIT_DONE; ++k)
            code = cli_plot_read(plot, plot->result_count, &plot->curves[k]);
    }
    if (code == EXIT_DONE) code = set_labels(plot, arguments);
    return code == EXIT_DONE ? check_logarithms(plot) : code;
}

/* Of all values that can be drawn on an axis: low > high if there are none. */
typedef struct extent {
    double low, high;
} extent;

static void extend(extent *e, bool logarithmic, size_t count, const double *values)
{
    for (size_t n = 0; n < count; ++n)
        if (isfinite(values[n]) && (values[n] > 0 || !logarithmic)) {
            e->low = fmin(e->low, values[n]);
            e->high = fmax(e->high, values[n]);
        }
}

static bool is_outside(const extent *e, const cli_plot_range *range, const char *axis)
{
    if (!range->given || (range->low <= e->high && range->high >= e->low)) return false;
    cli_error("there is nothing to draw between %s = %g and %g: all is from %g to %g", axis,
              range->low, range->high, e->low, e->high);
    return true;
}

/* Says why, if a picture would be empty. */
static bool is_empty(const cli_picture *plot)
{
    extent x = {INFINITY, -INFINITY}, y = x;
    for (int r = 0; r < plot->result_count; ++r) {
        for (int k = 0; k < plot->curve_count; ++k)
            extend(&y, plot->log_y, plot->curves[k].count[r], plot->curves[k].y[r]);
        if (plot->phase)
            extend(&x, plot->log_x, plot->x.count[r], plot->x.y[r]);
        else
            extend(&x, plot->log_x, plot->curves[0].count[r],
                   ga_result_reader_times(plot->results[r]) + plot->first[r]);
    }
    if (x.low > x.high || y.low > y.high) {
        const bool by_y = y.low > y.high;
        const bool logarithmic = by_y ? plot->log_y : plot->log_x;
        cli_error("there is nothing to draw: %s",
                  logarithmic ? "the axis is logarithmic, and no value is above 0"
                              : "no value is finite");
        return true;
    }
    return is_outside(&x, &plot->x_range, "x") || is_outside(&y, &plot->y_range, "y");
}

static int check_times(const cli_picture *plot)
{
    if (!plot->time.given) return EXIT_DONE;
    double low = INFINITY, high = -INFINITY;
    for (int r = 0; r < plot->result_count; ++r) {
        const double *t = ga_result_reader_times(plot->results[r]);
        low = fmin(low, t[0]);
        high = fmax(high, t[ga_result_reader_frames(plot->results[r]) - 1]);
    }
    if (plot->time.low <= high && plot->time.high >= low) return EXIT_DONE;
    cli_error("--range %g:%g: the results are from %g to %g s", plot->time.low, plot->time.high,
              low, high);
    return EXIT_INPUT;
}

/* rad, rad/s and rad/s^2. */
static void turn_into_degrees(cli_curve *curve, int results)
{
    if (strncmp(curve->unit, "rad", 3) != 0 || (curve->unit[3] && curve->unit[3] != '/'))
        return;
    char rest[CLI_PLOT_UNIT];
    snprintf(rest, sizeof rest, "%s", curve->unit + 3);
    snprintf(curve->unit, sizeof curve->unit, "deg%.*s", CLI_PLOT_UNIT - 4, rest);
    for (int r = 0; r < results; ++r)
        for (size_t n = 0; n < curve->count[r]; ++n)
            curve->y[r][n] = cli_degrees(curve->y[r][n]);
}

static void use_degrees(cli_picture *plot)
{
    for (int k = 0; k < plot->curve_count; ++k)
        turn_into_degrees(&plot->curves[k], plot->result_count);
    if (plot->phase) turn_into_degrees(&plot->x, plot->result_count);
}

static int draw(cli_picture *plot, const cli_arguments *arguments)
{
    int code = open_results(plot, arguments);
    if (code == EXIT_DONE) code = check_times(plot);
    if (code == EXIT_DONE) code = choose_curves(plot, arguments);
    if (code == EXIT_DONE && plot->fft) code = cli_plot_transform(plot);
    if (code != EXIT_DONE) return code;
    if (plot->degrees) use_degrees(plot);
    if (is_empty(plot)) return EXIT_INPUT;
    ga_report report;
    return cli_plot_draw(plot, &report) == GA_OK ? EXIT_DONE : refuse(&report);
}

/* What runs in a process of its own. */
typedef struct drawing {
    cli_picture *plot;
    const cli_arguments *arguments;
} drawing;

static int draw_and_clear(const void *user)
{
    const drawing *d = user;
    const int code = draw(d->plot, d->arguments);
    for (int k = 0; k < d->plot->curve_count; ++k) cli_plot_free_numbers(&d->plot->curves[k]);
    cli_plot_free_numbers(&d->plot->x);
    for (int r = 0; r < d->plot->result_count; ++r) ga_result_reader_close(d->plot->results[r]);
    return code;
}

int cli_plot_files(const cli_arguments *arguments, const char *files[CLI_PLOT_RESULTS])
{
    int count = 0;
    files[count++] = arguments->operands[0];
    for (int k = 0; k < arguments->given_count; ++k) {
        if (strcmp(arguments->given[k].option->name, "compare") != 0) continue;
        if (count == CLI_PLOT_RESULTS) {
            cli_error("too many results, at most %d", CLI_PLOT_RESULTS);
            return 0;
        }
        files[count++] = arguments->given[k].value;
    }
    return count;
}

static int print_table(const void *user)
{
    const cli_arguments *arguments = user;
    const bool list = cli_given(arguments, "list");
    return cli_plot_table(arguments, list ? CLI_TABLE_LIST : CLI_TABLE_STATS);
}

/* `plot CHANNEL RESULT`, the wrong way round, gets a plain answer. */
static int check_files(const cli_arguments *arguments, int count, const char *const *files)
{
    if (count == 0) return EXIT_INPUT;
    const char *first = arguments->operands[0];
    const bool is_named_result =
        strstr(first, ".h5") || strstr(first, ".csv") || strstr(first, ".part");
    for (int k = 1; k < arguments->operand_count && !is_named_result; ++k) {
        const char *other = arguments->operands[k];
        if (cli_content_of(first) != CLI_CONTENT_OTHER ||
            !cli_content_is_result(cli_content_of(other)))
            continue;
        cli_error("%s is no result; the result comes first: galpha plot %s %s", first, other,
                  first);
        return EXIT_INPUT;
    }
    return cli_expect_results(count, files);
}

static int draw_guarded(cli_picture *plot, const cli_arguments *arguments)
{
    const char *files[CLI_PLOT_RESULTS];
    const int count = cli_plot_files(arguments, files);
    const drawing d = {plot, arguments};
    const int code = check_files(arguments, count, files);
    if (code != EXIT_DONE) return code;
    return cli_guard(count, files, draw_and_clear, &d);
}

static int table_guarded(const cli_arguments *arguments)
{
    const char *files[CLI_PLOT_RESULTS];
    const int count = cli_plot_files(arguments, files);
    const int code = check_files(arguments, count, files);
    if (code != EXIT_DONE) return code;
    return cli_guard(count, files, print_table, arguments);
}

/* top.h5 becomes top.svg. The caller frees it. */
static char *default_path(const char *result)
{
    const char *slash = strrchr(result, '/'), *dot = strrchr(result, '.');
    const char *name = slash ? slash + 1 : result;
    const size_t stem = dot && dot > name ? (size_t)(dot - result) : strlen(result);
    char *path = malloc(stem + sizeof ".svg");
    if (!path) return NULL;
    memcpy(path, result, stem);
    memcpy(path + stem, ".svg", sizeof ".svg");
    return path;
}

static bool is_picture(const char *path)
{
    static const char *const endings[] = {".svg", ".png", ".pdf"};
    const char *dot = strrchr(path, '.');
    for (int k = 0; dot && k < 3; ++k)
        if (strcmp(dot, endings[k]) == 0) return true;
    return false;
}

static int plot_command(const cli_arguments *arguments)
{
    const int options = check_options(arguments);
    if (options != EXIT_DONE) return options;
    if (cli_given(arguments, "list") || cli_given(arguments, "stats"))
        return table_guarded(arguments);
    const char *path = cli_value(arguments, "output");
    if (path && !is_picture(path)) {
        cli_error("--output %s: expected a name that ends in .svg, .png or .pdf", path);
        return EXIT_INPUT;
    }
    char *own = path ? NULL : default_path(arguments->operands[0]);
    cli_picture *plot = calloc(1, sizeof *plot); /* too large for a stack */
    int code = EXIT_DONE;
    if (!plot || (!path && !own)) {
        code = cli_out_of_memory();
    } else {
        plot->path = path ? path : own;
        code = parse(plot, arguments);
        if (code == EXIT_DONE) code = draw_guarded(plot, arguments);
        if (code == EXIT_DONE && !path) {
            cli_print_text(stdout, plot->path);
            puts("");
        }
    }
    free(plot);
    free(own);
    return code;
}

static const cli_option options[] = {
    {"output", 'o', "FILE", "picture to write: .svg, .png, .pdf; default: RESULT.svg"},
    {"x", 0, "CHANNEL", "channel for the horizontal axis instead of time"},
    {"compare", 0, "FILE", "also draw another result, dashed; may be repeated"},
    {"panels", 0, NULL, "one panel per CHANNEL"},
    {"one-axis", 0, NULL, "one panel and one axis for all, whatever their units"},
    {"range", 0, "LOW:HIGH", "time interval to draw, s"},
    {"x-range", 0, "LOW:HIGH", "range of the horizontal axis"},
    {"y-range", 0, "LOW:HIGH", "range of the vertical axis"},
    {"log-x", 0, NULL, "logarithmic horizontal axis"},
    {"log-y", 0, NULL, "logarithmic vertical axis"},
    {"degrees", 0, NULL, "angles, rates and angular accelerations in degrees"},
    {"title", 0, "TEXT", "title of the picture; default: the name of the model"},
    {"label", 0, "TEXT", "legend of a curve; repeat for the next one"},
    {"x-label", 0, "TEXT", "label of the horizontal axis"},
    {"y-label", 0, "TEXT", "label of the vertical axis"},
    {"size", 0, "WIDTHxHEIGHT", "size in points, 1/72 inch"},
    {"fft", 0, NULL, "draw amplitude spectra against frequency in Hz"},
    {"window", 0, "NAME", "window of --fft: hann (default), flat-top or none"},
    {"list", 0, NULL, "print the channels with units and ranges instead of drawing"},
    {"stats", 0, NULL, "print min, max, mean and rms instead of drawing"},
    {"json", 0, NULL, "with --list or --stats: print one JSON object"},
    {0},
};

const cli_command cli_plot = {
    .name = "plot",
    .operand = "RESULT",
    .operand_repeats = true,
    .further = "CHANNEL",
    .summary = "plot curves or spectra of a result, or print statistics",
    .details =
        "RESULT is an HDF5 or CSV file written by galpha. A CHANNEL is a name, such as\n"
        "top.position.x; a group of names (top.position, energy); a pattern in which * stands\n"
        "for a word between dots or part of one (*.position.z, hinge*.angle); or an\n"
        "expression of names and `time`, such as\n"
        "\"sqrt(top.velocity.x^2 + top.velocity.y^2)\". If none is given, coordinates of "
        "joints,\n"
        "or else positions, and energies are drawn, as far as they change.\n"
        "\n"
        "Curves with two units share a panel with two axes; with more units, or many curves,\n"
        "each unit has its own panel. With --x, both axes have the same scale if both are\n"
        "lengths. In labels, x_{1} and x^{2} set subscripts and superscripts.\n"
        "\n"
        "--fft shows a sine by its amplitude; the mean is removed. Rows that are not uniform\n"
        "in time are resampled by cubic polynomials. The frequency axis ends where amplitudes\n"
        "have fallen below a thousandth of the largest. --stats weights rows by their time\n"
        "intervals. --list and --stats without a CHANNEL print all.\n"
        "\n"
        "Exit codes: 0 done, 2 bad input or usage, 3 a file cannot be read or written.\n",
    .options = options,
    .run = plot_command,
};
