/* The kinds of fields. */
#include "base/memory.h"
#include "base/messages.h"
#include "data/number.h"
#include "model/build.h"
#include "model/shape.h"

#include <galpha/lie.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#define READER(builder) (&(builder)->reader)

static bool fail(ga_builder *b, const ga_value *value, const char *expected)
{
    char buffer[80];
    return ga_reader_error(READER(b), value->place, "got %s, expected %s",
                           ga_value_describe(value, buffer, sizeof buffer), expected);
}

static void *arena(ga_builder *b, size_t count, size_t size)
{
    void *memory = ga_arena_alloc(&b->model->arena, count, size);
    if (!memory) b->reader.out_of_memory = true;
    return memory;
}

/* --- numbers ------------------------------------------------------------------------------ */

static bool in_range(ga_builder *b, const ga_value *value, const ga_field *field, double x)
{
    const char *expected = NULL;
    if (field->range == GA_POSITIVE && !(x > 0)) expected = "more than 0";
    if (field->range == GA_NOT_NEGATIVE && !(x >= 0)) expected = "0 or more";
    if (field->range == GA_FRACTION && !(x >= 0 && x <= 1)) expected = "0 to 1";
    if (!expected) return true;
    return ga_reader_error(READER(b), value->place, "is %g, expected %s", x, expected);
}

/* Who means more than a turn writes 3*pi or 540 deg; a whole number, plain or of a parameter,
 * is likely one of degrees. */
static void doubt_angle(ga_builder *b, const ga_value *value, double x)
{
    static const double turn = 6.283185307179586;
    double plain;
    if (!(fabs(x) > turn)) return;
    if (value->text[ga_number_scan(value->text, &plain)]) {
        if (x != round(x)) return;
        ga_reader_warning(READER(b), value->place,
                          "`%.40s` is an angle of %g rad, %.3g turns; if degrees are meant, "
                          "write `%g deg` where this number comes from",
                          value->text, x, fabs(x) / turn, fabs(x));
        return;
    }
    ga_reader_warning(READER(b), value->place,
                      "`%.24s` is an angle in rad, %.3g turns; if degrees are meant, write "
                      "`%.24s deg`",
                      value->text, fabs(x) / turn, value->text);
}

static bool read_angle(ga_builder *b, const ga_value *value, double *x)
{
    if (!ga_read_number(READER(b), value, x)) return false;
    doubt_angle(b, value, *x);
    return true;
}

static bool read_number(ga_builder *b, const ga_value *value, const ga_field *field, void *out)
{
    double x;
    if (!ga_read_number(READER(b), value, &x) || !in_range(b, value, field, x)) return false;
    if (field->unit && strcmp(field->unit, "rad") == 0) doubt_angle(b, value, x);
    *(double *)out = x;
    return true;
}

static void number_fallback(const ga_field *field, void *out)
{
    *(double *)out = field->fallback[0];
}

static bool read_integer(ga_builder *b, const ga_value *value, const ga_field *field, void *out)
{
    long x;
    if (!ga_read_integer(READER(b), value, &x) || !in_range(b, value, field, (double)x))
        return false;
    if (x > 1000000000 || x < -1000000000)
        return ga_reader_error(READER(b), value->place, "is %ld, too large", x);
    *(int *)out = (int)x;
    return true;
}

static void integer_fallback(const ga_field *field, void *out)
{
    *(int *)out = (int)field->fallback[0];
}

static bool read_boolean(ga_builder *b, const ga_value *value, const ga_field *field, void *out)
{
    (void)field;
    return ga_read_boolean(READER(b), value, out);
}

static void boolean_fallback(const ga_field *field, void *out)
{
    *(bool *)out = field->fallback[0] > 0;
}

static bool read_choice(ga_builder *b, const ga_value *value, const ga_field *field, void *out)
{
    return ga_read_choice(READER(b), value, field->choices, out);
}

/* --- texts -------------------------------------------------------------------------------- */

static bool read_text(ga_builder *b, const ga_value *value, const ga_field *field, void *out)
{
    (void)field;
    return ga_read_text(READER(b), value, out);
}

static void pointer_fallback(const ga_field *field, void *out)
{
    (void)field;
    *(void **)out = NULL;
}

static bool read_path(ga_builder *b, const ga_value *value, const ga_field *field, void *out)
{
    (void)field;
    const char *text, *folder = b->model->document->folder;
    if (!ga_read_text(READER(b), value, &text)) return false;
    if (text[0] == '/' || !folder || !folder[0]) {
        *(const char **)out = text;
        return true;
    }
    size_t size = strlen(folder) + strlen(text) + 2;
    char *path = arena(b, size, 1);
    if (!path) return false;
    snprintf(path, size, "%s/%s", folder, text);
    *(const char **)out = path;
    return true;
}

static bool read_channels(ga_builder *b, const ga_value *value, const ga_field *field,
                          void *out)
{
    (void)field;
    if (value->kind != GA_VALUE_LIST) return fail(b, value, "a list of channels");
    const char **texts = arena(b, (size_t)value->count, sizeof *texts);
    if (!texts) return false;
    bool good = true;
    for (int k = 0; k < value->count; ++k) {
        size_t here = ga_reader_enter_item(READER(b), k);
        good = ga_read_text(READER(b), &value->entries[k].value, texts + k) && good;
        ga_reader_leave(READER(b), here);
    }
    if (good) *(ga_text_list *)out = (ga_text_list){value->count, texts};
    return good;
}

static void list_fallback(const ga_field *field, void *out)
{
    (void)field;
    *(ga_text_list *)out = (ga_text_list){0, NULL};
}

/* --- vectors ------------------------------------------------------------------------------ */

