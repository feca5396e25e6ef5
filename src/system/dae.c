/* Values of the equations, as the user gives them or by difference quotients, and what in them
 * is not finite. */
#include "system/dae.h"

#include "base/apart.h"
#include "base/report.h"

#include <math.h>
#include <string.h>

static ga_status blame(ga_dae *dae, const char *what, int row, ga_status status)
{
    dae->fault.what = what;
    dae->fault.row = row;
    dae->fault.status = status;
    return status;
}

/* Turns a callback's answer into a status. */
static ga_status judge(ga_dae *dae, const char *what, ga_eval answer)
{
    if (answer == GA_EVAL_OK) return GA_OK;
    return blame(dae, what, -1,
                 answer == GA_EVAL_RECOVERABLE ? GA_ERR_RECOVERABLE : GA_ERR_CALLBACK);
}

/* Looks for NaN and infinity. */
static ga_status look_at(ga_dae *dae, const char *what, int n, const double *out)
{
    if (ga_pool_finite(dae->pool, n, out)) return GA_OK;
    int row = 0;
    while (row < n - 1 && isfinite(out[row])) ++row;
    return blame(dae, what, row, GA_ERR_NOT_FINITE);
}

static ga_status call(ga_dae *dae, const char *what, ga_callback *callback, const ga_point *at,
                      int n, double *out)
{
    GA_TRY(judge(dae, what, callback(dae->sys.user, at, out)));
    return look_at(dae, what, n, out);
}

void ga_dae_explain(const ga_dae *dae, double t, ga_report *report)
{
    const char *what = dae->fault.what ? dae->fault.what : "callback";
    if (dae->fault.status == GA_ERR_NOT_FINITE)
        ga_fail(report, dae->fault.status,
                "%s returned NaN or infinity in entry %d at t = %.9g", what, dae->fault.row, t);
    else
        ga_fail(report, dae->fault.status, "%s reported a %s failure at t = %.9g", what,
                dae->fault.status == GA_ERR_RECOVERABLE ? "recoverable" : "fatal", t);
    if (report) {
        report->time = t;
        report->row = dae->fault.row;
        if (strcmp(what, "force") == 0) report->column = dae->fault.row; /* a coordinate */
    }
}

/* Is a constant mass matrix diagonal, whatever its pattern? Its diagonal then. */
static bool find_diagonal(const ga_dae *dae, double *diagonal)
{
    memset(diagonal, 0, (size_t)dae->nv * sizeof *diagonal);
    for (ga_matrix_entry e = ga_entry_first(&dae->M); e.k < dae->M.count;
         ga_entry_next(&dae->M, &e)) {
        const double m = dae->M_constant[e.k];
        if (m == 0) continue;
        if (e.col != e.row || diagonal[e.row] != 0) return false;
        diagonal[e.row] = m;
    }
    return true;
}

/* Constant ones are evaluated once. */
static void keep_mass(ga_dae *dae, double *M)
{
    const size_t size = (size_t)dae->M.count * sizeof *M;
    if (dae->M_known) {
        memcpy(M, dae->M_constant, size);
    } else if (dae->sys.mass_is_constant) {
        memcpy(dae->M_constant, M, size);
        dae->M_known = true;
        dae->M_is_diagonal = find_diagonal(dae, dae->M_diagonal);
    }
}

ga_status ga_dae_mass(ga_dae *dae, double t, const double *q, double *M)
{
    ga_point at = {.t = t, .q = q};
    if (!dae->M_known) GA_TRY(call(dae, "mass", dae->sys.mass, &at, dae->M.count, M));
    keep_mass(dae, M);
    return GA_OK;
}

ga_status ga_dae_force(ga_dae *dae, const ga_point *at, double *f)
{
    return call(dae, "force", dae->sys.force, at, dae->nv, f);
}

ga_status ga_dae_constraint(ga_dae *dae, double t, const double *q, double *Phi)
{
    if (!dae->m) return GA_OK;
    ga_point at = {.t = t, .q = q};
    return call(dae, "constraint", dae->sys.constraint, &at, dae->m, Phi);
}

ga_status ga_dae_nonholonomic(ga_dae *dae, double t, const double *q, const double *v,
                              double *k)
{
    if (!dae->p) return GA_OK;
    ga_point at = {.t = t, .q = q, .v = v};
    return call(dae, "nonholonomic", dae->sys.nonholonomic, &at, dae->p, k);
}

