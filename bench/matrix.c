#include "bench/matrix.h"
#include "bench/ida.h"
#include "bench/loop.h"

#include "model/assembly.h"

#include <klu.h>
#include <stdlib.h>
#include <string.h>

typedef struct step_matrix {
    const char *name;
    int n, order;
    ida_pattern pattern;
    double *values, *x;
    klu_common common;
    klu_symbolic *symbolic;
    klu_numeric *numeric;
} step_matrix;

static step_matrix kept;

static void release(step_matrix *a)
{
    if (a->numeric) klu_free_numeric(&a->numeric, &a->common);
    if (a->symbolic) klu_free_symbolic(&a->symbolic, &a->common);
    ida_pattern_free(&a->pattern);
    free(a->values);
    free(a->x);
    *a = (step_matrix){0};
}

void matrix_forget(void) { release(&kept); }

/* A block c * (callback's matrix) at (row0, col0), and transposed if asked. */
typedef struct block {
    ga_callback *callback;
    const ga_pattern *pattern;
    double factor;
    int row0, col0;
    bool mirror;
} block;

typedef struct entry {
    int row, col;
    double value;
} entry;

typedef struct entries {
    int count, room;
    entry *list;
} entries;

static bool add(entries *e, int row, int col, double value)
{
    if (e->count == e->room) {
        int room = e->room ? 2 * e->room : 4096;
        entry *list = realloc(e->list, (size_t)room * sizeof *list);
        if (!list) return false;
        e->list = list;
        e->room = room;
    }
    e->list[e->count++] = (entry){row, col, value};
    return true;
}

/* Rows and columns of block i of a pattern; a single entry is a block of one. */
static int height_of(const ga_pattern *pattern, int i)
{
#ifdef BENCH_PATTERN_BLOCKS
    if (pattern->height) return pattern->height[i];
#endif
    return 1;
}

static int width_of(const ga_pattern *pattern, int i)
{
#ifdef BENCH_PATTERN_BLOCKS
    if (pattern->width) return pattern->width[i];
#endif
    return 1;
}

static bool add_value(const block *k, int row, int col, double value, entries *e)
{
    if (value == 0) return true;
    row += k->row0;
    col += k->col0;
    return add(e, row, col, k->factor * value) &&
           (!k->mirror || add(e, col, row, k->factor * value));
}

static bool add_block(const ga_system *system, const ga_point *at, const block *k, entries *e)
{
    const ga_pattern *pattern = k->pattern;
    size_t size = 0;
    if (!k->callback || pattern->count == 0) return true;
    for (int i = 0; i < pattern->count; ++i)
        size += (size_t)height_of(pattern, i) * (size_t)width_of(pattern, i);
    double *values = calloc(size, sizeof *values);
    bool ok = values && k->callback(system->user, at, values) == GA_EVAL_OK;
    const double *next = values;
    for (int i = 0; ok && i < pattern->count; ++i)
        for (int col = 0; col < width_of(pattern, i); ++col)
            for (int row = 0; row < height_of(pattern, i); ++row)
                ok = ok &&
                     add_value(k, pattern->row[i] + row, pattern->col[i] + col, *next++, e);
    free(values);
    return ok;
}

/* A state near the start at which nothing is zero by accident. */
static void disturb(const ga_assembly *assembly, double *q, double *v, double *vd, double *l)
{
    ga_assembly_initial(assembly, q, v);
    for (int i = 0; i < assembly->nv; ++i) v[i] += 0.1 * sin(i + 1.0);
    for (int i = 0; i < assembly->nv; ++i) vd[i] = cos(i + 2.0);
    for (int i = 0; i < assembly->system.constraint_count; ++i) l[i] = 10 + sin(i + 3.0);
    for (int k = 0; k < assembly->system.node_count; ++k) {
        ga_node node = assembly->system.nodes[k];
        double *at = q + assembly->q_at[k];
        if (node.group == GA_GROUP_R2SO2)
            at[2] += 0.1 * sin(k + 4.0);
        else if (node.group == GA_GROUP_R3SO3) {
            double *p = at + 3, length = 0;
            for (int i = 0; i < 4; ++i) p[i] += 0.05 * sin(k + 5.0 + i);
            for (int i = 0; i < 4; ++i) length += p[i] * p[i];
            for (int i = 0; i < 4; ++i) p[i] /= sqrt(length);
        }
    }
}

