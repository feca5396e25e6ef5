/* Greedy column colouring (Curtis, Powell & Reid): longest columns first, each gets the
 * smallest colour that no column sharing a row with it has.
 *
 * Each row keeps the colours it has seen: all below `free_from`, and a short ascending list of
 * those above. Looking at the neighbours one by one instead would take L^2 steps for a row with
 * L entries; a full row fills its colours from below, so here its list stays empty. */
#include "system/coloring.h"
#include "base/buckets.h"
#include "base/memory.h"
#include "base/report.h"

#include <limits.h>

typedef struct workspace {
    ga_buckets columns, by_length; /* entries by column; columns by minus their length */
    int *length_key;
    int *begin, *end;      /* of each row's list, absolute positions in list */
    int *free_from;        /* every colour below is taken in this row */
    int *list, *forbidden; /* forbidden[c] == j + 1: colour c is taken for column j */
} workspace;

static void destroy_workspace(workspace *w)
{
    ga_buckets_destroy(&w->columns);
    ga_buckets_destroy(&w->by_length);
    ga_free(w->length_key);
    ga_free(w->begin);
    ga_free(w->end);
    ga_free(w->free_from);
    ga_free(w->list);
    ga_free(w->forbidden);
}

static ga_status create_workspace(const ga_coords *A, workspace *w)
{
    GA_TRY(ga_buckets_create(A->cols, A->count, A->col, NULL, &w->columns));
    w->length_key = GA_NEW(int, A->cols);
    w->begin = GA_NEW(int, A->rows);
    w->end = GA_NEW(int, A->rows);
    w->free_from = GA_NEW(int, A->rows);
    w->list = GA_NEW(int, A->count);
    w->forbidden = GA_NEW(int, A->cols);
    if (!w->length_key || !w->begin || !w->end || !w->free_from || !w->list || !w->forbidden)
        return GA_ERR_MEMORY;

    int longest = 0;
    for (int j = 0; j < A->cols; ++j) {
        int length = w->columns.start[j + 1] - w->columns.start[j];
        if (length > longest) longest = length;
    }
    if (longest == INT_MAX) return GA_ERR_MEMORY;
    for (int j = 0; j < A->cols; ++j)
        w->length_key[j] = longest - (w->columns.start[j + 1] - w->columns.start[j]);
    GA_TRY(ga_buckets_create(longest + 1, A->cols, w->length_key, NULL, &w->by_length));

    for (int k = 0; k < A->count; ++k) w->end[A->row[k]]++;
    int sum = 0;
    for (int i = 0; i < A->rows; ++i) {
        int length = w->end[i];
        w->begin[i] = w->end[i] = sum;
        sum += length;
    }
    return GA_OK;
}

static int smallest_color(const ga_coords *A, workspace *w, int j)
{
    int color = 0;
    for (int p = w->columns.start[j]; p < w->columns.start[j + 1]; ++p) {
        int i = A->row[w->columns.item[p]];
        if (w->free_from[i] > color) color = w->free_from[i];
        for (int q = w->begin[i]; q < w->end[i]; ++q) w->forbidden[w->list[q]] = j + 1;
    }
    while (w->forbidden[color] == j + 1) ++color;
    return color;
}

static void take_color(workspace *w, int i, int color)
{
    if (color < w->free_from[i]) return; /* a second entry at this place */
    int q = w->end[i];
    while (q > w->begin[i] && w->list[q - 1] > color) --q;
    if (q > w->begin[i] && w->list[q - 1] == color) return;
    for (int p = w->end[i]++; p > q; --p) w->list[p] = w->list[p - 1];
    w->list[q] = color;
    while (w->begin[i] < w->end[i] && w->list[w->begin[i]] == w->free_from[i]) {
        w->begin[i]++;
        w->free_from[i]++;
    }
}

static void paint(const ga_coords *A, workspace *w, ga_coloring *coloring)
{
    for (int k = 0; k < A->cols; ++k) {
        int j = w->by_length.item[k];
        coloring->color[j] = -1;
        if (w->columns.start[j] == w->columns.start[j + 1]) continue;
        int color = smallest_color(A, w, j);
        for (int p = w->columns.start[j]; p < w->columns.start[j + 1]; ++p)
            take_color(w, A->row[w->columns.item[p]], color);
        coloring->color[j] = color;
        if (color >= coloring->colors) coloring->colors = color + 1;
    }
}

/* Entries come by column; mark[row] == col + 1 once a place of this column is taken. */
static void mark_first(const ga_coords *A, const workspace *w, int *mark, bool *first)
{
    for (int i = 0; i < A->rows; ++i) mark[i] = 0;
    for (int p = 0; p < A->count; ++p) {
        const int k = w->columns.item[p], i = A->row[k], taken = A->col[k] + 1;
        first[k] = mark[i] != taken;
        mark[i] = taken;
    }
}

ga_status ga_coloring_create(const ga_coords *coords, ga_coloring *coloring)
{
    workspace w = {0};
    ga_coords entries;
    *coloring = (ga_coloring){0};
    GA_TRY(ga_coords_entries(coords, &entries));
    coloring->color = GA_NEW(int, coords->cols);
    coloring->first = GA_NEW(bool, coords->count);
    const bool memory = coloring->color && coloring->first;
    const ga_status status = memory ? create_workspace(&entries, &w) : GA_ERR_MEMORY;
    if (status == GA_OK) {
        paint(&entries, &w, coloring);
        mark_first(&entries, &w, w.begin, coloring->first);
    } else {
        ga_coloring_destroy(coloring);
    }
    destroy_workspace(&w);
    ga_coords_destroy(&entries);
    return status;
}

void ga_coloring_destroy(ga_coloring *coloring)
{
    ga_free(coloring->color);
    ga_free(coloring->first);
    *coloring = (ga_coloring){0};
}
