#include "cli/warnings.h"

#include "cli/text.h"

#include <stdbool.h>
#include <string.h>

int cli_warnings_print(const ga_sim *sim, int k)
{
    ga_warning w;
    for (; w = ga_sim_get_warning(sim, k), w.code; ++k) {
        cli_error("warning: %s", w.message);
        if (*w.remedy) cli_print_line(stderr, "  remedy: ", w.remedy);
    }
    return k;
}

static bool is_first_of_code(const ga_sim *sim, int k, const char *code)
{
    for (int i = 0; i < k; ++i)
        if (strcmp(ga_sim_get_warning(sim, i).code, code) == 0) return false;
    return true;
}

void cli_warnings_sum_up(FILE *out, const ga_sim *sim)
{
    ga_warning w;
    int count = 0;
    while (ga_sim_get_warning(sim, count).code) ++count;
    if (count) fprintf(out, "  warnings     %d: ", count);
    for (int k = 0; w = ga_sim_get_warning(sim, k), w.code; ++k)
        if (is_first_of_code(sim, k, w.code)) fprintf(out, "%s%s", k ? ", " : "", w.code);
    if (count) fputc('\n', out);
}

void cli_warnings_json(cli_json *json, const ga_sim *sim)
{
    ga_warning w;
    cli_json_list(json, "warnings");
    for (int k = 0; w = ga_sim_get_warning(sim, k), w.code; ++k) {
        cli_json_object(json, NULL);
        cli_json_text(json, "code", w.code);
        cli_json_text(json, "message", w.message);
        cli_json_text(json, "remedy", w.remedy);
        cli_json_text(json, "element", w.element);
        cli_json_number(json, "time", w.time);
        cli_json_end_object(json);
    }
    cli_json_end_list(json);
}