static bool read_vector(ga_builder *b, const ga_value *value, const ga_field *field, void *out)
{
    double x[3];
    if (!ga_read_vector(READER(b), value, x)) return false;
    for (int k = 0; k < 3; ++k)
        if (field->range != GA_ANY && !in_range(b, value, field, x[k])) return false;
    memcpy(out, x, sizeof x);
    return true;
}

static void vector_fallback(const ga_field *field, void *out)
{
    memcpy(out, field->fallback, sizeof field->fallback);
}

/* The vector that `y` or `-y` means in place of a direction; null: the text is no such word. */
static const char *named_direction(const ga_value *value, int dimension)
{
    static const char *const spatial[2][3] = {{"[1, 0, 0]", "[0, 1, 0]", "[0, 0, 1]"},
                                              {"[-1, 0, 0]", "[0, -1, 0]", "[0, 0, -1]"}};
    static const char *const planar[2][3] = {{"[1, 0]", "[0, 1]"}, {"[-1, 0]", "[0, -1]"}};
    static const char letters[] = "xyzXYZ";
    if (value->kind != GA_VALUE_SCALAR) return NULL;
    const char *text = value->text;
    const int sign = *text == '-';
    if (*text == '-' || *text == '+') ++text;
    if (!text[0] || text[1]) return NULL;
    const char *letter = strchr(letters, text[0]);
    return letter ? (dimension == 2 ? planar : spatial)[sign][(letter - letters) % 3] : NULL;
}

static bool read_direction(ga_builder *b, const ga_value *value, const ga_field *field,
                           void *out)
{
    (void)field;
    double x[3];
    const char *meant = named_direction(value, b->model->dimension);
    if (meant)
        return ga_reader_error(READER(b), value->place,
                               "a direction is a vector: write %s instead of `%s`", meant,
                               value->text);
    if (!ga_read_vector(READER(b), value, x)) return false;
    double length = hypot(hypot(x[0], x[1]), x[2]);
    if (!(length > 0))
        return ga_reader_error(READER(b), value->place,
                               "is the zero vector, expected a direction");
    if (!isfinite(length))
        return ga_reader_error(READER(b), value->place, "components are too large");
    for (int k = 0; k < 3; ++k) ((double *)out)[k] = x[k] / length;
    return true;
}

static bool read_numbers(ga_builder *b, const ga_value *value, const ga_field *field, void *out)
{
    double x[36];
    if (!ga_read_numbers(READER(b), value, field->count, x)) return false;
    for (int k = 0; k < field->count; ++k)
        if (!in_range(b, value, field, x[k])) return false;
    memcpy(out, x, (size_t)field->count * sizeof *x);
    return true;
}

static void numbers_fallback(const ga_field *field, void *out)
{
    for (int k = 0; k < field->count; ++k) ((double *)out)[k] = field->fallback[k < 3 ? k : 2];
}

static bool read_list(ga_builder *b, const ga_value *value, const ga_field *field, void *out)
{
    if (value->kind != GA_VALUE_LIST) return fail(b, value, "a list of numbers");
    double *x = arena(b, (size_t)value->count, sizeof *x);
    if (!x || !ga_read_numbers(READER(b), value, value->count, x)) return false;
    for (int k = 0; k < value->count; ++k)
        if (!in_range(b, &value->entries[k].value, field, x[k])) return false;
    *(ga_number_list *)out = (ga_number_list){value->count, x};
    return true;
}

static bool read_spin(ga_builder *b, const ga_value *value, const ga_field *field, void *out)
{
    double *w = out;
    if (b->model->dimension == 3) return read_vector(b, value, field, out);
    w[0] = w[1] = 0;
    return read_number(b, value, field, w + 2);
}

/* --- matrices ----------------------------------------------------------------------------- */

static bool read_matrix6(ga_builder *b, const ga_value *value, const ga_field *field, void *out)
{
    (void)field;
    static const int planar[3] = {0, 1, 5}, spatial[6] = {0, 1, 2, 3, 4, 5};
    int n = b->model->dimension == 2 ? 3 : 6;
    const int *at = n == 3 ? planar : spatial;
    double matrix[36] = {0}, row[6];
    if (value->kind != GA_VALUE_LIST || value->count != n)
        return fail(b, value, n == 3 ? "3 numbers or 3 rows of 3" : "6 numbers or 6 rows of 6");
    if (value->entries[0].value.kind != GA_VALUE_LIST) {
        if (!ga_read_numbers(READER(b), value, n, row)) return false;
        for (int i = 0; i < n; ++i) matrix[7 * at[i]] = row[i];
    }
    bool good = true;
    for (int i = 0; value->entries[0].value.kind == GA_VALUE_LIST && i < n; ++i) {
        size_t here = ga_reader_enter_item(READER(b), i);
        good = ga_read_numbers(READER(b), &value->entries[i].value, n, row) && good;
        ga_reader_leave(READER(b), here);
        for (int j = 0; good && j < n; ++j) matrix[6 * at[i] + at[j]] = row[j];
    }
    if (good) memcpy(out, matrix, sizeof matrix);
    return good;
}

static void matrix6_fallback(const ga_field *field, void *out)
{
    (void)field;
    memset(out, 0, 36 * sizeof(double));
}