static ga_status holonomic_gradient(ga_dae *dae, double t, const double *q, double *B)
{
    if (!dae->m) return GA_OK;
    if (!dae->sys.gradient) return ga_difference_gradient(dae, t, q, B);
    ga_point at = {.t = t, .q = q};
    return call(dae, "gradient", dae->sys.gradient, &at, dae->B.count, B);
}

ga_status ga_dae_gradient(ga_dae *dae, double t, const double *q, const double *v, double *G)
{
    GA_TRY(holonomic_gradient(dae, t, q, G));
    if (!dae->p || !v) return GA_OK;
    double *N = G + dae->B.count;
    if (!dae->sys.nonholonomic_gradient)
        return ga_difference_nonholonomic_gradient(dae, t, q, v, N);
    ga_point at = {.t = t, .q = q, .v = v};
    return call(dae, "nonholonomic_gradient", dae->sys.nonholonomic_gradient, &at, dae->N.count,
                N);
}

ga_status ga_dae_rate(ga_dae *dae, double t, const double *q, double *Phi_t)
{
    if (!dae->rheonomic) {
        memset(Phi_t, 0, (size_t)dae->m * sizeof *Phi_t);
        return GA_OK;
    }
    if (!dae->sys.constraint_rate) return ga_difference_rate(dae, t, q, Phi_t);
    ga_point at = {.t = t, .q = q};
    return call(dae, "constraint_rate", dae->sys.constraint_rate, &at, dae->m, Phi_t);
}

ga_status ga_dae_velocity(ga_dae *dae, double t, const double *q, const double *v,
                          const double *G, double *w)
{
    GA_TRY(ga_dae_rate(dae, t, q, w));
    ga_coords_multiply(&dae->B, G, 1, v, w);
    return ga_dae_nonholonomic(dae, t, q, v, w + dae->m);
}

ga_status ga_dae_acceleration_rhs(ga_dae *dae, double t, const double *q, const double *v,
                                  double *c)
{
    ga_point at = {.t = t, .q = q, .v = v};
    const ga_system *sys = &dae->sys;
    if (dae->m && sys->acceleration_rhs)
        GA_TRY(call(dae, "acceleration_rhs", sys->acceleration_rhs, &at, dae->m, c));
    else if (dae->m)
        GA_TRY(ga_difference_acceleration_rhs(dae, t, q, v, c));
    if (!dae->p) return GA_OK;
    if (!sys->nonholonomic_rhs) return ga_difference_nonholonomic_rhs(dae, t, q, v, c + dae->m);
    return call(dae, "nonholonomic_rhs", sys->nonholonomic_rhs, &at, dae->p, c + dae->m);
}

ga_status ga_dae_stiffness(ga_dae *dae, const ga_point *at, double *K)
{
    if (!dae->sys.stiffness) return ga_difference_stiffness(dae, at, K);
    return call(dae, "stiffness", dae->sys.stiffness, at, dae->K.count, K);
}

ga_status ga_dae_damping(ga_dae *dae, const ga_point *at, double *C)
{
    if (!dae->sys.damping) return ga_difference_damping(dae, at, C);
    return call(dae, "damping", dae->sys.damping, at, dae->C.count, C);
}

static ga_status fill_velocity_stiffness(ga_dae *dae, const ga_point *at, bool holonomic,
                                         double *Z)
{
    const ga_system *sys = &dae->sys;
    double *ZN = Z + dae->ZB.count;
    if (holonomic && dae->m && sys->velocity_stiffness)
        GA_TRY(judge(dae, "velocity_stiffness", sys->velocity_stiffness(sys->user, at, Z)));
    else if (holonomic && dae->m)
        GA_TRY(ga_difference_velocity_stiffness(dae, at, Z));
    if (!dae->p) return GA_OK;
    if (!sys->nonholonomic_stiffness) return ga_difference_nonholonomic_stiffness(dae, at, ZN);
    return judge(dae, "nonholonomic_stiffness", sys->nonholonomic_stiffness(sys->user, at, ZN));
}

ga_status ga_dae_check_velocity_stiffness(ga_dae *dae, bool holonomic, const double *Z)
{
    const int count = dae->ZB.count;
    if (holonomic) GA_TRY(look_at(dae, "velocity_stiffness", count, Z));
    return look_at(dae, "nonholonomic_stiffness", dae->ZN.count, Z + count);
}

