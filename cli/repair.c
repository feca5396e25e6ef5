/* galpha repair: completes results whose run was killed. */
#include "cli/command.h"
#include "cli/content.h"
#include "cli/guard.h"
#include "cli/input.h"
#include "cli/text.h"

#include <galpha/result.h>

/* Whether the file can be read now. */
static int try_to_read(const void *user)
{
    const char *path = user;
    ga_result_reader *reader;
    ga_report report;
    const ga_status status = ga_result_open(path, &reader, &report);
    if (status != GA_OK) cli_error("%s; it cannot be repaired", report.message);
    ga_result_reader_close(reader);
    return cli_exit_code(status);
}

static int repair(const char *path)
{
    ga_report report;
    int repaired = 0;
    int code = cli_expect_results(1, &path);
    if (code != EXIT_DONE) return code;
    const ga_status status = ga_result_repair(path, &repaired, &report);
    if (status != GA_OK) {
        cli_error("%s", report.message);
        return cli_exit_code(status);
    }
    code = cli_guard(1, &path, try_to_read, path);
    if (code != EXIT_DONE) return code;
    cli_print_text(stdout, path);
    printf("%s\n", repaired ? ": repaired" : ": nothing to repair");
    return EXIT_DONE;
}

static int repair_command(const cli_arguments *arguments)
{
    int code = EXIT_DONE;
    for (int k = 0; k < arguments->operand_count; ++k) {
        const int last = repair(arguments->operands[k]);
        if (last != EXIT_DONE) code = last;
    }
    return code;
}

static const cli_option options[] = {{0}};

const cli_command cli_repair = {
    .name = "repair",
    .operand = "RESULT",
    .operand_repeats = true,
    .summary = "complete a result whose run was killed, for use by other programs",
    .details =
        "If a run is killed while it updates its HDF5 file, the file holds the update as a\n"
        "whole. galpha reads such a file as it is; h5py and other programs read it after this\n"
        "command. The file keeps its name. Nothing else is changed, and a file that a run is\n"
        "still writing is refused.\n"
        "\n"
        "Exit codes: 0 done, 2 the file is damaged beyond repair, or bad usage, 3 the file\n"
        "cannot be read or written.\n",
    .options = options,
    .run = repair_command,
};
