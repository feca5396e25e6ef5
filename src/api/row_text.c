#include "api/row_text.h"

#include "base/report.h"
#include "element/joint.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

const char *ga_section_of(const ga_element *element)
{
    return element->type->section ? element->type->section : "joints";
}

/* --- one row ------------------------------------------------------------------------------ */

/* "rotation about x" of a joint's own axes: which axis, and the words before it. -1: the name
 * ends in no axis. */
static int axis_of(const char *name, size_t *words)
{
    const size_t n = strlen(name);
    const bool has_axis = n > 6 && (strncmp(name + n - 7, "about ", 6) == 0 ||
                                    strncmp(name + n - 7, "along ", 6) == 0);
    if (!has_axis || name[n - 1] < 'x' || name[n - 1] > 'z') return -1;
    *words = n - 1;
    return name[n - 1] - 'x';
}

/* A component that is zero but for round-off. */
static double rounded(double x) { return fabs(x) < 1e-9 ? 0 : x; }

void ga_row_text(const ga_assembly *assembly, int row, char text[GA_ROW_TEXT])
{
    int local;
    size_t words;
    const ga_element *element = ga_assembly_row(assembly, row, &local);
    const char *name =
        element && element->type->row_name ? element->type->row_name(element, local) : "";
    const int axis = element && element->type->is_joint ? axis_of(name, &words) : -1;
    if (axis < 0) {
        snprintf(text, GA_ROW_TEXT, "%s", name);
        return;
    }
    const double *e = ((const ga_joint *)element)->E + 3 * axis;
    for (int k = 0; k < 3; ++k)
        if (fabs(e[k]) > 1 - 1e-12) {
            snprintf(text, GA_ROW_TEXT, "%.*sworld %c", (int)words, name, 'x' + k);
            return;
        }
    snprintf(text, GA_ROW_TEXT, "%.*sworld direction (%.3g, %.3g, %.3g)", (int)words, name,
             rounded(e[0]), rounded(e[1]), rounded(e[2]));
}

/* --- all that are redundant --------------------------------------------------------------- */

/* Room for the rest of the sentence must stay. */
static bool is_long(const char *text) { return strlen(text) > GA_MESSAGE_SIZE / 2; }

static void add_partners(const ga_assembly *a, const ga_redundant_row *redundant,
                         const ga_element *element, char *text)
{
    const ga_element *last = element;
    int local, seen = 0;
    for (int k = 0; k < redundant->with_count; ++k) { /* rows of an element are neighbors */
        const ga_element *with = ga_assembly_row(a, redundant->with[k], &local);
        if (!with || with == element || with == last) continue;
        last = with;
        if (is_long(text)) {
            ga_message_add(text, ", ...");
            return;
        }
        ga_message_add(text, "%s %.40s", seen++ ? "," : " with", with->name);
    }
}

/* --- friction, which follows the reactions ------------------------------------------------ */

/* Whether a row is part of the reaction that presses the surfaces of a joint with friction, or
 * of what holds them while they stick. Reaction torques do not press. */
static bool presses(const ga_element *element, int local, const ga_element *rubbing)
{
    if (element == rubbing) return true;
    if (element != rubbing->host || !element->type->is_joint) return false;
    const ga_joint *joint = (const ga_joint *)element;
    if (local >= element->rows) return true; /* nonholonomic */
    const ga_form form = joint->kind->row[joint->kept[local]].form.form;
    return form != GA_FORM_DOT && form != GA_FORM_TURN;
}

static bool is_ambiguous(const ga_assembly *a, const ga_integrator *integrator,
                         const ga_element *rubbing)
{
    const int count = ga_integrator_redundant_count(integrator);
    for (int k = 0; k < count; ++k) {
        const ga_redundant_row one = ga_integrator_redundant_row(integrator, k);
        for (int i = -1; i < one.with_count; ++i) {
            int local;
            const ga_element *element =
                ga_assembly_row(a, i < 0 ? one.row : one.with[i], &local);
            if (element && presses(element, local, rubbing)) return true;
        }
    }
    return false;
}

/* What is not unique: reactions; with friction that depends on them, the motion, too. */
static void add_consequence(const ga_assembly *a, const ga_integrator *integrator, char *text)
{
    enum { MOST = 3 };
    const char *last = "";
    int found = 0;
    for (int e = 0; e < a->model->element_count && found <= MOST; ++e) {
        const ga_element *rubbing = a->model->elements[e];
        if (!rubbing->host || strcmp(rubbing->host->name, last) == 0) continue;
        if (!is_ambiguous(a, integrator, rubbing)) continue;
        last = rubbing->host->name;
        if (++found > MOST)
            ga_message_add(text, ", ...");
        else
            ga_message_add(
                text, "%s%.40s",
                found > 1 ? ", " : "; reactions are not unique, nor is the friction of ", last);
    }
    ga_message_add(
        text, found ? ", computed from those of minimum norm: the motion depends on this choice"
                    : "; the motion is unaffected, but reactions are not unique");
}

static void one(const ga_assembly *a, const ga_integrator *integrator, char *text)
{
    const ga_redundant_row redundant = ga_integrator_redundant_row(integrator, 0);
    int local;
    char row[GA_ROW_TEXT];
    const ga_element *element = ga_assembly_row(a, redundant.row, &local);
    if (!element) return;
    ga_row_text(a, redundant.row, row);
    ga_message_add(text, "%s.%.60s: %s is redundant", ga_section_of(element), element->name,
                   row);
    add_partners(a, &redundant, element, text);
    add_consequence(a, integrator, text);
}

/* Joint after joint, each with its rows; as many as fit. */
static void several(const ga_assembly *a, const ga_integrator *integrator, int count,
                    char *text)
{
    const ga_element *last = NULL;
    int k = 0;
    ga_message_add(text, "%d constraints are redundant: ", count);
    for (; k < count && !is_long(text); ++k) {
        int local;
        char row[GA_ROW_TEXT];
        const int index = ga_integrator_redundant_row(integrator, k).row;
        const ga_element *element = ga_assembly_row(a, index, &local);
        if (!element) continue;
        ga_row_text(a, index, row);
        if (element == last)
            ga_message_add(text, ", %s", row);
        else
            ga_message_add(text, "%s%s.%.40s (%s", last ? "), " : "", ga_section_of(element),
                           element->name, row);
        last = element;
    }
    ga_message_add(text, "%s", last ? ")" : "");
    if (k < count) ga_message_add(text, " and %d more", count - k);
    add_consequence(a, integrator, text);
}

const char *ga_redundant_text(const ga_assembly *assembly, const ga_integrator *integrator,
                              char text[GA_MESSAGE_SIZE])
{
    const int count = ga_integrator_redundant_count(integrator);
    text[0] = '\0';
    if (count == 1)
        one(assembly, integrator, text);
    else if (count > 1)
        several(assembly, integrator, count, text);
    int local;
    const ga_element *element =
        count
            ? ga_assembly_row(assembly, ga_integrator_redundant_row(integrator, 0).row, &local)
            : NULL;
    return element ? element->name : NULL;
}
