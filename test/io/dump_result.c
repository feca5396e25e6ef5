/* Prints a result, a line per frame, every bit of it.
 *
 *     dump_result FILE
 */
#include <galpha/result.h>
#include <stdio.h>
#include <stdlib.h>

int main(int count, char **words)
{
    ga_report report;
    ga_result_reader *reader = NULL;
    if (count != 2) return 2;
    if (ga_result_open(words[1], &reader, &report) != GA_OK) {
        fprintf(stderr, "%s\n", report.message);
        return 1;
    }
    const size_t frames = ga_result_reader_frames(reader);
    const int channels = ga_result_reader_channel_count(reader);
    double **values = calloc((size_t)channels, sizeof *values);
    for (int k = 0; k < channels; ++k) {
        const size_t parts = (size_t)ga_result_reader_channels(reader)[k].count;
        values[k] = malloc(frames * parts * sizeof **values);
        if (ga_result_reader_read(reader, k, 0, 1, frames, values[k], &report) != GA_OK) {
            fprintf(stderr, "%s\n", report.message);
            return 1;
        }
    }
    for (size_t frame = 0; frame < frames; ++frame) {
        printf("%a", ga_result_reader_times(reader)[frame]);
        for (int k = 0; k < channels; ++k) {
            const size_t parts = (size_t)ga_result_reader_channels(reader)[k].count;
            for (size_t i = 0; i < parts; ++i) printf(" %a", values[k][frame * parts + i]);
        }
        printf("\n");
    }
    for (int k = 0; k < channels; ++k) free(values[k]);
    free(values);
    ga_result_reader_close(reader);
    return 0;
}
