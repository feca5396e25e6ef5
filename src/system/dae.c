#include "system/dae.h"

#include "base/apart.h"
#include "base/memory.h"
#include "base/report.h"
#include "la/product.h"
#include "lie/group.h"

#include <assert.h>
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

/* --- nodes, in pieces ------------------------------------------------------------------- */

enum { NODES = 1024 }; /* in a piece */

struct ga_dae_piece {
    int q, v, T;
};

typedef struct node_task {
    const ga_dae *dae;
    ga_map map;
    const double *q, *x;
    double *result;
} node_task;

static int piece_length(const ga_dae *dae, int piece)
{
    const int rest = dae->sys.node_count - piece * NODES;
    return rest < NODES ? rest : NODES;
}

static void run_nodes(node_task *t, ga_pool_work *work)
{
    ga_pool_run(t->dae->pool, (t->dae->sys.node_count - 1) / NODES + 1, work, t);
}

/* Nodes from one on; kinds need not be compared where all are alike. */
static void update_nodes(const node_task *t, int first, int count, struct ga_dae_piece at)
{
    const ga_node *nodes = t->dae->sys.nodes + first;
    const double *q = t->q + at.q, *x = t->x + at.v;
    if (t->dae->alike)
        ga_lie_update_all(*nodes, count, t->map, q, x, t->result + at.q);
    else
        ga_nodes_update(count, nodes, t->map, q, x, t->result + at.q);
}

static void update_piece(void *data, int piece)
{
    const node_task *t = data;
    update_nodes(t, piece * NODES, piece_length(t->dae, piece), t->dae->pieces[piece]);
}

static void update_many(const ga_dae *dae, ga_map map, const double *q, const double *x,
                        double *q1)
{
    node_task t = {dae, map, q, x, q1};
    if (dae->pieces)
        run_nodes(&t, update_piece);
    else
        update_nodes(&t, 0, dae->sys.node_count, (struct ga_dae_piece){0});
}

void ga_dae_update(const ga_dae *dae, ga_map map, const double *q, const double *x, double *q1)
{
    if (dae->commutative && map == GA_MAP_EXP) /* q and x are numbered alike, and add up */
        for (int i = 0; i < dae->nm; ++i) q1[i] = q[i] + x[i];
    else if (dae->sys.node_count == 1)
        ga_lie_update_all(dae->sys.nodes[0], 1, map, q, x, q1);
    else
        update_many(dae, map, q, x, q1);
}

void ga_dae_add_cayley_defect(const ga_dae *dae, double scale, const double *v, double *x)
{
    double c[GA_NODE_MAX_NV];
    for (int k = 0; k < dae->sys.node_count; ++k) {
        ga_node node = dae->sys.nodes[k];
        int n = ga_node_nv(node);
        if (!ga_group_is_vector(node)) {
            ga_lie_cayley_defect(node, v, c);
            for (int i = 0; i < n; ++i) x[i] += scale * c[i];
        }
        v += n;
        x += n;
    }
}

/* Where the map treats the first components as a vector space of their own, T is the identity
 * there; the rest is a full block. */
static int flat_components(ga_node node)
{
    switch (node.group) {
    case GA_GROUP_RN:
    case GA_GROUP_STATE:
        return node.n;
    case GA_GROUP_R2SO2:
        return 2;
    case GA_GROUP_R3SO3:
        return 3;
    default:
        return 0;
    }
}

/* The group of the rest. */
static ga_node without_flat(ga_node node)
{
    if (node.group == GA_GROUP_R2SO2) node.group = GA_GROUP_SO2;
    if (node.group == GA_GROUP_R3SO3) node.group = GA_GROUP_SO3;
    return node;
}

