/* A system definition is checked once, before anything is built from it. */
#include "base/report.h"
#include "base/struct_size.h"

#include <galpha/system.h>
#include <limits.h>
#include <math.h>

int ga_system_nq(const ga_system *system)
{
    return ga_nodes_nq(system->node_count, system->nodes);
}

int ga_system_nv(const ga_system *system)
{
    return ga_nodes_nv(system->node_count, system->nodes);
}

int ga_pattern_size(const ga_pattern *pattern, int rows, int cols)
{
    if (!pattern->row) return rows * cols;
    if (!pattern->height) return pattern->count;
    int size = 0;
    for (int k = 0; k < pattern->count; ++k) size += pattern->height[k] * pattern->width[k];
    return size;
}

/* Sizes stay below this so that sums and products with small factors fit an int. */
static const int size_limit = INT_MAX / 16;

static ga_status check_states(const ga_system *sys, int count, ga_report *report)
{
    if (sys->state_sizes && count == 0)
        return ga_fail(report, GA_ERR_SYSTEM,
                       "state_sizes is given, but no node is of GA_GROUP_STATE");
    for (int i = 0; sys->state_sizes && i < count; ++i)
        if (!(sys->state_sizes[i] > 0 && isfinite(sys->state_sizes[i])))
            return ga_fail(report, GA_ERR_SYSTEM,
                           "state_sizes[%d] is %g: a typical size is positive", i,
                           sys->state_sizes[i]);
    return GA_OK;
}

static ga_status check_nodes(const ga_system *sys, ga_report *report)
{
    if (sys->node_count < 1 || !sys->nodes)
        return ga_fail(report, GA_ERR_SYSTEM, "a system needs at least one node");
    if (sys->node_count > size_limit)
        return ga_fail(report, GA_ERR_SYSTEM, "node_count %d is too large", sys->node_count);
    long long total = 0, states = 0;
    for (int k = 0; k < sys->node_count; ++k) {
        ga_node node = sys->nodes[k];
        GA_TRY(ga_check_own_size("ga_node", node.struct_size, sizeof node, report));
        const int nq = ga_node_nq(node), nv = ga_node_nv(node);
        if (nv < 1)
            return ga_fail(report, GA_ERR_SYSTEM,
                           "node %d (group %d, n = %d) is not a valid node: unknown group, or "
                           "n < 1 in R^n or of states",
                           k, (int)node.group, node.n);
        if (node.group == GA_GROUP_STATE)
            states += nv;
        else if (states > 0)
            return ga_fail(report, GA_ERR_SYSTEM,
                           "node %d follows a node of GA_GROUP_STATE: these come last", k);
        total += nq > nv ? nq : nv;
    }
    if (total > size_limit)
        return ga_fail(report, GA_ERR_SYSTEM, "%lld coordinates are too many", total);
    return check_states(sys, (int)states, report);
}

/* Block or entry k lies in the matrix. */
static ga_status check_block(const char *name, const ga_pattern *pattern, int k, int rows,
                             int cols, ga_report *report)
{
    const int i = pattern->row[k], j = pattern->col[k];
    const int height = pattern->height ? pattern->height[k] : 1;
    const int width = pattern->height ? pattern->width[k] : 1;
    if (height >= 1 && width >= 1 && i >= 0 && j >= 0 && i < rows && j < cols &&
        height <= rows - i && width <= cols - j)
        return GA_OK;
    if (!pattern->height)
        ga_fail(report, GA_ERR_SYSTEM,
                "%s_pattern entry %d is (%d, %d), outside the %d x %d matrix", name, k, i, j,
                rows, cols);
    else if (height < 1 || width < 1)
        ga_fail(report, GA_ERR_SYSTEM,
                "%s_pattern block %d is %d x %d: a block has at least one row and column", name,
                k, height, width);
    else
        ga_fail(report, GA_ERR_SYSTEM,
                "%s_pattern block %d is %d x %d from (%d, %d) on, outside the %d x %d matrix",
                name, k, height, width, i, j, rows, cols);
    if (report) {
        report->row = i;
        report->column = j;
    }
    return GA_ERR_SYSTEM;
}

static ga_status check_pattern(const char *name, const ga_pattern *pattern, int rows, int cols,
                               ga_report *report)
{
    if (!pattern->row != !pattern->col)
        return ga_fail(report, GA_ERR_SYSTEM, "%s_pattern has only one of row and col", name);
    if (!pattern->height != !pattern->width)
        return ga_fail(report, GA_ERR_SYSTEM,
                       "%s_pattern has only one of height and width: blocks need both, entries "
                       "neither",
                       name);
    if (pattern->height && !pattern->row)
        return ga_fail(report, GA_ERR_SYSTEM,
                       "%s_pattern has sizes of blocks, but neither row nor col", name);
    if (!pattern->row && pattern->count != 0)
        return ga_fail(report, GA_ERR_SYSTEM, "%s_pattern counts %d entries but has no arrays",
                       name, pattern->count);
    if (pattern->count < 0 || pattern->count > size_limit)
        return ga_fail(report, GA_ERR_SYSTEM, "%s_pattern has an impossible count %d", name,
                       pattern->count);
    if (!pattern->row && (long long)rows * cols > size_limit)
        return ga_fail(
            report, GA_ERR_SYSTEM,
            "%s is a full %d x %d matrix: declare %s_pattern for a system this large", name,
            rows, cols, name);
    long long numbers = 0;
    for (int k = 0; k < pattern->count; ++k) {
        GA_TRY(check_block(name, pattern, k, rows, cols, report));
        numbers += pattern->height ? (long long)pattern->height[k] * pattern->width[k] : 1;
        if (numbers > size_limit)
            return ga_fail(report, GA_ERR_SYSTEM,
                           "the blocks of %s_pattern have too many entries", name);
    }
    return GA_OK;
}

