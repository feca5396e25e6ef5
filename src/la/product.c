/* The product of two coordinate matrices, planned once.
 *
 *     (A B)(i,j) = sum over entries a at (i,k) and b at (k,j) of a b
 *
 * The terms of a column are listed as they come: entry by entry of that column of B, for each
 * the column of A it meets. Rows and entries are counted from those of its first term, and then
 * columns of like parts, the joints of a chain for instance, have the same list. Each list is
 * kept once, and its terms are sorted by place, and by entries of A and B within one: that is a
 * plan. Everything is linear in the number of terms but for the sorting of different lists.
 *
 * Neighbours may be stored apart, elements of another type for instance. So where entries of A
 * are in regions far from each other, each region has a list, with places in the column instead
 * of rows. Regions follow each other in the order of entries, so that sums are the same.
 *
 * Most columns are like one before, and that shows without their terms. Columns of A have
 * shapes: their rows, counted from the first one, and their entries, from the first one of each
 * segment without gaps. The entries of a column of B, and of each the shape it meets and where
 * in which region that begins, are its key: columns with one key have the same terms, but for
 * the distances between regions. */
#include "base/memory.h"
#include "base/report.h"
#include "la/buckets.h"
#include "la/coords.h"
#include "la/fours.h"
#include "la/lists.h"
#include "la/tall.h"

#include <limits.h>
#include <stdbool.h>
#include <stddef.h>
#include <string.h>

/* of A; within a list: relative to its first term, and a place for the row if in regions */
typedef struct term {
    int row, ia, ib;
} term;

/* Entries of A in a column: from least to most. */
typedef struct region {
    int least, most;
} region;

/* Entries that are not further apart are in one region. More regions than this, or more terms,
 * are not worth the search. */
enum { REACH = 128, MOST_REGIONS = 8, MOST_TERMS = 1024 };
/* Numbers of a key for each entry of B, at most; besides it has one for each region. */
enum { KEY = 3 + 2 * MOST_REGIONS };

/* Entries of a column of A without gaps: from which on. */
typedef struct shape {
    int segments, from[MOST_REGIONS + 1];
} shape;

enum { EMPTY = -1, SCATTERED = -2 }; /* in place of a shape, or of a key */

/* A column with terms: its place among these (-1: not for others), its first entry of B, its
 * regions as they are found. */
typedef struct sample {
    int column, b, regions;
    region region[MOST_REGIONS];
} sample;

typedef struct workspace {
    ga_buckets a_cols, b_cols;
    int *shape; /* of each column of A */
    shape *shapes;
    int shape_room;
    ga_lists keys;   /* of columns of B */
    sample *samples; /* of each key */
    int sample_room;
    ga_lists lists;       /* three numbers per term, and one more if in regions */
    int *list;            /* of the column or region at hand; or its key */
    term *terms, *sorted; /* of a column, or of a list */
    int most;             /* terms in a column */
    int longest;          /* column of A or B: entries */
    int parts, part_room; /* of columns in regions */
} workspace;

static void destroy_workspace(workspace *w)
{
    ga_buckets_destroy(&w->a_cols);
    ga_buckets_destroy(&w->b_cols);
    ga_free(w->shape);
    ga_free(w->shapes);
    ga_lists_destroy(&w->keys);
    ga_free(w->samples);
    ga_lists_destroy(&w->lists);
    ga_free(w->list);
    ga_free(w->terms);
    ga_free(w->sorted);
}

/* --- counting */

static int column_length(const ga_buckets *b, int j) { return b->start[j + 1] - b->start[j]; }

