/* SVG, written directly: text stays text, which can be searched, copied and read aloud, and a
 * picture is a fraction of the size that glyphs as paths would make it. No ids are used, so
 * that any number of pictures may stand in one page; clipping is by a nested <svg>, which hides
 * what is outside it.
 *
 * Coordinates are hundredths of a point, relative to the point before: rounding does not add up
 * because differences are taken between rounded points.
 */
#include "base/memory.h"
#include "base/report.h"
#include "plot/canvas.h"
#include "plot/text.h"

#include <math.h>
#include <string.h>

typedef struct svg {
    ga_canvas canvas;
    ga_buffer out, path;
    long x, y;             /* the last point, in hundredths */
    long start_x, start_y; /* of the subpath */
    char last;             /* the last command of the path */
} svg;

static long hundredths(double x) { return lrint(x * 100); }

/* A number as short as it can be: -.5, 12, 3.25. */
static void add_hundredths(ga_buffer *b, long n)
{
    const long size = n < 0 ? -n : n;
    if (n < 0) ga_buffer_add(b, "-");
    if (size >= 100 || size == 0) ga_buffer_format(b, "%ld", size / 100);
    const int rest = (int)(size % 100);
    if (rest == 0) return;
    if (rest % 10 == 0)
        ga_buffer_format(b, ".%d", rest / 10);
    else
        ga_buffer_format(b, ".%02d", rest);
}

static void add_number(ga_buffer *b, double x) { add_hundredths(b, hundredths(x)); }

static void add_pair(ga_buffer *b, long x, long y)
{
    add_hundredths(b, x);
    if (y >= 0) ga_buffer_add(b, " ");
    add_hundredths(b, y);
}

static void move(ga_canvas *canvas, double x, double y)
{
    svg *s = (svg *)canvas;
    s->start_x = s->x = hundredths(x);
    s->start_y = s->y = hundredths(y);
    ga_buffer_add(&s->path, "M");
    add_pair(&s->path, s->x, s->y);
    s->last = 'M';
}

static void line(ga_canvas *canvas, double to_x, double to_y)
{
    svg *s = (svg *)canvas;
    const long x = hundredths(to_x) - s->x, y = hundredths(to_y) - s->y;
    if (x == 0 && y == 0 && s->last != 'M') return;
    const char *command = y == 0 ? "h" : x == 0 ? "v" : "l";
    const long first = y == 0 ? x : x == 0 ? y : x;
    if (s->last != command[0])
        ga_buffer_add(&s->path, command);
    else if (first >= 0)
        ga_buffer_add(&s->path, " ");
    if (command[0] == 'l')
        add_pair(&s->path, x, y);
    else
        add_hundredths(&s->path, first);
    s->last = command[0];
    s->x += x;
    s->y += y;
}

static void circle(ga_canvas *canvas, double x, double y, double radius)
{
    svg *s = (svg *)canvas;
    move(canvas, x - radius, y);
    const long r = hundredths(radius);
    for (int side = 1; side >= -1; side -= 2) {
        ga_buffer_add(&s->path, "a");
        add_pair(&s->path, r, r);
        ga_buffer_add(&s->path, " 0 1 0 ");
        add_hundredths(&s->path, 2 * side * r);
        ga_buffer_add(&s->path, " 0");
    }
    s->last = 'a';
}

static void close_path(ga_canvas *canvas)
{
    svg *s = (svg *)canvas;
    ga_buffer_add(&s->path, "z");
    s->x = s->start_x;
    s->y = s->start_y;
    s->last = 'z';
}

static void add_color(ga_buffer *b, const char *attribute, unsigned rgb)
{
    rgb &= 0xffffffu;
    ga_buffer_format(b, " %s=\"#", attribute);
    if (rgb % 17 == 0 && (rgb >> 8 & 0xff) % 17 == 0 && (rgb & 0xff) % 17 == 0 &&
        (rgb >> 16) % 17 == 0)
        ga_buffer_format(b, "%x%x%x\"", rgb >> 20, rgb >> 12 & 0xf, rgb >> 4 & 0xf);
    else
        ga_buffer_format(b, "%06x\"", rgb);
}

static void add_attribute(ga_buffer *b, const char *name, double x)
{
    ga_buffer_format(b, " %s=\"", name);
    add_number(b, x);
    ga_buffer_add(b, "\"");
}

static void paint(ga_canvas *canvas, const ga_paint *p)
{
    svg *s = (svg *)canvas;
    if (s->path.length > 0) {
        ga_buffer *b = &s->out;
        ga_buffer_add(b, "<path");
        if (p->fill)
            add_color(b, "fill", p->fill_rgb);
        else
            ga_buffer_add(b, " fill=\"none\"");
        if (p->stroke) {
            add_color(b, "stroke", p->stroke_rgb);
            if (p->width != 1) add_attribute(b, "stroke-width", p->width);
            double dash[4];
            const int n = ga_dashes(p->line, dash);
            for (int k = 0; k < n; ++k) {
                ga_buffer_add(b, k ? " " : " stroke-dasharray=\"");
                add_number(b, dash[k] * p->width);
            }
            if (n)
                ga_buffer_add(b,
                              p->line == GA_LINE_DASHED ? "\" stroke-linecap=\"butt\"" : "\"");
        }
        if (p->opacity > 0 && p->opacity < 1) add_attribute(b, "opacity", p->opacity);
        ga_buffer_add(b, " d=\"");
        if (s->path.failed) b->failed = true;
        ga_buffer_add_n(b, s->path.text, s->path.length);
        ga_buffer_add(b, "\"/>\n");
    }
    s->path.length = 0;
    s->last = 0;
}

