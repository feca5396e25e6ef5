#include "plot/cover.h"

#include "base/memory.h"

#include <math.h>

static const double CELL = 2; /* points */

ga_status ga_cover_create(ga_cover *c, const ga_box *box)
{
    *c = (ga_cover){.box = *box, .stale = true};
    c->columns = (int)fmax(1, ceil((box->right - box->left) / CELL));
    c->rows = (int)fmax(1, ceil((box->bottom - box->top) / CELL));
    c->taken = GA_NEW(unsigned char, (size_t)c->columns *(size_t)c->rows);
    c->sums = GA_NEW(int, (size_t)(c->columns + 1) * (size_t)(c->rows + 1));
    if (c->taken && c->sums) return GA_OK;
    ga_cover_free(c);
    return GA_ERR_MEMORY;
}

void ga_cover_free(ga_cover *c)
{
    ga_free(c->taken);
    ga_free(c->sums);
    *c = (ga_cover){0};
}

static void take(ga_cover *c, int column, int row)
{
    if (column < 0 || column >= c->columns || row < 0 || row >= c->rows) return;
    c->taken[row * c->columns + column] = 1;
    c->stale = true;
}

static int column_of(const ga_cover *c, double x)
{
    return (int)floor((x - c->box.left) / CELL);
}
static int row_of(const ga_cover *c, double y) { return (int)floor((y - c->box.top) / CELL); }

void ga_cover_stroke(ga_cover *c, double x0, double y0, double x1, double y1)
{
    const int steps = (int)ceil(hypot(x1 - x0, y1 - y0) / (CELL / 2)) + 1;
    for (int k = 0; k <= steps; ++k)
        take(c, column_of(c, x0 + (x1 - x0) * k / steps),
             row_of(c, y0 + (y1 - y0) * k / steps));
}

void ga_cover_box(ga_cover *c, const ga_box *b)
{
    for (int row = row_of(c, b->top); row <= row_of(c, b->bottom); ++row)
        for (int column = column_of(c, b->left); column <= column_of(c, b->right); ++column)
            take(c, column, row);
}

static void add_up(ga_cover *c)
{
    const int width = c->columns + 1;
    for (int row = 0; row < c->rows; ++row)
        for (int column = 0; column < c->columns; ++column) {
            int *sum = &c->sums[(row + 1) * width + column + 1];
            *sum =
                c->taken[row * c->columns + column] + sum[-1] + sum[-width] - sum[-width - 1];
        }
    c->stale = false;
}

static int clamp(int k, int most) { return k < 0 ? 0 : k > most ? most : k; }

int ga_cover_count(ga_cover *c, const ga_box *b)
{
    if (c->stale) add_up(c);
    const int left = column_of(c, b->left), right = column_of(c, b->right) + 1;
    const int top = row_of(c, b->top), bottom = row_of(c, b->bottom) + 1;
    const int l = clamp(left, c->columns), r = clamp(right, c->columns);
    const int t = clamp(top, c->rows), d = clamp(bottom, c->rows), width = c->columns + 1;
    const int outside = (right - left) * (bottom - top) - (r - l) * (d - t);
    return outside + c->sums[d * width + r] - c->sums[t * width + r] - c->sums[d * width + l] +
           c->sums[t * width + l];
}

int ga_cover_place(ga_cover *c, double width, double height, double gap, ga_box *place)
{
    /* Along the free length from 0 to 1: corners of the right, of the left, then the edges. */
    static const double corner[][2] = {{1, 0}, {0, 0}, {1, 1}, {0, 1}};
    enum { STEPS = 24, CORNERS = 4 };
    const double free_x = c->box.right - c->box.left - width - 2 * gap;
    const double free_y = c->box.bottom - c->box.top - height - 2 * gap;
    int best = -1;
    for (int k = 0; k < CORNERS + 4 * STEPS; ++k) {
        const int edge = (k - CORNERS) % 4, step = (k - CORNERS) / 4;
        const double along = (step + 0.5) / STEPS;
        const double x = k < CORNERS ? corner[k][0] : edge == 0 ? 1 : edge == 1 ? 0 : along;
        const double y = k < CORNERS ? corner[k][1] : edge == 2 ? 0 : edge == 3 ? 1 : along;
        const double left = c->box.left + gap + x * free_x, top = c->box.top + gap + y * free_y;
        const ga_box b = {left, top, left + width, top + height};
        const ga_box around = {b.left - 2, b.top - 2, b.right + 2, b.bottom + 2};
        const int covered = ga_cover_count(c, &around);
        if (best < 0 || covered < best) best = covered, *place = b;
        if (best == 0) break;
    }
    return best;
}
