/* The JSON Schema of model files, from the tables the reader works with.
 *
 * A schema sees a file as YAML or JSON has read it: numbers, texts, lists, maps. It accepts
 * what the reader accepts as far as that can be told without knowing what names and expressions
 * stand for; a number may always be a text, an expression. What is stricter here: the schema is
 * for whole models, so that a body spread over several files is incomplete in each of them.
 *
 * Vectors and types of elements are different in planar models: definitions come twice, those
 * for planar models with a 2 at the end of their names, and `dimension` selects.
 *
 * It is first written without spaces, then laid out.
 */
#include "base/memory.h"
#include "data/function.h"
#include "data/load.h"
#include "model/shape.h"
#include "model/tables.h"

#include <stdio.h>
#include <string.h>

enum { LINE = 96 };

/* --- writing ------------------------------------------------------------------------------ */

static void comma(ga_buffer *b)
{
    char last = b->length ? b->text[b->length - 1] : '{';
    if (last != '{' && last != '[' && last != ':') ga_buffer_add(b, ",");
}

/* What help texts and names hold: no control characters. */
static void put_string(ga_buffer *b, const char *text)
{
    comma(b);
    ga_buffer_add(b, "\"");
    for (; *text; ++text) {
        if (*text == '"' || *text == '\\') ga_buffer_add(b, "\\");
        ga_buffer_add_n(b, text, 1);
    }
    ga_buffer_add(b, "\"");
}

static void put_key(ga_buffer *b, const char *key)
{
    put_string(b, key);
    ga_buffer_add(b, ":");
}

/* JSON as it is. */
static void put(ga_buffer *b, const char *json)
{
    comma(b);
    ga_buffer_add(b, json);
}

static void open(ga_buffer *b, const char *bracket) { put(b, bracket); }

static void close(ga_buffer *b, const char *bracket) { ga_buffer_add(b, bracket); }

static void put_words(ga_buffer *b, const char *key, const char *const *words)
{
    put_key(b, key);
    open(b, "[");
    for (; *words; ++words) put_string(b, *words);
    close(b, "]");
}

/* The name of a definition: `name`; an entry of a section, `joint`; a type of it,
 * `joint-revolute`. */
typedef struct label {
    const char *name;    /* null: an entry of the section */
    const char *section; /* null: none */
    int dimension;       /* 2: planar; others have no mark */
} label;

static void add_label(ga_buffer *b, label of)
{
    if (of.section) ga_buffer_add_n(b, of.section, strlen(of.section) - 1);
    if (of.section && of.name) ga_buffer_add(b, "-");
    if (of.name) ga_buffer_add(b, of.name);
    if (of.dimension == 2) ga_buffer_add(b, "2");
}

static void put_ref(ga_buffer *b, label of)
{
    put_key(b, "$ref");
    ga_buffer_add(b, "\"#/$defs/");
    add_label(b, of);
    ga_buffer_add(b, "\"");
}

static void open_definition(ga_buffer *b, label of)
{
    comma(b);
    ga_buffer_add(b, "\"");
    add_label(b, of);
    ga_buffer_add(b, "\":{");
}

static void define(ga_buffer *b, const char *name)
{
    open_definition(b, (label){.name = name});
}

/* --- fields ------------------------------------------------------------------------------- */

static void put_object(ga_buffer *b, const ga_field *fields, int dimension);

static void put_description(ga_buffer *b, const ga_field *field)
{
    ga_buffer text = {0};
    ga_buffer_add(&text, field->help);
    if (field->unit) ga_buffer_format(&text, " [%s]", field->unit);
    if (field->absent) ga_buffer_format(&text, "; default: %s", field->absent);
    put_key(b, "description");
    if (text.failed)
        b->failed = true;
    else
        put_string(b, text.text);
    ga_buffer_free(&text);
}

