#include "bench/ida.h"

#include <stdlib.h>
#include <string.h>

/* --- patterns ----------------------------------------------------------------------------- */

bool ida_pattern_put(ida_pattern *p, int row, int col)
{
    if (p->count == p->room) {
        size_t room = p->room ? 2 * (size_t)p->room : 1024;
        int *rows = realloc(p->row, room * sizeof(int));
        if (rows) p->row = rows;
        int *cols = realloc(p->col, room * sizeof(int));
        if (cols) p->col = cols;
        if (!rows || !cols) return false;
        p->room = (int)room;
    }
    p->row[p->count] = row;
    p->col[p->count++] = col;
    return true;
}

/* Two stable counting sorts, by row and then by column; equal places share a slot. */
bool ida_pattern_finish(ida_pattern *p)
{
    size_t n = (size_t)p->n, count = (size_t)p->count;
    int *start = calloc(n + 1, sizeof(int)), *by_row = malloc(count * sizeof(int));
    int *order = malloc(count * sizeof(int));
    p->slot = malloc(count * sizeof(int));
    p->colptr = calloc(n + 1, sizeof(int));
    p->rowind = malloc(count * sizeof(int));
    bool memory = start && by_row && order && p->slot && p->colptr && p->rowind;
    if (memory) {
        for (size_t k = 0; k < count; ++k) ++start[p->row[k] + 1];
        for (size_t k = 0; k < n; ++k) start[k + 1] += start[k];
        for (size_t k = 0; k < count; ++k) by_row[start[p->row[k]]++] = (int)k;
        memset(start, 0, (n + 1) * sizeof(int));
        for (size_t k = 0; k < count; ++k) ++start[p->col[k] + 1];
        for (size_t k = 0; k < n; ++k) start[k + 1] += start[k];
        for (size_t k = 0; k < count; ++k) order[start[p->col[by_row[k]]]++] = by_row[k];
        int slots = 0;
        for (size_t k = 0; k < count; ++k) {
            int e = order[k], last = k ? order[k - 1] : -1;
            bool same = last >= 0 && p->row[e] == p->row[last] && p->col[e] == p->col[last];
            if (!same) {
                p->rowind[slots++] = p->row[e];
                ++p->colptr[p->col[e] + 1];
            }
            p->slot[e] = slots - 1;
        }
        for (size_t k = 0; k < n; ++k) p->colptr[k + 1] += p->colptr[k];
    }
    free(start);
    free(by_row);
    free(order);
    return memory;
}

void ida_pattern_free(ida_pattern *p)
{
    void *memory[] = {p->row, p->col, p->slot, p->colptr, p->rowind};
    for (int k = 0; k < BENCH_COUNT(memory); ++k) free(memory[k]);
    *p = (ida_pattern){0};
}

/* --- IDA ---------------------------------------------------------------------------------- */

#ifndef BENCH_HAVE_IDA

bool ida_solve(bench *b, ida_problem *problem, double tolerance, const ida_options *options,
               bench_outcome *outcome)
{
    (void)problem, (void)tolerance, (void)options, (void)outcome;
    return bench_fail(b, "built without SUNDIALS");
}

#else

#include <ida/ida.h>
#include <nvector/nvector_serial.h>
#include <sunlinsol/sunlinsol_dense.h>
#include <sunlinsol/sunlinsol_klu.h>
#include <sunmatrix/sunmatrix_dense.h>
#include <sunmatrix/sunmatrix_sparse.h>

static int residual(realtype t, N_Vector y, N_Vector yp, N_Vector r, void *user)
{
    (void)t;
    const ida_problem *p = user;
    p->residual(p->data, NV_DATA_S(y), NV_DATA_S(yp), NV_DATA_S(r));
    return 0;
}

static int jacobian(realtype t, realtype cj, N_Vector y, N_Vector yp, N_Vector r, SUNMatrix J,
                    void *user, N_Vector a, N_Vector b, N_Vector c)
{
    (void)t, (void)r, (void)a, (void)b, (void)c;
    const ida_problem *p = user;
    double *values;
    if (p->colptr) {
        values = SM_DATA_S(J);
        for (int k = 0; k <= p->n; ++k) SM_INDEXPTRS_S(J)[k] = p->colptr[k];
        for (int k = 0; k < p->colptr[p->n]; ++k) SM_INDEXVALS_S(J)[k] = p->rowind[k];
        memset(values, 0, (size_t)p->colptr[p->n] * sizeof *values);
    } else {
        values = SM_DATA_D(J);
        SUNMatZero(J);
    }
    p->jacobian(p->data, cj, NV_DATA_S(y), NV_DATA_S(yp), values);
    return 0;
}