/* Columns that are not empty, and the most terms in one. */
static ga_status count_terms(const ga_coords *B, workspace *w, int *columns)
{
    int total = 0;
    *columns = 0;
    for (int j = 0; j < B->cols; ++j) {
        const int before = total, length = column_length(&w->b_cols, j);
        for (int p = w->b_cols.start[j]; p < w->b_cols.start[j + 1]; ++p) {
            int more = column_length(&w->a_cols, B->row[w->b_cols.item[p]]);
            if (more > INT_MAX - total) return GA_ERR_MEMORY;
            total += more;
        }
        if (total - before > w->most) w->most = total - before;
        if (length > w->longest) w->longest = length;
        *columns += total > before;
    }
    for (int k = 0; k < B->rows; ++k) {
        const int length = column_length(&w->a_cols, k);
        if (length > w->longest) w->longest = length;
    }
    return w->most >= INT_MAX / 3 || w->longest >= INT_MAX / KEY - 1 ? GA_ERR_MEMORY : GA_OK;
}

/* --- keys */

/* An array for `count` elements in place of one for *room, which are kept. */
static ga_status make_room(void **array, int *room, int count, size_t size)
{
    if (count <= *room) return GA_OK;
    if (count > INT_MAX / 2 - 16) return GA_ERR_MEMORY;
    const int larger = 2 * count + 16;
    void *other = ga_alloc((size_t)larger, size);
    if (!other) return GA_ERR_MEMORY;
    if (*room) memcpy(other, *array, (size_t)*room * size);
    ga_free(*array);
    *array = other;
    *room = larger;
    return GA_OK;
}

/* The list of a column of A, and its segments; false if these are too many. */
static bool describe_column(const ga_coords *A, const workspace *w, int k, shape *s)
{
    const int *item = w->a_cols.item + w->a_cols.start[k];
    const int length = column_length(&w->a_cols, k);
    s->segments = 0;
    for (int i = 0, first = 0; i < length; ++i) {
        if (i == 0 || item[i] > item[i - 1] + REACH) {
            if (s->segments == MOST_REGIONS) return false;
            s->from[s->segments++] = i;
            first = item[i];
        }
        w->list[2 * i] = A->row[item[i]] - A->row[item[0]];
        w->list[2 * i + 1] = item[i] - first;
    }
    s->from[s->segments] = length;
    return true;
}

static ga_status find_shapes(const ga_coords *A, workspace *w)
{
    ga_lists lists = {0};
    ga_status status = GA_OK;
    for (int k = 0; status == GA_OK && k < A->cols; ++k) {
        const int length = column_length(&w->a_cols, k), known = lists.count;
        shape s;
        w->shape[k] = length ? SCATTERED : EMPTY;
        if (!length || !describe_column(A, w, k, &s)) continue;
        status = ga_lists_add(&lists, 2 * length, w->list, &w->shape[k]);
        if (status != GA_OK || lists.count == known) continue;
        status = make_room((void **)&w->shapes, &w->shape_room, lists.count, sizeof s);
        if (status == GA_OK) w->shapes[known] = s;
    }
    ga_lists_destroy(&lists);
    return status;
}

/* The region of a segment, which is made larger, or a new one; -1 if these are too many. */
static int put_segment(sample *x, int least, int most)
{
    region *r = x->region;
    int k = 0;
    while (k < x->regions && (least > r[k].most + REACH || most < r[k].least - REACH)) ++k;
    if (k == MOST_REGIONS) return -1;
    if (k == x->regions) r[x->regions++] = (region){least, most};
    if (least < r[k].least) r[k].least = least;
    if (most > r[k].most) r[k].most = most;
    return k;
}

/* How many regions come before each; false if two are not apart. */
static bool rank_regions(const sample *x, int *list)
{
    for (int k = 0; k < x->regions; ++k) {
        list[k] = 0;
        for (int i = 0; i < x->regions; ++i) {
            if (i == k) continue;
            const bool before = x->region[i].most + REACH < x->region[k].least;
            if (!before && x->region[k].most + REACH >= x->region[i].least) return false;
            list[k] += before;
        }
    }
    return true;
}

/* The key of column j, EMPTY without terms, SCATTERED if it has none; and what it is a sample
 * of. */