/* The fragment of a kind without its outer braces; the range stands beside every number. */
static void put_fragment(ga_buffer *b, const ga_field *field, const char *json)
{
    static const char number[] = "\"$ref\":\"#/$defs/number\"";
    static const char *const ranges[] = {[GA_ANY] = "",
                                         [GA_POSITIVE] = ",\"exclusiveMinimum\":0",
                                         [GA_NOT_NEGATIVE] = ",\"minimum\":0",
                                         [GA_FRACTION] = ",\"minimum\":0,\"maximum\":1"};
    const char *end = json + strlen(json) - 1, *next;
    ++json;
    comma(b);
    while ((next = strstr(json, number))) {
        next += sizeof number - 1;
        ga_buffer_add_n(b, json, (size_t)(next - json));
        ga_buffer_add(b, ranges[field->range]);
        json = next;
    }
    ga_buffer_add_n(b, json, (size_t)(end - json));
}

/* Kinds whose schema is in the field itself. */
static void put_own_schema(ga_buffer *b, const ga_field *field, int dimension)
{
    char json[120];
    switch (field->kind) {
    case GA_KIND_CHOICE:
        put_words(b, "enum", field->choices);
        break;
    case GA_KIND_METHOD:
        put_key(b, "anyOf");
        open(b, "[");
        open(b, "{");
        put_words(b, "enum", field->choices);
        close(b, "}");
        put(b, "{\"$ref\":\"#/$defs/coefficients\"}");
        close(b, "]");
        break;
    case GA_KIND_NUMBERS:
        snprintf(json, sizeof json,
                 "{\"type\":\"array\",\"items\":{\"$ref\":\"#/$defs/number\"},\"minItems\":%d,"
                 "\"maxItems\":%d}",
                 field->count, field->count);
        put_fragment(b, field, json);
        break;
    default: /* groups */
        put_object(b, field->group, dimension);
        break;
    }
}

static void put_default(ga_buffer *b, const ga_field *field, int dimension)
{
    ga_buffer text = {0};
    if (ga_field_write_default(&text, field, dimension) && !text.failed) {
        put_key(b, "default");
        if (field->kind == GA_KIND_CHOICE || field->kind == GA_KIND_METHOD)
            put_string(b, text.text);
        else
            put(b, text.text);
    }
    b->failed = b->failed || text.failed;
    ga_buffer_free(&text);
}

static void put_field(ga_buffer *b, const ga_field *field, int dimension)
{
    const char *json = ga_kind_get(field->kind)->schema[dimension == 2];
    put_key(b, field->name);
    open(b, "{");
    put_description(b, field);
    if (json)
        put_fragment(b, field, json);
    else
        put_own_schema(b, field, dimension);
    put_default(b, field, dimension);
    close(b, "}");
}

static void put_fields(ga_buffer *b, const ga_field *fields, int dimension)
{
    for (const ga_field *f = fields; f->name; ++f)
        if (ga_field_is_in(f, dimension)) put_field(b, f, dimension);
}

/* `first` is required too, unless it is null. */
static void put_required(ga_buffer *b, const ga_field *fields, int dimension, const char *first)
{
    int count = first != NULL;
    for (const ga_field *f = fields; f->name; ++f)
        count += f->required && ga_field_is_in(f, dimension);
    if (!count) return;
    put_key(b, "required");
    open(b, "[");
    if (first) put_string(b, first);
    for (const ga_field *f = fields; f->name; ++f)
        if (f->required && ga_field_is_in(f, dimension)) put_string(b, f->name);
    close(b, "]");
}

/* The inside of the schema of a map with these fields and no others. */
static void put_object(ga_buffer *b, const ga_field *fields, int dimension)
{
    put(b, "\"type\":\"object\"");
    put_key(b, "properties");
    open(b, "{");
    put_fields(b, fields, dimension);
    close(b, "}");
    put_required(b, fields, dimension, NULL);
    put(b, "\"additionalProperties\":false");
}

/* --- definitions that do not come from tables ----------------------------------------------
 */

