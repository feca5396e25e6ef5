/* Strips; see strips.h. Shapes are found by a hash table that lives only as long as that
 * takes. */
#include "la/strips.h"

#include "base/memory.h"
#include "la/quad.h"

#include <stdbool.h>

/* More shapes are no gain: they, too, have to be read. Matrices with fewer entries are in the
 * caches anyway. */
enum { MOST_SHAPES = 128, FEW = 8192, SLOTS = 1024 };

/* Entries in a strip, at least, on the average. */
enum { SHORT = 3 };

typedef struct finder {
    ga_strips *strips;
    int slot[SLOTS]; /* 1 + the shape, or 0 */
} finder;

/* Up to where from there a strip may go. */
static int end_of(int from, int count, const int *row, const int *col, int col_share)
{
    int end = from + 1;
    while (end < count && end - from < GA_STRIP_LONGEST && row[end] == row[from] &&
           col[end] / col_share == col[from] / col_share)
        ++end;
    return end;
}

static unsigned hash(int count, const int *col)
{
    unsigned h = (unsigned)count;
    for (int k = 1; k < count; ++k) h = 31 * h + (unsigned)(col[k] - col[0]);
    return (h ^ h >> 10) % SLOTS;
}

static bool has_shape(const ga_strip_shape *shape, int count, const int *col)
{
    if (shape->count != count) return false;
    for (int k = 0; k < count; ++k)
        if (shape->distance[k] != col[k] - col[0]) return false;
    return true;
}

/* A new one; -1 if there are too many. */
static int add_shape(ga_strips *s, int count, const int *col)
{
    if (s->shapes == MOST_SHAPES) return -1;
    ga_strip_shape *shape = s->shape + s->shapes;
    shape->count = count;
    for (int k = 0; k < count; ++k) shape->distance[k] = col[k] - col[0];
    return s->shapes++;
}

static int find_shape(finder *f, int count, const int *col)
{
    unsigned at = hash(count, col);
    for (; f->slot[at]; at = (at + 1) % SLOTS)
        if (has_shape(f->strips->shape + f->slot[at] - 1, count, col)) return f->slot[at] - 1;
    const int shape = add_shape(f->strips, count, col);
    f->slot[at] = shape + 1; /* or still nothing */
    return shape;
}

static int count_strips(int count, const int *row, const int *col, int col_share)
{
    int strips = 0;
    for (int k = 0; k < count; ++strips) k = end_of(k, count, row, col, col_share);
    return strips;
}

/* False if there are too many shapes. */
static bool list_strips(finder *f, int count, const int *row, const int *col, int col_share)
{
    ga_strip *next = f->strips->strip;
    for (int k = 0, end; k < count; k = end) {
        end = end_of(k, count, row, col, col_share);
        const int shape = find_shape(f, end - k, col + k);
        if (shape < 0) return false;
        *next++ = (ga_strip){row[k], col[k], shape};
    }
    return true;
}

ga_status ga_strips_create(int count, const int *row, const int *col, int col_share,
                           ga_strips *s)
{
    *s = (ga_strips){0};
    if (count <= FEW) return GA_OK;
    const int strips = count_strips(count, row, col, col_share);
    if (strips > count / SHORT) return GA_OK;
    s->strip = GA_NEW_WHOLE(ga_strip, strips);
    s->shape = GA_NEW(ga_strip_shape, MOST_SHAPES);
    finder *f = GA_NEW(finder, 1);
    const bool memory = s->strip && s->shape && f;
    if (memory) {
        f->strips = s;
        if (list_strips(f, count, row, col, col_share)) s->count = strips;
    }
    ga_free(f);
    if (s->count == 0) ga_strips_destroy(s);
    return memory ? GA_OK : GA_ERR_MEMORY;
}

void ga_strips_destroy(ga_strips *s)
{
    ga_free(s->strip);
    ga_free(s->shape);
    *s = (ga_strips){0};
}

/* What is needed soon: processors do not look ahead beyond the end of a page. */
KERNEL void fetch(const ga_strip *strip, const double *values)
{
#if defined(__GNUC__)
    enum { VALUES_AHEAD = 256, STRIPS_AHEAD = 48 };
    __builtin_prefetch(values + VALUES_AHEAD);
    __builtin_prefetch(strip + STRIPS_AHEAD);
#else
    (void)strip, (void)values;
#endif
}

/* alpha may be known to the compiler in both of these. */
KERNEL void add_rows(const ga_strips *s, int first, int count, const double *restrict values,
                     const double alpha, const double *restrict x, double *restrict y)
{
    const double *const end = values + count;
    for (const ga_strip *at = s->strip + first; values < end; ++at) {
        const ga_strip_shape *shape = s->shape + at->shape;
        const double *own = x + at->col;
        const int length = shape->count;
        double sum = y[at->row];
        fetch(at, values);
        for (int k = 0; k < length; ++k) sum += alpha * values[k] * own[shape->distance[k]];
        y[at->row] = sum;
        values += length;
    }
}

/* n, unless it is zero, is the length, known to the compiler. */
KERNEL void add_column(const int n, const ga_strip_shape *shape, const double *restrict values,
                       const double alpha, double x, double *restrict y)
{
    const int count = n ? n : shape->count;
    for (int k = 0; k < count; ++k) y[shape->distance[k]] += alpha * values[k] * x;
}

KERNEL void add_columns(const ga_strips *s, int first, int count, const double *restrict values,
                        const double alpha, const double *restrict x, double *restrict y)
{
    const double *const end = values + count;
    for (const ga_strip *at = s->strip + first; values < end; ++at) {
        const ga_strip_shape *shape = s->shape + at->shape;
        const double factor = x[at->row];
        double *own = y + at->col;
        fetch(at, values);
        switch (shape->count) { /* rows of planar joints, of hinges and of ball joints */
        case 3:
            add_column(3, shape, values, alpha, factor, own);
            break;
        case 5:
            add_column(5, shape, values, alpha, factor, own);
            break;
        case 6:
            add_column(6, shape, values, alpha, factor, own);
            break;
        case 8:
            add_column(8, shape, values, alpha, factor, own);
            break;
        default:
            add_column(0, shape, values, alpha, factor, own);
        }
        values += shape->count;
    }
}

void ga_strips_add(const ga_strips *s, int first, int count, const double *values, double alpha,
                   const double *x, double *y)
{
    if (alpha == 1)
        add_rows(s, first, count, values, 1, x, y);
    else
        add_rows(s, first, count, values, alpha, x, y);
}

void ga_strips_add_transposed(const ga_strips *s, int first, int count, const double *values,
                              double alpha, const double *x, double *y)
{
    if (alpha == 1)
        add_columns(s, first, count, values, 1, x, y);
    else
        add_columns(s, first, count, values, alpha, x, y);
}
