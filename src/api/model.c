/* Reading of <galpha/model.h>: the model layer builds, what needs methods and channels is
 * checked here. */
#include "api/sim_settings.h"
#include "base/messages.h"
#include "base/struct_size.h"
#include "model/build.h"

void ga_model_options_fill(ga_model_options *def, size_t size)
{
    if (ga_is_own_size(def, size, sizeof *def)) *def = (ga_model_options){.struct_size = size};
}

static ga_status check_options(const ga_model_options *options, ga_messages *messages)
{
    if (!options) return GA_OK;
    ga_report report;
    const ga_status status =
        ga_check_size("ga_model_options", options->struct_size, sizeof *options, &report);
    if (status != GA_OK)
        ga_messages_add(messages, GA_SEVERITY_ERROR, NULL, 0, 0, NULL, "%s", report.message);
    return status;
}

static ga_document_options document_options(const ga_model_options *options)
{
    ga_document_options o = {0};
    if (options) {
        o.set_count = options->set_count;
        o.set = options->set;
        o.include_anywhere = options->include_anywhere;
        o.allow_plugins = options->allow_plugins;
    }
    return o;
}

/* A document with mistakes is built too, so that all mistakes are found at once. */
static ga_status finish(ga_status read, ga_document *document, ga_model **model,
                        ga_messages *messages)
{
    if (!document) return read;
    ga_status status = ga_model_build(document, model, messages);
    if (status != GA_OK) return status;
    status = ga_model_check_settings(*model, messages);
    if (status == GA_OK) status = read;
    if (status == GA_OK) status = ga_model_load(*model, messages);
    if (status != GA_OK) {
        ga_model_destroy(*model);
        *model = NULL;
    }
    return status;
}

ga_status ga_model_read(const char *path, const ga_model_options *options, ga_model **model,
                        ga_messages *messages)
{
    *model = NULL;
    GA_TRY(check_options(options, messages));
    ga_document_options o = document_options(options);
    ga_document *document = NULL;
    ga_status status = ga_document_read(path, &o, &document, messages);
    return finish(status, document, model, messages);
}

ga_status ga_model_parse(const char *name, const char *text, size_t length,
                         const ga_model_options *options, ga_model **model,
                         ga_messages *messages)
{
    *model = NULL;
    GA_TRY(check_options(options, messages));
    ga_document_options o = document_options(options);
    ga_document *document = NULL;
    ga_status status = ga_document_parse(name, text, length, &o, &document, messages);
    return finish(status, document, model, messages);
}

ga_status ga_model_with(const ga_model *from, int set_count, const char *const *set,
                        ga_model **model, ga_messages *messages)
{
    ga_document *document = NULL;
    *model = NULL;
    ga_status status = ga_document_with(from->document, set_count, set, &document, messages);
    return finish(status, document, model, messages);
}