static void fill_tangents(int count, const ga_node *nodes, ga_map map, const double *x,
                          double *T)
{
    for (int k = 0; k < count; ++k) {
        const ga_node node = nodes[k];
        const int n = ga_node_nv(node), flat = flat_components(node), rest = n - flat;
        if (flat == 3)
            T[0] = T[1] = T[2] = 1; /* of most nodes */
        else
            for (int i = 0; i < flat; ++i) T[i] = 1;
        if (rest) ga_lie_tangent(without_flat(node), map, x + flat, T + flat);
        T += flat + rest * rest;
        x += n;
    }
}

static void tangent_piece(void *data, int piece)
{
    const node_task *t = data;
    const struct ga_dae_piece at = t->dae->pieces[piece];
    fill_tangents(piece_length(t->dae, piece), t->dae->sys.nodes + piece * NODES, t->map,
                  t->x + at.v, t->result + at.T);
}

void ga_dae_tangent(ga_dae *dae, ga_map map, const double *x, double *T)
{
    if (dae->pieces)
        run_nodes(&(node_task){dae, map, NULL, x, T}, tangent_piece);
    else
        fill_tangents(dae->sys.node_count, dae->sys.nodes, map, x, T);
}

ga_status ga_dae_use(ga_dae *dae, ga_pool *pool)
{
    dae->pool = pool;
    const int count = dae->sys.node_count;
    if (!pool || dae->pieces || count <= NODES) return GA_OK;
    struct ga_dae_piece at = {0};
    dae->pieces = GA_NEW(struct ga_dae_piece, (count - 1) / NODES + 1);
    if (!dae->pieces) return GA_ERR_MEMORY;
    for (int k = 0; k < count; ++k) {
        const ga_node node = dae->sys.nodes[k];
        const int n = ga_node_nv(node), flat = flat_components(node);
        if (k % NODES == 0) dae->pieces[k / NODES] = at;
        at.q += ga_node_nq(node);
        at.v += n;
        at.T += flat + (n - flat) * (n - flat);
    }
    return GA_OK;
}

/* --- creation ------------------------------------------------------------------------- */

/* To be freed with the rest: arrays that may be null. */
static void own(ga_dae *dae, const ga_coords *coords)
{
    int *const arrays[] = {coords->row, coords->col, coords->height, coords->width,
                           coords->start};
    for (size_t k = 0; k < sizeof arrays / sizeof *arrays; ++k) {
        assert(dae->owned_count < GA_DAE_MAX_OWNED);
        dae->owned[dae->owned_count++] = arrays[k];
    }
}

/* A view of what is declared, with starts of its own; or a copy with fewer, larger blocks. */
static ga_status structure(ga_dae *dae, const ga_pattern *pattern, int rows, int cols,
                           ga_coords *coords)
{
    if (!pattern->row) {
        GA_TRY(ga_coords_create(rows, cols, 0, NULL, NULL, coords));
        own(dae, coords);
        return GA_OK;
    }
    *coords = (ga_coords){.rows = rows,
                          .cols = cols,
                          .blocks = pattern->count,
                          .row = (int *)pattern->row,
                          .col = (int *)pattern->col,
                          .height = (int *)pattern->height,
                          .width = (int *)pattern->width};
    bool joined;
    GA_TRY(ga_coords_join(coords, &joined));
    if (joined) {
        own(dae, coords);
        return GA_OK;
    }
    if (pattern->height) {
        if (!(coords->start = GA_NEW_WHOLE(int, pattern->count))) return GA_ERR_MEMORY;
        own(dae, &(ga_coords){.start = coords->start});
    }
    return ga_coords_start(coords);
}

/* Block-diagonal by nodes: single entries for their first `flat` components, and a block for
 * the others. */