static ga_status find_key(const ga_coords *A, const ga_coords *B, workspace *w, int j, int *key,
                          sample *x)
{
    int *list = w->list, row = 0, first[MOST_REGIONS];
    x->regions = 0;
    *key = EMPTY;
    for (int p = w->b_cols.start[j]; p < w->b_cols.start[j + 1]; ++p) {
        const int ib = w->b_cols.item[p], k = B->row[ib];
        if (w->shape[k] == EMPTY) continue;
        *key = SCATTERED;
        if (w->shape[k] == SCATTERED) return GA_OK;
        const int *item = w->a_cols.item + w->a_cols.start[k];
        const shape *s = &w->shapes[w->shape[k]];
        if (list == w->list) x->b = ib, row = A->row[*item];
        *list++ = w->shape[k];
        *list++ = A->row[*item] - row;
        *list++ = ib - x->b;
        for (int i = 0; i < s->segments; ++i) {
            const int least = item[s->from[i]], known = x->regions;
            const int at = put_segment(x, least, item[s->from[i + 1] - 1]);
            if (at < 0) return GA_OK;
            if (at == known) first[at] = least;
            *list++ = at;
            *list++ = least - first[at];
        }
    }
    if (*key == EMPTY || !rank_regions(x, list)) return GA_OK;
    list += x->regions;
    return ga_lists_add(&w->keys, (int)(list - w->list), w->list, key);
}

/* --- lists of terms */

/* The terms of column j; how many they are. */
static int list_terms(const ga_coords *A, const ga_coords *B, const workspace *w, int j)
{
    term *t = w->terms;
    for (int p = w->b_cols.start[j]; p < w->b_cols.start[j + 1]; ++p) {
        const int ib = w->b_cols.item[p], k = B->row[ib];
        for (int q = w->a_cols.start[k]; q < w->a_cols.start[k + 1]; ++q) {
            const int ia = w->a_cols.item[q];
            *t++ = (term){A->row[ia], ia, ib};
        }
    }
    return (int)(t - w->terms);
}

/* The region of an entry, or -1. */
static int find_region(int regions, const region *r, int ia, int reach)
{
    for (int k = regions - 1; k >= 0; --k)
        if (ia >= r[k].least - reach && ia <= r[k].most + reach) return k;
    return -1;
}

/* Regions in the order of entries; 1 if they are not worth it, or not apart in the end. */
static int find_regions(const workspace *w, int terms, region *r)
{
    int regions = 0;
    if (terms > MOST_TERMS) return 1;
    for (int t = 0; t < terms; ++t) {
        const int ia = w->terms[t].ia;
        int k = find_region(regions, r, ia, REACH);
        if (k < 0) {
            if (regions == MOST_REGIONS) return 1;
            k = regions++;
            r[k] = (region){ia, ia};
        }
        if (ia < r[k].least) r[k].least = ia;
        if (ia > r[k].most) r[k].most = ia;
    }
    for (int k = 1; k < regions; ++k)
        for (int i = k; i > 0 && r[i].least < r[i - 1].least; --i) {
            const region swap = r[i];
            r[i] = r[i - 1];
            r[i - 1] = swap;
        }
    for (int k = 1; k < regions; ++k)
        if (r[k].least <= r[k - 1].most) return 1;
    return regions;
}

/* Rows of the terms become places in the column; how many there are. */
static int number_places(workspace *w, int terms)
{
    int *rows = w->list, count = 0;
    for (int pass = 0; pass < 2; ++pass)
        for (int t = 0; t < terms; ++t) {
            const int row = w->terms[t].row;
            int low = 0, high = count;
            while (low < high) {
                const int middle = (low + high) / 2;
                if (rows[middle] < row)
                    low = middle + 1;
                else
                    high = middle;
            }
            if (pass == 1) {
                w->terms[t].row = low;
            } else if (low == count || rows[low] != row) {
                memmove(rows + low + 1, rows + low, (size_t)(count - low) * sizeof *rows);
                rows[low] = row;
                ++count;
            }
        }
    return count;
}

