/* A page: the viewer as it was built, and in it the results.
 *
 *     <script type="application/json" id="galpha-header">{...}</script>
 *     <script type="text/plain" id="galpha-data">...</script>
 *
 * The header describes runs, channels and columns; the data are the columns of a blob in
 * base64. In the header no text can end its element, see base/json.h.
 *
 * Numbers are kept as exactly as there is room for: as doubles, with 24 bits, or as coarsely as
 * nobody will see. If the page is still too large, all results keep at most so many frames, and
 * fewer until it fits.
 */
#include <galpha/page.h>

#include "base/file.h"
#include "base/json.h"
#include "base/memory.h"
#include "base/report.h"
#include "base/struct_size.h"
#include "io/blob.h"
#include "io/viewer.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

static const size_t default_bytes = 14000000;
static const size_t least_part = 7; /* of it is for data, however large the rest is */

/* Steps of what moves bodies. A quaternion off by e in each part turns by at most 4 e; with the
 * model's size as the lever that is what positions are off by, too. */
static const double position_step = 2e-5; /* of the model's size */
static const double rotation_step = 1e-5;

/* Up to so many bytes of numbers, all of them are kept as they are; with 24 bits. */
static const double room_for_doubles = 2e6, room_for_24_bits = 6e6;

typedef enum quality { EXACT, FINE, COARSE } quality;

typedef struct page {
    int count;
    ga_result_reader *const *results;
    const ga_page_def *def;
    ga_page_shown *shown;
    const char *html, *data_at, *title_at; /* the page without data, and what is replaced */
    quality quality;
    size_t frames; /* at most, of each result */
    double *sizes; /* of the models */
    double *values;
    size_t room;
    ga_blob blob;
    ga_buffer header;
    ga_report *report;
} page;

static const char data_mark[] = "<!-- galpha:data -->";
static const char title_mark[] = "<title>galpha</title>";

bool ga_page_is_built_in(void) { return ga_viewer_length > 0; }

static ga_status out_of_memory(ga_report *report)
{
    return ga_fail(report, GA_ERR_MEMORY, "%s", ga_status_text(GA_ERR_MEMORY));
}

/* --- which frames ------------------------------------------------------------------------- */

/* Every n-th frame and the last: at most p->frames. */
static ga_page_shown choose_frames(const page *p, const ga_result_reader *result)
{
    const size_t in_file = ga_result_reader_frames(result);
    const size_t steps = p->frames > 1 ? p->frames - 1 : 1;
    ga_page_shown shown = {.frames_in_file = in_file, .every = 1, .frames = in_file};
    if (in_file > p->frames) {
        shown.every = (in_file - 1 + steps - 1) / steps;
        shown.frames = (in_file - 1) / shown.every + 1;
        if ((in_file - 1) % shown.every) ++shown.frames;
    }
    return shown;
}

/* Frames on the grid; the last may come after them. */
static size_t regular_frames(const ga_page_shown *shown)
{
    return (shown->frames_in_file - 1) / shown->every + 1;
}

static ga_status make_room(page *p, size_t count)
{
    if (p->room >= count) return GA_OK;
    ga_free(p->values);
    p->values = GA_NEW(double, count);
    p->room = p->values ? count : 0;
    return p->values ? GA_OK : out_of_memory(p->report);
}

static ga_status read_channel(page *p, int run, int channel)
{
    ga_result_reader *result = p->results[run];
    const ga_page_shown *shown = p->shown + run;
    const size_t parts = (size_t)ga_result_reader_channels(result)[channel].count;
    const size_t regular = regular_frames(shown);
    if (shown->frames > SIZE_MAX / sizeof(double) / parts) return out_of_memory(p->report);
    GA_TRY(make_room(p, shown->frames * parts));
    GA_TRY(
        ga_result_reader_read(result, channel, 0, shown->every, regular, p->values, p->report));
    if (regular == shown->frames) return GA_OK;
    return ga_result_reader_read(result, channel, shown->frames_in_file - 1, 1, 1,
                                 p->values + regular * parts, p->report);
}

/* --- how exactly -------------------------------------------------------------------------- */

static bool ends_with(const char *name, const char *ending)
{
    const size_t n = strlen(name), m = strlen(ending);
    return n >= m && strcmp(name + n - m, ending) == 0;
}

static bool is_position(const ga_channel *channel)
{
    return channel->count > 1 && channel->count <= 3 && ends_with(channel->name, ".position");
}

