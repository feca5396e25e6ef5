/* A DAE from what the user gives: structures of its matrices, colours for difference quotients,
 * workspace. */
#include "base/arrays.h"
#include "base/memory.h"
#include "base/report.h"
#include "la/product.h"
#include "lie/group.h"
#include "system/dae.h"

#include <assert.h>
#include <string.h>

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

/* Is there a derivative that the user leaves out? */
static bool needs_quotients(const ga_dae *dae)
{
    const ga_system *sys = &dae->sys;
    const bool rate = !dae->rheonomic || sys->constraint_rate;
    const bool holonomic =
        sys->gradient && rate && sys->acceleration_rhs && sys->velocity_stiffness;
    const bool nonholonomic =
        sys->nonholonomic_gradient && sys->nonholonomic_rhs && sys->nonholonomic_stiffness;
    return !sys->stiffness || !sys->damping || (dae->m && !holonomic) ||
           (dae->p && !nonholonomic) || (dae->L.count && !sys->force_multipliers);
}

static bool for_arrays(ga_dae *dae, ga_arrays_do *act)
{
    const int rows = dae->nv > dae->mp ? dae->nv : dae->mp;
    const int some = needs_quotients(dae);
    const ga_arrays list[] = {
        {dae->nv, {&dae->M_diagonal}},
        {dae->M.count, {&dae->M_constant}},
        {some || dae->nx ? dae->M.count : 0, {&dae->M_work}},
        {some * dae->nv, {&dae->direction, &dae->v_work, &dae->v_side}},
        {some * dae->nv, {&dae->r_plus, &dae->r_minus}},
        {some * dae->nq, {&dae->q_plus, &dae->q_minus, &dae->q_side}},
        {some * dae->mp, {&dae->lambda_work}},
        {some * dae->m, {&dae->rate_work}},
        {some * rows, {&dae->plus, &dae->minus}},
        {some * dae->G.count, {&dae->G_work}},
    };
    return act(sizeof list / sizeof *list, list);
}

static ga_status create(ga_dae *dae)
{
    const ga_system *sys = &dae->sys;
    GA_TRY(create_kinds(dae));
    GA_TRY(node_structure(dae, ga_dae_flat_components, &dae->T));
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

    return for_arrays(dae, ga_arrays_create) ? GA_OK : GA_ERR_MEMORY;
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
    ga_coords *divided[] = {&dae->M, &dae->G, &dae->K, &dae->C}; /* B shares those of G */
    for (size_t k = 0; k < sizeof divided / sizeof *divided; ++k) {
        ga_buckets_destroy(&divided[k]->by_row);
        ga_buckets_destroy(&divided[k]->by_col);
    }
    ga_coloring *colors[] = {&dae->color_B,  &dae->color_N,  &dae->color_K, &dae->color_C,
                             &dae->color_ZB, &dae->color_ZN, &dae->color_L};
    for (size_t k = 0; k < sizeof colors / sizeof *colors; ++k) ga_coloring_destroy(colors[k]);
    for_arrays(dae, ga_arrays_destroy);
    ga_free(dae->pieces);
    ga_free(dae->kind);
    ga_dae_destroy_states(dae);
    memset(dae, 0, sizeof *dae);
}
