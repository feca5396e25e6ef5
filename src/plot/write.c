/* Files are written in one go, once the whole picture is there; one that cannot be finished
 * leaves nothing behind, and what was there before stays. */
#include "base/file.h"
#include "base/memory.h"
#include "base/report.h"
#include "plot/figure.h"

#include <stdio.h>
#include <string.h>

typedef enum picture { SVG, PNG, PDF } picture;

/* Larger ones are mistakes, and PNG cannot hold them. */
static const double LARGEST = 10000;

static bool ends_with(const char *path, const char *ending)
{
    const size_t n = strlen(path), m = strlen(ending);
    if (n <= m) return false;
    for (size_t k = 0; k < m; ++k) {
        const char c = path[n - m + k];
        if ((c >= 'A' && c <= 'Z' ? c - 'A' + 'a' : c) != ending[k]) return false;
    }
    return true;
}

static ga_status find_format(const char *path, picture *kind, ga_report *report)
{
    static const char *const endings[] = {".svg", ".png", ".pdf"};
    for (int k = 0; k < 3; ++k)
        if (ends_with(path, endings[k])) {
            *kind = k == 0 ? SVG : k == 1 ? PNG : PDF;
            return GA_OK;
        }
    return ga_fail(report, GA_ERR_ARGUMENT,
                   "'%s': the name of a picture must end in .svg, .png or .pdf", path);
}

static ga_canvas *make_canvas(const ga_figure *f, picture kind, double width, double height)
{
    switch (kind) {
    case PNG:
        return ga_canvas_png(width, height, f->def.dots_per_inch);
    case PDF:
        return ga_canvas_pdf(width, height);
    default:
        return ga_canvas_svg(width, height, f->def.title);
    }
}

static ga_status check(const ga_figure *f, double *width, double *height, ga_report *report)
{
    if (!f || f->status == GA_ERR_MEMORY)
        return ga_fail(report, GA_ERR_MEMORY, "no memory for a figure");
    if (f->refused.status) return ga_fail(report, GA_ERR_ARGUMENT, "%s", f->refused.message);
    if (f->status)
        return ga_fail(report, GA_ERR_ARGUMENT,
                       "something was added to a panel that is not there");
    ga_figure_size(f, width, height);
    const double dots = f->def.dots_per_inch / 72;
    if (!(*width * dots <= LARGEST && *height * dots <= LARGEST))
        return ga_fail(report, GA_ERR_ARGUMENT, "a figure of %g x %g points is too large",
                       *width, *height);
    return GA_OK;
}

static ga_status render(const ga_figure *f, picture kind, ga_buffer *bytes, ga_report *report)
{
    double width, height;
    GA_TRY(check(f, &width, &height, report));
    ga_canvas *canvas = make_canvas(f, kind, width, height);
    if (!canvas) return ga_fail(report, GA_ERR_MEMORY, "no memory for a picture");
    const ga_status drawn = ga_figure_draw(f, canvas);
    const ga_status finished = canvas->type->finish(canvas, bytes, report);
    if (drawn) return ga_fail(report, drawn, "no memory for a picture");
    return finished;
}

static ga_status save(const char *path, const ga_buffer *bytes, ga_report *report)
{
    ga_file file;
    GA_TRY(ga_file_create(&file, path, false, report));
    ga_file_write(&file, bytes->text, bytes->length);
    const ga_status status = ga_file_keep(&file, report);
    const ga_status closed = ga_file_close(&file, status == GA_OK ? report : NULL);
    return status != GA_OK ? status : closed;
}

ga_status ga_figure_write(const ga_figure *f, const char *path, ga_report *report)
{
    picture kind = SVG;
    GA_TRY(find_format(path, &kind, report));
    ga_buffer bytes = {0};
    ga_status status = render(f, kind, &bytes, report);
    if (!status) status = save(path, &bytes, report);
    ga_buffer_free(&bytes);
    return status;
}

ga_status ga_figure_svg(const ga_figure *f, char **text, ga_report *report)
{
    ga_buffer bytes = {0};
    *text = NULL;
    const ga_status status = render(f, SVG, &bytes, report);
    if (!status) *text = ga_buffer_take(&bytes);
    ga_buffer_free(&bytes);
    return status;
}
