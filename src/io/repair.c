/* Completes what a killed writer of an HDF5 file had begun (io/hdf5_journal.h). */
#define _POSIX_C_SOURCE 200809L

#include "base/report.h"
#include "io/hdf5_journal.h"

#include <assert.h>
#include <galpha/result.h>
#include <sys/stat.h>

static ga_status repair(ga_file *file, ga_hdf5_journal *journal, int *repaired,
                        ga_report *report)
{
    struct stat about;
    uint64_t after;
    if (fstat(file->descriptor, &about) != 0) return GA_OK; /* it is open: cannot be */
    if (!ga_hdf5_journal_load(journal, file->descriptor, (uint64_t)about.st_size, &after))
        return ga_fail(report, GA_ERR_MEMORY, "%s", ga_status_text(GA_ERR_MEMORY));
    if (journal->used == 0) return GA_OK;
    ga_hdf5_journal_apply(journal, file, after, true);
    *repaired = file->error == 0;
    return ga_file_status(file, report);
}

ga_status ga_result_repair(const char *path, int *repaired, ga_report *report)
{
    assert(path && repaired);
    *repaired = 0;
    ga_file file;
    GA_TRY(ga_file_edit(&file, path, report));
    ga_hdf5_journal journal = {0};
    const ga_status status = repair(&file, &journal, repaired, report);
    ga_hdf5_journal_free(&journal);
    const ga_status closed = ga_file_close(&file, status == GA_OK ? report : NULL);
    return status != GA_OK ? status : closed;
}
