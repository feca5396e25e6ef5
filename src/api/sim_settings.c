#include "api/sim_settings.h"

#include "api/channels.h"
#include "base/memory.h"
#include "base/messages.h"
#include "base/report.h"
#include "base/struct_size.h"
#include "handle/integrator.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

static ga_method method_of(const ga_simulate_settings *s)
{
    switch (s->method.family) {
    case GA_FAMILY_EXPLICIT:
        return GA_METHOD_EXPLICIT;
    case GA_FAMILY_RADAU:
        return GA_METHOD_RADAU;
    case GA_FAMILY_AUTO: /* steps of fixed size are of generalized-alpha */
        return isnan(s->step) ? GA_METHOD_AUTO : GA_METHOD_GENERALIZED_ALPHA;
    default:
        return GA_METHOD_GENERALIZED_ALPHA;
    }
}

static bool is_alpha(const ga_simulate_settings *s)
{
    return method_of(s) == GA_METHOD_GENERALIZED_ALPHA;
}

static double given(double x, double otherwise) { return isnan(x) ? otherwise : x; }

static ga_status choose_method(const ga_simulate_settings *s, ga_coefficients *method,
                               ga_report *report)
{
    switch (s->method.family) {
    case GA_FAMILY_GENERALIZED_ALPHA:
        return ga_coefficients_generalized_alpha(given(s->rho_inf, 0.9), method, report);
    case GA_FAMILY_HHT:
        return ga_coefficients_hht(given(s->alpha, -0.05), method, report);
    case GA_FAMILY_NEWMARK:
        return ga_coefficients_newmark(given(s->beta, 0.25), given(s->gamma, 0.5), method,
                                       report);
    case GA_FAMILY_WBZ:
        return ga_coefficients_wbz(given(s->rho_inf, 0.9), method, report);
    case GA_FAMILY_EXPLICIT:
    case GA_FAMILY_RADAU:
    case GA_FAMILY_AUTO:
        *method = ga_integrator_def_default().coefficients; /* not used but by auto */
        return GA_OK;
    default:
        *method = (ga_coefficients)GA_COEFFICIENTS(
            s->method.coefficients[0], s->method.coefficients[1], s->method.coefficients[2],
            s->method.coefficients[3]);
        return GA_OK;
    }
}

/* `tolerance: 1e-6` means both parts; one part alone leaves the other at its default. */
static ga_control choose_control(const ga_simulate_settings *s)
{
    ga_control control = ga_simulation_default().control;
    if (!isnan(s->step)) {
        control.relative = 0;
        return control;
    }
    control.relative = given(s->tolerance.relative, 1e-6);
    double absolute =
        given(s->tolerance.absolute,
              isnan(s->tolerance.relative) ? 1e-8 : fmin(1e-8, s->tolerance.relative));
    control.absolute_translation = control.absolute_rotation = absolute;
    control.absolute_velocity = control.absolute_angular_velocity = absolute;
    control.mode = is_alpha(s)                      ? (ga_error_mode)s->error
                   : method_of(s) == GA_METHOD_AUTO ? GA_ERROR_AUTO
                                                    : GA_ERROR_FULL;
    control.first_step = given(s->first_step, 0);
    control.min_step = given(s->min_step, 0);
    control.max_step = given(s->max_step, 0);
    return control;
}

/* Steps of high order are so long that curves drawn from step to step would be polygons. */
static double choose_output(const ga_model *model)
{
    enum { ROWS = 1000 };
    const ga_simulate_settings *s = &model->settings.simulate;
    const double each = (s->t_end - s->t_start) / ROWS;
    const bool chosen = method_of(s) != GA_METHOD_GENERALIZED_ALPHA && isfinite(each);
    return given(model->settings.output.every, chosen ? each : 0);
}

void ga_sim_def_fill(const ga_model *model, ga_sim_def *def, size_t size)
{
    if (!ga_is_own_size(def, size, sizeof *def)) return;
    const ga_simulate_settings *s = &model->settings.simulate;
    ga_integrator_def integrator = ga_integrator_def_default();
    choose_method(s, &integrator.coefficients, NULL);
    integrator.method = method_of(s);
    integrator.formulation = (ga_formulation)s->formulation;
    integrator.start = (ga_start)s->start;
    integrator.map = (ga_map)s->map;
    integrator.newton = (ga_newton)s->newton;
    integrator.solver = (ga_solver)s->solver;
    integrator.scaling = (ga_scaling)s->scaling;
    integrator.penalty = s->penalty;
    if (!s->cut_steps) integrator.max_halvings = 0;
    if (!isnan(s->newton_tolerance)) integrator.relative = s->newton_tolerance;
    if (!isnan(s->max_projection)) integrator.max_projection = s->max_projection;
    *def = (ga_sim_def){
        .struct_size = sizeof(ga_sim_def),
        .t_start = s->t_start,
        .t_end = s->t_end,
        .step = given(s->step, 0),
        .control = choose_control(s),
        .integrator = integrator,
        .kinematics = (ga_kinematics)s->kinematics,
        .threads = s->threads,
        .output_every = choose_output(model),
        .channel_count = model->settings.output.channels.count,
        .channels = model->settings.output.channels.texts,
    };
}