/* Adds the list of the terms in a region (null: of all); the first of them. */
static ga_status add_list(workspace *w, int terms, const region *r, int *plan, term *first)
{
    int *list = w->list;
    for (int t = 0; t < terms; ++t) {
        const term *x = &w->terms[t];
        if (r && (x->ia < r->least || x->ia > r->most)) continue;
        if (list == w->list) *first = *x;
        *list++ = x->row - first->row;
        *list++ = x->ia - first->ia;
        *list++ = x->ib - first->ib;
    }
    if (r) *list++ = 0; /* not to be taken for rows */
    return ga_lists_add(&w->lists, (int)(list - w->list), w->list, plan);
}

static ga_status resize_parts(workspace *w, ga_product *product, int room)
{
    ga_product_part *other = GA_NEW(ga_product_part, room);
    if (!other) return GA_ERR_MEMORY;
    if (w->parts) memcpy(other, product->part, (size_t)w->parts * sizeof *other);
    ga_free(product->part);
    product->part = other;
    w->part_room = room;
    return GA_OK;
}

static ga_status add_part(workspace *w, ga_product *product, ga_product_part part)
{
    if (w->parts > INT_MAX / 2 - 16) return GA_ERR_MEMORY;
    if (w->parts == w->part_room) GA_TRY(resize_parts(w, product, 2 * w->parts + 16));
    product->part[w->parts++] = part;
    return GA_OK;
}

static ga_status list_regions(workspace *w, int terms, int regions, const region *r,
                              ga_product *product, ga_product_column *column)
{
    *column = (ga_product_column){~number_places(w, terms), w->parts, w->parts + regions};
    for (int k = 0; k < regions; ++k) {
        term first = {0};
        int plan;
        GA_TRY(add_list(w, terms, &r[k], &plan, &first));
        GA_TRY(add_part(w, product, (ga_product_part){plan, first.ia, first.ib, first.row}));
    }
    return GA_OK;
}

/* From the terms in w. */
static ga_status list_column(workspace *w, int terms, ga_product *product,
                             ga_product_column *column)
{
    region r[MOST_REGIONS];
    const int regions = product->tall ? 1 : find_regions(w, terms, r);
    if (regions > 1) return list_regions(w, terms, regions, r, product, column);
    term first = {0};
    GA_TRY(add_list(w, terms, NULL, &column->plan, &first));
    column->a = first.ia;
    column->b = first.ib;
    return GA_OK;
}

/* How far the region of an entry of the sample is from that of another with its key. */
static int region_shift(const sample *like, const sample *x, int ia)
{
    int k = 0;
    while (ia < like->region[k].least || ia > like->region[k].most) ++k;
    return x->region[k].least - like->region[k].least;
}

/* What the column of a sample has, for another with its key. */
static ga_status copy_column(workspace *w, const sample *like, const sample *x,
                             ga_product *product)
{
    const int b = x->b - like->b;
    ga_product_column column = product->column[like->column];
    if (column.plan >= 0) {
        column.a += region_shift(like, x, column.a);
        column.b += b;
    } else {
        const int from = column.a, end = column.b;
        column.a = w->parts;
        column.b = w->parts + (end - from);
        for (int p = from; p < end; ++p) {
            ga_product_part part = product->part[p];
            part.a += region_shift(like, x, part.a);
            part.b += b;
            GA_TRY(add_part(w, product, part));
        }
    }
    product->column[x->column] = column;
    return GA_OK;
}

/* A column in several regions that has one list all the same has their distances in it. */
static ga_status add_sample(workspace *w, const ga_product *product, sample x)
{
    const int count = w->keys.count; /* with its own */
    if (x.regions > 1 && product->column[x.column].plan >= 0) x.column = -1;
    GA_TRY(make_room((void **)&w->samples, &w->sample_room, count, sizeof x));
    w->samples[count - 1] = x;
    return GA_OK;
}