static ga_status fill_stiffness_and_damping(ga_dae *dae, const ga_point *at, double *K,
                                            double *C)
{
    const ga_system *sys = &dae->sys;
    if (sys->tangents && sys->stiffness && sys->damping)
        return judge(dae, "tangents", sys->tangents(sys->user, at, K, C));
    if (sys->stiffness)
        GA_TRY(judge(dae, "stiffness", sys->stiffness(sys->user, at, K)));
    else
        GA_TRY(ga_difference_stiffness(dae, at, K));
    return sys->damping ? judge(dae, "damping", sys->damping(sys->user, at, C))
                        : ga_difference_damping(dae, at, C);
}

ga_status ga_dae_fill_tangents(ga_dae *dae, const ga_point *at, bool velocities,
                               const ga_tangents *tangents)
{
    GA_TRY(fill_stiffness_and_damping(dae, at, tangents->K, tangents->C));
    GA_TRY(ga_dae_force_multipliers(dae, at, tangents->L));
    return fill_velocity_stiffness(dae, at, velocities, tangents->Z);
}

ga_status ga_dae_check_tangents(ga_dae *dae, const ga_tangents *tangents)
{
    GA_TRY(look_at(dae, "stiffness", dae->K.count, tangents->K));
    GA_TRY(look_at(dae, "damping", dae->C.count, tangents->C));
    return ga_dae_check_velocity_stiffness(dae, true, tangents->Z);
}

ga_status ga_dae_velocity_stiffness(ga_dae *dae, const ga_point *at, bool holonomic, double *Z)
{
    GA_TRY(fill_velocity_stiffness(dae, at, holonomic, Z));
    return ga_dae_check_velocity_stiffness(dae, holonomic, Z);
}

ga_status ga_dae_force_multipliers(ga_dae *dae, const ga_point *at, double *L)
{
    if (!dae->L.count) return GA_OK;
    if (!dae->sys.force_multipliers) return ga_difference_force_multipliers(dae, at, L);
    return call(dae, "force_multipliers", dae->sys.force_multipliers, at, dae->L.count, L);
}

static ga_wanted list_wanted(const ga_dae *dae, const ga_values *values)
{
    const bool m = dae->m > 0, p = dae->p > 0;
    if (!p && !dae->rheonomic) /* mostly */
        return (ga_wanted){
            .mass = dae->M_known ? NULL : values->M,
            .force = values->f,
            .constraint = m ? values->Phi : NULL,
            .gradient = m ? values->G : NULL,
        };
    return (ga_wanted){
        .mass = dae->M_known ? NULL : values->M,
        .force = values->f,
        .constraint = m ? values->Phi : NULL,
        .gradient = m ? values->G : NULL,
        .rate = dae->rheonomic ? values->w : NULL,
        .nonholonomic = p && values->w ? values->w + dae->m : NULL,
        .nonholonomic_gradient = p && values->G ? values->G + dae->B.count : NULL,
    };
}

/* One after the other; difference quotients for what is left out. */
APART ga_status fill_singly(ga_dae *dae, const ga_point *at, const ga_wanted *wanted)
{
    const ga_system *sys = &dae->sys;
    const ga_point place = {.t = at->t, .q = at->q},
                   motion = {.t = at->t, .q = at->q, .v = at->v};
    void *user = sys->user;
    if (wanted->mass) GA_TRY(judge(dae, "mass", sys->mass(user, &place, wanted->mass)));
    if (wanted->gradient && sys->gradient)
        GA_TRY(judge(dae, "gradient", sys->gradient(user, &place, wanted->gradient)));
    else if (wanted->gradient)
        GA_TRY(ga_difference_gradient(dae, at->t, at->q, wanted->gradient));
    if (wanted->nonholonomic_gradient && sys->nonholonomic_gradient)
        GA_TRY(judge(dae, "nonholonomic_gradient",
                     sys->nonholonomic_gradient(user, &motion, wanted->nonholonomic_gradient)));
    else if (wanted->nonholonomic_gradient)
        GA_TRY(ga_difference_nonholonomic_gradient(dae, at->t, at->q, at->v,
                                                   wanted->nonholonomic_gradient));
    if (wanted->constraint)
        GA_TRY(judge(dae, "constraint", sys->constraint(user, &place, wanted->constraint)));
    if (wanted->rate && sys->constraint_rate)
        GA_TRY(judge(dae, "constraint_rate", sys->constraint_rate(user, &place, wanted->rate)));
    else if (wanted->rate)
        GA_TRY(ga_difference_rate(dae, at->t, at->q, wanted->rate));
    if (wanted->nonholonomic)
        GA_TRY(
            judge(dae, "nonholonomic", sys->nonholonomic(user, &motion, wanted->nonholonomic)));
    return wanted->force ? judge(dae, "force", sys->force(user, at, wanted->force)) : GA_OK;
}

