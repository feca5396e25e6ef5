#include "test/support/data.h"
#include "test/support/unit.h"

#include <stdlib.h>
#include <string.h>

FILE *data_open(const char *name)
{
    char path[512];
    snprintf(path, sizeof path, GALPHA_SOURCE_DIR "/test/data/%s", name);
    FILE *file = fopen(path, "r");
    if (!file) fail_msg("cannot open %s", path);
    return file;
}

bool data_next(FILE *file, data_line *line)
{
    static char text[8192]; /* tests have one thread */
    while (fgets(text, sizeof text, file)) {
        memset(line, 0, sizeof *line);
        if (sscanf(text, "%47s %79s", line->key, line->word) < 1 || *line->key == '#') continue;
        char *at = strstr(text, line->key) + strlen(line->key), *end;
        for (double x; x = strtod(at, &end), end != at; at = end) {
            if (line->count == DATA_MAX) fail_msg("line of %s is too long", line->key);
            line->x[line->count++] = x;
        }
        return true;
    }
    return false;
}

void data_find(FILE *file, const char *key, const char *word)
{
    data_line line;
    rewind(file);
    while (data_next(file, &line))
        if (!strcmp(line.key, key) && !strcmp(line.word, word)) return;
    fail_msg("no line \"%s %s\"", key, word);
}
