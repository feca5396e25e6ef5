/* Force from a shared object; the interface is <galpha/plugin.h>. */
#include <dlfcn.h>
#include <galpha/plugin.h>
#include <math.h>
#include <stdio.h>

#include "base/archive.h"
#include "data/file.h"
#include "element/native.h"

typedef struct plugin {
    ga_element element;
    ga_node_list bodies;
    const char *library, *symbol;
    ga_number_list parameters;
    void *handle;
    const ga_plugin *functions;
    void *self;
} plugin;

static const ga_field fields[] = {
    GA_FIELD(plugin, PATH, library,
             "shared object, in the folder of the model; loaded only with --allow-plugins",
             .required = true),
    GA_FIELD(plugin, TEXT, symbol, "name of its ga_plugin symbol", .absent = "galpha_plugin"),
    GA_FIELD(plugin, BODIES, bodies, "bodies it reads and acts on", .required = true),
    GA_FIELD(plugin, LIST, parameters, "numbers passed to it", .absent = "none"),
    {0},
};

/* --- loading -------------------------------------------------------------------------------
 */

static bool error(const ga_setup *setup, const plugin *p, const char *field, const char *format,
                  const char *text)
{
    size_t mark = ga_reader_enter(setup->reader, field);
    ga_reader_error(setup->reader, p->element.place, format, text);
    ga_reader_leave(setup->reader, mark);
    return false;
}

static bool wrong_count(const ga_setup *setup, const plugin *p, const char *field, int count,
                        int expected)
{
    size_t mark = ga_reader_enter(setup->reader, field);
    ga_reader_error(setup->reader, p->element.place, "%d given, the plug-in expects %d", count,
                    expected);
    ga_reader_leave(setup->reader, mark);
    return false;
}

/* Whether its file may be loaded; then `library` is the true name of it, with links followed,
 * so that what was looked at is what is loaded. */
static bool admit(plugin *p, const ga_setup *setup)
{
    const ga_document *document = setup->reader->document;
    char reason[GA_FILE_REASON_SIZE];
    const char *resolved, *folder;
    if (!document->allow_plugins)
        return error(setup, p, "library", "%s",
                     "plug-ins run native code and are loaded only with --allow-plugins (in C: "
                     "allow_plugins)");
    ga_status status = ga_path_resolve(setup->arena, p->library, &resolved, reason);
    if (status == GA_OK && !ga_file_is_regular(resolved, reason)) status = GA_ERR_FILE;
    if (status == GA_ERR_FILE)
        return error(setup, p, "library", "cannot be loaded: %s", reason);
    if (status == GA_OK && !document->include_anywhere) {
        status = ga_path_resolve(setup->arena, document->folder, &folder, reason);
        if (status == GA_ERR_FILE || (status == GA_OK && !ga_path_is_below(resolved, folder)))
            return error(
                setup, p, "library", "%s",
                "is outside the folder of the model; allow this with --include-anywhere");
    }
    if (status != GA_OK) {
        setup->reader->out_of_memory = true;
        return false;
    }
    p->library = resolved;
    return true;
}

static bool open_library(plugin *p, const ga_setup *setup)
{
    p->handle = dlopen(p->library, RTLD_NOW | RTLD_LOCAL);
    if (!p->handle) {
        const char *reason = dlerror();
        return error(setup, p, "library", "cannot be loaded: %s", reason ? reason : p->library);
    }
    const char *symbol = p->symbol ? p->symbol : "galpha_plugin";
    p->functions = dlsym(p->handle, symbol);
    if (!p->functions)
        return error(setup, p, "symbol", "the library does not define %s", symbol);
    return true;
}

static bool check(const plugin *p, const ga_setup *setup)
{
    const ga_plugin *f = p->functions;
    if (f->abi_version != GA_PLUGIN_ABI) {
        size_t mark = ga_reader_enter(setup->reader, "library");
        ga_reader_error(
            setup->reader, p->element.place,
            "was built for version %d of the plug-in interface, this program has version %d",
            f->abi_version, GA_PLUGIN_ABI);
        ga_reader_leave(setup->reader, mark);
        return false;
    }
    if (!f->force) return error(setup, p, "library", "%s", "has no function `force`");
    if (f->body_count && f->body_count != p->bodies.count)
        return wrong_count(setup, p, "bodies", p->bodies.count, f->body_count);
    if (f->parameter_count >= 0 && f->parameter_count != p->parameters.count)
        return wrong_count(setup, p, "parameters", p->parameters.count, f->parameter_count);
    return true;
}

