/* Updates of an HDF5 file that take place as a whole or not at all.
 *
 * HDF5 overwrites descriptions in place: extents, the index of the chunks, free space. A
 * process that is killed in between leaves a file that nobody can read. So what HDF5 writes is
 * collected here, and a commit
 *
 *     1. writes what lies behind the end of the file as it was: nothing refers to it yet
 *     2. appends all other pieces to the end of the file, as a journal with a checksum
 *     3. writes them in place
 *     4. cuts the journal off
 *
 * Killed before 2 is complete, the file is as it was before; afterwards, as it is after 4 for
 * everybody who reads it with the journal laid over. Readers of this library do; for others
 * ga_result_repair does 3 and 4. Where there is no journal, which is nearly always, the file is
 * plain HDF5.
 *
 * The modes of HDF5 for this (SWMR) take a file format that older programs cannot read, rely on
 * writes that are never cut in two, and leave a mark that other programs refuse. A log of rows
 * that is converted at the end would take the disk space twice.
 */
#ifndef GA_IO_HDF5_JOURNAL_H
#define GA_IO_HDF5_JOURNAL_H

#include "base/file.h"

/* Pieces, in the order they were written: address (8 bytes), length (8), as many bytes. */
typedef struct ga_hdf5_journal {
    unsigned char *bytes;
    size_t used, room;
} ga_hdf5_journal;

/* False: memory is out. */
bool ga_hdf5_journal_add(ga_hdf5_journal *journal, uint64_t address, size_t count,
                         const void *bytes);
/* Lays the pieces over what was read from the file at this address. */
void ga_hdf5_journal_overlay(const ga_hdf5_journal *journal, uint64_t address, size_t count,
                             void *bytes);
/* The commit above, after which the journal is empty. The file was `before` bytes long at the
 * last commit, 0 if there was none, and is `after` bytes long then. Durable: also after a power
 * cut, which takes time. False: see file->error. */
bool ga_hdf5_journal_commit(ga_hdf5_journal *journal, ga_file *file, uint64_t before,
                            uint64_t after, bool durable);
/* Steps 3 and 4 for a file whose writer is no more. */
bool ga_hdf5_journal_apply(const ga_hdf5_journal *journal, ga_file *file, uint64_t after,
                           bool durable);
/* The journal at the end of a file of `size` bytes; empty if there is none that is whole. The
 * file is `after` bytes long without. False: memory is out. */
bool ga_hdf5_journal_load(ga_hdf5_journal *journal, int descriptor, uint64_t size,
                          uint64_t *after);
void ga_hdf5_journal_free(ga_hdf5_journal *journal);

#endif
