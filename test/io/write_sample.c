/* Writes the sample result for tests in other languages: write_sample FILE.h5 ROWS */
#include "test/io/sample.h"

#include <stdio.h>
#include <stdlib.h>

int main(int argc, char **argv)
{
    static const ga_attribute attributes[] = {GA_ATTRIBUTE_TEXT("version", "0.1.0"),
                                              GA_ATTRIBUTE_TEXT("method", "gener\xc3\xa1l"),
                                              GA_ATTRIBUTE("steps", 1234),
                                              {0}};
    if (argc != 3) return 2;
    ga_result *result = NULL;
    ga_report report;
    ga_result_def def = ga_result_def_default();
    def.channel_count = SAMPLE_CHANNELS;
    def.channels = sample_channels;
    def.model_text = sample_model;
    def.scene = "{\"name\":\"Pr\xc3\xbc"
                "fling\"}";
    ga_status status = ga_result_create_with(argv[1], GA_RESULT_HDF5, &def, &result, &report);
    for (int n = 0; n < atoi(argv[2]) && status == GA_OK; ++n) {
        double t, values[SAMPLE_VALUES];
        sample_row(n, &t, values);
        status = ga_result_write(result, t, values, &report);
    }
    const ga_status closed = ga_result_close(result, attributes, status ? NULL : &report);
    if (status || closed) return puts(report.message), 1;
    return 0;
}