static bool is_rotation(const ga_channel *channel)
{
    return (channel->count == 1 || channel->count == 4) &&
           ends_with(channel->name, ".rotation");
}

/* The largest distance along an axis between two bodies at the start; 0: not known. */
static ga_status measure(page *p, int run)
{
    ga_result_reader *result = p->results[run];
    double low[3] = {INFINITY, INFINITY, INFINITY}, high[3] = {-INFINITY, -INFINITY, -INFINITY};
    for (int k = 0; k < ga_result_reader_channel_count(result); ++k) {
        const ga_channel *channel = ga_result_reader_channels(result) + k;
        double x[3];
        if (!is_position(channel)) continue;
        GA_TRY(ga_result_reader_read(result, k, 0, 1, 1, x, p->report));
        for (int i = 0; i < channel->count; ++i) {
            if (!isfinite(x[i])) continue;
            low[i] = fmin(low[i], x[i]);
            high[i] = fmax(high[i], x[i]);
        }
    }
    for (int i = 0; i < 3; ++i)
        if (high[i] > low[i] && isfinite(high[i] - low[i]))
            p->sizes[run] = fmax(p->sizes[run], high[i] - low[i]);
    return GA_OK;
}

static ga_precision precision_of(const page *p, int run, const ga_channel *channel)
{
    const double size = p->sizes[run];
    if (p->quality == EXACT) return (ga_precision){GA_ENCODING_F64, 0};
    if (p->quality == FINE) return (ga_precision){GA_ENCODING_D24, 0};
    if (is_rotation(channel)) return (ga_precision){GA_ENCODING_D24, rotation_step};
    if (is_position(channel)) return (ga_precision){GA_ENCODING_D24, position_step * size};
    return (ga_precision){GA_ENCODING_D16, 0};
}

/* --- columns ------------------------------------------------------------------------------ */

static ga_status add_time(page *p, int run)
{
    const ga_page_shown *shown = p->shown + run;
    const double *times = ga_result_reader_times(p->results[run]);
    GA_TRY(make_room(p, shown->frames));
    for (size_t k = 0; k < shown->frames; ++k) {
        const size_t frame = k * shown->every;
        p->values[k] = times[frame < shown->frames_in_file ? frame : shown->frames_in_file - 1];
    }
    const ga_precision exact = {GA_ENCODING_F64, 0};
    return ga_blob_add(&p->blob, p->values, shown->frames, 1, exact) == GA_OK
               ? GA_OK
               : out_of_memory(p->report);
}

static ga_status add_channel(page *p, int run, int k)
{
    const ga_channel *channel = ga_result_reader_channels(p->results[run]) + k;
    const ga_precision precision = precision_of(p, run, channel);
    GA_TRY(read_channel(p, run, k));
    for (int i = 0; i < channel->count; ++i)
        if (ga_blob_add(&p->blob, p->values + i, p->shown[run].frames, (size_t)channel->count,
                        precision) != GA_OK)
            return out_of_memory(p->report);
    return GA_OK;
}

static size_t count_numbers(const page *p, int run)
{
    size_t count = 1; /* time */
    for (int k = 0; k < ga_result_reader_channel_count(p->results[run]); ++k)
        count += (size_t)ga_result_reader_channels(p->results[run])[k].count;
    return count;
}

static bool is_smallest(const page *p) { return p->frames <= 2 && p->quality == COARSE; }

/* All columns, or as many as show that they will not fit: then *part of them are in. */
static ga_status fill_blob(page *p, size_t limit, double *part)
{
    const bool fewest = is_smallest(p);
    double done = 0, all = 0;
    for (int r = 0; r < p->count; ++r) {
        p->shown[r] = choose_frames(p, p->results[r]);
        all += (double)count_numbers(p, r) * (double)p->shown[r].frames;
    }
    ga_blob_free(&p->blob);
    if (ga_blob_begin(&p->blob) != GA_OK) return out_of_memory(p->report);
    for (int r = 0; r < p->count; ++r) {
        GA_TRY(add_time(p, r));
        done += (double)p->shown[r].frames;
        for (int k = 0; k < ga_result_reader_channel_count(p->results[r]); ++k) {
            GA_TRY(add_channel(p, r, k));
            done +=
                (double)p->shown[r].frames * ga_result_reader_channels(p->results[r])[k].count;
            *part = done / all;
            if (done < all && !fewest && p->blob.out.length > 2 * limit) return GA_OK;
        }
    }
    *part = 1;
    return ga_blob_end(&p->blob) == GA_OK ? GA_OK : out_of_memory(p->report);
}