/* Largest principal moments may not exceed the sum of the others by more than round-off. */
static bool check_inertia(ga_builder *b, const ga_value *value, const double J[9])
{
    double minor = J[0] * J[4] - J[1] * J[1];
    double det = J[0] * (J[4] * J[8] - J[5] * J[5]) - J[1] * (J[1] * J[8] - J[5] * J[2]) +
                 J[2] * (J[1] * J[5] - J[4] * J[2]);
    double size = fmax(J[0], fmax(J[4], J[8]));
    /* relative, so that tiny bodies pass and singular ones do not */
    if (!(J[0] > 0 && J[4] > 0 && J[8] > 0 && minor > 1e-14 * size * J[4] &&
          det > 1e-14 * minor * size))
        return ga_reader_error(
            READER(b), value->place,
            "is not positive definite; for a point mass use `type: point-mass`");
    /* tr(J) 1 / 2 - J is the second moment of the mass and must not be indefinite */
    double half = (J[0] + J[4] + J[8]) / 2, a = half - J[0], d = half - J[4], f = half - J[8];
    double slack = -1e-9 * size;
    bool physical = a >= slack && d >= slack && f >= slack &&
                    a * d - J[1] * J[1] >= slack * size &&
                    a * f - J[2] * J[2] >= slack * size && d * f - J[5] * J[5] >= slack * size;
    if (!physical)
        ga_reader_warning(
            READER(b), value->place,
            "is not physical: a principal moment is larger than the sum of the other two");
    return true;
}

static bool read_inertia(ga_builder *b, const ga_value *value, const ga_field *field, void *out)
{
    double x[6] = {0}, *J = out;
    if (b->model->dimension == 2) {
        static const ga_field positive = {.range = GA_POSITIVE};
        memset(J, 0, 9 * sizeof *J);
        return read_number(b, value, &positive, J + 8);
    }
    (void)field;
    const bool matrix = value->kind == GA_VALUE_LIST && value->count == 3 &&
                        value->entries[0].value.kind == GA_VALUE_LIST;
    if (matrix)
        return ga_reader_error(
            READER(b), value->place,
            "got a matrix, expected 3 numbers [xx, yy, zz] or 6 [xx, yy, zz, "
            "xy, xz, yz]");
    if (value->kind != GA_VALUE_LIST || (value->count != 3 && value->count != 6))
        return fail(b, value, "3 numbers [xx, yy, zz] or 6 [xx, yy, zz, xy, xz, yz]");
    if (!ga_read_numbers(READER(b), value, value->count, x)) return false;
    const double full[9] = {x[0], x[3], x[4], x[3], x[1], x[5], x[4], x[5], x[2]};
    if (!check_inertia(b, value, full)) return false;
    memcpy(J, full, sizeof full);
    return true;
}

static void inertia_fallback(const ga_field *field, void *out)
{
    (void)field;
    memset(out, 0, 9 * sizeof(double));
}

/* --- rotations ---------------------------------------------------------------------------- */

static void about(const double axis[3], double angle, double *p)
{
    double s = sin(angle / 2);
    p[0] = cos(angle / 2);
    for (int k = 0; k < 3; ++k) p[1 + k] = s * axis[k];
}

static bool rotation_axis(ga_builder *b, const ga_value *value, double *p)
{
    const ga_value *angle_value = ga_value_get(value, "angle");
    const ga_value *axis_value = ga_value_get(value, "axis");
    double axis[3], angle;
    if (!angle_value || !axis_value || value->count != 2)
        return ga_reader_error(READER(b), value->place,
                               "expected exactly `axis` and `angle` here");
    size_t here = ga_reader_enter(READER(b), "axis");
    bool good = read_direction(b, axis_value, NULL, axis);
    ga_reader_leave(READER(b), here);
    here = ga_reader_enter(READER(b), "angle");
    good = read_angle(b, angle_value, &angle) && good;
    ga_reader_leave(READER(b), here);
    if (good) about(axis, angle, p);
    return good;
}

static bool rotation_quaternion(ga_builder *b, const ga_value *value, double *p)
{
    double x[4];
    if (!ga_read_numbers(READER(b), value, 4, x)) return false;
    double length = sqrt(x[0] * x[0] + x[1] * x[1] + x[2] * x[2] + x[3] * x[3]);
    if (!(length > 0) || !isfinite(length))
        return ga_reader_error(READER(b), value->place,
                               "has length %g, expected a unit quaternion [w, x, y, z]",
                               length);
    if (fabs(length - 1) > 1e-6)
        ga_reader_warning(READER(b), value->place, "has length %g; it was normalised", length);
    for (int k = 0; k < 4; ++k) p[k] = x[k] / length;
    return true;
}

static bool rotation_matrix(ga_builder *b, const ga_value *value, double *p)
{
    double R[9]; /* column-major */
    if (value->kind != GA_VALUE_LIST || value->count != 3)
        return fail(b, value, "3 rows of 3 numbers");
    bool good = true;
    for (int i = 0; i < 3; ++i) {
        double row[3];
        size_t here = ga_reader_enter_item(READER(b), i);
        good = ga_read_numbers(READER(b), &value->entries[i].value, 3, row) && good;
        ga_reader_leave(READER(b), here);
        for (int j = 0; good && j < 3; ++j) R[3 * j + i] = row[j];
    }
    if (!good) return false;
    double off = 0;
    for (int i = 0; i < 3; ++i)
        for (int j = 0; j < 3; ++j) {
            double sum = -(i == j);
            for (int k = 0; k < 3; ++k) sum += R[3 * i + k] * R[3 * j + k];
            off = fmax(off, fabs(sum));
        }
    double det = R[0] * (R[4] * R[8] - R[7] * R[5]) - R[3] * (R[1] * R[8] - R[7] * R[2]) +
                 R[6] * (R[1] * R[5] - R[4] * R[2]);
    if (!(off < 1e-6) || det < 0)
        return ga_reader_error(READER(b), value->place, "not a rotation: %s",
                               off < 1e-6 ? "determinant -1, a reflection"
                                          : "columns are not orthogonal unit vectors");
    ga_quaternion_from_matrix(R, p);
    return true;
}