/* What is left to do with a mass matrix that was asked for. */
APART ga_status fill_mass(ga_dae *dae, const double *wanted, double *M)
{
    if (wanted && dae->sys.mass_is_constant) /* the only time it can be looked at */
        GA_TRY(look_at(dae, "mass", dae->M.count, wanted));
    keep_mass(dae, M);
    return GA_OK;
}

ga_status ga_dae_fill(ga_dae *dae, const ga_point *at, const ga_values *values)
{
    const ga_wanted wanted = list_wanted(dae, values);
    if (dae->at_once)
        GA_TRY(judge(dae, "all", dae->sys.all(dae->sys.user, at, &wanted)));
    else
        GA_TRY(fill_singly(dae, at, &wanted));
    if (values->w && !dae->rheonomic) memset(values->w, 0, (size_t)dae->m * sizeof(double));
    return values->M ? fill_mass(dae, wanted.mass, values->M) : GA_OK;
}

ga_status ga_dae_fill_equations(ga_dae *dae, const ga_point *at, const ga_values *values,
                                double *r)
{
    const ga_wanted wanted = list_wanted(dae, values);
    if (values->w && !dae->rheonomic) memset(values->w, 0, (size_t)dae->m * sizeof(double));
    return judge(dae, "equations", dae->sys.equations(dae->sys.user, at, &wanted, r));
}

ga_status ga_dae_fill_sum(ga_dae *dae, const ga_point *at, const ga_values *values, double *r)
{
    const ga_wanted wanted = {.constraint = values->Phi, .gradient = values->G};
    return judge(dae, "equations", dae->sys.equations(dae->sys.user, at, &wanted, r));
}

ga_status ga_dae_check_values(ga_dae *dae, const ga_values *values)
{
    const ga_wanted wanted = list_wanted(dae, values);
    const struct {
        const char *name;
        const double *out;
        int count;
    } parts[] = {{"mass", wanted.mass, dae->M.count},
                 {"gradient", wanted.gradient, dae->B.count},
                 {"nonholonomic_gradient", wanted.nonholonomic_gradient, dae->N.count},
                 {"constraint", wanted.constraint, dae->m},
                 {"constraint_rate", wanted.rate, dae->m},
                 {"nonholonomic", wanted.nonholonomic, dae->p},
                 {"force", wanted.force, dae->nv}};
    for (size_t k = 0; k < sizeof parts / sizeof *parts; ++k)
        if (parts[k].out) GA_TRY(look_at(dae, parts[k].name, parts[k].count, parts[k].out));
    return GA_OK;
}

ga_status ga_dae_evaluate(ga_dae *dae, const ga_point *at, const ga_values *values)
{
    GA_TRY(ga_dae_fill(dae, at, values));
    return ga_dae_check_values(dae, values);
}

ga_status ga_dae_dynamics(ga_dae *dae, const ga_point *at, const double *M, const double *G,
                          double *r)
{
    GA_TRY(ga_dae_force(dae, at, r));
    for (int i = 0; i < dae->nv; ++i) r[i] = -r[i];
    ga_dae_add_inertia(dae, M, at->vd, r);
    if (dae->reactions_added) ga_coords_multiply_transposed(&dae->G, G, 1, at->lambda, r);
    return GA_OK;
}

static void add_elementwise(int n, const double *restrict d, const double *restrict x,
                            double *restrict y)
{
    for (int i = 0; i < n; ++i) y[i] += d[i] * x[i];
}

void ga_dae_add_inertia(const ga_dae *dae, const double *M, const double *x, double *y)
{
    if (dae->M_is_diagonal)
        add_elementwise(dae->nv, dae->M_diagonal, x, y);
    else
        ga_coords_multiply(&dae->M, M, 1, x, y);
}

APART void multiply_less(const ga_dae *dae, const double *M, const double *x, const double *f,
                         double *r)
{
    for (int i = 0; i < dae->nv; ++i) r[i] = -f[i];
    ga_coords_multiply(&dae->M, M, 1, x, r);
}

void ga_dae_inertia_less(const ga_dae *dae, const double *M, const double *x, const double *f,
                         double *r)
{
    if (dae->M_is_diagonal)
        for (int i = 0; i < dae->nv; ++i) r[i] = dae->M_diagonal[i] * x[i] - f[i];
    else
        multiply_less(dae, M, x, f, r);
}