#define NUMBER "{\"$ref\":\"#/$defs/number\"}"
#define POSITIVE "{\"$ref\":\"#/$defs/number\",\"exclusiveMinimum\":0}"
#define LIST_OF(n, items)                                                                      \
    "{\"type\":\"array\",\"items\":" items ",\"minItems\":" #n ",\"maxItems\":" #n "}"
#define SQUARE(n) "\"anyOf\":[" LIST_OF(n, NUMBER) "," LIST_OF(n, LIST_OF(n, NUMBER)) "]"
#define ONLY(key, value)                                                                       \
    "{\"type\":\"object\",\"properties\":{\"" key "\":" value "},\"required\":[\"" key         \
    "\"],\"additionalProperties\":false}"

static const struct {
    const char *name, *description, *json;
} definitions[] = {
    {"number", "a number; as text an expression, \"2*m*L\", or an angle, 30 deg",
     "\"type\":[\"number\",\"string\"],\"minLength\":1"},
    {"integer", "a whole number, or an expression",
     "\"type\":[\"integer\",\"string\"],\"minLength\":1"},
    {"name", "a name or text; YAML may take some for numbers or booleans",
     "\"type\":[\"string\",\"number\",\"boolean\"]"},
    {"point", "ground, a body, body.point, ground.point, or coordinates in the world",
     "\"anyOf\":[{\"$ref\":\"#/$defs/name\"}," LIST_OF(3, NUMBER) "]"},
    {"point2", "ground, a body, body.point, ground.point, or coordinates in the world",
     "\"anyOf\":[{\"$ref\":\"#/$defs/name\"}," LIST_OF(2, NUMBER) "]"},
    {"matrix6", "six numbers, the diagonal, or six rows of six", SQUARE(6)},
    {"matrix3", "three numbers, the diagonal for x, y and the rotation, or three rows of three",
     SQUARE(3)},
    {"rotation", "by axis and angle, by unit quaternion, by matrix, or by angles about x, y, z",
     "\"type\":\"object\",\"anyOf\":["
     "{\"properties\":{\"axis\":" LIST_OF(
         3,
         NUMBER) ",\"angle\":" NUMBER "},"
                 "\"required\":[\"axis\",\"angle\"],\"additionalProperties\":false}," ONLY(
                     "quaternion",
                     LIST_OF(
                         4,
                         NUMBER)) "," ONLY("matrix",
                                           LIST_OF(
                                               3,
                                               LIST_OF(3, NUMBER))) "," ONLY("xyz",
                                                                             LIST_OF(
                                                                                 3,
                                                                                 NUMBER)) "]"},
    {"tolerance", "one number for both, or a map",
     "\"anyOf\":[" POSITIVE ",{\"type\":\"object\",\"properties\":{\"relative\":" POSITIVE
     ",\"absolute\":" POSITIVE "},\"minProperties\":1,\"additionalProperties\":false}]"},
    {"coefficients", "coefficients of a generalized-alpha method",
     "\"type\":\"object\",\"properties\":{\"alpha_m\":" NUMBER ",\"alpha_f\":" NUMBER
     ",\"beta\":" NUMBER ",\"gamma\":" NUMBER "},"
     "\"required\":[\"alpha_m\",\"alpha_f\",\"beta\",\"gamma\"],"
     "\"additionalProperties\":false"},
    {"include", "files to include, relative to this one",
     "\"anyOf\":[{\"$ref\":\"#/$defs/name\"},"
     "{\"type\":\"array\",\"items\":{\"$ref\":\"#/$defs/name\"}}]"},
};

/* Rules between the fields of a section, which the reader checks after it has read them. */
static const char body_rules[] =
    "\"if\":{\"properties\":{\"type\":{\"const\":\"point-mass\"}},\"required\":[\"type\"]},"
    "\"then\":{\"properties\":{\"inertia\":false,\"rotation\":false,"
    "\"angular_velocity\":false,\"points\":{\"maxProperties\":0}}},"
    "\"else\":{\"required\":[\"inertia\"]}";

