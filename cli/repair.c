/* galpha repair: completes results whose run was killed. */
#include "cli/command.h"
#include "cli/input.h"
#include "cli/text.h"

#include <galpha/result.h>

static int repair_command(const cli_arguments *arguments)
{
    int code = EXIT_DONE;
    for (int k = 0; k < arguments->operand_count; ++k) {
        const char *path = arguments->operands[k];
        ga_report report;
        int repaired = 0;
        const ga_status status = ga_result_repair(path, &repaired, &report);
        if (status != GA_OK) {
            cli_error("%s", report.message);
            code = cli_exit_code(status);
            continue;
        }
        cli_print_text(stdout, path);
        printf("%s\n", repaired ? ": repaired" : ": nothing to repair");
    }
    return code;
}

static const cli_option options[] = {{0}};

const cli_command cli_repair = {
    .name = "repair",
    .operand = "RESULT",
    .operand_repeats = true,
    .summary = "complete a result whose run was killed, for other programs",
    .details =
        "If a run is killed while it updates its HDF5 file, the file holds the update as a\n"
        "whole. galpha reads such a file as it is; h5py and other programs read it after this\n"
        "command. The file keeps its name. Nothing else is changed, and a file that a run is\n"
        "still writing is refused.\n"
        "\n"
        "Exit codes: 0 done, 2 bad usage, 3 the file cannot be read or written.\n",
    .options = options,
    .run = repair_command,
};