typedef struct session {
    SUNContext context;
    N_Vector y, yp, id, tolerance;
    SUNMatrix J;
    SUNLinearSolver solver;
    void *ida;
} session;

static void quiet(int code, const char *module, const char *function, char *text, void *user)
{
    (void)module, (void)function;
    bench *b = user;
    if (code < 0) bench_fail(b, "IDA: %s", text);
}

static bool open_session(session *s, bench *b, ida_problem *p, double tolerance,
                         const ida_options *o)
{
    if (SUNContext_Create(NULL, &s->context)) return false;
    s->y = N_VMake_Serial(p->n, p->y, s->context);
    s->yp = N_VMake_Serial(p->n, p->yp, s->context);
    s->id = N_VNew_Serial(p->n, s->context);
    s->tolerance = N_VNew_Serial(p->n, s->context);
    s->ida = IDACreate(s->context);
    if (!s->y || !s->yp || !s->id || !s->tolerance || !s->ida) return false;
    for (int k = 0; k < p->n; ++k) {
        NV_Ith_S(s->id, k) = p->differential[k];
        NV_Ith_S(s->tolerance, k) = tolerance * p->scale[k];
    }
    IDASetErrHandlerFn(s->ida, quiet, b);
    if (IDAInit(s->ida, residual, 0, s->y, s->yp)) return false;
    if (IDASVtolerances(s->ida, p->relative ? tolerance : 0, s->tolerance)) return false;
    s->J = p->colptr ? SUNSparseMatrix(p->n, p->n, p->colptr[p->n], CSC_MAT, s->context)
                     : SUNDenseMatrix(p->n, p->n, s->context);
    if (!s->J) return false;
    s->solver = p->colptr ? SUNLinSol_KLU(s->y, s->J, s->context)
                          : SUNLinSol_Dense(s->y, s->J, s->context);
    if (!s->solver || IDASetLinearSolver(s->ida, s->solver, s->J)) return false;
    if (p->colptr) SUNLinSol_KLUSetOrdering(s->solver, o->ordering);
    IDASetJacFn(s->ida, jacobian);
    IDASetUserData(s->ida, p);
    IDASetId(s->ida, s->id);
    IDASetSuppressAlg(s->ida, !o->keep_algebraic);
    IDASetMaxNumSteps(s->ida, 10000000);
    IDASetStopTime(s->ida, p->t_end);
    if (p->first_step > 0) IDASetInitStep(s->ida, p->first_step);
    if (o->max_order) IDASetMaxOrd(s->ida, o->max_order);
    if (o->newton > 0) IDASetNonlinConvCoef(s->ida, o->newton);
    return true;
}

static void close_session(session *s)
{
    if (s->ida) IDAFree(&s->ida);
    if (s->solver) SUNLinSolFree(s->solver);
    if (s->J) SUNMatDestroy(s->J);
    N_Vector vectors[] = {s->y, s->yp, s->id, s->tolerance};
    for (int k = 0; k < BENCH_COUNT(vectors); ++k)
        if (vectors[k]) N_VDestroy(vectors[k]);
    if (s->context) SUNContext_Free(&s->context);
}

bool ida_solve(bench *b, ida_problem *p, double tolerance, const ida_options *options,
               bench_outcome *outcome)
{
    session s = {0};
    realtype t = 0;
    bench_fail(b, "IDA: out of memory, or refused");
    bool ok = open_session(&s, b, p, tolerance, options) &&
              IDASolve(s.ida, p->t_end, &t, s.y, s.yp, IDA_NORMAL) >= 0;
    if (ok) {
        long residuals, set_ups, failures;
        int order, next;
        realtype first, last, current;
        IDAGetIntegratorStats(s.ida, &outcome->steps, &residuals, &set_ups, &failures, &order,
                              &next, &first, &last, &current, &t);
        IDAGetNumNonlinSolvIters(s.ida, &outcome->iterations);
        outcome->factorizations = set_ups;
        outcome->rejected = failures;
    }
    close_session(&s);
    return ok;
}

#endif