#define NEWMARK                                                                                \
    "{\"properties\":{\"method\":{\"const\":\"newmark\"}},\"required\":[\"method\"]}"
static const char simulate_rules[] =
    "\"dependentSchemas\":{"
    "\"step\":{\"properties\":{\"tolerance\":false,\"first_step\":false,\"min_step\":false,"
    "\"max_step\":false}},"
    "\"rho_inf\":{\"properties\":{\"method\":{\"enum\":[\"generalized-alpha\",\"wbz\"]}}},"
    "\"alpha\":{\"properties\":{\"method\":{\"const\":\"hht\"}},\"required\":[\"method\"]},"
    "\"beta\":" NEWMARK ",\"gamma\":" NEWMARK "}";

/* --- functions ---------------------------------------------------------------------------- */

static void put_function_field(ga_buffer *b, const ga_function_field *field)
{
    put_key(b, field->name);
    open(b, "{");
    put_key(b, "description");
    put_string(b, field->help);
    switch (field->kind) {
    case GA_FUNCTION_NUMBER:
        put_ref(b, (label){.name = "number"});
        break;
    case GA_FUNCTION_CHOICE:
        put_words(b, "enum", field->choices);
        put_key(b, "default");
        put_string(b, field->choices[0]);
        break;
    case GA_FUNCTION_POINTS:
        put(b, "\"type\":\"array\",\"items\":" LIST_OF(2, NUMBER) ",\"minItems\":2");
        break;
    }
    close(b, "}");
}

/* Two fields of which only one may stand; one must if they are required. */
static void put_alternative(ga_buffer *b, const ga_function_field *field)
{
    char json[200];
    snprintf(json, sizeof json,
             field->required ? "\"oneOf\":[{\"required\":[\"%s\"]},{\"required\":[\"%s\"]}]"
                             : "\"not\":{\"required\":[\"%s\",\"%s\"]}",
             field->name, field->instead);
    put(b, json);
}

static void put_function_fields(ga_buffer *b, const ga_function_form *form)
{
    put(b, "\"type\":\"object\"");
    put_key(b, "properties");
    open(b, "{");
    for (const ga_function_field *f = form->fields; f->name; ++f) put_function_field(b, f);
    close(b, "}");
    put_key(b, "required");
    open(b, "[");
    for (const ga_function_field *f = form->fields; f->name; ++f)
        if (f->required && !f->instead) put_string(b, f->name);
    close(b, "]");
    for (const ga_function_field *f = form->fields; f->name; ++f)
        if (f->instead && strcmp(f->name, f->instead) < 0) put_alternative(b, f);
    put(b, "\"additionalProperties\":false");
}

static void put_function_form(ga_buffer *b, const ga_function_form *form)
{
    open(b, "{");
    put_key(b, "description");
    put_string(b, form->help);
    if (form->nested) {
        put(b, "\"type\":\"object\"");
        put_key(b, "properties");
        open(b, "{");
        put_key(b, form->name);
        open(b, "{");
        put_function_fields(b, form);
        close(b, "}");
        close(b, "}");
        put_words(b, "required", (const char *const[]){form->name, NULL});
        put(b, "\"additionalProperties\":false");
    } else {
        put_function_fields(b, form);
    }
    close(b, "}");
}

static void define_function(ga_buffer *b)
{
    const ga_function_form *form;
    define(b, "function");
    put(b, "\"description\":\"a number, an expression of t, or one of the forms\"");
    put_key(b, "anyOf");
    open(b, "[");
    put(b, NUMBER);
    for (int k = 0; (form = ga_function_form_get(k)); ++k) put_function_form(b, form);
    close(b, "]");
    close(b, "}");
}

/* --- names -------------------------------------------------------------------------------- */