/* Something that belongs to generalized-alpha and is not as it is by default. */
static bool is_of_family(const ga_sim_def *def)
{
    const ga_integrator_def plain = ga_integrator_def_default(), *own = &def->integrator;
    const ga_coefficients *a = &own->coefficients, *b = &plain.coefficients;
    return def->control.mode != GA_ERROR_AUTO || own->formulation != plain.formulation ||
           own->start != plain.start || own->map != plain.map || own->newton != plain.newton ||
           own->scaling != plain.scaling || own->penalty != plain.penalty ||
           own->relative != plain.relative || own->absolute_q != plain.absolute_q ||
           own->absolute_v != plain.absolute_v ||
           own->absolute_lambda != plain.absolute_lambda || a->alpha_m != b->alpha_m ||
           a->alpha_f != b->alpha_f || a->beta != b->beta || a->gamma != b->gamma;
}

void ga_sim_settings_choose(ga_sim_def *def)
{
    if (def->integrator.method != GA_METHOD_AUTO) return;
    if (!(def->control.relative > 0) || is_of_family(def))
        def->integrator.method = GA_METHOD_GENERALIZED_ALPHA;
}

ga_status ga_sim_settings_check(const ga_sim_def *def, ga_report *report)
{
    bool known = !isnan(def->t_end); /* run asks for it */
    if (!isfinite(def->t_start) || isinf(def->t_end))
        return ga_fail(report, GA_ERR_ARGUMENT,
                       "t_start = %g and t_end = %g: expected finite times", def->t_start,
                       def->t_end);
    if (known && !(def->t_end > def->t_start))
        return ga_fail(report, GA_ERR_ARGUMENT, "t_end = %g is not after t_start = %g",
                       def->t_end, def->t_start);
    if (!(def->output_every >= 0))
        return ga_fail(report, GA_ERR_ARGUMENT, "output_every = %g: expected 0 or more",
                       def->output_every);
    if (known && def->output_every > 0 &&
        def->output_every < ga_output_smallest(def->t_start, def->t_end))
        return ga_fail(
            report, GA_ERR_ARGUMENT,
            "output_every = %g is below the round-off of time, expected %.2g or more",
            def->output_every, ga_output_smallest(def->t_start, def->t_end));
    if (def->threads < 0 || def->threads > GA_SIM_MAX_THREADS)
        return ga_fail(report, GA_ERR_ARGUMENT, "threads = %d: expected 0 to %d", def->threads,
                       GA_SIM_MAX_THREADS);
    if ((unsigned)def->kinematics > GA_KINEMATICS_SE3)
        return ga_fail(report, GA_ERR_ARGUMENT, "kinematics has the unknown value %d",
                       (int)def->kinematics);
    if (def->channel_count < 0)
        return ga_fail(report, GA_ERR_ARGUMENT, "channel_count = %d: expected 0 or more",
                       def->channel_count);
    return GA_OK;
}

/* --- at their places in the file ---------------------------------------------------------- */

static ga_status add_error(ga_messages *messages, const ga_value *at, const char *path,
                           const char *text)
{
    ga_messages_add(messages, GA_SEVERITY_ERROR, at->place.file, at->place.line,
                    at->place.column, path, "%s", text);
    return GA_ERR_INPUT;
}

static ga_status check_method(const ga_model *model, const ga_value *simulate,
                              ga_messages *messages)
{
    ga_coefficients method;
    ga_report report;
    const char *keys[] = {"method", "rho_inf", "alpha", "beta", "gamma"};
    const ga_value *at = simulate;
    for (size_t k = 0; k < sizeof keys / sizeof *keys; ++k)
        if (ga_value_get(simulate, keys[k])) at = ga_value_get(simulate, keys[k]);
    if (choose_method(&model->settings.simulate, &method, &report) != GA_OK)
        return add_error(messages, at, "simulate", report.message);
    ga_coefficient_properties properties = ga_coefficients_describe(&method);
    if (!properties.second_order)
        return add_error(
            messages, at, "simulate",
            "the method is only first-order accurate: gamma must be 1/2 - alpha_m + alpha_f");
    return GA_OK;
}