static ga_status node_structure(const ga_dae *dae, int (*flat_of)(ga_node node),
                                ga_coords *result)
{
    int blocks = 0;
    for (int k = 0; k < dae->sys.node_count; ++k) {
        const ga_node node = dae->sys.nodes[k];
        const int flat = flat_of(node);
        blocks += flat + (ga_node_nv(node) > flat);
    }
    GA_TRY(ga_coords_reserve(dae->nv, dae->nv, blocks, result));
    int b = 0, offset = 0;
    for (int k = 0; k < dae->sys.node_count; ++k) {
        const int n = ga_node_nv(dae->sys.nodes[k]), flat = flat_of(dae->sys.nodes[k]);
        for (int i = 0; i < flat + (n > flat); ++i, ++b) {
            result->row[b] = result->col[b] = offset + i;
            result->height[b] = result->width[b] = i < flat ? 1 : n - flat;
        }
        offset += n;
    }
    return ga_coords_start(result);
}

static int vector_components(ga_node node) { return ga_group_is_vector(node) ? node.n : 0; }

/* The structure of D_q (B v), where none is declared: a row that depends on one velocity
 * component of a node may depend on all its configuration, so the structure of B is filled up
 * by nodes. */
static ga_status filled_up(ga_dae *dae, const ga_coords *of, ga_coords *result)
{
    ga_product product = {0};
    ga_coords nodes;
    GA_TRY(node_structure(dae, vector_components, &nodes));
    ga_status status = ga_product_create(of, &nodes, &product);
    if (status == GA_OK) {
        *result = product.result;
        product.result = (ga_coords){0};
        own(dae, result);
    }
    ga_product_destroy(&product);
    ga_coords_destroy(&nodes);
    return status;
}

/* Two matrices, one below the other: first->rows + second->rows rows. The first becomes a view
 * of both, the second keeps its rows. */
static ga_status stack(ga_dae *dae, ga_coords *first, const ga_coords *second, ga_coords *both)
{
    const int rows = first->rows;
    *both = *first;
    both->rows += second->rows;
    if (!second->count) return GA_OK;
    GA_TRY(ga_coords_reserve(rows + second->rows, first->cols, first->blocks + second->blocks,
                             both));
    own(dae, both);
    for (int b = 0; b < both->blocks; ++b) {
        const bool upper = b < first->blocks;
        const ga_matrix_block box =
            upper ? ga_coords_box(first, b) : ga_coords_box(second, b - first->blocks);
        both->row[b] = box.row + (upper ? 0 : rows);
        both->col[b] = box.col;
        both->height[b] = box.rows;
        both->width[b] = box.cols;
    }
    GA_TRY(ga_coords_start(both));
    const int blocks = first->blocks, count = first->count;
    *first = *both;
    first->rows = rows;
    first->blocks = blocks;
    first->count = count;
    return GA_OK;
}

static ga_status create_parts(ga_dae *dae)
{
    const ga_system *sys = &dae->sys;
    const ga_pattern *given = &sys->velocity_stiffness_pattern;
    bool declared = given->row || sys->velocity_stiffness;
    GA_TRY(structure(dae, &sys->gradient_pattern, dae->m, dae->nv, &dae->B));
    GA_TRY(structure(dae, &sys->nonholonomic_gradient_pattern, dae->p, dae->nv, &dae->N));
    GA_TRY(declared ? structure(dae, given, dae->m, dae->nv, &dae->ZB)
                    : filled_up(dae, &dae->B, &dae->ZB));
    GA_TRY(structure(dae, &sys->nonholonomic_stiffness_pattern, dae->p, dae->nv, &dae->ZN));
    GA_TRY(stack(dae, &dae->B, &dae->N, &dae->G));
    return stack(dae, &dae->ZB, &dae->ZN, &dae->Z);
}

static ga_status color(const ga_coords *coords, ga_coloring *coloring)
{
    if (coords->count == 0) return GA_OK; /* no colours */
    return ga_coloring_create(coords, coloring);
}

