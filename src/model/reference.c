/* The reference of elements, for terminals: lines of at most 96 columns, tables with aligned
 * columns, made from the tables of fields.
 */
#include "element/observe.h"
#include "model/tables.h"

#include <string.h>

enum { LINE = 96, GAP = 2, MAX_TYPE = 24 };

/* --- text --------------------------------------------------------------------------------- */

/* How much of a text goes on a line of this width: up to a space if there is one. */
static size_t line_length(const char *text, size_t width)
{
    size_t length = strlen(text);
    if (length <= width) return length;
    size_t at = width;
    while (at > 0 && text[at] != ' ') --at;
    return at ? at : width;
}

/* Takes a line off a text. */
static const char *put_line(ga_buffer *out, const char **text, size_t width)
{
    size_t length = line_length(*text, width);
    ga_buffer_add_n(out, *text, length);
    ga_buffer_fill(out, ' ', width - length);
    *text += length;
    while (**text == ' ') ++*text;
    return *text;
}

static void trim(ga_buffer *out)
{
    while (!out->failed && out->length && out->text[out->length - 1] == ' ')
        out->text[--out->length] = '\0';
}

static void put_paragraph(ga_buffer *out, size_t indent, const char *text)
{
    do {
        ga_buffer_fill(out, ' ', indent);
        put_line(out, &text, LINE - indent);
        trim(out);
        ga_buffer_add(out, "\n");
    } while (*text);
}

static void put_title(ga_buffer *out, const char *title)
{
    ga_buffer_format(out, "\n%s\n", title);
}

/* --- tables ------------------------------------------------------------------------------- */

/* Cells of a row stand in one text, divided by tabs; rows end with a line break. */
enum { MAX_COLUMNS = 4 };

typedef struct table {
    int columns;
    ga_buffer rows;
} table;

static void next_cell(table *t) { ga_buffer_add(&t->rows, "\t"); }

static void end_row(table *t) { ga_buffer_add(&t->rows, "\n"); }

static size_t cell_length(const char *cell) { return strcspn(cell, "\t\n"); }

/* As wide as the widest cell, but for a limit; the last column gets what is left. */
static void set_widths(const table *t, size_t indent, size_t widths[MAX_COLUMNS])
{
    size_t left = LINE - indent;
    for (int k = 0; k < MAX_COLUMNS; ++k) widths[k] = 0;
    int column = 0;
    for (const char *p = t->rows.text; *p; ++p) {
        size_t length = cell_length(p);
        if (length > widths[column]) widths[column] = length;
        p += length;
        column = *p == '\t' ? column + 1 : 0;
    }
    for (int k = 0; k < t->columns - 1; ++k) {
        if (widths[k] > MAX_TYPE) widths[k] = MAX_TYPE;
        left -= widths[k] + (widths[k] ? GAP : 0);
    }
    widths[t->columns - 1] = left;
}

/* Copies of the cells of a row, ended by NUL. */
static char *split(char *p, int columns, const char *cells[MAX_COLUMNS])
{
    for (int k = 0; k < columns; ++k) {
        cells[k] = p;
        p += cell_length(p);
        *p++ = '\0';
    }
    return p;
}

/* The first column keeps its leading spaces: they say what belongs to a group. */
static void put_row(ga_buffer *out, const table *t, const size_t *widths, size_t indent,
                    const char *cells[MAX_COLUMNS])
{
    bool more = true;
    while (more) {
        more = false;
        ga_buffer_fill(out, ' ', indent);
        for (int k = 0; k < t->columns; ++k) {
            if (!widths[k]) continue;
            more = *put_line(out, cells + k, widths[k]) || more;
            ga_buffer_fill(out, ' ', GAP);
        }
        trim(out);
        ga_buffer_add(out, "\n");
    }
}

static void put_table(ga_buffer *out, table *t, size_t indent)
{
    size_t widths[MAX_COLUMNS];
    const char *cells[MAX_COLUMNS];
    if (t->rows.failed) out->failed = true;
    if (!t->rows.failed && t->rows.length) {
        set_widths(t, indent, widths);
        for (char *p = t->rows.text; *p;) {
            p = split(p, t->columns, cells);
            put_row(out, t, widths, indent, cells);
        }
    }
    ga_buffer_free(&t->rows);
}