static bool rotation_xyz(ga_builder *b, const ga_value *value, double *p)
{
    static const ga_node so3 = GA_NODE(GA_GROUP_SO3, 0);
    static const double axes[3][3] = {{1, 0, 0}, {0, 1, 0}, {0, 0, 1}};
    double angle[3];
    if (!ga_read_numbers(READER(b), value, 3, angle)) return false;
    for (int k = 0; k < 3; ++k) doubt_angle(b, &value->entries[k].value, angle[k]);
    ga_lie_identity(so3, p);
    for (int k = 0; k < 3; ++k) {
        double turn[4];
        about(axes[k], angle[k], turn);
        ga_lie_compose(so3, p, turn, p);
    }
    return true;
}

static bool read_rotation(ga_builder *b, const ga_value *value, const ga_field *field,
                          void *out)
{
    (void)field;
    static const struct {
        const char *key;
        bool (*read)(ga_builder *b, const ga_value *value, double *p);
    } forms[] = {{"quaternion", rotation_quaternion},
                 {"matrix", rotation_matrix},
                 {"xyz", rotation_xyz}};
    double *p = out;
    if (b->model->dimension == 2) {
        double angle;
        if (!read_angle(b, value, &angle)) return false;
        p[0] = cos(angle / 2), p[1] = p[2] = 0, p[3] = sin(angle / 2);
        return true;
    }
    const char *expected = "{axis, angle}, {quaternion}, {matrix} or {xyz}";
    if (value->kind != GA_VALUE_MAP || value->count == 0) return fail(b, value, expected);
    const char *key = value->entries[0].key;
    if (strcmp(key, "axis") == 0 || strcmp(key, "angle") == 0)
        return rotation_axis(b, value, p);
    for (size_t k = 0; k < sizeof forms / sizeof *forms; ++k) {
        if (strcmp(key, forms[k].key) != 0) continue;
        if (value->count != 1)
            return ga_reader_error(READER(b), value->entries[1].place,
                                   "`%s` cannot be combined with `%s`; give one of them", key,
                                   value->entries[1].key);
        size_t here = ga_reader_enter(READER(b), key);
        bool good = forms[k].read(b, &value->entries[0].value, p);
        ga_reader_leave(READER(b), here);
        return good;
    }
    return ga_reader_error(READER(b), value->entries[0].place, "unknown key `%s`, expected %s",
                           key, expected);
}

static void rotation_fallback(const ga_field *field, void *out)
{
    (void)field;
    memcpy(out, (const double[4]){1, 0, 0, 0}, 4 * sizeof(double));
}

/* --- functions ---------------------------------------------------------------------------- */

static ga_symbol find_symbol(void *user, const char *name, size_t length)
{
    return ga_build_observe(user, name, length);
}

static const char *reason_of(void *user, const char *name, size_t length)
{
    return ga_build_reason(user, name, length);
}

static const char *variable_name(void *user, int k) { return ga_build_variable(user, k); }

static bool read_function(ga_builder *b, const ga_value *value, const ga_field *field,
                          void *out)
{
    (void)field;
    ga_symbols symbols = {
        .user = b, .find = find_symbol, .name = variable_name, .reason = reason_of};
    bool observes = b->type && b->type->observation_at;
    return ga_function_read(READER(b), value, observes ? &symbols : NULL, out);
}

static bool read_functions(ga_builder *b, const ga_value *value, const ga_field *field,
                           void *out)
{
    ga_function **functions = out;
    int n = b->model->dimension;
    if (value->kind != GA_VALUE_LIST || value->count != n)
        return fail(b, value, n == 2 ? "a list of 2 functions" : "a list of 3 functions");
    bool good = true;
    for (int k = 0; k < n; ++k) {
        size_t here = ga_reader_enter_item(READER(b), k);
        good = read_function(b, &value->entries[k].value, field, functions + k) && good;
        ga_reader_leave(READER(b), here);
    }
    return good;
}

static void functions_fallback(const ga_field *field, void *out)
{
    (void)field;
    for (int k = 0; k < 3; ++k) ((ga_function **)out)[k] = NULL;
}

/* --- references --------------------------------------------------------------------------- */

/* A near miss among the names of the model; none once there are enough messages, since it takes
 * a look at every name. */
static const char *suggest(const ga_builder *b, const char *word,
                           const char *(*candidate)(void *user, int k))
{
    return ga_messages_full(b->reader.messages) ? NULL : ga_suggest(word, b->model, candidate);
}

static const char *body_name(void *user, int k)
{
    const ga_model *model = user;
    return k < model->body_count    ? model->bodies[k].element.name
           : k == model->body_count ? "ground"
                                    : NULL;
}

static const char *section_bodies(void *user, int k)
{
    (void)user;
    return k == 0 ? "bodies" : NULL;
}

/* Whether a body or point is unknown only because of a mistake that was reported where it is
 * defined: `body:` for `bodies:`, or points that could not be read. */
static bool is_consequence(const ga_builder *b, const char *head, bool is_body)
{
    const ga_value *root = &b->model->document->root;
    const ga_value *bodies = ga_value_get(root, "bodies");
    if (b->reader.errors == 0) return false;
    if (!bodies) {
        for (int k = 0; k < root->count; ++k) {
            const char *meant = ga_suggest(root->entries[k].key, NULL, section_bodies);
            if (meant) return true;
        }
        return false;
    }
    const ga_value *body =
        is_body && bodies->kind == GA_VALUE_MAP ? ga_value_get(bodies, head) : NULL;
    const ga_value *points =
        body && body->kind == GA_VALUE_MAP ? ga_value_get(body, "points") : NULL;
    return points && (points->kind != GA_VALUE_MAP || points->count > 0);
}