static ga_status create_colors(ga_dae *dae)
{
    const ga_system *sys = &dae->sys;
    if (!sys->gradient) GA_TRY(color(&dae->B, &dae->color_B));
    if (!sys->nonholonomic_gradient) GA_TRY(color(&dae->N, &dae->color_N));
    if (!sys->stiffness) GA_TRY(color(&dae->K, &dae->color_K));
    if (!sys->damping) GA_TRY(color(&dae->C, &dae->color_C));
    if (!sys->velocity_stiffness) GA_TRY(color(&dae->ZB, &dae->color_ZB));
    if (!sys->nonholonomic_stiffness) GA_TRY(color(&dae->ZN, &dae->color_ZN));
    if (!sys->force_multipliers) GA_TRY(color(&dae->L, &dae->color_L));
    return GA_OK;
}

/* Rotations are the last one or three velocity components of a node that has any. */
static ga_status create_kinds(ga_dae *dae)
{
    dae->kind = GA_NEW(int, dae->nv);
    if (!dae->kind) return GA_ERR_MEMORY;
    static const int rotations[] = {
        [GA_GROUP_RN] = 0,  [GA_GROUP_SO2] = 1,   [GA_GROUP_R2SO2] = 1, [GA_GROUP_SE2] = 1,
        [GA_GROUP_SO3] = 3, [GA_GROUP_R3SO3] = 3, [GA_GROUP_SE3] = 3,   [GA_GROUP_STATE] = 0};
    for (int k = 0, at = 0; k < dae->sys.node_count; ++k) {
        const ga_node node = dae->sys.nodes[k];
        const int n = ga_node_nv(node), turns = rotations[node.group];
        for (int i = 0; i < n; ++i) dae->kind[at++] = i >= n - turns;
    }
    return GA_OK;
}

static ga_status create(ga_dae *dae)
{
    const ga_system *sys = &dae->sys;
    GA_TRY(create_kinds(dae));
    GA_TRY(node_structure(dae, flat_components, &dae->T));
    own(dae, &dae->T);
    GA_TRY(structure(dae, &sys->mass_pattern, dae->nv, dae->nv, &dae->M));
    GA_TRY(structure(dae, &sys->stiffness_pattern, dae->nv, dae->nv, &dae->K));
    GA_TRY(structure(dae, &sys->damping_pattern, dae->nv, dae->nv, &dae->C));
    dae->L = (ga_coords){.rows = dae->nv, .cols = dae->mp};
    if (sys->force_uses_multipliers)
        GA_TRY(structure(dae, &sys->force_multipliers_pattern, dae->nv, dae->mp, &dae->L));
    GA_TRY(create_parts(dae));
    GA_TRY(create_colors(dae));
    GA_TRY(ga_dae_create_states(dae));

    int rows = dae->nv > dae->mp ? dae->nv : dae->mp;
    bool memory =
        (dae->M_constant = GA_NEW(double, dae->M.count)) &&
        (dae->M_diagonal = GA_NEW(double, dae->nv)) &&
        (dae->direction = GA_NEW(double, dae->nv)) && (dae->q_plus = GA_NEW(double, dae->nq)) &&
        (dae->q_minus = GA_NEW(double, dae->nq)) && (dae->q_side = GA_NEW(double, dae->nq)) &&
        (dae->r_plus = GA_NEW(double, dae->nv)) && (dae->r_minus = GA_NEW(double, dae->nv)) &&
        (dae->v_work = GA_NEW(double, dae->nv)) && (dae->v_side = GA_NEW(double, dae->nv)) &&
        (dae->lambda_work = GA_NEW(double, dae->mp)) &&
        (dae->rate_work = GA_NEW(double, dae->m)) && (dae->plus = GA_NEW(double, rows)) &&
        (dae->minus = GA_NEW(double, rows)) && (dae->M_work = GA_NEW(double, dae->M.count)) &&
        (dae->G_work = GA_NEW(double, dae->G.count));
    return memory ? GA_OK : GA_ERR_MEMORY;
}

