/* Mechanisms: bodies, joints, motions, forces, from a model file or from C.
 *
 *     ga_messages *messages = ga_messages_create();
 *     ga_model *model = NULL;
 *     if (ga_model_read("crank.yaml", NULL, &model, messages)) ... print the messages ...
 *
 * or, with the same names and the same checks,
 *
 *     ga_draft *draft = ga_draft_create();
 *     ga_draft_add(draft, "bodies", "rod",
 *                  GA_PROPERTIES(GA_NUMBER("mass", 2), GA_NUMBERS("inertia", 1, 1, 0.1)));
 *     ga_draft_add(draft, "joints", "hinge",
 *                  GA_PROPERTIES(GA_TEXT("type", "revolute"),
 *                                GA_TEXTS("between", "ground", "rod"),
 *                                GA_NUMBERS("at", 0, 0, 0), GA_NUMBERS("axis", 0, 1, 0)));
 *     ga_draft_finish(draft, &model, messages);      (frees the draft)
 *
 * docs/model.md describes the keys. A model is immutable: several simulations, in several
 * threads, may use it at the same time.
 */
#ifndef GALPHA_MODEL_H
#define GALPHA_MODEL_H

#include <galpha/messages.h>
#include <stdbool.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef struct ga_model ga_model;

typedef struct ga_model_options {
    size_t struct_size; /* set by the function that gives defaults */
    int set_count;
    const char *const *set; /* "simulate.step=1e-4": any path in the file, in order */
    bool include_anywhere;  /* allow includes and plug-ins outside the folder of the model */
    bool allow_plugins; /* false: a model that names a plug-in is rejected, because loading one
                           runs its code */
} ga_model_options;

/* Nothing set, nothing allowed. */
GA_API void ga_model_options_fill(ga_model_options *def, size_t size);
static inline ga_model_options ga_model_options_default(void)
{
    ga_model_options def;
    ga_model_options_fill(&def, sizeof def);
    return def;
}

/* GA_OK; GA_ERR_INPUT, with the errors in messages; GA_ERR_FILE; GA_ERR_MEMORY;
 * GA_ERR_ARGUMENT: options of another size, see messages. Options and messages may be null. */
GA_API ga_status ga_model_read(const char *path, const ga_model_options *options,
                               ga_model **model, ga_messages *messages);
/* The same from memory; `name` is used in messages. */
GA_API ga_status ga_model_parse(const char *name, const char *text, size_t length,
                                const ga_model_options *options, ga_model **model,
                                ga_messages *messages);
/* The same model with other values, "parameters.length=2" or any other path as in the options,
 * also of a draft. No file is read again, and the first model stays as it is; each is destroyed
 * on its own. */
GA_API ga_status ga_model_with(const ga_model *from, int set_count, const char *const *set,
                               ga_model **model, ga_messages *messages);
GA_API void ga_model_destroy(ga_model *model);

GA_API const char *ga_model_name(const ga_model *model);
/* The text of the file; "" for a draft. */
GA_API const char *ga_model_text(const ga_model *model);
GA_API int ga_model_dimension(const ga_model *model); /* 2 or 3 */
GA_API int ga_model_body_count(const ga_model *model);
GA_API const char *ga_model_body_name(const ga_model *model, int body);
/* A parameter with its value, in the order of the file; name null past the last. */
typedef struct ga_model_parameter {
    const char *name;
    double value;
    int used; /* by an expression of the model */
} ga_model_parameter;
GA_API ga_model_parameter ga_model_get_parameter(const ga_model *model, int k);
/* An entry of joints, motions or forces; name null past the last. ga_model_entry_body: the k-th
 * body it acts on, possibly "ground"; null past the last. */
typedef struct ga_model_entry {
    const char *section, *name, *type;
} ga_model_entry;
GA_API ga_model_entry ga_model_get_entry(const ga_model *model, int entry);
GA_API const char *ga_model_entry_body(const ga_model *model, int entry, int k);
/* Limits of coordinate k of a joint. */
typedef struct ga_model_limits {
    size_t struct_size;           /* set by the caller: sizeof(ga_model_limits) */
    const char *coordinate;       /* angle, displacement, ... */
    const char *unit;             /* rad or m */
    const char *model;            /* stop or buffer */
    double min, max, restitution; /* NaN: none */
} ga_model_limits;
/* 1 if there are any; 0, with the name of the coordinate, if it has none; -1 past the last, for
 * entries that are no joints, and where struct_size differs. */
GA_API int ga_model_entry_limits(const ga_model *model, int entry, int k,
                                 ga_model_limits *limits);