static ga_status check_count(const char *name, int count, ga_report *report)
{
    if (count >= 0 && count <= size_limit) return GA_OK;
    return ga_fail(report, GA_ERR_SYSTEM, "%s %d is impossible", name, count);
}

static ga_status check_nonholonomic(const ga_system *sys, ga_report *report)
{
    GA_TRY(check_count("nonholonomic_count", sys->nonholonomic_count, report));
    if (sys->nonholonomic_count > 0 && !sys->nonholonomic)
        return ga_fail(report, GA_ERR_SYSTEM,
                       "the callback nonholonomic is missing, with nonholonomic_count %d",
                       sys->nonholonomic_count);
    bool any = sys->nonholonomic || sys->nonholonomic_gradient || sys->nonholonomic_rhs ||
               sys->nonholonomic_stiffness;
    if (sys->nonholonomic_count == 0 && any)
        return ga_fail(report, GA_ERR_SYSTEM,
                       "nonholonomic constraints are described, but nonholonomic_count is 0");
    return GA_OK;
}

static ga_status check_multipliers(const ga_system *sys, ga_report *report)
{
    if (sys->reactions != GA_REACTIONS_ADDED && sys->reactions != GA_REACTIONS_IN_FORCE)
        return ga_fail(report, GA_ERR_SYSTEM, "reactions has the unknown value %d",
                       (int)sys->reactions);
    if (sys->constraint_count + sys->nonholonomic_count == 0 && sys->force_uses_multipliers)
        return ga_fail(report, GA_ERR_SYSTEM,
                       "force_uses_multipliers is set, but there are no constraints");
    if (sys->force_multipliers && !sys->force_uses_multipliers)
        return ga_fail(report, GA_ERR_SYSTEM,
                       "force_multipliers is given, but force_uses_multipliers is not set");
    if (sys->reactions == GA_REACTIONS_IN_FORCE && !sys->force_uses_multipliers)
        return ga_fail(report, GA_ERR_SYSTEM,
                       "reactions are in force, but force_uses_multipliers is not set");
    return GA_OK;
}

static ga_status check_callbacks(const ga_system *sys, ga_report *report)
{
    if (!sys->mass) return ga_fail(report, GA_ERR_SYSTEM, "the callback mass is missing");
    if (!sys->force) return ga_fail(report, GA_ERR_SYSTEM, "the callback force is missing");
    GA_TRY(check_count("constraint_count", sys->constraint_count, report));
    if (sys->constraint_count > 0 && !sys->constraint)
        return ga_fail(report, GA_ERR_SYSTEM,
                       "the callback constraint is missing, with constraint_count %d",
                       sys->constraint_count);
    bool any = sys->constraint || sys->gradient || sys->constraint_rate ||
               sys->acceleration_rhs || sys->velocity_stiffness || sys->constraint_uses_time;
    if (sys->constraint_count == 0 && any)
        return ga_fail(report, GA_ERR_SYSTEM,
                       "constraints are described, but constraint_count is 0");
    GA_TRY(check_nonholonomic(sys, report));
    return check_multipliers(sys, report);
}

ga_status ga_system_validate(const ga_system *system, ga_report *report)
{
    if (!system) return ga_fail(report, GA_ERR_ARGUMENT, "system is null");
    GA_TRY(ga_check_own_size("ga_system", system->struct_size, sizeof *system, report));
    GA_TRY(check_nodes(system, report));
    GA_TRY(check_callbacks(system, report));
    int n = ga_system_nv(system), m = system->constraint_count, p = system->nonholonomic_count;
    GA_TRY(check_pattern("mass", &system->mass_pattern, n, n, report));
    GA_TRY(check_pattern("stiffness", &system->stiffness_pattern, n, n, report));
    GA_TRY(check_pattern("damping", &system->damping_pattern, n, n, report));
    GA_TRY(check_pattern("gradient", &system->gradient_pattern, m, n, report));
    GA_TRY(check_pattern("nonholonomic_gradient", &system->nonholonomic_gradient_pattern, p, n,
                         report));
    const ga_pattern *Z = &system->velocity_stiffness_pattern;
    bool derived = !system->velocity_stiffness && !Z->row && !Z->col && Z->count == 0;
    if (!derived) GA_TRY(check_pattern("velocity_stiffness", Z, m, n, report));
    GA_TRY(check_pattern("nonholonomic_stiffness", &system->nonholonomic_stiffness_pattern, p,
                         n, report));
    if (system->force_uses_multipliers)
        GA_TRY(check_pattern("force_multipliers", &system->force_multipliers_pattern, n, m + p,
                             report));
    return ga_fail(report, GA_OK, "%s", "");
}