static ga_status list_columns(const ga_coords *A, const ga_coords *B, workspace *w,
                              ga_product *product)
{
    sample x = {0};
    for (int j = 0; j < B->cols; ++j) {
        const int known = w->keys.count;
        int key;
        GA_TRY(find_key(A, B, w, j, &key, &x));
        if (key == EMPTY) continue;
        if (key >= 0 && key < known && w->samples[key].column >= 0) {
            GA_TRY(copy_column(w, &w->samples[key], &x, product));
        } else {
            const int terms = list_terms(A, B, w, j);
            GA_TRY(list_column(w, terms, product, &product->column[x.column]));
            if (key == known) GA_TRY(add_sample(w, product, x));
        }
        ++x.column;
    }
    return w->parts < w->part_room ? resize_parts(w, product, w->parts) : GA_OK;
}

/* --- plans */

static bool in_order(const term *x, const term *y)
{
    if (x->row != y->row) return x->row < y->row;
    return x->ia != y->ia ? x->ia < y->ia : x->ib <= y->ib;
}

/* Merges pieces of twice the length again and again; the result is in w->terms. */
static void sort_terms(workspace *w, int count)
{
    for (int length = 1; length<count; length = length> count / 2 ? count : 2 * length) {
        const term *from = w->terms;
        term *to = w->sorted;
        for (int k = 0; k < count;) {
            const int middle = length < count - k ? k + length : count;
            const int end = length < count - middle ? middle + length : count;
            for (int x = k, y = middle; k < end; ++k) {
                const bool left = y == end || (x < middle && in_order(&from[x], &from[y]));
                *to++ = from[left ? x++ : y++];
            }
        }
        term *swap = w->terms;
        w->terms = w->sorted;
        w->sorted = swap;
    }
}

/* Places of list p from `place` on, its terms from `first` on; the next place. */
static int make_plan(workspace *w, int p, int first, int place, ga_product *product)
{
    const int *list = w->lists.item + w->lists.start[p];
    const int length = w->lists.start[p + 1] - w->lists.start[p], count = length / 3;
    const bool in_region = length % 3;
    for (int k = 0; k < count; ++k)
        w->terms[k] = (term){list[3 * k], list[3 * k + 1], list[3 * k + 2]};
    sort_terms(w, count);
    for (int k = 0, at = 0; k < count; ++k) {
        if (k == 0 || w->terms[k].row != w->terms[k - 1].row) {
            product->to[place] = in_region ? w->terms[k].row : at++;
            product->start[place++] = first + k;
        }
        product->ia[first + k] = w->terms[k].ia;
        product->ib[first + k] = w->terms[k].ib;
    }
    return place;
}

static ga_status make_plans(workspace *w, ga_product *product)
{
    const int plans = w->lists.count;
    int terms = 0, place = 0;
    for (int p = 0; p < plans; ++p) terms += (w->lists.start[p + 1] - w->lists.start[p]) / 3;
    bool memory = (product->plan_start = GA_NEW(int, (size_t)plans + 1)) &&
                  (product->to = GA_NEW(int, terms)) &&
                  (product->start = GA_NEW(int, (size_t)terms + 1)) &&
                  (product->ia = GA_NEW(int, terms)) && (product->ib = GA_NEW(int, terms));
    if (!memory) return GA_ERR_MEMORY;
    for (int p = 0, first = 0; p < plans; ++p) {
        product->plan_start[p] = place;
        place = make_plan(w, p, first, place, product);
        first += (w->lists.start[p + 1] - w->lists.start[p]) / 3;
    }
    product->plan_start[plans] = place;
    product->start[place] = terms;
    return GA_OK;
}

/* --- the result */

static int count_places(const ga_product *product, int c)
{
    const int plan = product->column[c].plan;
    return plan < 0 ? ~plan : product->plan_start[plan + 1] - product->plan_start[plan];
}

static void list_places(const ga_product *product, const ga_coords *A, int plan, int a,
                        int *row)
{
    for (int k = product->plan_start[plan]; k < product->plan_start[plan + 1]; ++k)
        row[product->to[k]] = A->row[a + product->ia[product->start[k]]];
}