/* Mass in kg, type (rigid, point-mass) and names of points of a body; null past the last. */
GA_API double ga_model_body_mass(const ga_model *model, int body);
GA_API const char *ga_model_body_type(const ga_model *model, int body);
GA_API const char *ga_model_body_point(const ga_model *model, int body, int k);
/* What a viewer needs to draw the model, as JSON: bodies with their shapes, joints and forces
 * with their attachments. Null if out of memory; free with ga_text_free. docs/program.md
 * describes it. */
GA_API char *ga_model_scene(const ga_model *model);

/* An element whose constraints are violated. */
typedef struct ga_gap {
    const char *element, *type;
    const char *row;        /* the worst one: "translation along x" */
    double residual;        /* its |Phi| */
    double distance, angle; /* m, rad: distance and angle between the sides of a joint, in its
                               constrained directions; 0 for elements other than joints */
} ga_gap;

/* --- drafts ------------------------------------------------------------------------------- */

/* One property: one or several numbers, one or several texts, or nested properties. */
typedef struct ga_property {
    size_t struct_size; /* set by the macros below */
    const char *name;   /* null ends a list of properties */
    int count;          /* of numbers or texts; -1: a single one */
    const double *numbers;
    const char *const *texts;
    const struct ga_property *properties;
} ga_property;

/* Valid in the enclosing block, like all compound literals. Nested and mixed lists, such as
 * tables, can be given as text: GA_TEXT("value", "{table: [[0, 0], [1, 2]]}"). */
#define GA_NUMBER(name_, x_)                                                                   \
    {                                                                                          \
        .struct_size = sizeof(ga_property), .name = (name_), .count = -1,                      \
        .numbers = (const double[])                                                            \
        {                                                                                      \
            (x_)                                                                               \
        }                                                                                      \
    }
#define GA_NUMBERS(name_, ...)                                                                 \
    {                                                                                          \
        .struct_size = sizeof(ga_property), .name = (name_),                                   \
        .count = (int)(sizeof((const double[]){__VA_ARGS__}) / sizeof(double)),                \
        .numbers = (const double[])                                                            \
        {                                                                                      \
            __VA_ARGS__                                                                        \
        }                                                                                      \
    }
#define GA_TEXT(name_, x_)                                                                     \
    {                                                                                          \
        .struct_size = sizeof(ga_property), .name = (name_), .count = -1,                      \
        .texts = (const char *const[])                                                         \
        {                                                                                      \
            (x_)                                                                               \
        }                                                                                      \
    }
#define GA_TEXTS(name_, ...)                                                                   \
    {                                                                                          \
        .struct_size = sizeof(ga_property), .name = (name_),                                   \
        .count = (int)(sizeof((const char *const[]){__VA_ARGS__}) / sizeof(const char *)),     \
        .texts = (const char *const[])                                                         \
        {                                                                                      \
            __VA_ARGS__                                                                        \
        }                                                                                      \
    }
#define GA_GROUP(name_, ...)                                                                   \
    {                                                                                          \
        .struct_size = sizeof(ga_property), .name = (name_),                                   \
        .properties = GA_PROPERTIES(__VA_ARGS__)                                               \
    }
#define GA_PROPERTIES(...) ((const ga_property[]){__VA_ARGS__, {.name = NULL}})

typedef struct ga_draft ga_draft;

GA_API ga_draft *ga_draft_create(void); /* null if out of memory */
GA_API void ga_draft_destroy(ga_draft *draft);
/* An entry of a section: bodies, joints, motions, forces; or of simulate, output, parameters,
 * with a null name. Everything is copied. Errors are reported by finish. */
GA_API ga_status ga_draft_add(ga_draft *draft, const char *section, const char *name,
                              const ga_property *properties);
/* A top-level value: dimension, gravity, name, ground. */
GA_API ga_status ga_draft_set(ga_draft *draft, const ga_property *property);
/* Allows the model to load plug-ins from any folder, since the paths in a draft come from the
 * program itself. */
GA_API void ga_draft_allow_plugins(ga_draft *draft);
/* Builds the model and frees the draft, even on failure. */
GA_API ga_status ga_draft_finish(ga_draft *draft, ga_model **model, ga_messages *messages);

/* --- reference ---------------------------------------------------------------------------- */

/* The JSON Schema of model files and the reference of elements (all, or one by name), generated
 * from the tables of the reader. Null if out of memory or if there is no such element; free
 * with ga_text_free. */
GA_API char *ga_model_schema(void);
GA_API char *ga_model_reference(const char *element);
GA_API void ga_text_free(char *text);
/* Names of elements, in order: k-th, null past the last. */
GA_API const char *ga_model_element_name(int k);
/* The element meant by a misspelled name or a synonym (hinge, weld); null: none. */
GA_API const char *ga_model_suggest_element(const char *word);

#ifdef __cplusplus
}
#endif
#endif