static void define_names(ga_buffer *b)
{
    define(b, "new-name");
    put(b, "\"description\":\"unique in the file, without a dot\",\"pattern\":\"^[^.]+$\"");
    put_key(b, "not");
    open(b, "{");
    put_words(b, "enum", ga_model_reserved_names);
    close(b, "}");
    close(b, "}");

    define(b, "variable");
    put(b, "\"description\":\"a name for expressions\","
           "\"pattern\":\"^[A-Za-z_][A-Za-z0-9_]*$\"");
    put_key(b, "not");
    open(b, "{");
    put_words(b, "enum", ga_reserved_names);
    close(b, "}");
    close(b, "}");
}

/* --- bodies and elements ------------------------------------------------------------------ */

/* Every entry may have `when` where it is repeated; elsewhere put_section takes it away. */
static void put_when(ga_buffer *b)
{
    put_key(b, "when");
    put(b, "{\"description\":\"in a repeated entry: the entry is omitted where this is "
           "0\",\"$ref\":\"#/$defs/number\"}");
}

static void define_body(ga_buffer *b, int dimension)
{
    open_definition(b, (label){"body", NULL, dimension});
    put(b, "\"type\":\"object\"");
    put_key(b, "properties");
    open(b, "{");
    put_fields(b, ga_body_fields, dimension);
    put_when(b);
    close(b, "}");
    put_required(b, ga_body_fields, dimension, NULL);
    put(b, body_rules);
    put(b, "\"additionalProperties\":false");
    close(b, "}");
}

static void define_color(ga_buffer *b)
{
    define(b, "color");
    put(b, "\"description\":\"a word, or #rrggbb\"");
    put_key(b, "anyOf");
    open(b, "[");
    open(b, "{");
    put_key(b, "enum");
    open(b, "[");
    for (const ga_color_name *c = ga_color_names; c->name; ++c) put_string(b, c->name);
    close(b, "]");
    close(b, "}");
    put(b, "{\"type\":\"string\",\"pattern\":\"^#[0-9a-fA-F]{6}$\"}");
    close(b, "]");
    close(b, "}");
}

static void define_shape(ga_buffer *b, int dimension)
{
    open_definition(b, (label){"shape", NULL, dimension});
    put(b, "\"description\":\"shape of a body: one form and its placement\"");
    put_object(b, ga_shape_fields, dimension);
    put_key(b, "oneOf");
    open(b, "[");
    for (const char *const *form = ga_shape_forms; *form; ++form) {
        open(b, "{");
        put_words(b, "required", (const char *const[]){*form, NULL});
        close(b, "}");
    }
    close(b, "]");
    put(b, "\"dependentRequired\":{\"scale\":[\"mesh\"]}");
    close(b, "}");
}

static label label_of(const ga_element_type *type, int dimension)
{
    return (label){type->name, type->section, dimension};
}

/* Where a section has one type only, there is no `type`. */
static bool has_types(const char *section, int dimension)
{
    return ga_section_type(section, dimension, 1) != NULL;
}

static void define_type(ga_buffer *b, const ga_element_type *type, int dimension)
{
    bool with_type = has_types(type->section, dimension);
    open_definition(b, label_of(type, dimension));
    put_key(b, "description");
    put_string(b, type->help);
    put(b, "\"type\":\"object\"");
    put_key(b, "properties");
    open(b, "{");
    if (with_type) {
        put_key(b, "type");
        open(b, "{");
        put_key(b, "const");
        put_string(b, type->name);
        close(b, "}");
    }
    put_fields(b, type->fields, dimension);
    put_when(b);
    close(b, "}");
    put_required(b, type->fields, dimension, with_type ? "type" : NULL);
    put(b, "\"additionalProperties\":false");
    close(b, "}");
}

static void put_case(ga_buffer *b, const ga_element_type *type, int dimension)
{
    open(b, "{");
    put_key(b, "if");
    open(b, "{");
    put_key(b, "properties");
    open(b, "{");
    put_key(b, "type");
    open(b, "{");
    put_key(b, "const");
    put_string(b, type->name);
    close(b, "}");
    close(b, "}");
    close(b, "}");
    put_key(b, "then");
    open(b, "{");
    put_ref(b, label_of(type, dimension));
    close(b, "}");
    close(b, "}");
}

