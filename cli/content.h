/* What a file is, by how it begins, so that a file of the wrong kind gets a plain answer. */
#ifndef CLI_CONTENT_H
#define CLI_CONTENT_H

#include <galpha/status.h>
#include <stdbool.h>

typedef enum cli_content {
    CLI_CONTENT_OTHER, /* text, or a file that cannot be read: left to its reader */
    CLI_CONTENT_MODEL,
    CLI_CONTENT_HDF5,
    CLI_CONTENT_CSV,
    CLI_CONTENT_CHECKPOINT,
    CLI_CONTENT_PAGE,
    CLI_CONTENT_BINARY,
} cli_content;

/* Only regular files are opened: a pipe is read once. */
cli_content cli_content_of(const char *path);
bool cli_content_is_result(cli_content content);

/* Whether the file may be what is expected. Otherwise the report says what it is and which
 * command takes it, or which file may have been meant. */
bool cli_expect_model(const char *path, ga_report *report);
bool cli_expect_checkpoint(const char *path, ga_report *report);
/* The same for all of these files; prints the message and returns an exit code. */
int cli_expect_results(int count, const char *const *paths);

#endif