/* Rows and columns of the result. */
static ga_status make_result(const ga_coords *A, const ga_coords *B, ga_product *product)
{
    ga_coords *result = &product->result;
    int most = 0;
    *result = (ga_coords){.rows = A->rows, .cols = B->cols};
    for (int c = 0; c < product->columns; ++c) {
        const int count = count_places(product, c);
        result->count += count;
        most = count > most ? count : most;
    }
    bool memory = (result->row = GA_NEW_WHOLE(int, result->count)) &&
                  (result->col = GA_NEW_WHOLE(int, result->count)) &&
                  (product->work = GA_NEW(double, product->width = most));
    if (!memory) return GA_ERR_MEMORY;
    for (int c = 0, k = 0; c < product->columns; ++c) {
        const ga_product_column at = product->column[c];
        const int end = k + count_places(product, c);
        int *row = result->row + k;
        if (at.plan >= 0) list_places(product, A, at.plan, at.a, row);
        for (int p = at.a; at.plan < 0 && p < at.b; ++p) {
            const ga_product_part part = product->part[p];
            list_places(product, A, part.plan, part.a, row + part.place);
        }
        const int col = B->col[at.plan < 0 ? product->part[at.a].b : at.b];
        for (; k < end; ++k) result->col[k] = col;
    }
    return GA_OK;
}

/* Terms of all columns one after the other, where the result is full: its columns follow each
 * other like those of A, and need no plans. */
static ga_status make_flat(const ga_coords *A, const ga_coords *B, ga_product *product)
{
    ga_coords *result = &product->result;
    const bool full = product->tall && product->columns == B->cols && result->count > 0 &&
                      result->count == A->rows * B->cols;
    if (!full) return GA_OK;
    int *to = product->flat = GA_NEW(int, (size_t)product->columns + 2 * (size_t)B->count);
    if (!to) return GA_ERR_MEMORY;
    for (int c = 0; c < product->columns; ++c) {
        const ga_product_column at = product->column[c];
        const int *start = product->start + product->plan_start[at.plan];
        *to++ = start[1] - start[0];
        for (int t = start[0]; t < start[1]; ++t) *to++ = at.a + product->ia[t];
        for (int t = start[0]; t < start[1]; ++t) *to++ = at.b + product->ib[t];
    }
    result->layout = GA_BY_COLUMNS;
    return GA_OK;
}

static ga_status plan(const ga_coords *A, const ga_coords *B, workspace *w, ga_product *product)
{
    product->tall = A->layout == GA_BY_COLUMNS;
    GA_TRY(ga_buckets_create(A->cols, A->count, A->col, NULL, &w->a_cols));
    GA_TRY(ga_buckets_create(B->cols, B->count, B->col, NULL, &w->b_cols));
    GA_TRY(count_terms(B, w, &product->columns));
    const size_t terms = 3 * (size_t)w->most + 1, key = KEY * ((size_t)w->longest + 1);
    bool memory = (w->list = GA_NEW(int, terms > key ? terms : key)) &&
                  (w->shape = GA_NEW(int, A->cols)) && (w->terms = GA_NEW(term, w->most)) &&
                  (w->sorted = GA_NEW(term, w->most)) &&
                  (product->column = GA_NEW(ga_product_column, product->columns));
    if (!memory) return GA_ERR_MEMORY;
    GA_TRY(find_shapes(A, w));
    GA_TRY(list_columns(A, B, w, product));
    GA_TRY(make_plans(w, product));
    GA_TRY(make_result(A, B, product));
    return make_flat(A, B, product);
}

ga_status ga_product_create(const ga_coords *A, const ga_coords *B, ga_product *product)
{
    workspace w = {0};
    *product = (ga_product){0};
    ga_status status = plan(A, B, &w, product);
    if (status != GA_OK) ga_product_destroy(product);
    destroy_workspace(&w);
    return status;
}

void ga_product_destroy(ga_product *product)
{
    ga_coords_destroy(&product->result);
    void *memory[] = {product->column, product->part,  product->plan_start,
                      product->to,     product->start, product->ia,
                      product->ib,     product->work,  product->flat};
    for (size_t k = 0; k < sizeof memory / sizeof *memory; ++k) ga_free(memory[k]);
    *product = (ga_product){0};
}

