#include "plot/canvas.h"

#include <string.h>

int ga_dashes(ga_plot_line line, double dash[4])
{
    static const double dashed[] = {3.6, 1.8}, dotted[] = {0.1, 2.0},
                        dash_dot[] = {4.0, 2.2, 0.1, 2.2};
    const int counts[] = {0, 2, 2, 4, 0};
    const double *patterns[] = {NULL, dashed, dotted, dash_dot, NULL};
    if (counts[line]) memcpy(dash, patterns[line], (size_t)counts[line] * sizeof *dash);
    return counts[line];
}

void ga_canvas_segment(ga_canvas *c, double x0, double y0, double x1, double y1)
{
    c->type->move(c, x0, y0);
    c->type->line(c, x1, y1);
}

void ga_canvas_box(ga_canvas *c, const ga_box *b)
{
    c->type->move(c, b->left, b->top);
    c->type->line(c, b->right, b->top);
    c->type->line(c, b->right, b->bottom);
    c->type->line(c, b->left, b->bottom);
    c->type->close(c);
}

void ga_canvas_stroke(ga_canvas *c, unsigned rgb, double width)
{
    c->type->paint(c, &(ga_paint){.stroke = true, .stroke_rgb = rgb, .width = width});
}

void ga_canvas_text(ga_canvas *c, double x, double y, ga_text_anchor anchor, double size,
                    const char *text)
{
    c->type->text(
        c,
        &(ga_lettering){.x = x, .y = y, .anchor = anchor, .size = size, .rgb = GA_CANVAS_INK},
        text);
}
