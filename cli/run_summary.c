/* What a run says when it is over. */
#define _POSIX_C_SOURCE 200809L

#include "cli/failure.h"
#include "cli/json.h"
#include "cli/run.h"
#include "cli/text.h"
#include "cli/warnings.h"

#include <math.h>
#include <stdlib.h>
#include <unistd.h>

const char *cli_run_outcome(const cli_run_state *r)
{
    if (r->write_status != GA_OK || r->status != GA_OK) return "failed";
    return r->caught ? "interrupted" : "done";
}

long cli_steps_accepted(const ga_sim_summary *s)
{
    return s->control.accepted ? s->control.accepted : s->statistics.steps;
}

long cli_steps_rejected(const ga_sim_summary *s)
{
    return s->control.rejected + s->statistics.halvings;
}

const char *cli_run_written(const cli_run_state *r, int k)
{
    if (!r->file[k].path || r->rows == 0) return NULL;
    if (r->file[k].complete || !r->file[k].part) return r->file[k].path;
    return access(r->file[k].part, F_OK) == 0 ? r->file[k].part : NULL; /* someone removed it */
}

static double total(const ga_energy *e) { return e->kinetic + e->potential; }

bool cli_run_is_wanted(const cli_run_state *r, int k)
{
    return cli_run_written(r, k) && !(k == CLI_HDF5 && r->only_for_page);
}

static bool has_page(const cli_run_state *r)
{
    return r->page && r->rows && r->page_code == EXIT_DONE;
}

static void print_files(const cli_run_state *r)
{
    for (int k = 0; k < CLI_FILES; ++k) {
        if (!cli_run_is_wanted(r, k)) continue;
        char rows[80] = ""; /* of a write that failed, how many are in the file is not known */
        if (r->write_status == GA_OK)
            snprintf(rows, sizeof rows, ", %ld rows", r->rows - r->file[k].lacks);
        if (rows[0] && r->file[k].begin > r->def.t_start)
            snprintf(rows + strlen(rows), sizeof rows - strlen(rows), ", from t = %.9g s on",
                     r->file[k].begin);
        const bool replaces = k == CLI_HDF5 && r->replaces && r->file[k].complete;
        fprintf(r->out, "  results      %s%s%s\n",
                cli_is_stdout(cli_run_written(r, k)) ? "standard output"
                                                     : cli_run_written(r, k),
                rows, replaces ? "; replaces an earlier result of this name" : "");
    }
    if (has_page(r)) fprintf(r->out, "  page         %s\n", r->page);
}

/* Work that was put in and taken out again leaves the round-off of its sum, and a small part of
 * the error of the balance. */
static const double SUM_ROUND_OFF = 1e-12, SMALL_PART = 1e-9;

static double shown(double energy, const ga_sim_summary *s)
{
    const double error = fmin(s->energy_drift_max, SMALL_PART * s->energy_scale);
    const double least =
        fmax(fmax(s->energy_round_off, SUM_ROUND_OFF * s->energy_scale), error);
    return fabs(energy) <= least ? 0 : energy;
}

/* "auto: 30 steps of explicit, 210 of radau; the motion is stiff" */
static void print_methods(FILE *out, ga_method asked, const ga_method_use *use)
{
    const char *separator = ": ";
    if (asked != GA_METHOD_AUTO) return;
    fprintf(out, "\n  method       %s", cli_method_name(asked));
    for (int k = 0; k < GA_METHOD_COUNT; ++k) {
        if (use->steps[k] == 0) continue;
        fprintf(out, "%s%ld steps of %s", separator, use->steps[k],
                cli_method_name((ga_method)k));
        separator = ", ";
    }
    fprintf(out, "; %s", use->reason);
}

/* Otherwise the residual that is known is that of nonholonomic constraints alone. */
static bool imposes_velocities(const cli_run_state *r)
{
    const ga_integrator_def *def = &r->def.integrator;
    return def->method != GA_METHOD_GENERALIZED_ALPHA ||
           (def->formulation != GA_INDEX3 && def->formulation != GA_HHT_I3);
}

void cli_run_print_summary(const cli_run_state *r)
{
    const ga_sim_summary s = ga_sim_get_summary(r->sim);
    const ga_energy *e = &s.final;
    FILE *out = r->out;
    char line[256];
    snprintf(line, sizeof line, ": %s, t = %g ... %.9g s, computed in %.3g s%s",
             cli_run_outcome(r), r->def.t_start, s.t, r->wall,
             r->state ? " since resumed" : "");
    cli_print_text(out, cli_input_name(&r->input));
    fprintf(out, "%s\n", line);
    if (r->rows == 0) return; /* it did not start: there are no numbers */
    fprintf(out, "  steps        %ld, %ld rejected", cli_steps_accepted(&s),
            cli_steps_rejected(&s));
    if (s.control.third_order) fprintf(out, ", %ld of third order", s.control.third_order);
    if (s.control.step_max > 0)
        fprintf(out, ", size %.3g ... %.3g s", s.control.step_min, s.control.step_max);
    if (s.control.events)
        fprintf(out, ", %ld event%s", s.control.events, s.control.events == 1 ? "" : "s");
    print_methods(out, r->def.integrator.method, &s.methods);
    if (s.statistics.iterations)
        fprintf(out, "\n  Newton       %ld iterations, ", s.statistics.iterations);
    else
        fprintf(out, "\n  solver       "); /* the explicit method iterates nothing */
    fprintf(out, "%ld factorisations, %ld evaluations", s.statistics.factorizations,
            s.statistics.evaluations);
    fprintf(out,
            "\n  energy       kinetic %.6g, potential %.6g, dissipated %.6g, work %.6g J\n",
            shown(e->kinetic, &s), shown(e->potential, &s), shown(e->dissipated, &s),
            shown(e->work, &s));
    fprintf(out, "               energy balance error at most %.2g J", s.energy_drift_max);
    if (s.energy_scale > s.energy_round_off)
        fprintf(out, " (%.2g of %.3g J)", s.energy_drift_max / s.energy_scale, s.energy_scale);
    fprintf(out, "\n  constraints  residuals at most %.2g (position), ",
            s.statistics.position_residual_max);
    if (imposes_velocities(r))
        fprintf(out, "%.2g (velocity)\n", s.statistics.velocity_residual_max);
    else
        fprintf(out, "not imposed on velocities\n");
    cli_warnings_sum_up(out, r->sim);
    print_files(r);
}