static void put_type_names(ga_buffer *b, const char *section, int dimension)
{
    const ga_element_type *type;
    put_key(b, "properties");
    open(b, "{");
    put_key(b, "type");
    open(b, "{");
    put_key(b, "enum");
    open(b, "[");
    for (int k = 0; (type = ga_section_type(section, dimension, k)); ++k)
        put_string(b, type->name);
    close(b, "]");
    close(b, "}");
    close(b, "}");
    put_words(b, "required", (const char *const[]){"type", NULL});
}

static void define_elements(ga_buffer *b, const char *section, int dimension)
{
    const ga_element_type *type;
    for (int k = 0; (type = ga_section_type(section, dimension, k)); ++k)
        define_type(b, type, dimension);
    open_definition(b, (label){NULL, section, dimension});
    put(b, "\"type\":\"object\"");
    if (has_types(section, dimension)) {
        put_type_names(b, section, dimension);
        put_key(b, "allOf");
        open(b, "[");
        for (int k = 0; (type = ga_section_type(section, dimension, k)); ++k)
            put_case(b, type, dimension);
        close(b, "]");
    } else if ((type = ga_section_type(section, dimension, 0))) {
        put_ref(b, label_of(type, dimension));
    }
    close(b, "}");
}

/* --- sections ----------------------------------------------------------------------------- */

typedef enum repeated { ONCE, REPEATED } repeated;

static void put_section(ga_buffer *b, const char *section, label entry, repeated how)
{
    put_key(b, section);
    open(b, "{");
    put(b, "\"type\":[\"object\",\"null\"],"
           "\"propertyNames\":{\"$ref\":\"#/$defs/new-name\"}");
    put_key(b, "additionalProperties");
    open(b, "{");
    put_ref(b, entry);
    if (how == ONCE) put(b, "\"properties\":{\"when\":false}");
    close(b, "}");
    close(b, "}");
}

static void put_sections(ga_buffer *b, int dimension, repeated how)
{
    put_section(b, "bodies", (label){"body", NULL, dimension}, how);
    for (const char *const *s = ga_element_sections; *s; ++s)
        put_section(b, *s, (label){NULL, *s, dimension}, how);
}

static void define_repeat(ga_buffer *b, int dimension)
{
    open_definition(b, (label){"block", NULL, dimension});
    put(b, "\"description\":\"entries that are repeated; {i} in names and values stands for "
           "the index, i in expressions too\",\"type\":\"object\"");
    put_key(b, "properties");
    open(b, "{");
    put(b, "\"count\":{\"description\":\"number of "
           "repetitions\",\"$ref\":\"#/$defs/"
           "integer\",\"minimum\":0},\"index\":{\"description\":\"name of the "
           "index\",\"type\":\"string\",\"$ref\":\"#/$defs/"
           "variable\",\"default\":\"i\"},\"from\":{\"description\":\"first value of the "
           "index\",\"$ref\":\"#/$defs/integer\",\"default\":0}");
    put_key(b, "repeat");
    open(b, "{");
    put_ref(b, (label){"repeat", NULL, dimension});
    close(b, "}");
    put_sections(b, dimension, REPEATED);
    close(b, "}");
    put(b, "\"required\":[\"count\"],\"additionalProperties\":false");
    close(b, "}");

    open_definition(b, (label){"repeat", NULL, dimension});
    put(b, "\"description\":\"a block of entries, or a list of blocks\"");
    put_key(b, "anyOf");
    open(b, "[");
    open(b, "{");
    put_ref(b, (label){"block", NULL, dimension});
    close(b, "}");
    put(b, "{\"type\":\"array\"");
    put_key(b, "items");
    open(b, "{");
    put_ref(b, (label){"block", NULL, dimension});
    close(b, "}");
    close(b, "}");
    close(b, "]");
    close(b, "}");
}

