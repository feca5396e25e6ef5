#include "cli/failure.h"

#include "cli/text.h"

#include <stdbool.h>
#include <string.h>

/* Names may be missing. */
static bool is_text(const char *text) { return text && *text; }

static const char *worst_element(const cli_failure *f)
{
    return f->report->row >= 0 ? ga_sim_row_element(f->sim, f->report->row) : NULL;
}

static const char *worst_row(const cli_failure *f)
{
    return f->report->row >= 0 ? ga_sim_row_name(f->sim, f->report->row) : NULL;
}

static const char *worst_body(const cli_failure *f)
{
    return f->report->column >= 0 ? ga_sim_coordinate_body(f->sim, f->report->column) : NULL;
}

/* --- what to try -------------------------------------------------------------------------- */

typedef enum situation {
    ALWAYS,
    FIXED_STEP, /* no error control */
    CONTROLLED, /* error control */
    NOT_INDEX2, /* another formulation */
    EVENTS,     /* something sticks, slips, or hits a stop */
} situation;

/* Advice for a failure about which the library has no remedy of its own. */
static const struct {
    ga_status status;
    situation when;
    const char *text;
} advice[] = {
    {GA_ERR_NO_CONVERGE, FIXED_STEP,
     "a smaller step, or error control: --set simulate.step=null --set "
     "simulate.tolerance=1e-6"},
    {GA_ERR_NO_CONVERGE, CONTROLLED, "a smaller simulate.max_step or simulate.tolerance"},
    {GA_ERR_NO_CONVERGE, NOT_INDEX2, "--set simulate.formulation=index2"},
    {GA_ERR_NO_CONVERGE, EVENTS,
     "a larger `transition` of friction, or more damping in a buffer"},
    {GA_ERR_STEP_SIZE, ALWAYS,
     "check the forces near that time for a jump, a singularity or a very stiff spring"},
    {GA_ERR_STEP_SIZE, ALWAYS, "a larger simulate.tolerance"},
    {GA_ERR_STEP_SIZE, EVENTS, "a larger `transition` of friction"},
    {GA_ERR_STEP_SIZE, NOT_INDEX2, "--set simulate.formulation=index2"},
    {GA_ERR_SINGULAR, ALWAYS,
     "check for a body without inertia in an unconstrained direction, or a locked mechanism"},
    {GA_ERR_SINGULAR, NOT_INDEX2, "--set simulate.formulation=index2"},
    {GA_ERR_INCONSISTENT, ALWAYS,
     "check the initial positions, rotations and velocities, and whether the joints can be "
     "closed at all"},
    {GA_ERR_NOT_FINITE, ALWAYS,
     "look for an expression or force law that divides by zero or leaves its domain near that "
     "state"},
    {GA_ERR_EVENTS, ALWAYS,
     "a smaller `restitution` of the stop that is hit ever faster, or `model: buffer` with "
     "damping"},
};

static bool applies(situation when, const cli_failure *f)
{
    const bool controlled = f->def->control.relative > 0;
    switch (when) {
    case FIXED_STEP:
        return !controlled;
    case CONTROLLED:
        return controlled;
    case NOT_INDEX2:
        return f->def->integrator.formulation != GA_INDEX2;
    case EVENTS:
        return ga_sim_event_count(f->sim) > 0;
    default:
        return true;
    }
}

/* The k-th piece of advice for the failure; null past the last. */
static const char *next_advice(const cli_failure *f, size_t *k)
{
    if (f->report->remedy) return (*k)++ == 0 ? f->report->remedy : NULL;
    while (*k < sizeof advice / sizeof *advice) {
        const size_t n = (*k)++;
        if (advice[n].status == f->report->status && applies(advice[n].when, f))
            return advice[n].text;
    }
    return NULL;
}

/* --- output ------------------------------------------------------------------------------- */

static bool has_norms(const ga_report *r)
{
    return r->norm_q > 0 || r->norm_v > 0 || r->norm_lambda > 0;
}

/* Initial values could not be found, so that `check` would fail as well. */
static bool could_not_start(const cli_failure *f)
{
    const ga_report *r = f->report;
    return r->status == GA_ERR_INCONSISTENT && r->step == 0 && r->time <= f->def->t_start;
}

void cli_failure_print(const cli_failure *f)
{
    const ga_report *r = f->report;
    cli_error("%s: %s", f->path, is_text(r->message) ? r->message : ga_status_text(r->status));
    if (r->step > 0)
        cli_error("  at t = %.9g s, step %.3g s, %d Newton iterations", r->time, r->step,
                  r->iteration);
    if (is_text(worst_element(f)))
        cli_error("  worst constraint: %s%s%s", worst_element(f),
                  is_text(worst_row(f)) ? ", " : "", is_text(worst_row(f)) ? worst_row(f) : "");
    if (is_text(worst_body(f))) cli_error("  worst body: %s", worst_body(f));
    if (has_norms(r))
        cli_error("  last Newton increments, in units of their tolerances: positions %.3g, "
                  "velocities %.3g, multipliers %.3g",
                  r->norm_q, r->norm_v, r->norm_lambda);
    const char *text;
    for (size_t k = 0; (text = next_advice(f, &k));) cli_error("  try: %s", text);
    if (f->examined && !f->checked) return;
    if (could_not_start(f))
        cli_error("  galpha view %s shows the model at the start, with open joints in red",
                  f->path);
    else if (!f->checked && !r->remedy &&
             (r->status == GA_ERR_NO_CONVERGE || r->status == GA_ERR_SINGULAR))
        cli_error("  galpha check %s shows redundant constraints and wrong Jacobians", f->path);
}

void cli_failure_json(cli_json *json, const cli_failure *f)
{
    const ga_report *r = f->report;
    cli_json_object(json, "failure");
    cli_json_text(json, "code", ga_status_name(r->status));
    cli_json_number(json, "time", r->time);
    cli_json_number(json, "step", r->step);
    cli_json_integer(json, "iteration", r->iteration);
    cli_json_text(json, "element", is_text(worst_element(f)) ? worst_element(f) : NULL);
    cli_json_text(json, "row", is_text(worst_row(f)) ? worst_row(f) : NULL);
    cli_json_text(json, "body", is_text(worst_body(f)) ? worst_body(f) : NULL);
    cli_json_object(json, "norms");
    cli_json_number(json, "positions", r->norm_q);
    cli_json_number(json, "velocities", r->norm_v);
    cli_json_number(json, "multipliers", r->norm_lambda);
    cli_json_end_object(json);
    cli_json_list(json, "try");
    const char *text;
    for (size_t k = 0; (text = next_advice(f, &k));) cli_json_text(json, NULL, text);
    cli_json_end_list(json);
    cli_json_end_object(json);
}