static void print_energy_json(cli_json *json, const ga_sim_summary *s)
{
    cli_json_object(json, "energy");
    cli_json_number(json, "initial", total(&s->initial));
    cli_json_number(json, "final", total(&s->final));
    cli_json_number(json, "drift_max", s->energy_drift_max);
    cli_json_number(json, "scale", s->energy_scale);
    cli_json_number(json, "kinetic", s->final.kinetic);
    cli_json_number(json, "potential", s->final.potential);
    cli_json_number(json, "dissipated", s->final.dissipated);
    cli_json_number(json, "work", s->final.work);
    cli_json_end_object(json);
}

static void print_methods_json(cli_json *json, ga_method asked, const ga_method_use *use)
{
    cli_json_object(json, "method");
    cli_json_text(json, "name", cli_method_name(asked));
    cli_json_text(json, "in_use", cli_method_name(use->method));
    cli_json_text(json, "reason", use->reason);
    cli_json_object(json, "steps");
    for (int k = 0; k < GA_METHOD_COUNT; ++k)
        if (use->steps[k]) cli_json_integer(json, cli_method_name((ga_method)k), use->steps[k]);
    cli_json_end_object(json);
    cli_json_end_object(json);
}

static void print_final_json(cli_json *json, const cli_run_state *r)
{
    const double *values = ga_sim_values(r->sim);
    cli_json_object(json, "final");
    for (int k = 0; k < ga_sim_channel_count(r->sim) && r->rows; ++k) {
        const ga_channel channel = ga_sim_get_channel(r->sim, k);
        cli_json_numbers(json, channel.name, channel.count, values);
        values += channel.count;
    }
    cli_json_end_object(json);
}

static const char *message(const cli_run_state *r)
{
    if (r->write_status != GA_OK) return r->write_report.message;
    if (r->status != GA_OK) return r->report.message;
    return r->caught ? "stopped by a signal" : "";
}

void cli_run_print_json(const cli_run_state *r)
{
    const ga_sim_summary s = ga_sim_get_summary(r->sim);
    cli_json json = {.out = stdout};
    cli_json_object(&json, NULL);
    cli_json_text(&json, "model", cli_input_name(&r->input));
    cli_json_text(&json, "file", r->input.path);
    cli_json_text(&json, "status", cli_run_outcome(r));
    cli_json_text(&json, "message", message(r));
    cli_json_number(&json, "t_start", r->def.t_start);
    cli_json_number(&json, "t_end", s.t);
    cli_json_object(&json, "steps");
    cli_json_integer(&json, "accepted", cli_steps_accepted(&s));
    cli_json_integer(&json, "rejected", cli_steps_rejected(&s));
    cli_json_end_object(&json);
    print_methods_json(&json, r->def.integrator.method, &s.methods);
    cli_json_integer(&json, "third_order_steps", s.control.third_order);
    cli_json_integer(&json, "newton_iterations", s.statistics.iterations);
    cli_json_integer(&json, "factorizations", s.statistics.factorizations);
    cli_json_integer(&json, "evaluations", s.statistics.evaluations);
    cli_json_integer(&json, "events", s.control.events);
    cli_json_number(&json, "wall_seconds", r->wall);
    print_energy_json(&json, &s);
    cli_json_object(&json, "constraints");
    cli_json_number(&json, "position_max", s.statistics.position_residual_max);
    cli_json_number(&json, "velocity_max", s.statistics.velocity_residual_max);
    cli_json_end_object(&json);
    print_final_json(&json, r);
    cli_json_list(&json, "files");
    for (int k = 0; k < CLI_FILES; ++k)
        if (cli_run_is_wanted(r, k)) cli_json_text(&json, NULL, cli_run_written(r, k));
    if (has_page(r)) cli_json_text(&json, NULL, r->page);
    cli_json_end_list(&json);
    cli_warnings_json(&json, r->sim);
    if (r->status != GA_OK)
        cli_failure_json(&json, &(cli_failure){.sim = r->sim,
                                               .def = &r->def,
                                               .report = &r->report,
                                               .path = r->input.path});
    cli_json_end_object(&json);
}