/* --- fields ------------------------------------------------------------------------------- */

static void put_words(ga_buffer *out, const char *const *words)
{
    for (int k = 0; words[k]; ++k) ga_buffer_format(out, "%s%s", k ? ", " : "", words[k]);
}

/* number > 0, kg; 3 numbers, m; planar: 2 numbers */
static void put_type(ga_buffer *out, const ga_field *field)
{
    static const char *const ranges[] = {[GA_ANY] = "",
                                         [GA_POSITIVE] = " > 0",
                                         [GA_NOT_NEGATIVE] = " >= 0",
                                         [GA_FRACTION] = ", 0 to 1"};
    const char *const *texts = ga_kind_get(field->kind)->text;
    if (field->kind == GA_KIND_NUMBERS) ga_buffer_format(out, "%d ", field->count);
    ga_buffer_add(out, texts[field->where == GA_PLANAR]);
    ga_buffer_add(out, ranges[field->range]);
    if (field->unit) ga_buffer_format(out, ", %s", field->unit);
    if (field->where == GA_ANYWHERE && strcmp(texts[0], texts[1]) != 0)
        ga_buffer_format(out, "; planar: %s", texts[1]);
}

static void put_default(ga_buffer *out, const ga_field *field)
{
    if (field->required)
        ga_buffer_add(out, "required");
    else if (field->absent && strcspn(field->absent, " ") == strlen(field->absent))
        ga_buffer_add(out, field->absent);
    else if (!field->choices) /* put_meaning marks the word that is the default */
        ga_field_write_default(out, field, field->where == GA_PLANAR ? 2 : 3);
}

static void put_choices(ga_buffer *out, const ga_field *field)
{
    const int chosen = field->required || field->absent ? -1 : (int)field->fallback[0];
    ga_buffer_add(out, "; one of: ");
    for (int k = 0; field->choices[k]; ++k)
        ga_buffer_format(out, "%s%s%s", k ? ", " : "", field->choices[k],
                         k == chosen ? " (default)" : "");
}

static void put_meaning(ga_buffer *out, const ga_field *field)
{
    ga_buffer_add(out, field->help);
    if (field->choices) put_choices(out, field);
    if (field->absent && strchr(field->absent, ' '))
        ga_buffer_format(out, "; default: %s", field->absent);
    if (field->where == GA_SPATIAL) ga_buffer_add(out, " (spatial models)");
    if (field->where == GA_PLANAR) ga_buffer_add(out, " (planar models)");
}

/* Fields of groups and shapes stand below them, further in; the tables end that nesting. */
static void add_fields(table *t, const ga_field *fields, size_t depth)
{
    for (const ga_field *f = fields; f->name; ++f) {
        ga_buffer_fill(&t->rows, ' ', 2 * depth);
        ga_buffer_add(&t->rows, f->name);
        next_cell(t);
        put_type(&t->rows, f);
        next_cell(t);
        put_default(&t->rows, f);
        next_cell(t);
        put_meaning(&t->rows, f);
        end_row(t);
        if (f->group) add_fields(t, f->group, depth + 1);
    }
}

static void put_fields(ga_buffer *out, const ga_field *fields)
{
    table t = {.columns = 4};
    add_fields(&t, fields, 0);
    put_title(out, "Fields");
    put_table(out, &t, 2);
}

/* --- elements ----------------------------------------------------------------------------- */

static void add_channel(table *t, const ga_channel_type *channel)
{
    ga_buffer_add(&t->rows, channel->name);
    next_cell(t);
    if (channel->count == 0)
        ga_buffer_add(&t->rows, "numbers");
    else if (channel->count == 1)
        ga_buffer_add(&t->rows, "number");
    else
        ga_buffer_format(&t->rows, "%d numbers", channel->count);
    if (channel->unit) ga_buffer_format(&t->rows, ", %s", channel->unit);
    next_cell(t);
    ga_buffer_add(&t->rows, channel->help ? channel->help : "");
    end_row(t);
}

static void put_channels(ga_buffer *out, const ga_channel_type *channels)
{
    if (!channels || !channels->name) return;
    table t = {.columns = 3};
    for (; channels->name; ++channels) add_channel(&t, channels);
    put_title(out, "Channels");
    put_table(out, &t, 2);
}

