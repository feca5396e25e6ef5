/* For check_schema: without arguments prints the schema; with any, reads models, one in each
 * line of the input, and prints for each `accept`, or `reject` and why. */
#include <galpha/model.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { LONGEST = 1 << 20 };

static int print_schema(void)
{
    char *schema = ga_model_schema();
    if (schema) fputs(schema, stdout);
    ga_text_free(schema);
    return schema ? 0 : 1;
}

static void judge(const char *text)
{
    ga_messages *messages = ga_messages_create();
    ga_model *model = NULL;
    char why[400] = "";
    if (ga_model_parse("document", text, strlen(text), NULL, &model, messages) == GA_OK) {
        puts("accept");
    } else {
        ga_messages_format(messages, 0, why, sizeof why);
        printf("reject %s\n", why);
    }
    ga_model_destroy(model);
    ga_messages_destroy(messages);
}

int main(int argc, char **argv)
{
    (void)argv;
    if (argc == 1) return print_schema();
    char *line = malloc(LONGEST);
    while (line && fgets(line, LONGEST, stdin)) judge(line);
    free(line);
    return line ? 0 : 1;
}