ga_status ga_dae_create(const ga_system *system, ga_dae *dae)
{
    memset(dae, 0, sizeof *dae);
    dae->sys = *system;
    dae->nq = ga_system_nq(system);
    dae->nv = ga_system_nv(system);
    dae->m = system->constraint_count;
    dae->p = system->nonholonomic_count;
    dae->mp = dae->m + dae->p;
    dae->rheonomic = system->constraint_uses_time || system->constraint_rate;
    dae->reactions_added = dae->mp > 0 && system->reactions == GA_REACTIONS_ADDED;
    bool differences =
        (dae->m && !system->gradient) || (dae->p && !system->nonholonomic_gradient);
    bool rate = dae->rheonomic && !system->constraint_rate;
    dae->noise = differences || rate ? 1e-10 : 0; /* eps^(2/3), with some margin */
    dae->at_once = system->all && !differences && !rate;
    dae->summed = system->equations && dae->at_once && (dae->reactions_added || dae->mp == 0) &&
                  !system->force_uses_multipliers;
    dae->commutative = true;
    dae->alike = system->node_count > 0;
    for (int k = 0; k < system->node_count; ++k) {
        ga_group group = system->nodes[k].group;
        if (group != system->nodes[0].group || system->nodes[k].n != system->nodes[0].n)
            dae->alike = false;
        if (group == GA_GROUP_STATE) dae->nx += system->nodes[k].n;
        if (!ga_group_is_vector(system->nodes[k]) && group != GA_GROUP_SO2 &&
            group != GA_GROUP_R2SO2)
            dae->commutative = false;
    }
    dae->nm = dae->nv - dae->nx;
    ga_status status = create(dae);
    if (status != GA_OK) ga_dae_destroy(dae);
    return status;
}

void ga_dae_destroy(ga_dae *dae)
{
    for (int k = 0; k < dae->owned_count; ++k) ga_free(dae->owned[k]);
    ga_coords *divided[] = {&dae->M, &dae->G}; /* B shares those of G */
    for (size_t k = 0; k < sizeof divided / sizeof *divided; ++k) {
        ga_buckets_destroy(&divided[k]->by_row);
        ga_buckets_destroy(&divided[k]->by_col);
    }
    ga_coloring *colors[] = {&dae->color_B,  &dae->color_N,  &dae->color_K, &dae->color_C,
                             &dae->color_ZB, &dae->color_ZN, &dae->color_L};
    for (size_t k = 0; k < sizeof colors / sizeof *colors; ++k) ga_coloring_destroy(colors[k]);
    void *memory[] = {dae->M_constant, dae->direction, dae->q_plus,    dae->q_minus,
                      dae->q_side,     dae->v_work,    dae->v_side,    dae->lambda_work,
                      dae->plus,       dae->minus,     dae->r_plus,    dae->r_minus,
                      dae->M_work,     dae->G_work,    dae->rate_work, dae->M_diagonal,
                      dae->pieces,     dae->kind};
    for (size_t k = 0; k < sizeof memory / sizeof *memory; ++k) ga_free(memory[k]);
    ga_dae_destroy_states(dae);
    memset(dae, 0, sizeof *dae);
}

ga_status ga_dae_normalise(const ga_dae *dae, double *q, ga_report *report)
{
    for (int k = 0; k < dae->sys.node_count; ++k) {
        ga_node node = dae->sys.nodes[k];
        q += ga_node_nq(node);
        if (node.group != GA_GROUP_SO3 && node.group != GA_GROUP_R3SO3 &&
            node.group != GA_GROUP_SE3)
            continue;
        double *p = q - 4;
        double length = sqrt(p[0] * p[0] + p[1] * p[1] + p[2] * p[2] + p[3] * p[3]);
        if (!(length > 1e-6 && length < 1e6))
            return ga_fail(report, GA_ERR_ARGUMENT,
                           "the quaternion of node %d has length %g: expected 1", k, length);
        if (fabs(length - 1) > 1e-15)
            for (int i = 0; i < 4; ++i) p[i] /= length;
    }
    return GA_OK;
}