/* What its expressions may use, and what it has for those of others. */
static void put_variables(ga_buffer *out, const ga_element_type *type)
{
    ga_buffer text = {0};
    if (!type->observation_at && !type->measures) return;
    if (type->observation_at) {
        ga_buffer_add(&text, "Its functions may use t, ");
        if (type->own_variables) {
            put_words(&text, type->own_variables);
            ga_buffer_add(&text, ", ");
        }
        ga_buffer_add(&text, type->inputs_only
                                 ? "inputs and parameters. "
                                 : "inputs, positions and velocities of bodies, such as "
                                   "rod.position.x, and coordinates of joints, such as "
                                   "hinge.angle. ");
    }
    if (type->measures) {
        ga_buffer_add(&text, "Functions of other elements may use its ");
        for (const ga_measure *m = type->measures; m->name; ++m)
            ga_buffer_format(&text, "%s%s", m == type->measures ? "" : ", ", m->name);
        ga_buffer_add(&text, ".");
    }
    put_title(out, "Expressions");
    if (text.failed)
        out->failed = true;
    else
        put_paragraph(out, 2, text.text);
    ga_buffer_free(&text);
}

/* On a line of its own, so that what does not fit may go on in the next one. */
static void put_example(ga_buffer *out, const char *title, const char *section,
                        const char *example)
{
    if (!example) return;
    put_title(out, title);
    ga_buffer_format(out, "  %s:\n    name:\n", section);
    put_paragraph(out, 6, example);
}

static void put_element(ga_buffer *out, const ga_element_type *type)
{
    ga_buffer_format(out, "%s (%s)\n\n", type->name, type->section);
    put_paragraph(out, 2, type->help);
    if (type->where == GA_SPATIAL) put_paragraph(out, 2, "Only in spatial models.");
    if (type->where == GA_PLANAR) put_paragraph(out, 2, "Only in planar models.");
    put_example(out, "Example", type->section, type->example);
    put_example(out, "Example, planar", type->section, type->planar_example);
    put_fields(out, type->fields);
    put_channels(out, type->channels);
    put_variables(out, type);
}

/* --- functions ---------------------------------------------------------------------------- */

static void add_function_field(table *t, const ga_function_field *field)
{
    static const char *const kinds[] = {[GA_FUNCTION_NUMBER] = "number",
                                        [GA_FUNCTION_POINTS] = "list of points",
                                        [GA_FUNCTION_CHOICE] = "word"};
    ga_buffer_add(&t->rows, field->name);
    next_cell(t);
    ga_buffer_add(&t->rows, kinds[field->kind]);
    next_cell(t);
    if (field->instead)
        ga_buffer_add(&t->rows, "one of two");
    else if (field->required)
        ga_buffer_add(&t->rows, "required");
    else if (field->choices)
        ga_buffer_add(&t->rows, field->choices[0]);
    else
        ga_buffer_number(&t->rows, field->fallback, 6);
    next_cell(t);
    ga_buffer_add(&t->rows, field->help);
    if (field->choices) {
        ga_buffer_add(&t->rows, "; one of: ");
        put_words(&t->rows, field->choices);
    }
    if (field->instead) ga_buffer_format(&t->rows, "; either this or %s", field->instead);
    end_row(t);
}

static void put_form(ga_buffer *out, const ga_function_form *form)
{
    table t = {.columns = 4};
    const char *const *close = (const char *const[]){"}", "}}"};
    ga_buffer_format(out, "\n{%s: %s", form->name, form->nested ? "{" : "");
    for (const ga_function_field *f = form->fields; f->name; ++f) {
        add_function_field(&t, f);
        if (form->nested || f != form->fields)
            ga_buffer_format(out, "%s%s: ...", f == form->fields ? "" : ", ", f->name);
        else
            ga_buffer_add(out, "...");
    }
    ga_buffer_format(out, "%s\n", close[form->nested]);
    put_paragraph(out, 2, form->help);
    put_table(out, &t, 2);
}