static bool assemble(const ga_model *model, double h, int *order, entries *e)
{
    ga_assembly *assembly = NULL;
    ga_report report;
    if (ga_assembly_create(model, false, &assembly, &report) != GA_OK) return false;
    const ga_system *s = &assembly->system;
    const int nq = assembly->nq, nv = assembly->nv, m = s->constraint_count;
    const loop_coefficients c = loop_coefficients_of(0.9, h);
    double *memory = calloc((size_t)(nq + 2 * nv + m + s->nonholonomic_count), sizeof *memory);
    bool ok = memory != NULL;
    if (ok) {
        double *q = memory, *v = q + nq, *vd = v + nv, *l = vd + nv;
        disturb(assembly, q, v, vd, l);
        const ga_point at = {.t = 0, .q = q, .v = v, .vd = vd, .lambda = l, .psi = l + m};
        const block blocks[] = {
            {s->mass, &s->mass_pattern, 1, 0, 0, false},
            {s->damping, &s->damping_pattern, c.c_v, 0, 0, false},
            {s->stiffness, &s->stiffness_pattern, c.c_q, 0, 0, false},
            {s->gradient, &s->gradient_pattern, 1, nv, 0, true},
        };
        for (int k = 0; ok && k < BENCH_COUNT(blocks); ++k)
            ok = add_block(s, &at, blocks + k, e);
    }
    *order = nv + m;
    free(memory);
    ga_assembly_destroy(assembly);
    return ok;
}

static bool factor(step_matrix *a, int ordering)
{
    klu_defaults(&a->common);
    a->common.scale = -1;
    a->common.ordering = ordering;
    a->symbolic = klu_analyze(a->order, a->pattern.colptr, a->pattern.rowind, &a->common);
    if (!a->symbolic) return false;
    a->numeric =
        klu_factor(a->pattern.colptr, a->pattern.rowind, a->values, a->symbolic, &a->common);
    return a->numeric != NULL;
}

/* The order with fewer entries in the factors. */
static bool choose_order(step_matrix *a)
{
    int entries_of[2] = {0};
    for (int ordering = 0; ordering < 2; ++ordering) {
        entries_of[ordering] = factor(a, ordering) ? a->numeric->lnz + a->numeric->unz : -1;
        if (a->numeric) klu_free_numeric(&a->numeric, &a->common);
        if (a->symbolic) klu_free_symbolic(&a->symbolic, &a->common);
    }
    const bool colamd =
        entries_of[0] < 0 || (entries_of[1] >= 0 && entries_of[1] < entries_of[0]);
    return factor(a, colamd ? 1 : 0);
}

static bool create(bench *b, const bench_case *c, step_matrix *a)
{
    const galpha_file *file = c->data;
    const ga_model *model = galpha_model(b, file, c->n, NULL);
    entries e = {0};
    if (!model) return false;
    *a = (step_matrix){.name = file->name, .n = c->n};
    bool ok = assemble(model, c->value, &a->order, &e);
    a->pattern.n = a->order;
    for (int k = 0; ok && k < e.count; ++k)
        ok = ida_pattern_put(&a->pattern, e.list[k].row, e.list[k].col);
    ok = ok && ida_pattern_finish(&a->pattern);
    if (ok) {
        a->values = calloc((size_t)a->pattern.colptr[a->order], sizeof *a->values);
        a->x = calloc((size_t)a->order, sizeof *a->x);
        ok = a->values && a->x;
    }
    for (int k = 0; ok && k < e.count; ++k) a->values[a->pattern.slot[k]] += e.list[k].value;
    free(e.list);
    if (!ok) return bench_fail(b, "%s: no step matrix", file->name);
    return choose_order(a) ||
           bench_fail(b, "%s: KLU cannot factor the step matrix", file->name);
}

bool matrix_refactor_solve(bench *b, const bench_case *c, bench_outcome *outcome)
{
    const galpha_file *file = c->data;
    step_matrix *a = &kept;
    if (!a->name || strcmp(a->name, file->name) != 0 || a->n != c->n) {
        release(a);
        if (!create(b, c, a)) {
            release(a);
            return false;
        }
    }
    for (int i = 0; i < a->order; ++i) a->x[i] = sin(i);
    const double begin = bench_clock();
    klu_refactor(a->pattern.colptr, a->pattern.rowind, a->values, a->symbolic, a->numeric,
                 &a->common);
    klu_solve(a->symbolic, a->numeric, a->order, 1, a->x, &a->common);
    outcome->seconds = bench_clock() - begin;
    outcome->steps = outcome->iterations = outcome->factorizations = 1;
    return true;
}