static bool unknown_point(ga_builder *b, const ga_value *value, const char *text)
{
    const char *dot = strchr(text, '.');
    char head[128];
    snprintf(head, sizeof head, "%.*s", dot ? (int)(dot - text) : (int)strlen(text), text);
    int body = ga_model_find_body(b->model, head);
    const bool ground = strcmp(head, "ground") == 0;
    if (!ground && (body < 0 || b->model->bodies[body].points.count == 0) &&
        is_consequence(b, head, body >= 0))
        return false;
    if (body >= 0 || ground) {
        const ga_point_list *points =
            ground ? &b->model->ground_points : &b->model->bodies[body].points;
        char list[160] = "";
        for (int k = 0, used = 0; k < points->count && used < 120; ++k)
            used += snprintf(list + used, sizeof list - (size_t)used, "%s%.24s", k ? ", " : "",
                             points->points[k].name);
        if (!list[0])
            return ga_reader_error(READER(b), value->place,
                                   "%s`%s` has no point `%s`; define it by `%s: {points: {%s: "
                                   "[...]}}`",
                                   ground ? "" : "body ", head, dot + 1, head, dot + 1);
        return ga_reader_error(READER(b), value->place, "%s`%s` has no point `%s`; it has: %s",
                               ground ? "" : "body ", head, dot + 1, list);
    }
    const char *near = suggest(b, head, body_name);
    return ga_reader_error(READER(b), value->place,
                           "unknown body `%s`%s%s%s ground, a body, body.point, "
                           "ground.point or coordinates in the world",
                           head, near ? ", did you mean `" : "", near ? near : "",
                           near ? "`? Expected" : "; expected");
}

static bool read_point(ga_builder *b, const ga_value *value, const ga_field *field, void *out)
{
    ga_anchor anchor = {.node = GA_GROUND};
    const char *text;
    (void)field;
    if (value->kind == GA_VALUE_LIST) {
        if (!ga_read_vector(READER(b), value, anchor.p)) return false;
    } else {
        if (value->kind != GA_VALUE_SCALAR)
            return fail(b, value,
                        "ground, a body, body.point, ground.point or coordinates in the world");
        if (!ga_read_text(READER(b), value, &text)) return false;
        if (!ga_build_anchor(b, text, &anchor)) return unknown_point(b, value, text);
    }
    *(ga_anchor *)out = anchor;
    return true;
}

/* Where a point is at t = 0, as the bodies are given. */
static bool read_place(ga_builder *b, const ga_value *value, const ga_field *field, void *out)
{
    ga_anchor anchor;
    if (value->kind == GA_VALUE_LIST) return read_vector(b, value, field, out);
    if (!read_point(b, value, field, &anchor)) return false;
    if (anchor.whole && anchor.node == GA_GROUND)
        return ga_reader_error(READER(b), value->place,
                               "`ground` alone is not a point; expected coordinates, a body, "
                               "body.point or ground.point");
    const ga_frame *frame = b->model->frames + anchor.node;
    double *x = out;
    for (int i = 0; i < 3; ++i) {
        x[i] = frame->x[i];
        for (int k = 0; k < 3; ++k) x[i] += frame->R[3 * k + i] * anchor.p[k];
    }
    return true;
}

static void point_fallback(const ga_field *field, void *out)
{
    (void)field;
    *(ga_anchor *)out = (ga_anchor){.node = GA_NOWHERE, .whole = true};
}

static bool read_two(ga_builder *b, const ga_value *value, const ga_field *field, char *out,
                     size_t size, const char *expected,
                     bool (*read)(ga_builder *, const ga_value *, const ga_field *, void *))
{
    if (value->kind != GA_VALUE_LIST || value->count != 2) return fail(b, value, expected);
    bool good = true;
    for (int k = 0; k < 2; ++k) {
        size_t here = ga_reader_enter_item(READER(b), k);
        good = read(b, &value->entries[k].value, field, out + (size_t)k * size) && good;
        ga_reader_leave(READER(b), here);
    }
    return good;
}

static bool read_pair(ga_builder *b, const ga_value *value, const ga_field *field, void *out)
{
    return read_two(b, value, field, out, sizeof(ga_anchor), "a list of two points",
                    read_point);
}

static void pair_fallback(const ga_field *field, void *out)
{
    point_fallback(field, out);
    point_fallback(field, (ga_anchor *)out + 1);
}

static bool read_body(ga_builder *b, const ga_value *value, const ga_field *field, void *out)
{
    (void)field;
    const char *text;
    ga_anchor anchor;
    if (!ga_read_text(READER(b), value, &text)) return false;
    if (!ga_build_anchor(b, text, &anchor)) return unknown_point(b, value, text);
    if (!anchor.whole)
        return ga_reader_error(READER(b), value->place, "`%s` is a point, expected a body",
                               text);
    *(int *)out = anchor.node;
    return true;
}

/* Node 0 as what stands for nothing would be a mistake: zero means no body. */
static void body_fallback(const ga_field *field, void *out)
{
    int node = (int)field->fallback[0];
    *(int *)out = node == 0 ? GA_NOWHERE : node;
}

static bool read_bodies(ga_builder *b, const ga_value *value, const ga_field *field, void *out)
{
    if (value->kind != GA_VALUE_LIST) return fail(b, value, "a list of bodies");
    int *nodes = arena(b, (size_t)value->count, sizeof *nodes);
    if (!nodes) return false;
    bool good = true;
    for (int k = 0; k < value->count; ++k) {
        size_t here = ga_reader_enter_item(READER(b), k);
        good = read_body(b, &value->entries[k].value, field, nodes + k) && good;
        if (good && nodes[k] == GA_GROUND)
            good = ga_reader_error(READER(b), value->entries[k].value.place,
                                   "is ground, expected a body");
        ga_reader_leave(READER(b), here);
    }
    if (good) *(ga_node_list *)out = (ga_node_list){value->count, nodes};
    return good;
}