static bool create(plugin *p, const ga_setup *setup)
{
    char message[GA_MESSAGE_SIZE] = "the plug-in rejects these parameters";
    if (!p->functions->create) return true;
    p->self = p->functions->create(p->bodies.count, p->parameters.count, p->parameters.values,
                                   message, sizeof message);
    message[sizeof message - 1] = '\0';
    return p->self || error(setup, p, "parameters", "%s", message);
}

static bool prepare(void *element, ga_setup *setup)
{
    plugin *p = element;
    return ga_native_prepare(&p->element, &p->bodies, setup) && admit(p, setup);
}

/* A saved simulation is not that of a model whose plug-in has changed since. */
static bool add_fingerprint(const plugin *p, const ga_setup *setup)
{
    unsigned char bytes[4096];
    if (!setup->fingerprint) return true;
    FILE *file = fopen(p->library, "rb");
    if (!file) return error(setup, p, "library", "%s", "cannot be read");
    for (size_t n; (n = fread(bytes, 1, sizeof bytes, file)) > 0;)
        *setup->fingerprint = ga_checksum(*setup->fingerprint, bytes, n);
    const bool read = !ferror(file);
    fclose(file);
    return read || error(setup, p, "library", "%s", "cannot be read");
}

static bool load(void *element, const ga_setup *setup)
{
    plugin *p = element;
    return open_library(p, setup) && check(p, setup) && create(p, setup) &&
           add_fingerprint(p, setup);
}

static void release(void *element)
{
    plugin *p = element;
    if (p->self && p->functions->destroy) p->functions->destroy(p->self);
    if (p->handle) dlclose(p->handle);
    p->self = NULL;
    p->handle = NULL;
}

/* --- evaluation ----------------------------------------------------------------------------
 */

static ga_native native(const plugin *p)
{
    return (ga_native){&p->element, p->functions->force, p->self};
}

static void force(const void *element, const ga_element_state *state, double *f)
{
    const ga_native n = native(element);
    ga_native_add_force(&n, state, f);
}

static void tangent(const void *element, const ga_element_state *state, double *K, double *C)
{
    enum { max_size = GA_TWIST * GA_ELEMENT_MAX_NODES };
    const plugin *p = element;
    if (!p->functions->tangent) {
        const ga_native n = native(p);
        ga_native_difference(&n, state, K, C);
        return;
    }
    double more[2][max_size * max_size] = {{0}};
    ga_native_bodies at = ga_native_gather(&p->element, state);
    p->functions->tangent(p->self, state->t, at.body, more[0], more[1]);
    int n = GA_TWIST * p->element.node_count;
    for (int k = 0; k < n * n; ++k) {
        K[k] += more[0][k];
        C[k] += more[1][k];
    }
}

static double potential(const void *element, const ga_element_state *state)
{
    const plugin *p = element;
    ga_native_bodies at = ga_native_gather(&p->element, state);
    return p->functions->potential ? p->functions->potential(p->self, state->t, at.body) : 0;
}

static double dissipation(const void *element, const ga_element_state *state)
{
    const plugin *p = element;
    ga_native_bodies at = ga_native_gather(&p->element, state);
    return p->functions->dissipation ? p->functions->dissipation(p->self, state->t, at.body)
                                     : 0;
}

static double power(const void *element, const ga_element_state *state)
{
    const plugin *p = element;
    bool internal = p->functions->potential || p->functions->dissipation;
    return internal ? 0 : ga_force_power(p, state);
}

static double next_break(const void *element, double t)
{
    const plugin *p = element;
    return p->functions->next_break ? p->functions->next_break(p->self, t) : INFINITY;
}

const ga_element_type ga_force_plugin = {
    .name = "plugin",
    .section = "forces",
    .help = "Force on bodies computed by a shared object, see <galpha/plugin.h>.",
    .size = sizeof(plugin),
    .fields = fields,
    .example = "{type: plugin, library: ./spring.so, bodies: [a, b], parameters: [40, 3]}",
    .prepare = prepare,
    .load = load,
    .release = release,
    .force = force,
    .tangent = tangent,
    .potential = potential,
    .dissipation = dissipation,
    .power = power,
    .next_break = next_break,
    .channels = ga_native_channels,
};