static ga_status check_control(const ga_model *model, const ga_value *simulate,
                               ga_messages *messages)
{
    const ga_simulate_settings *s = &model->settings.simulate;
    const ga_value *tolerance = ga_value_get(simulate, "tolerance");
    if (tolerance && s->tolerance.relative >= 1)
        return add_error(messages, tolerance, "simulate.tolerance",
                         "expected a relative tolerance below 1");
    const ga_control control = choose_control(s);
    const double least = ga_control_smallest(method_of(s), control.mode);
    if (tolerance && isnan(s->step) && control.relative < least &&
        control.absolute_translation < least) {
        char text[160];
        snprintf(text, sizeof text,
                 "%.3g cannot be met: the accumulated round-off of the steps is larger; "
                 "expected at least %g with this `%s`",
                 control.relative, least, is_alpha(s) ? "error" : "method");
        return add_error(messages, tolerance, "simulate.tolerance", text);
    }
    const ga_value *error = ga_value_get(simulate, "error");
    if (error && s->error == GA_ERROR_EXTRAPOLATE && s->formulation != GA_INDEX2)
        return add_error(messages, error, "simulate.error",
                         "`extrapolate` needs `formulation: index2`");
    if (error && !isnan(s->step))
        return add_error(messages, error, "simulate.error",
                         "has no effect with fixed steps (`step`)");
    const ga_value *start = ga_value_get(simulate, "start");
    if (start && s->start == GA_START_IMPLICIT && s->formulation != GA_INDEX3 &&
        s->formulation != GA_INDEX2)
        return add_error(messages, start, "simulate.start",
                         "`implicit` needs `formulation: index3` or `index2`");
    const ga_value *threads = ga_value_get(simulate, "threads");
    if (threads && s->threads > GA_SIM_MAX_THREADS)
        return add_error(messages, threads, "simulate.threads", "expected at most 64");
    const ga_value *penalty = ga_value_get(simulate, "penalty");
    if (penalty && s->penalty > 0 && s->formulation != GA_INDEX3)
        return add_error(messages, penalty, "simulate.penalty", "needs `formulation: index3`");
    return GA_OK;
}

/* A time between outputs, or a step, that t + x does not show never ends. */
static ga_status check_interval(const ga_model *model, const char *section, const char *key,
                                double given, ga_messages *messages)
{
    const ga_simulate_settings *s = &model->settings.simulate;
    const ga_value *map = ga_value_get(&model->document->root, section);
    const ga_value *value = map ? ga_value_get(map, key) : NULL;
    const double least = ga_output_smallest(s->t_start, s->t_end);
    if (!value || !(given > 0 && given < least)) return GA_OK;
    char path[40], text[120];
    snprintf(path, sizeof path, "%s.%s", section, key);
    snprintf(text, sizeof text, "is %g, below the round-off of time; expected %.2g or more",
             given, least);
    return add_error(messages, value, path, text);
}

static ga_status check_channels(const ga_model *model, ga_messages *messages)
{
    const ga_text_list *names = &model->settings.output.channels;
    const ga_value *output = ga_value_get(&model->document->root, "output");
    const ga_value *list = output ? ga_value_get(output, "channels") : NULL;
    if (!list || names->count == 0) return GA_OK;
    ga_place *places = GA_NEW(ga_place, names->count);
    if (!places) return GA_ERR_MEMORY;
    for (int k = 0; k < names->count; ++k) places[k] = list->entries[k].value.place;
    ga_channels channels;
    const ga_channels_def chosen = {names->count, names->texts, places, false};
    ga_status status = ga_channels_create(model, &chosen, messages, &channels, NULL);
    if (status == GA_OK) ga_channels_destroy(&channels);
    ga_free(places);
    return status;
}

ga_status ga_model_check_settings(const ga_model *model, ga_messages *messages)
{
    const ga_value *simulate = ga_value_get(&model->document->root, "simulate");
    ga_status status = GA_OK, next = GA_OK;
    if (simulate && simulate->kind == GA_VALUE_MAP) {
        status = check_method(model, simulate, messages);
        next = check_control(model, simulate, messages);
        if (status == GA_OK) status = next;
    }
    next = check_interval(model, "simulate", "step", model->settings.simulate.step, messages);
    if (status == GA_OK) status = next;
    next = check_interval(model, "output", "every", model->settings.output.every, messages);
    if (status == GA_OK) status = next;
    next = check_channels(model, messages);
    return status == GA_OK ? next : status;
}
