/* galpha elements: the reference of bodies, joints, motions, forces. */
#include "cli/command.h"
#include "cli/text.h"

#include <galpha/model.h>
#include <string.h>

static bool is_element(const char *name)
{
    const char *known;
    for (int k = 0; (known = ga_model_element_name(k)); ++k)
        if (strcmp(known, name) == 0) return true;
    return false;
}

static int unknown_element(const char *name)
{
    const char *meant = ga_model_suggest_element(name);
    if (strcmp(name, "friction") == 0 || strcmp(name, "limits") == 0)
        cli_error("`%s` is a field of joints: galpha elements revolute", name);
    else if (meant)
        cli_error("there is no element '%s'; did you mean '%s'?", name, meant);
    else
        cli_error("there is no element '%s'; `galpha elements` lists all", name);
    return EXIT_INPUT;
}

static int elements_command(const cli_arguments *arguments)
{
    const char *name = arguments->operand_count ? arguments->operands[0] : NULL;
    if (name && !is_element(name)) return unknown_element(name);
    return cli_print_owned(ga_model_reference(name));
}

static const cli_option options[] = {{0}};

const cli_command cli_elements = {
    .name = "elements",
    .operand = "NAME",
    .operand_optional = true,
    .summary = "list all model elements, or show the fields and channels of one",
    .options = options,
    .run = elements_command,
};
