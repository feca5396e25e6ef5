/* The report: a verification manual as one page that needs nothing else. */
#include "verify/verify.h"

#include <errno.h>
#include <galpha/plot.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

static const char style[] =
    "body{font:15px/1.5 Georgia,'DejaVu Serif',serif;color:#1a1a1a;margin:0 auto;"
    "max-width:54rem;padding:1.5rem}\n"
    "h1{font-size:1.7rem;margin:0 0 .3rem}h2{font-size:1.25rem;margin:2.6rem 0 .2rem;"
    "border-top:1px solid #ccc;padding-top:1rem}\n"
    ".source,.time,caption,figcaption{color:#555;font-size:.9rem}.time{margin-top:.3rem}\n"
    "table{border-collapse:collapse;width:100%;margin:1rem 0;font:13px/1.4 'DejaVu Sans',"
    "Verdana,sans-serif;font-variant-numeric:tabular-nums}\n"
    "th,td{text-align:right;padding:.22rem .5rem;border-bottom:1px solid #e4e4e4;"
    "vertical-align:top}th:first-child,td:first-child{text-align:left;padding-left:0}\n"
    "th{border-bottom:1.5px solid #555;font-weight:600}td:first-child{min-width:15rem}"
    "td.why,th.why{text-align:left;color:#666;font-size:12px;min-width:9rem}\n"
    ".pass{color:#0a6b3d}.fail{color:#b3261e;font-weight:700}\n"
    "pre{font:13px/1.45 'DejaVu Sans Mono',monospace;background:#f6f6f4;padding:.6rem .8rem;"
    "overflow-x:auto}\n"
    "figure{margin:1.2rem 0}figure svg{max-width:100%;height:auto}\n"
    "nav{columns:2;font-size:.92rem;margin:1rem 0}nav a{display:block;text-decoration:none}\n"
    "a{color:#0b5394}\n"
    "@media print{body{max-width:none;font-size:10.5pt;padding:0}nav{columns:3}"
    "h2,figure,tr{break-inside:avoid}h2{break-after:avoid}a{color:inherit}}\n"
    "@media(max-width:40rem){td.why,th.why{display:none}nav{columns:1}}\n";

static void escape(FILE *out, const char *text)
{
    for (; *text; ++text) {
        switch (*text) {
        case '<':
            fputs("&lt;", out);
            break;
        case '>':
            fputs("&gt;", out);
            break;
        case '&':
            fputs("&amp;", out);
            break;
        case '"':
            fputs("&quot;", out);
            break;
        default:
            fputc(*text, out);
        }
    }
}

/* Paragraphs are separated by empty lines. */
static void paragraphs(FILE *out, const char *text)
{
    while (text && *text) {
        const char *end = strstr(text, "\n\n");
        size_t length = end ? (size_t)(end - text) : strlen(text);
        char *part = malloc(length + 1);
        if (!part) return;
        memcpy(part, text, length);
        part[length] = '\0';
        fputs("<p>", out);
        escape(out, part);
        fputs("</p>\n", out);
        free(part);
        text = end ? end + 2 : NULL;
    }
}

static void write_expected(FILE *out, const vf_result *r)
{
    if (r->expected_text)
        escape(out, r->expected_text);
    else if (!isnan(r->expected))
        fprintf(out, "%.9g", r->expected);
    else if (!isnan(r->least))
        fprintf(out, "%.4g … %.4g", r->least, r->most);
    else
        fputs("–", out);
}

static void write_table(FILE *out, const vf_run *run)
{
    fputs("<table><thead><tr><th>quantity</th><th>paper or reference</th><th>galpha</th>"
          "<th>difference</th><th>allowed</th><th></th><th class=\"why\">because</th></tr>"
          "</thead><tbody>\n",
          out);
    for (int k = 0; k < run->result_count; ++k) {
        const vf_result *r = run->results + k;
        fputs("<tr><td>", out);
        escape(out, r->quantity);
        fputs("</td><td>", out);
        write_expected(out, r);
        if (isnan(r->got))
            fputs("</td><td>–</td>", out);
        else
            fprintf(out, "</td><td>%.9g</td>", r->got);
        if (isnan(r->expected))
            fputs("<td></td><td></td>", out);
        else
            fprintf(out, "<td>%.1e</td><td>%.1e</td>", r->got - r->expected, r->tolerance);
        fprintf(out, "<td class=\"%s\">%s</td><td class=\"why\">", r->pass ? "pass" : "fail",
                r->pass ? "pass" : "FAIL");
        escape(out, r->why ? r->why : "");
        fputs("</td></tr>\n", out);
    }
    fputs("</tbody></table>\n", out);
}

