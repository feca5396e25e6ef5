/* PNG and PDF by Cairo. Glyphs are not fitted to pixels, so that letters stand where the layout
 * put them at any resolution. PDF would carry the time it was made; it gets none.
 */
#include "base/memory.h"
#include "base/report.h"
#include "plot/canvas.h"
#include "plot/text.h"

#include <cairo-pdf.h>
#include <cairo.h>
#include <math.h>

typedef struct drawing {
    ga_canvas canvas;
    cairo_surface_t *surface;
    cairo_t *cairo;
    bool pdf;
    ga_buffer bytes; /* of the PDF, which is written as it is made */
} drawing;

static cairo_t *pen(ga_canvas *canvas) { return ((drawing *)canvas)->cairo; }

static void move(ga_canvas *canvas, double x, double y) { cairo_move_to(pen(canvas), x, y); }

static void line(ga_canvas *canvas, double x, double y) { cairo_line_to(pen(canvas), x, y); }

static void circle(ga_canvas *canvas, double x, double y, double radius)
{
    cairo_new_sub_path(pen(canvas));
    cairo_arc(pen(canvas), x, y, radius, 0, 2 * acos(-1));
    cairo_close_path(pen(canvas));
}

static void close_path(ga_canvas *canvas) { cairo_close_path(pen(canvas)); }

static void set_color(cairo_t *c, unsigned rgb, double opacity)
{
    cairo_set_source_rgba(c, (rgb >> 16 & 255) / 255.0, (rgb >> 8 & 255) / 255.0,
                          (rgb & 255) / 255.0, opacity > 0 ? opacity : 1);
}

static void paint(ga_canvas *canvas, const ga_paint *p)
{
    cairo_t *c = pen(canvas);
    if (p->fill) {
        set_color(c, p->fill_rgb, p->opacity);
        cairo_fill_preserve(c);
    }
    if (p->stroke) {
        double dash[4];
        const int n = ga_dashes(p->line, dash);
        for (int k = 0; k < n; ++k) dash[k] *= p->width;
        cairo_set_dash(c, dash, n, 0);
        cairo_set_line_cap(c, p->line == GA_LINE_DASHED ? CAIRO_LINE_CAP_BUTT
                                                        : CAIRO_LINE_CAP_ROUND);
        cairo_set_line_width(c, p->width);
        set_color(c, p->stroke_rgb, p->opacity);
        cairo_stroke_preserve(c);
    }
    cairo_new_path(c);
}

/* Letters one by one: each may be at another height than the one before. */
static void show(cairo_t *c, const char *marked, double size, bool halo)
{
    static const double shift[] = {0, -GA_TEXT_RAISE, GA_TEXT_LOWER};
    ga_text_reader reader = {.next = marked};
    ga_text_level level = GA_TEXT_BASE, current;
    char bytes[5], run[256];
    size_t used = 0;
    bool more = ga_text_read(&reader, bytes, &level);
    while (more) {
        current = level;
        used = 0;
        do {
            for (const char *b = bytes; *b; ++b) run[used++] = *b;
            more = ga_text_read(&reader, bytes, &level);
        } while (more && level == current && used + 8 < sizeof run);
        run[used] = '\0';
        cairo_set_font_size(c, size * (current == GA_TEXT_BASE ? 1 : GA_TEXT_SCRIPT_SIZE));
        cairo_rel_move_to(c, 0, shift[current] * size);
        if (halo)
            cairo_text_path(c, run);
        else
            cairo_show_text(c, run);
        cairo_rel_move_to(c, 0, -shift[current] * size);
    }
}

static double measured(cairo_t *c, const char *marked, double size)
{
    ga_text_reader reader = {.next = marked};
    ga_text_level level;
    char bytes[5];
    double width = 0;
    while (ga_text_read(&reader, bytes, &level)) {
        cairo_text_extents_t e;
        cairo_set_font_size(c, size * (level == GA_TEXT_BASE ? 1 : GA_TEXT_SCRIPT_SIZE));
        cairo_text_extents(c, bytes, &e);
        width += e.x_advance;
    }
    return width;
}

static void text(ga_canvas *canvas, const ga_lettering *how, const char *marked)
{
    cairo_t *c = pen(canvas);
    cairo_save(c);
    cairo_translate(c, how->x, how->y);
    if (how->upwards) cairo_rotate(c, -acos(-1) / 2);
    const double width = measured(c, marked, how->size);
    const double start = how->anchor == GA_ANCHOR_START    ? 0
                         : how->anchor == GA_ANCHOR_MIDDLE ? -width / 2
                                                           : -width;
    if (how->halo) {
        cairo_move_to(c, start, 0);
        show(c, marked, how->size, true);
        cairo_set_dash(c, NULL, 0, 0);
        cairo_set_line_width(c, 2.5);
        set_color(c, 0xffffff, 1);
        cairo_stroke(c);
    }
    set_color(c, how->rgb, 1);
    cairo_move_to(c, start, 0);
    show(c, marked, how->size, false);
    cairo_new_path(c);
    cairo_restore(c);
}