/* --- header ------------------------------------------------------------------------------- */

static const char *file_name(const char *path)
{
    const char *slash = strrchr(path, '/');
    return slash ? slash + 1 : path;
}

static void put_text(ga_buffer *b, const char *key, const char *text)
{
    ga_json_key(b, key);
    ga_json_text(b, text);
}

static void put_number(ga_buffer *b, const char *key, double x)
{
    ga_json_key(b, key);
    ga_json_number(b, x);
}

static void put_columns(const page *p, ga_buffer *b)
{
    ga_json_key(b, "columns");
    ga_json_open(b, '[');
    for (size_t k = 0; k < p->blob.column_count; ++k) {
        const ga_blob_column *column = p->blob.columns + k;
        ga_json_open(b, '{');
        put_number(b, "offset", (double)column->offset);
        put_number(b, "count", (double)column->count);
        put_text(b, "encoding", ga_encoding_names[column->encoding]);
        if (column->encoding != GA_ENCODING_F64) {
            put_number(b, "low", column->low);
            put_number(b, "high", column->high);
        }
        ga_json_close(b, '}');
    }
    ga_json_close(b, ']');
}

/* Returns the column after it. */
static size_t put_channel(ga_buffer *b, const ga_channel *channel, size_t column)
{
    ga_json_open(b, '{');
    put_text(b, "name", channel->name);
    put_text(b, "unit", channel->unit);
    put_text(b, "description", channel->description);
    ga_json_key(b, "parts");
    if (channel->parts) {
        ga_json_open(b, '[');
        for (int k = 0; k < channel->count; ++k) ga_json_text(b, channel->parts[k]);
        ga_json_close(b, ']');
    } else {
        ga_json_null(b);
    }
    ga_json_key(b, "columns");
    ga_json_open(b, '[');
    for (int k = 0; k < channel->count; ++k) ga_json_number(b, (double)column++);
    ga_json_close(b, ']');
    ga_json_close(b, '}');
    return column;
}

static const char *ordinal(size_t n)
{
    const size_t tens = n / 10 % 10, ones = n % 10;
    if (tens == 1 || ones == 0 || ones > 3) return "th";
    return ones == 1 ? "st" : ones == 2 ? "nd" : "rd";
}

static void put_notices(const ga_page_shown *shown, ga_buffer *b)
{
    char text[160];
    ga_json_key(b, "notices");
    ga_json_open(b, '[');
    if (shown->every > 1) {
        snprintf(text, sizeof text, "shows every %zu%s of %zu frames", shown->every,
                 ordinal(shown->every), shown->frames_in_file);
        ga_json_text(b, text);
    }
    if (shown->scene_damaged)
        ga_json_text(b, "the scene of this result is damaged: bodies are drawn as boxes");
    ga_json_close(b, ']');
}

static void put_solver(const ga_result_reader *result, ga_buffer *b)
{
    ga_json_key(b, "solver");
    ga_json_open(b, '{');
    for (const ga_attribute *a = ga_result_reader_attributes(result); a->name; ++a) {
        ga_json_key(b, a->name);
        if (a->text)
            ga_json_text(b, a->text);
        else
            ga_json_number(b, a->number);
    }
    ga_json_close(b, '}');
}

static const char *label_of(const page *p, int run)
{
    return p->def->labels ? p->def->labels[run]
                          : file_name(ga_result_reader_path(p->results[run]));
}

static size_t put_run(page *p, int run, size_t column)
{
    ga_buffer *b = &p->header;
    const ga_result_reader *result = p->results[run];
    const char *scene = ga_result_reader_scene(result);
    ga_page_shown *shown = p->shown + run;
    ga_json_open(b, '{');
    put_text(b, "label", label_of(p, run));
    put_text(b, "model", ga_result_reader_model(result));
    put_solver(result, b);
    ga_json_key(b, "scene");
    shown->scene_damaged = scene && !ga_json_copy(b, scene, strlen(scene));
    if (!scene || shown->scene_damaged) ga_json_null(b);
    put_number(b, "frames", (double)shown->frames);
    put_number(b, "frames_in_file", (double)shown->frames_in_file);
    put_notices(shown, b);
    put_number(b, "time", (double)column++);
    ga_json_key(b, "channels");
    ga_json_open(b, '[');
    for (int k = 0; k < ga_result_reader_channel_count(result); ++k)
        column = put_channel(b, ga_result_reader_channels(result) + k, column);
    ga_json_close(b, ']');
    ga_json_close(b, '}');
    return column;
}