/* --- the file ----------------------------------------------------------------------------- */

static bool differs_by_dimension(const ga_field *field)
{
    const ga_kind_type *kind = ga_kind_get(field->kind);
    return field->where != GA_ANYWHERE || kind->schema[0] != kind->schema[1];
}

/* What has its own values rather than those of its kind. */
static const char *values_of(const ga_field *field)
{
    if (strcmp(field->name, "galpha") == 0) return "{\"enum\":[1,\"1\"]}";
    if (strcmp(field->name, "dimension") == 0) return "{\"enum\":[2,3,\"2\",\"3\"]}";
    return NULL;
}

static void put_head_field(ga_buffer *b, const ga_field *field)
{
    const char *values = values_of(field);
    if (!values) {
        put_field(b, field, 3);
        return;
    }
    put_key(b, field->name);
    open(b, "{");
    put_description(b, field);
    put_fragment(b, field, values);
    put_default(b, field, 3);
    close(b, "}");
}

/* Keys at the top that mean the same in planar and spatial models, and the names of others. */
static void put_top(ga_buffer *b)
{
    put_key(b, "properties");
    open(b, "{");
    for (const ga_field *f = ga_head_fields; f->name; ++f) {
        if (!differs_by_dimension(f)) {
            put_head_field(b, f);
            continue;
        }
        put_key(b, f->name);
        put(b, "true");
    }
    put(b, "\"include\":{\"$ref\":\"#/$defs/include\"}");
    put(b, "\"parameters\":{\"description\":\"named numbers for use in "
           "expressions\",\"type\":[\"object\",\"null\"],\"propertyNames\":{\"$ref\":\"#/$defs/"
           "variable\"},\"additionalProperties\":" NUMBER "}");
    put(b, "\"bodies\":true");
    for (const char *const *s = ga_element_sections; *s; ++s) {
        put_key(b, *s);
        put(b, "true");
    }
    put(b, "\"repeat\":true");
    put(b, "\"simulate\":{\"anyOf\":[{\"$ref\":\"#/$defs/simulate\"},{\"type\":\"null\"}]}");
    put(b, "\"output\":{\"anyOf\":[{\"$ref\":\"#/$defs/output\"},{\"type\":\"null\"}]}");
    close(b, "}");
}

static void define_file(ga_buffer *b, int dimension)
{
    open_definition(b, (label){"file", NULL, dimension});
    put_key(b, "properties");
    open(b, "{");
    for (const ga_field *f = ga_head_fields; f->name; ++f)
        if (differs_by_dimension(f) && ga_field_is_in(f, dimension)) put_field(b, f, dimension);
    put_sections(b, dimension, ONCE);
    put_key(b, "repeat");
    put(b, "{\"anyOf\":[{");
    put_ref(b, (label){"repeat", NULL, dimension});
    close(b, "},{\"type\":\"null\"}]}");
    close(b, "}");
    close(b, "}");
}

static void define_all(ga_buffer *b)
{
    put_key(b, "$defs");
    open(b, "{");
    for (size_t k = 0; k < sizeof definitions / sizeof *definitions; ++k) {
        define(b, definitions[k].name);
        put_key(b, "description");
        put_string(b, definitions[k].description);
        put(b, definitions[k].json);
        close(b, "}");
    }
    define_function(b);
    define_names(b);
    define_color(b);
    define(b, "simulate");
    put_object(b, ga_simulate_fields, 3);
    put(b, simulate_rules);
    close(b, "}");
    define(b, "output");
    put_object(b, ga_output_fields, 3);
    close(b, "}");
    for (int dimension = 3; dimension >= 2; --dimension) {
        define_file(b, dimension);
        define_repeat(b, dimension);
        define_shape(b, dimension);
        define_body(b, dimension);
        for (const char *const *s = ga_element_sections; *s; ++s)
            define_elements(b, *s, dimension);
    }
    close(b, "}");
}