static void add_escaped(ga_buffer *b, const char *bytes)
{
    switch (bytes[0]) {
    case '<':
        ga_buffer_add(b, "&lt;");
        break;
    case '>':
        ga_buffer_add(b, "&gt;");
        break;
    case '&':
        ga_buffer_add(b, "&amp;");
        break;
    case '"':
        ga_buffer_add(b, "&quot;");
        break;
    default:
        ga_buffer_add(b, bytes);
    }
}

/* Scripts are spans moved by dy; what follows is moved back. */
static void add_marked(ga_buffer *b, const char *text, double size)
{
    static const double shift[] = {0, -GA_TEXT_RAISE, GA_TEXT_LOWER};
    ga_text_reader reader = {.next = text};
    ga_text_level level, current = GA_TEXT_BASE;
    char bytes[5];
    double moved = 0;
    bool open = false;
    while (ga_text_read(&reader, bytes, &level)) {
        if (level != current) {
            if (open) ga_buffer_add(b, "</tspan>");
            open = true;
            ga_buffer_add(b, "<tspan");
            add_attribute(b, "dy", shift[level] * size - moved);
            if (level != GA_TEXT_BASE)
                add_attribute(b, "font-size", GA_TEXT_SCRIPT_SIZE * size);
            ga_buffer_add(b, ">");
            moved = shift[level] * size;
            current = level;
        }
        add_escaped(b, bytes);
    }
    if (open) ga_buffer_add(b, "</tspan>");
}

static void text(ga_canvas *canvas, const ga_lettering *how, const char *marked)
{
    static const char *const anchors[] = {NULL, "middle", "end"};
    ga_buffer *b = &((svg *)canvas)->out;
    ga_buffer_add(b, "<text");
    if (how->upwards) {
        ga_buffer_add(b, " transform=\"translate(");
        add_pair(b, hundredths(how->x), hundredths(how->y));
        ga_buffer_add(b, ")rotate(-90)\"");
    } else {
        add_attribute(b, "x", how->x);
        add_attribute(b, "y", how->y);
    }
    if (anchors[how->anchor]) ga_buffer_format(b, " text-anchor=\"%s\"", anchors[how->anchor]);
    if (how->size != 10) add_attribute(b, "font-size", how->size);
    if (how->rgb != 0x222222) add_color(b, "fill", how->rgb);
    if (how->halo)
        ga_buffer_add(b, " stroke=\"#fff\" stroke-width=\"2.5\" paint-order=\"stroke\"");
    ga_buffer_add(b, ">");
    add_marked(b, marked, how->size);
    ga_buffer_add(b, "</text>\n");
}

static void clip(ga_canvas *canvas, const ga_box *box)
{
    ga_buffer *b = &((svg *)canvas)->out;
    ga_buffer_add(b, "<svg");
    add_attribute(b, "x", box->left);
    add_attribute(b, "y", box->top);
    add_attribute(b, "width", box->right - box->left);
    add_attribute(b, "height", box->bottom - box->top);
    ga_buffer_add(b, " viewBox=\"");
    add_pair(b, hundredths(box->left), hundredths(box->top));
    ga_buffer_add(b, " ");
    add_pair(b, hundredths(box->right - box->left), hundredths(box->bottom - box->top));
    ga_buffer_add(b, "\">\n");
}

static void unclip(ga_canvas *canvas) { ga_buffer_add(&((svg *)canvas)->out, "</svg>\n"); }

static ga_status finish(ga_canvas *canvas, ga_buffer *bytes, ga_report *report)
{
    svg *s = (svg *)canvas;
    ga_buffer_add(&s->out, "</g>\n</svg>\n");
    const bool failed = s->out.failed || s->path.failed;
    if (!failed) ga_buffer_add_n(bytes, s->out.text, s->out.length);
    ga_buffer_free(&s->out);
    ga_buffer_free(&s->path);
    ga_free(s);
    if (failed || bytes->failed)
        return ga_fail(report, GA_ERR_MEMORY, "no memory for a picture");
    return GA_OK;
}

static const ga_canvas_type svg_type = {
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

ga_canvas *ga_canvas_svg(double width, double height, const char *title)
{
    svg *s = GA_NEW(svg, 1);
    if (!s) return NULL;
    s->canvas.type = &svg_type;
    ga_buffer *b = &s->out;
    ga_buffer_add(b, "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"");
    add_number(b, width);
    ga_buffer_add(b, "pt\" height=\"");
    add_number(b, height);
    ga_buffer_add(b, "pt\" viewBox=\"0 0 ");
    add_pair(b, hundredths(width), hundredths(height));
    ga_buffer_add(b, "\" role=\"img\"");
    if (title) {
        ga_buffer_add(b, " aria-label=\"");
        ga_text_reader reader = {.next = title};
        char bytes[5];
        ga_text_level level;
        while (ga_text_read(&reader, bytes, &level)) add_escaped(b, bytes);
        ga_buffer_add(b, "\"");
    }
    ga_buffer_add(b, ">\n<g font-family=\"DejaVu Sans,Verdana,sans-serif\" font-size=\"10\" "
                     "fill=\"#222\" stroke-linejoin=\"round\" stroke-linecap=\"round\">\n");
    return &s->canvas;
}
