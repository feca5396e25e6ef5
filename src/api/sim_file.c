/* Checkpoints: a saved simulation in a file, with a note of whoever saved it.
 *
 *     heading     name, format, sizes, checksum of what follows
 *     note        bytes
 *     state       as ga_sim_save has it
 *
 * A file is written beside the one it replaces, and takes its name when all of it is on the
 * disk: whenever the writer is killed, there is a whole one.
 */
#include "api/sim.h"
#include "base/archive.h"
#include "base/file.h"
#include "base/memory.h"
#include "base/report.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

enum { FORMAT = 1 };

typedef struct heading {
    char name[20];
    uint32_t format;
    uint64_t note_size, state_size, checksum;
} heading;

static const char NAME[20] = "galpha checkpoint";

struct ga_checkpoint {
    size_t note_size, state_size;
    char *note; /* null-terminated */
    unsigned char *state;
};

static uint64_t find_checksum(heading h, const void *note, const void *state)
{
    h.checksum = 0;
    const uint64_t sum = ga_checksum(GA_CHECKSUM_EMPTY, &h, sizeof h);
    return ga_checksum(ga_checksum(sum, note, (size_t)h.note_size), state,
                       (size_t)h.state_size);
}

ga_status ga_checkpoint_write(const char *path, const ga_sim *sim, const char *note,
                              size_t note_size, ga_report *report)
{
    heading h = {.format = FORMAT, .note_size = note_size, .state_size = ga_sim_save_size(sim)};
    memcpy(h.name, NAME, sizeof h.name);
    unsigned char *state = GA_NEW(unsigned char, h.state_size);
    if (!state) return ga_fail(report, GA_ERR_MEMORY, "no memory for a checkpoint");
    ga_file file;
    ga_status status = ga_sim_save(sim, state, (size_t)h.state_size, report);
    if (status == GA_OK) status = ga_file_create(&file, path, true, report);
    if (status == GA_OK) {
        h.checksum = find_checksum(h, note, state);
        const bool written = ga_file_write(&file, &h, sizeof h) &&
                             ga_file_write(&file, note, note_size) &&
                             ga_file_write(&file, state, (size_t)h.state_size);
        status = written ? ga_file_keep(&file, report) : ga_file_status(&file, report);
        const ga_status closed = ga_file_close(&file, status == GA_OK ? report : NULL);
        if (status == GA_OK) status = closed;
    }
    ga_free(state);
    return status;
}

/* --- reading ------------------------------------------------------------------------------ */

static ga_status damaged(const char *path, ga_report *report)
{
    return ga_fail(report, GA_ERR_INPUT, "%.200s: the checkpoint is damaged or incomplete",
                   path);
}

static ga_status read_parts(FILE *file, const char *path, ga_checkpoint *c, ga_report *report)
{
    heading h;
    const uint64_t most = UINT64_C(1) << 40; /* whatever damage says */
    if (fread(&h, sizeof h, 1, file) != 1 || memcmp(h.name, NAME, sizeof NAME))
        return ga_fail(report, GA_ERR_INPUT, "%.200s: this is not a checkpoint of galpha",
                       path);
    if (h.format != FORMAT)
        return ga_fail(report, GA_ERR_INPUT,
                       "%.200s: the checkpoint has format %u, expected %d: it is of another "
                       "version of galpha",
                       path, (unsigned)h.format, FORMAT);
    /* sizes are compared with the file before anything is allocated */
    if (h.note_size > most || h.state_size > most || fseek(file, 0, SEEK_END) != 0)
        return damaged(path, report);
    const long size = ftell(file);
    if (size < 0 || (uint64_t)size != sizeof h + h.note_size + h.state_size ||
        fseek(file, (long)sizeof h, SEEK_SET) != 0)
        return damaged(path, report);
    c->note_size = (size_t)h.note_size;
    c->state_size = (size_t)h.state_size;
    c->note = GA_NEW(char, c->note_size + 1);
    c->state = GA_NEW(unsigned char, c->state_size);
    if (!c->note || !c->state)
        return ga_fail(report, GA_ERR_MEMORY, "no memory for a checkpoint");
    if (fread(c->note, 1, c->note_size, file) != c->note_size ||
        fread(c->state, 1, c->state_size, file) != c->state_size)
        return damaged(path, report);
    return h.checksum == find_checksum(h, c->note, c->state) ? GA_OK : damaged(path, report);
}

ga_status ga_checkpoint_read(const char *path, ga_checkpoint **checkpoint, ga_report *report)
{
    *checkpoint = NULL;
    FILE *file = fopen(path, "rb");
    if (!file)
        return ga_fail(report, GA_ERR_FILE, "%.200s: cannot be read: %s", path,
                       strerror(errno));
    ga_checkpoint *c = GA_NEW(ga_checkpoint, 1);
    ga_status status = c ? read_parts(file, path, c, report)
                         : ga_fail(report, GA_ERR_MEMORY, "no memory for a checkpoint");
    fclose(file);
    if (status == GA_OK)
        *checkpoint = c;
    else
        ga_checkpoint_free(c);
    return status;
}

void ga_checkpoint_free(ga_checkpoint *c)
{
    if (!c) return;
    ga_free(c->note);
    ga_free(c->state);
    ga_free(c);
}

const char *ga_checkpoint_note(const ga_checkpoint *c, size_t *size)
{
    if (size) *size = c->note_size;
    return c->note;
}

ga_status ga_checkpoint_load(const ga_checkpoint *c, ga_sim *sim, ga_report *report)
{
    return ga_sim_load(sim, c->state, c->state_size, report);
}