/* What has no default may stand in an included file. */
static const char needs[] =
    "\"allOf\":["
    "{\"anyOf\":[{\"required\":[\"galpha\"]},{\"required\":[\"include\"]}]},"
    "{\"anyOf\":[{\"required\":[\"bodies\"],\"properties\":{\"bodies\":{\"type\":\"object\","
    "\"minProperties\":1}}},{\"required\":[\"repeat\"]},{\"required\":[\"include\"]}]}]";

static void write_schema(ga_buffer *b)
{
    open(b, "{");
    put(b, "\"$schema\":\"https://json-schema.org/draft/2020-12/schema\","
           "\"title\":\"galpha model file, format 1\",\"type\":\"object\"");
    put_top(b);
    put(b, "\"additionalProperties\":false");
    put(b, needs);
    put(b, "\"if\":{\"properties\":{\"dimension\":{\"enum\":[2,\"2\"]}},"
           "\"required\":[\"dimension\"]},"
           "\"then\":{\"$ref\":\"#/$defs/file2\"},\"else\":{\"$ref\":\"#/$defs/file\"}");
    define_all(b);
    close(b, "}");
}

/* --- layout ------------------------------------------------------------------------------- */

static const char *skip_string(const char *p)
{
    for (++p; *p != '"'; ++p)
        if (*p == '\\') ++p;
    return p + 1;
}

/* The end of the value at p, and its width on one line. */
static const char *skip_value(const char *p, size_t *width)
{
    const char *start = p;
    size_t spaces = 0;
    int depth = 0;
    do {
        if (*p == '"') {
            p = skip_string(p);
            continue;
        }
        depth += (*p == '{' || *p == '[') - (*p == '}' || *p == ']');
        spaces += depth > 0 && (*p == ',' || *p == ':');
        ++p;
    } while (depth > 0 || (*p && !strchr(",:]}", *p)));
    *width = (size_t)(p - start) + spaces;
    return p;
}

static void copy_inline(ga_buffer *out, const char *p, const char *end)
{
    while (p < end) {
        const char *next = *p == '"' ? skip_string(p) : p + 1;
        ga_buffer_add_n(out, p, (size_t)(next - p));
        if ((*p == ',' || *p == ':') && (p[1] != ' ')) ga_buffer_add(out, " ");
        p = next;
    }
}

/* A value that starts at this column, on one line if it fits. Nothing here nests deeper than
 * the tables do. */
static const char *lay_out(ga_buffer *out, const char *p, size_t indent, size_t column)
{
    size_t width;
    const char *end = skip_value(p, &width);
    if ((*p != '{' && *p != '[') || column + width < LINE) {
        copy_inline(out, p, end);
        return end;
    }
    ga_buffer_add_n(out, p++, 1);
    while (p < end - 1) {
        size_t at = indent + 2;
        ga_buffer_add(out, "\n");
        ga_buffer_fill(out, ' ', at);
        const char *after = skip_value(p, &width);
        if (*after == ':') {
            copy_inline(out, p, after + 1);
            at += (size_t)(after - p) + 2;
            p = after + 1;
        }
        p = lay_out(out, p, indent + 2, at);
        if (*p == ',') ga_buffer_add_n(out, p++, 1);
    }
    ga_buffer_add(out, "\n");
    ga_buffer_fill(out, ' ', indent);
    ga_buffer_add_n(out, p, 1);
    return end;
}

char *ga_model_schema(void)
{
    ga_buffer compact = {0}, laid_out = {0};
    write_schema(&compact);
    if (!compact.failed) {
        lay_out(&laid_out, compact.text, 0, 0);
        ga_buffer_add(&laid_out, "\n");
    }
    laid_out.failed = laid_out.failed || compact.failed;
    ga_buffer_free(&compact);
    return ga_buffer_take(&laid_out);
}

void ga_text_free(char *text) { ga_free(text); }