/* A model without a name of its own is called as its file, whose folder is nobody's business.
 */
static const char *without_folder(const char *name)
{
    return ends_with(name, ".yaml") || ends_with(name, ".yml") || ends_with(name, ".json")
               ? file_name(name)
               : name;
}

/* What the page is called: as told, or as the first model is, or as its file. */
static const char *title_of(const page *p)
{
    if (p->def->title) return p->def->title;
    const ga_attribute *a = ga_result_reader_attributes(p->results[0]);
    for (; a->name; ++a)
        if (strcmp(a->name, "model") == 0 && a->text && a->text[0])
            return without_folder(a->text);
    return label_of(p, 0);
}

static ga_status write_header(page *p)
{
    ga_buffer *b = &p->header;
    ga_buffer_free(b);
    ga_json_open(b, '{');
    put_number(b, "format", 1);
    put_text(b, "generator", ga_viewer_generator);
    put_text(b, "title", title_of(p));
    put_columns(p, b);
    ga_json_key(b, "runs");
    ga_json_open(b, '[');
    size_t column = 0;
    for (int r = 0; r < p->count; ++r) column = put_run(p, r, column);
    ga_json_close(b, ']');
    ga_json_close(b, '}');
    return b->failed ? out_of_memory(p->report) : GA_OK;
}

/* --- size --------------------------------------------------------------------------------- */

static size_t room_for_data(const page *p, size_t rest)
{
    const size_t most = p->def->max_bytes ? p->def->max_bytes : default_bytes;
    const size_t least = most / least_part;
    const size_t left = most > rest + least ? most - rest : least;
    return left / 4 * 3; /* before base64 */
}

/* Numbers that hardly change compress to a tenth of a byte. More frames than would fit then
 * need not be tried. */
static size_t most_frames(const page *p, size_t limit)
{
    static const double least_bytes = 0.1;
    size_t frames = 1;
    double numbers = 0;
    for (int r = 0; r < p->count; ++r) {
        const size_t in_file = ga_result_reader_frames(p->results[r]);
        if (in_file > frames) frames = in_file;
        numbers += (double)count_numbers(p, r);
    }
    const double fit = (double)limit / (least_bytes * numbers);
    return fit < (double)frames ? (fit < 2 ? 2 : (size_t)fit) : frames;
}

static quality best_quality(const page *p)
{
    double numbers = 0;
    for (int r = 0; r < p->count; ++r)
        numbers += (double)count_numbers(p, r) * (double)ga_result_reader_frames(p->results[r]);
    return 8 * numbers <= room_for_doubles   ? EXACT
           : 3 * numbers <= room_for_24_bits ? FINE
                                             : COARSE;
}

/* Header and data that fit; or with two frames each, the fewest that move. */
static ga_status fit(page *p)
{
    size_t rest = strlen(p->html);
    for (int r = 0; r < p->count; ++r) {
        const char *scene = ga_result_reader_scene(p->results[r]);
        rest += (scene ? strlen(scene) : 0) + strlen(ga_result_reader_model(p->results[r]));
    }
    p->quality = best_quality(p);
    p->frames = most_frames(p, room_for_data(p, rest));
    for (;;) {
        double part = 1;
        size_t limit = room_for_data(p, rest);
        GA_TRY(fill_blob(p, limit, &part));
        if (part == 1) {
            GA_TRY(write_header(p));
            rest = strlen(p->html) + p->header.length;
            limit = room_for_data(p, rest);
            if (p->blob.out.length <= limit || is_smallest(p)) return GA_OK;
        }
        if (p->quality != COARSE) {
            p->quality = COARSE;
            continue;
        }
        /* Fewer frames differ more from each other: a little less than in proportion. */
        const double ratio = 0.93 * (double)limit / ((double)p->blob.out.length / part);
        const size_t fewer = (size_t)((double)p->frames * fmin(ratio, 0.97));
        p->frames = fewer < 2 ? 2 : fewer;
    }
}

/* --- the file ----------------------------------------------------------------------------- */

