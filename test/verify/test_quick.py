#!/usr/bin/python3
"""galpha verify: the quick catalogue passes and its report is whole; mistakes of the user.

    test_quick.py PROGRAM
"""
import html.parser
import os
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "cli"))
import support

# without end tag in HTML; in the figures elements may close themselves
VOID = {"meta", "br", "hr", "img", "link", "input"}


class Page(html.parser.HTMLParser):
    """Sections, links inside the page, figures, rows of tables; complains about bad nesting."""

    def __init__(self, text):
        super().__init__()
        self.open, self.sections, self.links = [], [], []
        self.count = {}
        self.feed(text)
        self.close()
        if self.open:
            raise ValueError(f"never closed: {self.open}")

    def handle_starttag(self, tag, attributes):
        attributes = dict(attributes)
        self.count[tag] = self.count.get(tag, 0) + 1
        if tag == "h2":
            self.sections.append(attributes["id"])
        if tag == "a":
            self.links.append(attributes["href"])
        for name in "src", "href", "xlink:href":
            if attributes.get(name, "#")[0] != "#":
                raise ValueError(f"needs another file: {attributes[name]}")
        if tag not in VOID:
            self.open.append(tag)

    def handle_startendtag(self, tag, attributes):
        self.handle_starttag(tag, attributes)
        if tag not in VOID:
            self.open.pop()

    def handle_endtag(self, tag):
        if not self.open or self.open[-1] != tag:
            raise ValueError(f"</{tag}> at {self.getpos()} closes {self.open[-1:]}")
        self.open.pop()


class Verify(support.Case):
    def names(self):
        lines = self.run_it("verify", "--list").out.splitlines()
        return [line.split()[0] for line in lines]

    def page(self, folder):
        with open(os.path.join(self.path(folder), "index.html"), encoding="utf-8") as file:
            return Page(file.read())

    def test_list(self):
        names = self.names()
        self.assertGreater(len(names), 20)
        self.assertEqual(len(names), len(set(names)))
        for paper in "ab07", "abc14", "jn08", "dym", "bench", "own":
            self.assertTrue(any(name.startswith(paper + "-") for name in names), paper)

    def test_quick_catalogue_passes_and_is_reported(self):
        said = self.json_of("verify", "--quick", "--json", "-o", "report", timeout=280)
        self.assertEqual(said["failed"], 0)
        self.assertEqual(said["passed"], len(said["results"]))
        self.assertTrue(all(r["pass"] and r["quantity"] and r["why"] for r in said["results"]))
        page = self.page("report")
        ran = list(dict.fromkeys(r["problem"] for r in said["results"]))
        self.assertEqual(page.sections, ran)
        self.assertEqual(page.links, ["#" + name for name in ran])
        # in the order of the list, which has those that are not quick as well
        self.assertEqual(ran, [name for name in self.names() if name in ran])
        self.assertEqual(page.count["tr"], len(said["results"]) + len(ran))
        pictures = [name for name in os.listdir(self.path("report")) if name.endswith(".svg")]
        self.assertEqual(page.count["figure"], len(pictures))

    def test_names_choose(self):
        dym = [name for name in self.names() if name.startswith("dym-")]
        said = self.json_of("verify", "--quick", "--json", "dym", "-o", "some")
        self.assertEqual({r["problem"] for r in said["results"]}, set(dym))
        self.assertEqual(self.page("some").sections, dym)

    def test_json_has_the_numbers_of_the_table(self):
        out = self.run_it("verify", "-v", "jn08-test-problem").out.splitlines()
        said = self.json_of("verify", "--json", "jn08-test-problem")
        rows = [line for line in out if line.startswith("  ")]
        self.assertEqual(len(rows), len(said["results"]))
        for row, r in zip(rows, said["results"]):
            self.assertEqual(row.split()[0], "pass" if r["pass"] else "FAIL")
            self.assertIn(" " + r["quantity"] + " ", row)
            words = row.partition(r["quantity"] + " ")[2].split()
            if r["expected"] is None:
                self.assertEqual(words, [f"{r['least']:.9g}", "...", f"{r['most']:.9g}", f"{r['got']:.9g}"])
            else:
                self.assertEqual(words[:2], [f"{r['expected']:.9g}", f"{r['got']:.9g}"])
        self.assertIn(f"{len(rows)} numbers: {said['passed']} passed, {said['failed']} failed", out[-1])

    def test_table(self):
        out = self.run_it("verify", "jn08-test-problem").out
        self.assertRegex(out, "1 problems?, [0-9]+ numbers")
        self.assertEqual(out.count("\n"), 2)  # one for the problem, one for all
        self.assertIn(" 0 failed", out)

    def test_unknown_name(self):
        done = self.run_it("verify", "abc14-pendulun", code=2)
        self.assertIn("did you mean 'abc14-pendulum'?", done.err)
        self.assertEqual(done.out, "")
        self.assertIn("--list", self.run_it("verify", "zzz", code=2).err)

    def test_folder_that_cannot_be_written(self):
        self.write("file", "in the way")
        for folder in "file", "file/below", "no/such":
            done = self.run_it("verify", "dym-spectral", "-o", folder, code=3)
            self.assertIn(folder, done.err)


if __name__ == "__main__":
    support.main()
