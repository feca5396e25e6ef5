/* Force from a shared object; the interface is <galpha/plugin.h>.
 *
 * Where a plug-in has no tangent, central differences stand in: of step 1e-5 times the size of
 * what is varied, so that errors of round-off and of the formula are both near 1e-10 of the
 * force. Rotations vary by the exponential map.
 */
#include <dlfcn.h>
#include <galpha/lie.h>
#include <galpha/plugin.h>
#include <math.h>
#include <string.h>

#include "data/file.h"
#include "element/force.h"

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
    if (p->bodies.count < 1 || p->bodies.count > GA_ELEMENT_MAX_NODES) {
        size_t mark = ga_reader_enter(setup->reader, "bodies");
        ga_reader_error(setup->reader, p->element.place, "%d bodies, expected 1 to %d",
                        p->bodies.count, GA_ELEMENT_MAX_NODES);
        ga_reader_leave(setup->reader, mark);
        return false;
    }
    p->element.node_count = p->bodies.count;
    for (int i = 0; i < p->bodies.count; ++i) {
        p->element.nodes[i] = p->bodies.nodes[i];
        for (int k = 0; k < i; ++k)
            if (p->element.nodes[i] == p->element.nodes[k])
                return error(setup, p, "bodies", "%s", "a body is named twice");
    }
    return admit(p, setup);
}

static bool load(void *element, const ga_setup *setup)
{
    plugin *p = element;
    return open_library(p, setup) && check(p, setup) && create(p, setup);
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

typedef struct bodies {
    ga_plugin_body body[GA_ELEMENT_MAX_NODES];
} bodies;

static bodies gather(const plugin *p, const ga_element_state *state)
{
    bodies out;
    for (int i = 0; i < p->element.node_count; ++i) {
        const ga_frame *frame = &state->frames[p->element.nodes[i]];
        memcpy(out.body[i].x, frame->x, sizeof frame->x);
        memcpy(out.body[i].R, frame->R, sizeof frame->R);
        memcpy(out.body[i].u, frame->u, sizeof frame->u);
        memcpy(out.body[i].w, frame->w, sizeof frame->w);
    }
    return out;
}

static void evaluate(const plugin *p, double t, const bodies *at, double *f)
{
    memset(f, 0, sizeof(double) * GA_TWIST * (size_t)p->element.node_count);
    p->functions->force(p->self, t, at->body, f);
}

static void force(const void *element, const ga_element_state *state, double *f)
{
    const plugin *p = element;
    bodies at = gather(p, state);
    double add[GA_TWIST * GA_ELEMENT_MAX_NODES];
    evaluate(p, state->t, &at, add);
    for (int k = 0; k < GA_TWIST * p->element.node_count; ++k) f[k] += add[k];
}

/* Moves one body in direction k of its variation. */
static void vary(ga_plugin_body *body, int k, double h)
{
    const ga_node node = {GA_GROUP_SO3, 0};
    if (k < 3) {
        for (int i = 0; i < 3; ++i) body->x[i] += h * body->R[3 * k + i];
        return;
    }
    double turn[3] = {0}, quaternion[4], Q[9], R[9];
    turn[k - 3] = h;
    ga_lie_map(node, GA_MAP_EXP, turn, quaternion);
    ga_quaternion_to_matrix(quaternion, Q);
    for (int c = 0; c < 3; ++c)
        ga_vec3_store(ga_mat3_apply(body->R, ga_vec3_load(Q + 3 * c)), R + 3 * c);
    memcpy(body->R, R, sizeof R);
}

static double *twist_entry(ga_plugin_body *body, int k)
{
    return k < 3 ? &body->u[k] : &body->w[k - 3];
}

static double size_of(const double *a)
{
    return 1 + fmax(fabs(a[0]), fmax(fabs(a[1]), fabs(a[2])));
}

/* Subtracts the difference quotient from a column. */
static void subtract_quotient(const plugin *p, double t, const bodies at[2], double width,
                              double *column)
{
    int n = GA_TWIST * p->element.node_count;
    double f[2][GA_TWIST * GA_ELEMENT_MAX_NODES];
    for (int side = 0; side < 2; ++side) evaluate(p, t, &at[side], f[side]);
    for (int row = 0; row < n; ++row) column[row * n] -= (f[1][row] - f[0][row]) / width;
}

static void difference(const plugin *p, const ga_element_state *state, double *K, double *C)
{
    const double relative = 1e-5;
    bodies center = gather(p, state);
    for (int i = 0; i < p->element.node_count; ++i)
        for (int k = 0; k < GA_TWIST; ++k) {
            const ga_plugin_body *body = &center.body[i];
            double h = k < 3 ? relative * size_of(body->x) : relative;
            bodies at[2] = {center, center};
            vary(&at[0].body[i], k, -h);
            vary(&at[1].body[i], k, h);
            subtract_quotient(p, state->t, at, 2 * h, K + GA_TWIST * i + k);

            h = relative * size_of(k < 3 ? body->u : body->w);
            at[0] = at[1] = center;
            *twist_entry(&at[0].body[i], k) -= h;
            *twist_entry(&at[1].body[i], k) += h;
            subtract_quotient(p, state->t, at, 2 * h, C + GA_TWIST * i + k);
        }
}

static void tangent(const void *element, const ga_element_state *state, double *K, double *C)
{
    enum { max_size = GA_TWIST * GA_ELEMENT_MAX_NODES };
    const plugin *p = element;
    if (!p->functions->tangent) {
        difference(p, state, K, C);
        return;
    }
    double more[2][max_size * max_size] = {{0}};
    bodies at = gather(p, state);
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
    bodies at = gather(p, state);
    return p->functions->potential ? p->functions->potential(p->self, state->t, at.body) : 0;
}

static double dissipation(const void *element, const ga_element_state *state)
{
    const plugin *p = element;
    bodies at = gather(p, state);
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

/* --- channels ------------------------------------------------------------------------------
 */

/* Forces (part 0) or moments (part 3) on all bodies, world axes. */
static void world_loads(const plugin *p, const ga_element_state *state, int part, double *out)
{
    double f[GA_TWIST * GA_ELEMENT_MAX_NODES] = {0};
    force(p, state, f);
    for (int i = 0; i < p->element.node_count; ++i) {
        ga_vec3 local = ga_vec3_load(f + GA_TWIST * i + part);
        ga_vec3_store(ga_mat3_apply(state->frames[p->element.nodes[i]].R, local), out + 3 * i);
    }
}

static void force_channel(const void *element, const ga_element_state *state, double *out)
{
    world_loads(element, state, 0, out);
}

static void torque_channel(const void *element, const ga_element_state *state, double *out)
{
    world_loads(element, state, 3, out);
}

static int channel_size(const void *element)
{
    return 3 * ((const plugin *)element)->element.node_count;
}

static const ga_channel_type channels[] = {
    {.name = "force",
     .unit = "N",
     .help = "forces on the bodies, in order, three numbers each, world axes",
     .value = force_channel,
     .size = channel_size},
    {.name = "torque",
     .unit = "N m",
     .help = "torques about their centres of mass, in the same way",
     .value = torque_channel,
     .size = channel_size},
    {0},
};

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
    .channels = channels,
};