static ga_status write_figures(FILE *out, const vf_run *run, ga_report *report)
{
    for (int k = 0; k < run->figure_count; ++k) {
        char *svg = NULL;
        ga_status status = ga_figure_svg(run->figures[k].figure, &svg, report);
        if (status != GA_OK) return status;
        fputs("<figure>", out);
        fputs(svg, out);
        ga_text_free(svg);
        fputs("<figcaption>", out);
        escape(out, run->figures[k].caption);
        fputs("</figcaption></figure>\n", out);
    }
    return GA_OK;
}

static ga_status write_section(FILE *out, const vf_run *run, ga_report *report)
{
    const vf_problem *problem = run->problem;
    fprintf(out, "<h2 id=\"%s\">", problem->name);
    escape(out, problem->title);
    fputs("</h2>\n<p class=\"source\">", out);
    escape(out, problem->source);
    fputs("</p>\n", out);
    paragraphs(out, problem->statement);
    if (problem->parameters) {
        fputs("<pre>", out);
        escape(out, problem->parameters);
        fputs("</pre>\n", out);
    }
    ga_status status = write_figures(out, run, report);
    write_table(out, run);
    for (int k = 0; k < run->note_count; ++k) paragraphs(out, run->notes[k]);
    fprintf(out, "<p class=\"time\">galpha verify %s%s, %.2f s</p>\n", problem->name,
            run->quick ? " --quick" : "", run->seconds);
    return status;
}

static ga_status write_page(FILE *out, int count, const vf_run *runs, double seconds,
                            ga_report *report)
{
    int passed = 0, failed = 0;
    for (int k = 0; k < count; ++k) {
        failed += runs[k].failed;
        passed += runs[k].result_count - runs[k].failed;
    }
    fprintf(out,
            "<!DOCTYPE html>\n<html lang=\"en\"><head><meta charset=\"utf-8\">"
            "<meta name=\"viewport\" content=\"width=device-width\">"
            "<title>galpha %s: verification</title>\n<style>%s</style></head><body>\n"
            "<h1>Verification manual</h1>\n<p class=\"source\">galpha %s, %d problems, %d "
            "numbers: <span class=\"pass\">%d pass</span>, <span class=\"%s\">%d fail</span>; "
            "computed in %.0f s</p>\n<nav>\n",
            ga_version(), style, ga_version(), count, passed + failed, passed,
            failed ? "fail" : "pass", failed, seconds);
    for (int k = 0; k < count; ++k) {
        fprintf(out, "<a href=\"#%s\">", runs[k].problem->name);
        escape(out, runs[k].problem->title);
        fprintf(out, "%s</a>\n", runs[k].failed ? " <span class=\"fail\">FAIL</span>" : "");
    }
    fputs("</nav>\n", out);
    ga_status status = GA_OK;
    for (int k = 0; k < count && status == GA_OK; ++k)
        status = write_section(out, runs + k, report);
    fputs("</body></html>\n", out);
    return status;
}

static ga_status fail(ga_report *report, const char *path)
{
    *report = (ga_report){.status = GA_ERR_FILE, .row = -1, .column = -1};
    snprintf(report->message, sizeof report->message, "%.240s: %s", path, strerror(errno));
    return GA_ERR_FILE;
}

/* The figures once more, each in a file. */
static ga_status write_pictures(const char *folder, const vf_run *run, ga_report *report)
{
    for (int k = 0; k < run->figure_count; ++k) {
        char path[1200];
        snprintf(path, sizeof path, "%s/%s-%d.svg", folder, run->problem->name, k + 1);
        ga_status status = ga_figure_write(run->figures[k].figure, path, report);
        if (status != GA_OK) return status;
    }
    return GA_OK;
}

ga_status vf_report_write(const char *folder, int count, const vf_run *runs, double seconds,
                          ga_report *report)
{
    char path[1100];
    snprintf(path, sizeof path, "%s/index.html", folder);
    if (mkdir(folder, 0777) != 0 && errno != EEXIST) return fail(report, folder);
    FILE *out = fopen(path, "w");
    if (!out) return fail(report, path);
    ga_status status = write_page(out, count, runs, seconds, report);
    bool written = !ferror(out);
    if (fclose(out) != 0 || !written) return fail(report, path);
    for (int k = 0; k < count && status == GA_OK; ++k)
        status = write_pictures(folder, runs + k, report);
    return status;
}