static const char *joint_name(void *user, int k)
{
    const ga_model *model = user;
    for (int e = 0; e < model->named_count; ++e)
        if (model->named[e]->type->is_joint && k-- == 0) return model->named[e]->name;
    return NULL;
}

static bool read_joint(ga_builder *b, const ga_value *value, const ga_field *field, void *out)
{
    (void)field;
    const char *text;
    if (!ga_read_text(READER(b), value, &text)) return false;
    const ga_element *element = ga_model_find_element(b->model, text);
    if (!element) {
        const char *near = suggest(b, text, joint_name);
        return ga_reader_error(READER(b), value->place, "unknown joint `%s`%s%s%s", text,
                               near ? ", did you mean `" : ", expected the name of a joint",
                               near ? near : "", near ? "`?" : "");
    }
    if (!element->type->is_joint)
        return ga_reader_error(READER(b), value->place, "`%s` is a %s, expected a joint", text,
                               element->type->name);
    *(const ga_joint **)out = (const ga_joint *)element;
    return true;
}

static bool read_joints(ga_builder *b, const ga_value *value, const ga_field *field, void *out)
{
    return read_two(b, value, field, out, sizeof(ga_joint *), "a list of two joints",
                    read_joint);
}

static void joints_fallback(const ga_field *field, void *out)
{
    pointer_fallback(field, out);
    pointer_fallback(field, (const ga_joint **)out + 1);
}

/* A point of such a name could not be told from the body's own channel. */
static bool is_quantity(const char *name)
{
    static const char *const quantities[] = {"position",
                                             "rotation",
                                             "velocity",
                                             "angular_velocity",
                                             "acceleration",
                                             "angular_acceleration",
                                             NULL};
    for (int k = 0; quantities[k]; ++k)
        if (strcmp(quantities[k], name) == 0) return true;
    return false;
}

static bool read_points(ga_builder *b, const ga_value *value, const ga_field *field, void *out)
{
    (void)field;
    if (value->kind != GA_VALUE_MAP) return fail(b, value, "a map from names to positions");
    ga_named_point *points = arena(b, (size_t)value->count, sizeof *points);
    if (!points) return false;
    bool good = true;
    for (int k = 0; k < value->count; ++k) {
        const ga_entry *entry = value->entries + k;
        size_t here = ga_reader_enter(READER(b), entry->key);
        points[k].name = entry->key;
        if (!entry->key[0] || strchr(entry->key, '.'))
            good = ga_reader_error(READER(b), entry->place,
                                   "a name must not be empty or contain a dot");
        if (is_quantity(entry->key))
            good = ga_reader_error(
                READER(b), entry->place,
                "a point cannot be named `%s`, which is a channel of its body", entry->key);
        good = ga_read_vector(READER(b), &entry->value, points[k].p) && good;
        ga_reader_leave(READER(b), here);
    }
    if (good) *(ga_point_list *)out = (ga_point_list){value->count, points};
    return good;
}

/* --- inputs ------------------------------------------------------------------------------- */

static const ga_field input_fields[] = {
    GA_FIELD(ga_named_input, NUMBER, start, "value until it is set"),
    GA_FIELD(ga_named_input, TEXT, unit, "unit, for the reader of the file and of results"),
    {0},
};

static bool read_inputs(ga_builder *b, const ga_value *value, const ga_field *field, void *out)
{
    (void)field;
    if (value->kind != GA_VALUE_MAP) return fail(b, value, "a map from names to {start, unit}");
    ga_named_input *inputs = arena(b, (size_t)value->count, sizeof *inputs);
    const ga_value *parameters = ga_value_get(&b->model->document->root, "parameters");
    if (!inputs) return false;
    bool good = true;
    for (int k = 0; k < value->count; ++k) {
        const ga_entry *entry = value->entries + k;
        size_t here = ga_reader_enter(READER(b), entry->key);
        if (!entry->key[0] || strchr(entry->key, '.'))
            good = ga_reader_error(READER(b), entry->place,
                                   "a name must not be empty or contain a dot");
        for (int i = 0; ga_model_reserved_names[i]; ++i)
            if (strcmp(ga_model_reserved_names[i], entry->key) == 0)
                good = ga_reader_error(READER(b), entry->place, "the name `%s` is reserved",
                                       entry->key);
        if (parameters && parameters->kind == GA_VALUE_MAP &&
            ga_value_get(parameters, entry->key))
            good = ga_reader_error(READER(b), entry->place,
                                   "the name `%s` is already used, by a parameter", entry->key);
        good = ga_build_fields(b, &entry->value, input_fields, NULL, inputs + k) && good;
        inputs[k].name = entry->key;
        ga_reader_leave(READER(b), here);
    }
    if (good) *(ga_input_list *)out = (ga_input_list){value->count, inputs};
    return good;
}

/* --- groups and settings ------------------------------------------------------------------ */

static bool read_group(ga_builder *b, const ga_value *value, const ga_field *field, void *out)
{
    bool good = ga_build_fields(b, value, field->group, NULL, out);
    ((ga_group_head *)out)->given = true;
    return good;
}

static bool read_positive_part(ga_builder *b, const ga_value *map, const char *key, double *x)
{
    static const ga_field positive = {.range = GA_POSITIVE};
    const ga_value *value = ga_value_get(map, key);
    if (!value) return true;
    size_t here = ga_reader_enter(READER(b), key);
    bool good = read_number(b, value, &positive, x);
    ga_reader_leave(READER(b), here);
    return good;
}