static void clip(ga_canvas *canvas, const ga_box *box)
{
    cairo_t *c = pen(canvas);
    cairo_save(c);
    cairo_rectangle(c, box->left, box->top, box->right - box->left, box->bottom - box->top);
    cairo_clip(c);
}

static void unclip(ga_canvas *canvas) { cairo_restore(pen(canvas)); }

static cairo_status_t collect(void *closure, const unsigned char *data, unsigned length)
{
    ga_buffer *bytes = closure;
    ga_buffer_add_n(bytes, (const char *)data, length);
    return bytes->failed ? CAIRO_STATUS_NO_MEMORY : CAIRO_STATUS_SUCCESS;
}

static ga_status finish(ga_canvas *canvas, ga_buffer *bytes, ga_report *report)
{
    drawing *d = (drawing *)canvas;
    cairo_status_t status = cairo_status(d->cairo);
    cairo_destroy(d->cairo);
    if (status == CAIRO_STATUS_SUCCESS) {
        if (d->pdf) {
            cairo_surface_finish(d->surface);
            status = cairo_surface_status(d->surface);
            ga_buffer_add_n(bytes, d->bytes.text, d->bytes.length);
        } else
            status = cairo_surface_write_to_png_stream(d->surface, collect, bytes);
    }
    cairo_surface_destroy(d->surface);
    if (d->bytes.failed || bytes->failed) status = CAIRO_STATUS_NO_MEMORY;
    ga_buffer_free(&d->bytes);
    ga_free(d);
    if (status == CAIRO_STATUS_SUCCESS) return GA_OK;
    if (status == CAIRO_STATUS_NO_MEMORY)
        return ga_fail(report, GA_ERR_MEMORY, "no memory for a picture");
    return ga_fail(report, GA_ERR_ARGUMENT, "a picture cannot be drawn: %s",
                   cairo_status_to_string(status));
}

static const ga_canvas_type cairo_type = {
    .move = move,
    .line = line,
    .circle = circle,
    .close = close_path,
    .paint = paint,
    .text = text,
    .clip = clip,
    .unclip = unclip,
    .finish = finish,
};

static void set_font(cairo_t *c)
{
    cairo_font_options_t *options = cairo_font_options_create();
    cairo_font_options_set_antialias(options, CAIRO_ANTIALIAS_GRAY);
    cairo_font_options_set_hint_style(options, CAIRO_HINT_STYLE_NONE);
    cairo_font_options_set_hint_metrics(options, CAIRO_HINT_METRICS_OFF);
    cairo_set_font_options(c, options);
    cairo_font_options_destroy(options);
    cairo_select_font_face(c, "DejaVu Sans", CAIRO_FONT_SLANT_NORMAL, CAIRO_FONT_WEIGHT_NORMAL);
}

/* A surface that could not be made is one in an error state; finish tells. */
static ga_canvas *start(drawing *d, double scale)
{
    d->canvas.type = &cairo_type;
    d->cairo = cairo_create(d->surface);
    cairo_scale(d->cairo, scale, scale);
    set_font(d->cairo);
    cairo_set_source_rgb(d->cairo, 1, 1, 1);
    cairo_paint(d->cairo); /* also the last pixels, of which the figure takes a part */
    cairo_set_line_join(d->cairo, CAIRO_LINE_JOIN_ROUND);
    return &d->canvas;
}

ga_canvas *ga_canvas_png(double width, double height, double dots_per_inch)
{
    drawing *d = GA_NEW(drawing, 1);
    if (!d) return NULL;
    const double scale = dots_per_inch / 72;
    const double round_off = 1e-6; /* 240 points at 150 dots per inch are 500 dots, not 501 */
    d->surface =
        cairo_image_surface_create(CAIRO_FORMAT_RGB24, (int)ceil(width * scale - round_off),
                                   (int)ceil(height * scale - round_off));
    return start(d, scale);
}

ga_canvas *ga_canvas_pdf(double width, double height)
{
    drawing *d = GA_NEW(drawing, 1);
    if (!d) return NULL;
    d->pdf = true;
    d->surface = cairo_pdf_surface_create_for_stream(collect, &d->bytes, width, height);
    cairo_pdf_surface_set_metadata(d->surface, CAIRO_PDF_METADATA_CREATE_DATE, "");
    return start(d, 1);
}
