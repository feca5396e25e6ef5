/* Reads the text files of test/data: lines "key number number ...", or "key word", with # for
 * comments. */
#ifndef GA_TEST_DATA_H
#define GA_TEST_DATA_H

#include <stdbool.h>
#include <stdio.h>

enum { DATA_MAX = 64 };

typedef struct data_line {
    char key[48], word[80]; /* word: what follows the key */
    int count;
    double x[DATA_MAX]; /* the numbers that follow the key */
} data_line;

/* test/data/<name>; the test fails if there is no such file. */
FILE *data_open(const char *name);
/* The next line that says something; false at the end. */
bool data_next(FILE *file, data_line *line);
/* Skips to the line "key word"; the test fails if there is none. */
void data_find(FILE *file, const char *key, const char *word);

#endif