static bool read_tolerance(ga_builder *b, const ga_value *value, const ga_field *field,
                           void *out)
{
    ga_tolerance_choice tolerance = {NAN, NAN};
    if (value->kind != GA_VALUE_MAP) {
        if (!read_number(b, value, field, &tolerance.relative)) return false;
        tolerance.absolute = tolerance.relative;
        *(ga_tolerance_choice *)out = tolerance;
        return true;
    }
    bool good = true;
    for (int k = 0; k < value->count; ++k) {
        const char *key = value->entries[k].key;
        if (strcmp(key, "relative") != 0 && strcmp(key, "absolute") != 0)
            good = ga_reader_error(READER(b), value->entries[k].place,
                                   "unknown key `%s`, expected `relative` or `absolute`", key);
    }
    good = read_positive_part(b, value, "relative", &tolerance.relative) && good;
    good = read_positive_part(b, value, "absolute", &tolerance.absolute) && good;
    if (good && value->count == 0)
        good = fail(b, value, "a number or {relative: , absolute: }");
    if (good) *(ga_tolerance_choice *)out = tolerance;
    return good;
}

static void tolerance_fallback(const ga_field *field, void *out)
{
    (void)field;
    *(ga_tolerance_choice *)out = (ga_tolerance_choice){NAN, NAN};
}

static bool read_coefficients(ga_builder *b, const ga_value *value, double *coefficients)
{
    static const char *const keys[4] = {"alpha_m", "alpha_f", "beta", "gamma"};
    bool good = true;
    for (int k = 0; k < value->count; ++k) {
        const char *key = value->entries[k].key;
        bool known = false;
        for (int i = 0; i < 4; ++i) known = known || strcmp(key, keys[i]) == 0;
        if (!known)
            good = ga_reader_error(READER(b), value->entries[k].place,
                                   "unknown key `%s`, expected alpha_m, alpha_f, beta, gamma",
                                   key);
    }
    for (int i = 0; i < 4; ++i) {
        const ga_value *number = ga_value_get(value, keys[i]);
        if (!number) {
            good = ga_reader_error(READER(b), value->place, "needs `%s`", keys[i]);
            continue;
        }
        size_t here = ga_reader_enter(READER(b), keys[i]);
        good = ga_read_number(READER(b), number, coefficients + i) && good;
        ga_reader_leave(READER(b), here);
    }
    return good;
}

static bool read_method(ga_builder *b, const ga_value *value, const ga_field *field, void *out)
{
    ga_method_choice choice = {.family = -1};
    bool good = value->kind == GA_VALUE_MAP
                    ? read_coefficients(b, value, choice.coefficients)
                    : ga_read_choice(READER(b), value, field->choices, &choice.family);
    if (good) *(ga_method_choice *)out = choice;
    return good;
}

static void method_fallback(const ga_field *field, void *out)
{
    (void)field;
    *(ga_method_choice *)out = (ga_method_choice){0};
}

/* --- the table ---------------------------------------------------------------------------- */

#define NUMBER_SCHEMA "{\"$ref\":\"#/$defs/number\"}"
#define BOTH(x)                                                                                \
    {                                                                                          \
        x, x                                                                                   \
    }
/* clang-format off */
#define NUMBERS_SCHEMA(n) \
    "{\"type\":\"array\",\"items\":" NUMBER_SCHEMA ",\"minItems\":" #n ",\"maxItems\":" #n "}"
#define SHAPES_SCHEMA(name) \
    "{\"anyOf\":[{\"$ref\":\"#/$defs/" name "\"}," \
    "{\"type\":\"array\",\"items\":{\"$ref\":\"#/$defs/" name "\"}}]}"
#define POINTS_SCHEMA(n) \
    "{\"type\":\"object\",\"propertyNames\":{\"pattern\":\"^[^.]+$\"}," \
    "\"additionalProperties\":" NUMBERS_SCHEMA(n) "}"
/* clang-format on */