static ga_status find_places(page *p)
{
    p->html = p->def->page ? p->def->page : (const char *)ga_viewer_page;
    if (!p->html[0])
        return ga_fail(p->report, GA_ERR_INPUT, "this galpha was built without the viewer");
    p->data_at = strstr(p->html, data_mark);
    p->title_at = strstr(p->html, title_mark);
    if (!p->data_at || strstr(p->data_at + 1, data_mark))
        return ga_fail(p->report, GA_ERR_INPUT, "a page needs exactly one %s", data_mark);
    if (p->title_at && p->title_at > p->data_at) p->title_at = NULL;
    return GA_OK;
}

static void put_title(ga_buffer *b, const char *title)
{
    ga_buffer_add(b, "<title>");
    const size_t length = strlen(title);
    for (size_t k = 0, n; k < length; k += n ? n : 1) {
        n = ga_utf8_length(title + k, length - k);
        if (n == 0 || (unsigned char)title[k] < 0x20)
            ga_buffer_add(b, "\xef\xbf\xbd");
        else if (n == 1 && strchr("<>&\"'", title[k]))
            ga_buffer_format(b, "&#%d;", title[k]);
        else
            ga_buffer_add_n(b, title + k, n);
    }
    ga_buffer_add(b, "</title>");
}

/* Up to the data: the page begins, its title, the header. */
static ga_status put_head(page *p, ga_buffer *b)
{
    const char *rest = p->html;
    if (p->title_at) {
        ga_buffer_add_n(b, rest, (size_t)(p->title_at - rest));
        put_title(b, title_of(p));
        rest = p->title_at + sizeof title_mark - 1;
    }
    ga_buffer_add_n(b, rest, (size_t)(p->data_at - rest));
    ga_buffer_add(b, "<script type=\"application/json\" id=\"galpha-header\">");
    ga_buffer_add_n(b, p->header.text, p->header.length);
    ga_buffer_add(b, "</script>\n<script type=\"text/plain\" id=\"galpha-data\">");
    return b->failed ? out_of_memory(p->report) : GA_OK;
}

static ga_status write_parts(page *p, ga_file *file)
{
    ga_buffer head = {0}, data = {0};
    const char *tail = p->data_at + sizeof data_mark - 1;
    ga_status status = put_head(p, &head);
    ga_base64_add(&data, p->blob.out.text, p->blob.out.length);
    ga_buffer_add(&data, "</script>");
    if (status == GA_OK && data.failed) status = out_of_memory(p->report);
    if (status == GA_OK) {
        ga_file_write(file, head.text, head.length);
        ga_file_write(file, data.text, data.length);
        ga_file_write(file, tail, strlen(tail));
        status = ga_file_status(file, p->report);
    }
    ga_buffer_free(&head);
    ga_buffer_free(&data);
    return status;
}

static ga_status write_file(page *p, const char *path)
{
    ga_file file;
    GA_TRY(ga_file_create(&file, path, false, p->report));
    ga_status status = write_parts(p, &file);
    if (status == GA_OK) status = ga_file_keep(&file, p->report);
    const ga_status closed = ga_file_close(&file, status == GA_OK ? p->report : NULL);
    return status != GA_OK ? status : closed;
}

void ga_page_def_fill(ga_page_def *def, size_t size)
{
    if (ga_is_own_size(def, size, sizeof *def)) *def = (ga_page_def){.struct_size = size};
}

ga_status ga_page_write(const char *path, int count, ga_result_reader *const *results,
                        const ga_page_def *def, ga_page_shown *shown, ga_report *report)
{
    const ga_page_def usual = ga_page_def_default();
    if (def) GA_TRY(ga_check_size("ga_page_def", def->struct_size, sizeof *def, report));
    page p = {.count = count, .results = results, .def = def ? def : &usual, .report = report};
    ga_status status = find_places(&p);
    if (status != GA_OK) return status;
    p.shown = GA_NEW(ga_page_shown, count);
    p.sizes = GA_NEW(double, count);
    if (!p.shown || !p.sizes) status = out_of_memory(report);
    for (int r = 0; r < count && status == GA_OK; ++r) status = measure(&p, r);
    if (status == GA_OK) status = fit(&p);
    if (status == GA_OK) status = write_file(&p, path);
    if (status == GA_OK && shown) memcpy(shown, p.shown, (size_t)count * sizeof *shown);
    ga_blob_free(&p.blob);
    ga_buffer_free(&p.header);
    ga_free(p.values);
    ga_free(p.sizes);
    ga_free(p.shown);
    return status;
}