static void put_functions(ga_buffer *out)
{
    const ga_function_form *form;
    ga_buffer_add(out, "functions\n\n");
    put_paragraph(out, 2,
                  "Where a field takes a function of time t, give a number, an expression such "
                  "as \"0.1*sin(2*pi*t)\", or one of these.");
    for (int k = 0; (form = ga_function_form_get(k)); ++k) put_form(out, form);
}

/* --- what is no element ------------------------------------------------------------------- */

static const struct page {
    const char *name, *help;
    const ga_field *fields; /* null: functions */
} pages[] = {
    {"model", "Top-level keys of a model file, besides its sections.", ga_head_fields},
    {"body", "Rigid body or point mass, an entry of `bodies`.", ga_body_fields},
    {"functions", "Functions of time, for motions, forces, lengths and accelerations.", NULL},
    {"simulate", "Integration settings: the section `simulate`.", ga_simulate_fields},
    {"output", "What is written, and how often: the section `output`.", ga_output_fields},
};
enum { PAGES = sizeof pages / sizeof *pages, PAGES_BEFORE = 2 /* the elements */ };

static void put_page(ga_buffer *out, const struct page *page)
{
    if (!page->fields) {
        put_functions(out);
        return;
    }
    ga_buffer_format(out, "%s\n\n", page->name);
    put_paragraph(out, 2, page->help);
    put_fields(out, page->fields);
}

/* --- the overview ------------------------------------------------------------------------- */

/* Up to the first full stop, colon or semicolon followed by a space. */
static size_t first_sentence(const char *help)
{
    size_t k = 0;
    while (help[k] && !(strchr(".;", help[k]) && (help[k + 1] == ' ' || !help[k + 1]))) ++k;
    return k;
}

static void add_line(table *t, const char *name, const char *help)
{
    ga_buffer_add(&t->rows, name);
    next_cell(t);
    ga_buffer_add_n(&t->rows, help, first_sentence(help));
    end_row(t);
}

static void put_pages(ga_buffer *out, int from, int to)
{
    table t = {.columns = 2};
    for (int k = from; k < to; ++k) add_line(&t, pages[k].name, pages[k].help);
    put_table(out, &t, 2);
}

static void put_overview(ga_buffer *out)
{
    const ga_element_type *type;
    ga_buffer_add(out, "model\n");
    put_pages(out, 0, PAGES_BEFORE);
    for (const char *const *s = ga_element_sections; *s; ++s) {
        table t = {.columns = 2};
        for (int k = 0; (type = ga_section_type(*s, 0, k)); ++k)
            add_line(&t, type->name, type->help);
        put_title(out, *s);
        put_table(out, &t, 2);
    }
    put_title(out, "settings");
    put_pages(out, PAGES_BEFORE, PAGES);
}

/* All that bear the name: types of two sections may share one. */
static bool put_named(ga_buffer *out, const char *name)
{
    const ga_element_type *type;
    bool found = false;
    for (int k = 0; k < PAGES; ++k) {
        if (strcmp(pages[k].name, name) != 0) continue;
        put_page(out, pages + k);
        found = true;
    }
    for (int k = 0; (type = ga_element_type_get(k)); ++k) {
        if (!type->section || strcmp(type->name, name) != 0) continue;
        if (found) ga_buffer_add(out, "\n");
        put_element(out, type);
        found = true;
    }
    return found;
}

char *ga_model_reference(const char *element)
{
    ga_buffer out = {0};
    if (!element) {
        put_overview(&out);
    } else if (!put_named(&out, element)) {
        return NULL;
    }
    return ga_buffer_take(&out);
}

const char *ga_model_element_name(int k)
{
    const ga_element_type *type;
    if (k < 0) return NULL;
    if (k < PAGES_BEFORE) return pages[k].name;
    k -= PAGES_BEFORE;
    for (const char *const *s = ga_element_sections; *s; ++s)
        for (int i = 0; (type = ga_section_type(*s, 0, i)); ++i)
            if (k-- == 0) return type->name;
    return k < PAGES - PAGES_BEFORE ? pages[PAGES_BEFORE + k].name : NULL;
}

static const char *name_at(void *user, int k)
{
    (void)user;
    return ga_model_element_name(k);
}

const char *ga_model_suggest_element(const char *word)
{
    return ga_suggest(word, NULL, name_at);
}