static const ga_kind_type kinds[GA_KIND_COUNT] = {
    [GA_KIND_NUMBER] = {read_number, number_fallback, BOTH("number"), BOTH(NUMBER_SCHEMA)},
    [GA_KIND_INTEGER] = {read_integer, integer_fallback, BOTH("whole number"),
                         BOTH("{\"$ref\":\"#/$defs/integer\"}")},
    [GA_KIND_BOOLEAN] = {read_boolean, boolean_fallback, BOTH("true or false"),
                         BOTH("{\"enum\":[true,false,\"true\",\"false\"]}")},
    [GA_KIND_CHOICE] = {read_choice, integer_fallback, BOTH("word"), BOTH(NULL)},
    [GA_KIND_TEXT] = {read_text, pointer_fallback, BOTH("text"),
                      BOTH("{\"$ref\":\"#/$defs/name\"}")},
    [GA_KIND_PATH] = {read_path, pointer_fallback, BOTH("path"),
                      BOTH("{\"$ref\":\"#/$defs/name\"}")},
    [GA_KIND_VECTOR] = {read_vector,
                        vector_fallback,
                        {"3 numbers", "2 numbers"},
                        {NUMBERS_SCHEMA(3), NUMBERS_SCHEMA(2)}},
    [GA_KIND_PLACE] = {read_place,
                       vector_fallback,
                       {"3 numbers or a point", "2 numbers or a point"},
                       {"{\"anyOf\":[{\"type\":\"string\"}," NUMBERS_SCHEMA(3) "]}",
                        "{\"anyOf\":[{\"type\":\"string\"}," NUMBERS_SCHEMA(2) "]}"}},
    [GA_KIND_DIRECTION] = {read_direction,
                           vector_fallback,
                           {"direction, 3 numbers", "direction, 2 numbers"},
                           {NUMBERS_SCHEMA(3), NUMBERS_SCHEMA(2)}},
    [GA_KIND_NUMBERS] = {read_numbers, numbers_fallback, BOTH("numbers"), BOTH(NULL)},
    [GA_KIND_LIST] = {read_list, list_fallback, BOTH("list of numbers"),
                      BOTH("{\"type\":\"array\",\"items\":" NUMBER_SCHEMA "}")},
    [GA_KIND_MATRIX6] = {read_matrix6,
                         matrix6_fallback,
                         {"6 numbers or 6 x 6", "3 numbers or 3 x 3"},
                         {"{\"$ref\":\"#/$defs/matrix6\"}", "{\"$ref\":\"#/$defs/matrix3\"}"}},
    [GA_KIND_FUNCTION] = {read_function, pointer_fallback, BOTH("function"),
                          BOTH("{\"$ref\":\"#/$defs/function\"}")},
    [GA_KIND_FUNCTIONS] = {read_functions,
                           functions_fallback,
                           {"3 functions", "2 functions"},
                           {"{\"type\":\"array\",\"items\":{\"$ref\":\"#/$defs/function\"},"
                            "\"minItems\":3,\"maxItems\":3}",
                            "{\"type\":\"array\",\"items\":{\"$ref\":\"#/$defs/function\"},"
                            "\"minItems\":2,\"maxItems\":2}"}},
    [GA_KIND_ROTATION] = {read_rotation,
                          rotation_fallback,
                          {"rotation", "angle"},
                          {"{\"$ref\":\"#/$defs/rotation\"}", NUMBER_SCHEMA}},
    [GA_KIND_INERTIA] = {read_inertia,
                         inertia_fallback,
                         {"3 or 6 numbers", "number"},
                         {"{\"anyOf\":[" NUMBERS_SCHEMA(3) "," NUMBERS_SCHEMA(6) "]}",
                          "{\"$ref\":\"#/$defs/number\",\"exclusiveMinimum\":0}"}},
    [GA_KIND_POINT] = {read_point,
                       point_fallback,
                       BOTH("point"),
                       {"{\"$ref\":\"#/$defs/point\"}", "{\"$ref\":\"#/$defs/point2\"}"}},
    [GA_KIND_PAIR] = {read_pair,
                      pair_fallback,
                      BOTH("two points"),
                      {"{\"type\":\"array\",\"items\":{\"$ref\":\"#/$defs/point\"},"
                       "\"minItems\":2,\"maxItems\":2}",
                       "{\"type\":\"array\",\"items\":{\"$ref\":\"#/$defs/point2\"},"
                       "\"minItems\":2,\"maxItems\":2}"}},
    [GA_KIND_BODY] = {read_body, body_fallback, BOTH("body"),
                      BOTH("{\"$ref\":\"#/$defs/name\"}")},
    [GA_KIND_BODIES] = {read_bodies, list_fallback, BOTH("list of bodies"),
                        BOTH("{\"type\":\"array\",\"items\":{\"$ref\":\"#/$defs/name\"}}")},
    [GA_KIND_JOINT] = {read_joint, pointer_fallback, BOTH("joint"),
                       BOTH("{\"$ref\":\"#/$defs/name\"}")},
    [GA_KIND_JOINTS] = {read_joints, joints_fallback, BOTH("two joints"),
                        BOTH("{\"type\":\"array\",\"items\":{\"$ref\":\"#/$defs/name\"},"
                             "\"minItems\":2,\"maxItems\":2}")},
    [GA_KIND_CHANNELS] = {read_channels, list_fallback, BOTH("list of channels"),
                          BOTH("{\"type\":\"array\",\"items\":{\"$ref\":\"#/$defs/name\"}}")},
    [GA_KIND_GROUP] = {read_group, NULL, BOTH("map"), BOTH(NULL)},
    [GA_KIND_SPIN] = {read_spin,
                      vector_fallback,
                      {"3 numbers", "number"},
                      {NUMBERS_SCHEMA(3), NUMBER_SCHEMA}},
    [GA_KIND_POINTS] = {read_points,
                        list_fallback,
                        BOTH("named points"),
                        {POINTS_SCHEMA(3), POINTS_SCHEMA(2)}},
    [GA_KIND_TOLERANCE] = {read_tolerance, tolerance_fallback,
                           BOTH("number or {relative, absolute}"),
                           BOTH("{\"$ref\":\"#/$defs/tolerance\"}")},
    [GA_KIND_COLOR] = {ga_color_read, pointer_fallback, BOTH("colour"),
                       BOTH("{\"$ref\":\"#/$defs/color\"}")},
    [GA_KIND_SHAPES] = {ga_shape_read_list,
                        list_fallback,
                        BOTH("map or list of maps"),
                        {SHAPES_SCHEMA("shape"), SHAPES_SCHEMA("shape2")}},
    [GA_KIND_INPUTS] = {read_inputs, list_fallback, BOTH("map of {start, unit}"),
                        BOTH("{\"type\":\"object\",\"propertyNames\":{\"pattern\":"
                             "\"^[^.]+$\"},\"additionalProperties\":{\"type\":\"object\","
                             "\"properties\":{\"start\":" NUMBER_SCHEMA
                             ",\"unit\":{\"type\":\"string\"}},"
                             "\"additionalProperties\":false}}")},
    [GA_KIND_METHOD] = {read_method, method_fallback, BOTH("word or coefficients"), BOTH(NULL)},
};

const ga_kind_type *ga_kind_get(ga_kind kind) { return kinds + kind; }