void ga_product_drop_places(ga_product *product)
{
    ga_free(product->result.row);
    ga_free(product->result.col);
    product->result.row = product->result.col = NULL;
}

/* --- evaluation */

static void add_terms(const ga_product *product, int plan, const double *a, const double *b,
                      double *values)
{
    const int *ia = product->ia, *ib = product->ib, *to = product->to;
    const int first = product->plan_start[plan], end = product->plan_start[plan + 1];
    for (int k = first, p = product->start[first]; k < end; ++k) {
        double sum = values[to[k]];
        for (const int last = product->start[k + 1]; p < last; ++p) sum += a[ia[p]] * b[ib[p]];
        values[to[k]] = sum;
    }
}

/* The values of a column with parts. */
static void evaluate_parts(const ga_product *product, ga_product_column at, const double *a,
                           const double *b, double *values)
{
    for (int k = 0; k < ~at.plan; ++k) values[k] = 0;
    for (int p = at.a; p < at.b; ++p) {
        const ga_product_part part = product->part[p];
        add_terms(product, part.plan, a + part.a, b + part.b, values + part.place);
    }
}

int ga_product_column_places(const ga_product *product, int c)
{
    const int plan = product->column[c].plan;
    return plan < 0 ? ~plan : product->plan_start[plan + 1] - product->plan_start[plan];
}

int ga_product_evaluate_column(const ga_product *product, int c, const double *a,
                               const double *b, double *values)
{
    const ga_product_column at = product->column[c];
    if (at.plan < 0) {
        evaluate_parts(product, at, a, b, values);
        return ~at.plan;
    }
    const int *ia = product->ia, *ib = product->ib;
    const int first = product->plan_start[at.plan], end = product->plan_start[at.plan + 1];
    a += at.a;
    b += at.b;
    for (int k = first, p = product->start[first]; k < end; ++k) {
        double sum = 0;
        for (const int last = product->start[k + 1]; p < last; ++p) sum += a[ia[p]] * b[ib[p]];
        *values++ = sum;
    }
    return end - first;
}

KERNEL int add_column(const ga_product *product, int c, const double *a, const double *b,
                      double scale, const int *slot, double *restrict values, double *work)
{
    const ga_product_column at = product->column[c];
    if (at.plan < 0) {
        evaluate_parts(product, at, a, b, work);
        for (int k = 0; k < ~at.plan; ++k) values[slot[k]] += scale * work[k];
        return ~at.plan;
    }
    const int *restrict ia = product->ia, *restrict ib = product->ib;
    const int first = product->plan_start[at.plan];
    const int *start = product->start + first;
    const int *const end = product->start + product->plan_start[at.plan + 1];
    const int count = (int)(end - start);
    a += at.a;
    b += at.b;
    if (product->tall && slot[count - 1] - slot[0] == count - 1) {
        const tall rows = {start[1] - start[0], ia + *start, ib + *start, a, b, scale};
        add_tall(&rows, count, values + slot[0]);
        return count;
    }
    for (int p = *start; start < end; ++slot) {
        const int last = *++start;
        double sum = 0;
        for (; p < last; ++p) sum += a[ia[p]] * b[ib[p]];
        values[*slot] += scale * sum;
    }
    return count;
}

int ga_product_add_column(const ga_product *product, int c, const double *a, const double *b,
                          double scale, const int *slot, double *restrict values, double *work)
{
    return add_column(product, c, a, b, scale, slot, values, work);
}

int ga_product_add_columns(const ga_product *product, int c, const double *a, const double *b,
                           double scale, const int *slot, const int *end, double *values,
                           double *work)
{
    while (slot < end) slot += add_column(product, c++, a, b, scale, slot, values, work);
    return c;
}

void ga_product_evaluate(const ga_product *product, const double *a, const double *b,
                         double *values)
{
    for (int c = 0; c < product->columns; ++c)
        values += ga_product_evaluate_column(product, c, a, b, values);
}
