#!/usr/bin/python3
"""galpha plot: what is drawn, and what it says about results it cannot draw.

    test_plot.py PROGRAM
"""
import math
import os
import re
import struct
import subprocess
import xml.etree.ElementTree as xml

import support

MODEL = """galpha: 1
name: two_rods <&>
gravity: [0, 0, -9.81]
bodies:
  rod:
    mass: 1
    inertia: [0.1, 0.1, 0.1]
    position: [1, 0, 0]
joints:
  hinge: {type: spherical, between: [ground, rod], at: [0, 0, 0]}
simulate: {t_end: 1, step: 0.01}
output:
  every: 0.02
  channels: [rod.position, rod.velocity, energy, hinge.force]
"""


def texts(path):
    """What is written in an SVG picture."""
    root = xml.parse(path).getroot()
    return ["".join(node.itertext()) for node in root.iter("{http://www.w3.org/2000/svg}text")]


def png_size(path):
    with open(path, "rb") as file:
        data = file.read()
    assert data[:8] == b"\x89PNG\r\n\x1a\n"
    return struct.unpack(">II", data[16:24])


class Picture(support.Case):
    def setUp(self):
        super().setUp()
        self.write("model.yaml", MODEL)
        self.run_it("run", "model.yaml", "-o", "a.h5", "--csv", "a.csv", "-q")

    def plot(self, *words, code=0):
        done = self.run_it("plot", *words, code=code)
        if code:
            self.assertEqual(done.err.count("\n"), 1, done.err)
            self.assertEqual(done.out, "")
            self.assertEqual([f for f in self.files() if f.startswith("out")], [])
        else:
            self.assertEqual(done.err, "")
        return done

    def drawn(self, *words):
        self.plot(*words, "-o", "out.svg")
        found = texts(self.path("out.svg"))
        os.remove(self.path("out.svg"))
        return found

    def longest_path(self, name):
        root = xml.parse(self.path(name)).getroot()
        best = max(
            (p.get("d") for p in root.iter() if p.get("stroke-width") == "1.5"), key=len
        )
        points, x, y = [], 0.0, 0.0
        for command, rest in re.findall(r"([MmLlHhVv])([^MmLlHhVvZz]*)", best):
            values = [float(v) for v in re.findall(r"-?\d*\.?\d+", rest)]
            step = {"h": 1, "v": 1}.get(command.lower(), 2)
            for k in range(0, len(values), step):
                if command.lower() == "h":
                    x = values[k] + (x if command == "h" else 0)
                elif command.lower() == "v":
                    y = values[k] + (y if command == "v" else 0)
                elif command in "ml":
                    x, y = x + values[k], y + values[k + 1]
                else:
                    x, y = values[k], values[k + 1]
                points.append((x, y))
        return points


class Plot(Picture):
    def test_parts_title_and_units(self):
        said = self.drawn("a.h5", "rod.position")
        for text in ["two_rods <&>", "rod.position (m)", "time (s)", "x", "y", "z"]:
            self.assertIn(text, said)

    def test_one_curve_needs_no_legend(self):
        said = self.drawn("a.h5", "rod.position.x")
        self.assertIn("rod.position.x (m)", said)
        self.assertNotIn("rod.position.x", said)

    def test_two_units_have_two_axes(self):
        said = self.drawn("a.h5", "rod.position.x", "energy.kinetic")
        for text in ["rod.position.x (m)", "energy.kinetic (J)", "energy.kinetic (right)"]:
            self.assertIn(text, said)
        self.assertEqual(said.count("time (s)"), 1)

    def test_legend_of_two_axes_has_whole_names(self):
        said = self.drawn("a.h5", "energy.kinetic", "rod.position.x", "rod.position.z")
        for text in ["energy.kinetic", "rod.position.x (right)", "rod.position.z (right)"]:
            self.assertIn(text, said)

    def heights(self, name, text):
        """Where a text stands in an SVG picture, from its top."""
        root = xml.parse(self.path(name)).getroot()
        return [float(node.get("y")) for node in root.iter("{http://www.w3.org/2000/svg}text")
                if "".join(node.itertext()) == text]  # fmt: skip

    def test_zeros_of_two_axes_are_level(self):
        self.plot("a.h5", "rod.position.z + 0.3", "energy.kinetic", "-o", "out.svg")
        left, right = self.heights("out.svg", "0.0"), self.heights("out.svg", "0")
        both = left + right
        self.assertGreaterEqual(len(both), 2, both)
        self.assertTrue(any(abs(a - b) < 0.1 for n, a in enumerate(both) for b in both[:n]), both)

    def test_long_expression(self):
        """Neither its legend nor its axis label takes the place of the curves."""
        long = "energy.kinetic + energy.potential + energy.dissipated - energy.work + 0*time"
        long += " + 0*rod.position.x"
        self.plot("a.h5", long, "energy.total", "rod.position.x", "rod.position.z", "-o", "out.svg")
        points = self.longest_path("out.svg")
        self.assertGreater(max(p[0] for p in points) - min(p[0] for p in points), 350)
        self.assertTrue(any(s.endswith("\u2026") for s in texts(self.path("out.svg"))))

    def test_curves_on_each_other_are_dashed(self):
        self.write("two.csv", "time,a.x,a.y,a.z\n" + "".join(f"{k},0,{k},0\n" for k in range(9)))
        self.plot("two.csv", "a", "-o", "out.svg")
        root = xml.parse(self.path("out.svg")).getroot()
        curves = [p for p in root.iter() if p.get("stroke-width") == "1.5" and p.get("d")]
        dashed = {p.get("stroke") for p in curves if p.get("stroke-dasharray")}
        self.assertEqual(dashed, {"#009e73"})  # the third

    def test_angles_and_numbers_share_an_axis(self):
        self.write("hinge.yaml", MODEL.replace("type: spherical", "type: revolute, axis: [0, 1, 0]")
                   .replace("[rod.position, rod.velocity, energy, hinge.force]", "[default]"))  # fmt: skip
        self.run_it("run", "hinge.yaml", "-o", "h.h5", "-q")
        said = self.drawn("h.h5", "hinge.angle", "0.3*sin(2*pi*time)")
        self.assertIn("angle (rad)", said)
        self.assertIn("0.3*sin(2*pi*time)", said)
        self.assertNotIn("0.3*sin(2*pi*time) (right)", said)
        said = self.drawn("h.h5", "rod.position.x", "0.3*sin(2*pi*time)", "--one-axis")
        self.assertIn("length (m)", said)
        self.assertNotIn("0.3*sin(2*pi*time) (right)", said)
        done = self.plot("h.h5", "energy", "--panels", "--one-axis", "-o", "out.svg", code=2)
        self.assertIn("either --panels or --one-axis", done.err)

    def test_patterns(self):
        said = self.drawn("a.h5", "r*.pos*.z", "rod.vel*.z")
        self.assertIn("rod.position.z (m)", said)
        self.assertIn("rod.velocity.z (m/s)", said)
        self.write("xy.csv", "time,x,y,xy\n0,1,2,9\n1,2,3,9\n")
        said = self.drawn("xy.csv", "x*y")  # a product, which the pattern would hide
        self.assertIn("x*y", said)
        done = self.plot("a.h5", "hin*.angle", "-o", "out.svg", code=2)
        self.assertIn("there is no channel 'hin*.angle'", done.err)

    def test_three_units_have_panels(self):
        said = self.drawn("a.h5", "rod.position.x", "energy", "hinge.force.x")
        for text in ["rod.position.x (m)", "energy (J)", "hinge.force.x (N)", "kinetic"]:
            self.assertIn(text, said)
        self.assertEqual(said.count("time (s)"), 1)

    def test_panels(self):
        said = self.drawn("a.h5", "rod.position.x", "rod.position.z", "--panels")
        self.assertIn("rod.position.x (m)", said)
        self.assertIn("rod.position.z (m)", said)

    def test_wildcards_and_common_words(self):
        said = self.drawn("a.h5", "*.position.z", "*.velocity.z")
        self.assertIn("rod.position.z (m)", said)
        self.assertIn("rod.velocity.z (m/s)", [re.sub("s2", "s^2", s) for s in said])

    def test_text_in_words(self):
        for pattern, found in (("hin*.force.x", "hinge.force.x (N)"),
                               ("*inge.forc*.x", "hinge.force.x (N)"),
                               ("r*d.pos*.z", "rod.position.z (m)")):
            self.assertIn(found, self.drawn("a.h5", pattern))
        said = self.plot("a.h5", "zz*.angle", code=2).err
        self.assertIn("there is no channel 'zz*.angle'", said)

    def test_numbers_beside_angles(self):
        self.run_it("run", "model.yaml", "-o", "b.h5", "-q", "--set",
                    "output.channels=[hinge, energy]", "--set", "joints.hinge.type=revolute")
        said = self.drawn("b.h5", "hinge.angle", "0.3*sin(time)")
        self.assertEqual(said.count("angle (rad)"), 1)
        self.assertNotIn("0.3*sin(time) (right)", said)

    def test_right_axis_has_whole_names(self):
        said = self.drawn("a.h5", "rod.position.x", "hinge.force")
        self.assertIn("hinge.force.x (right)", said)

    def test_times_without_rows(self):
        said = self.plot("a.h5", "rod.position.x", "--range", "50:60", code=2).err
        self.assertIn("--range 50:60: the results are from 0 to ", said)

    def test_long_names_stand_above(self):
        long = "energy.kinetic + energy.potential + energy.dissipated - energy.work"
        self.plot("a.h5", long, "hinge.force.x", "-o", "out.svg")
        root = xml.parse(self.path("out.svg")).getroot()
        x = [float(t.get("x")) for t in root.iter() if t.tag.endswith("text") and t.get("x")
             and "".join(t.itertext()).strip() == "hinge.force.x (right)"]
        self.assertTrue(x and x[0] < 260, x)

    def test_expression_with_its_unit(self):
        said = self.drawn("a.h5", "hypot(rod.velocity.x, rod.velocity.z)*time")
        self.assertIn("hypot(rod.velocity.x, rod.velocity.z)*time (m)", said)

    def test_expression_values(self):
        # the path has the extremes of the curve: constant 3 draws a level line at tick 3
        said = self.drawn("a.h5", "3 + 0*rod.position.x")
        self.assertIn("3.0", said)

    def test_no_channels(self):
        said = self.drawn("a.h5")
        self.assertIn("energy (J)", said)
        self.assertTrue(any(s.startswith("rod.position") for s in said), said)

    def test_no_channels_of_a_mechanism(self):
        """Driven joints first, then joints on the ground; energies with work; what is left out
        is said."""
        links = "".join(f"""
  b{k}: {{mass: 1, inertia: 0.1, position: [{k}, 0]}}""" for k in range(9))
        joints = "".join(f"""
  j{9 - k}: {{type: revolute, between: [{f"b{k - 1}" if k else "ground"}, b{k}], at: [{k - 0.5}, 0]}}"""
                         for k in range(9))
        self.write("chain.yaml", f"""galpha: 1
dimension: 2
gravity: [0, -9.81]
bodies:{links}
joints:{joints}
motions:
  drive: {{joint: j5, value: 20*t}}
simulate: {{t_end: 0.5}}
output: {{every: 0.01}}
""")
        self.run_it("run", "chain.yaml", "-o", "chain.h5", "-q")
        done = self.run_it("plot", "chain.h5", "-o", "out.svg")
        self.assertIn("chain.h5: 3 more coordinates change and are not drawn", done.err)
        said = texts(self.path("out.svg"))
        for text in ["j5", "j6", "j9", "j8", "j7", "j4", "work", "kinetic", "total"]:
            self.assertIn(text, said)
        self.assertLess(said.index("j5"), said.index("j9"))
        self.assertEqual(said.count("angle (rad)"), 2)  # those that turn less stand apart

    def test_path_is_as_high_as_it_must_be(self):
        """The path is a flattened half circle."""
        self.plot("a.h5", "rod.position.z*0.2", "--x", "rod.position.x", "-o", "out.svg")
        box = xml.parse(self.path("out.svg")).getroot().get("viewBox").split()
        self.assertLess(float(box[3]), 0.55 * float(box[2]))

    def test_ranges_without_rows(self):
        for words, message in [
            (["--range", "5:6"], "--range 5:6: the results are from 0 to 1 s"),
            (["--x-range", "5:6"], "nothing to draw between x = 5 and 6: all is from 0 to 1"),
            (["--y-range", "50:60"], "nothing to draw between y = 50 and 60: all is from"),
        ]:
            done = self.plot("a.h5", "rod.position.x", *words, "-o", "out.svg", code=2)
            self.assertIn(message, done.err)
        self.drawn("a.h5", "rod.position.x", "--range", "0.105:0.109")  # between two rows

    def test_default_output(self):
        done = self.plot("a.h5", "energy")
        self.assertEqual(done.out, "a.svg\n")
        self.assertIn("a.svg", self.files())

    def test_phase_has_equal_scales(self):
        """The rod keeps its length: the path is as wide as it is high in the picture."""
        self.plot("a.h5", "rod.position.z", "--x", "rod.position.x", "-o", "out.svg")
        said = texts(self.path("out.svg"))
        self.assertIn("rod.position.x (m)", said)
        self.assertIn("rod.position.z (m)", said)
        numbers = self.longest_path("out.svg")
        # from (1, 0) down through (0, -1) up towards (-1, 0): points on one circle
        start = numbers[0]
        lowest = max(numbers, key=lambda p: p[1])
        radius = lowest[1] - start[1]
        self.assertAlmostEqual(abs(start[0] - lowest[0]), radius, delta=0.01 * radius)
        for x, y in numbers:
            r = math.hypot(x - lowest[0], y - start[1])
            self.assertAlmostEqual(r, radius, delta=0.01 * radius)

    def test_compare(self):
        self.run_it("run", "model.yaml", "-o", "b.h5", "-q", "--set", "gravity=[0,0,-5]")
        said = self.drawn("a.h5", "rod.position.x", "rod.position.z", "--compare", "b.h5")
        for text in ["x", "z", "a.h5", "b.h5", "rod.position (m)"]:
            self.assertEqual(said.count(text), 1, said)
        said = self.drawn("a.h5", "rod.position.x", "--compare", "b.h5", "--compare", "a.csv")
        for text in ["a.h5", "b.h5", "a.csv"]:
            self.assertIn(text, said)

    def test_compare_with_missing_channel(self):
        self.run_it(
            "run", "model.yaml", "-o", "c.h5", "-q", "--set", "output.channels=[rod.velocity]"
        )
        done = self.plot(
            "a.h5", "rod.position.x", "--compare", "c.h5", "-o", "out.svg", code=2
        )
        self.assertIn("c.h5: 'rod.position.x' is a channel of the model, but", done.err)

    def test_csv(self):
        """Without units, which the format does not have, and titled by the file."""
        said = self.drawn("a.csv", "rod.position")
        for text in ["x", "y", "z", "rod.position", "a.csv"]:
            self.assertIn(text, said)

    def test_words_of_the_user(self):
        said = self.drawn(
            "a.h5", "rod.position.x", "rod.position.z", "--title", "A & B", "--label", "first",
            "--label", "second", "--x-label", "t", "--y-label", "here",
        )  # fmt: skip
        for text in ["A & B", "first", "second", "t", "here"]:
            self.assertIn(text, said)

    def test_formats_and_size(self):
        self.plot("a.h5", "energy", "-o", "out.png", "--size", "360x240")
        self.assertEqual(png_size(self.path("out.png")), (750, 500))
        self.plot("a.h5", "energy", "-o", "out.pdf")
        with open(self.path("out.pdf"), "rb") as file:
            self.assertEqual(file.read(5), b"%PDF-")
        self.plot("a.h5", "energy", "-o", "out.svg", "--size", "360x240")
        box = xml.parse(self.path("out.svg")).getroot().get("viewBox").split()
        self.assertEqual([float(n) for n in box[2:]], [360, 240])

    def test_ranges(self):
        said = self.drawn("a.h5", "rod.position.z", "--range", "0.2:0.4")
        self.assertIn("0.30", [s.replace("0.3", "0.30") if s == "0.3" else s for s in said])
        self.assertNotIn("1.0", said)
        said = self.drawn("a.h5", "rod.position.z", "--y-range=-8:8")
        self.assertTrue(any(s.endswith("8") or s.endswith("5") for s in said), said)

    def test_logarithms(self):
        said = self.drawn("a.h5", "energy.kinetic", "--log-y")
        self.assertTrue(any(s.startswith("10") for s in said), said)
        done = self.plot("a.h5", "0 - 1 - rod.position.x^2", "--log-y", "-o", "out.svg", code=2)
        self.assertIn("the axis is logarithmic, and no value is above 0", done.err)

    def test_mistakes(self):
        for words, message in [
            (["a.h5", "rod.positon"], "did you mean 'rod.position'?"),
            (["a.h5", "rod.positon.x"], "did you mean 'rod.position.x'?"),
            (["a.h5", "nothing.like.that.at.all"], "there is no channel"),
            (["a.h5", "2*rod.positon.x"], "column 3: unknown name 'rod.positon.x'"),
            (["a.h5", "rod.position.x +"], "expected"),
            (["a.h5", "rod.position + 1"], "unknown name 'rod.position'"),
            (["a.h5", "energy", "--x", "rod.position"], "3 numbers, expected one"),
            (["a.h5", "energy", "--x", "rod.positions"], "did you mean 'rod.position'?"),
            (["a.h5", "energy", "--size", "10x10"], "expected WIDTHxHEIGHT"),
            (["a.h5", "energy", "--size", "wide"], "expected WIDTHxHEIGHT"),
            (["a.h5", "energy", "--range", "2:1"], "expected LOW:HIGH"),
            (["a.h5", "energy", "--range", "2"], "expected LOW:HIGH"),
            (["a.h5", "energy", "--y-range", "0:nan"], "expected LOW:HIGH"),
            (["a.h5", "energy.total", "--label", "a", "--label", "b"], "only 1 curves"),
            (["a.h5", "energy", "--log-y", "--y-range=-1:1"], "must be above 0"),
            (["a.h5", "energy", "--title"], "value is missing"),
            (["a.h5", "energy", "--pannels"], "did you mean '--panels'?"),
            (["model.yaml", "energy"], "this is a model, not a result"),
            (["a.h5", "energy", "--compare", "model.yaml"], "this is a model, not a result"),
        ]:
            if words[-1] != "--title":
                words = [*words, "-o", "out.svg"]
            done = self.plot(*words, code=2)
            self.assertIn(message, done.err)
            self.assertTrue(done.err.startswith("galpha: "), done.err)
        done = self.plot("a.h5", "energy", "-o", "out.gif", code=2)
        self.assertIn(".svg, .png or .pdf", done.err)
        self.run_it("plot", code=2)

    def test_files_that_cannot_be_used(self):
        self.plot("none.h5", "-o", "out.svg", code=3)
        self.plot("a.h5", "-o", "nowhere/out.svg", code=3)
        os.link(self.path("a.h5"), self.path("same.svg"))
        done = self.plot("a.h5", "-o", "same.svg", code=2)
        self.assertIn("would be overwritten", done.err)
        with open(self.path("a.h5"), "rb") as file:
            whole = file.read()
        for damaged in [whole[: len(whole) // 2], whole[:100], b"\x89HDF\r\n\x1a\n", b"", b"\0"]:
            with open(self.path("damaged.h5"), "wb") as file:
                file.write(damaged)
            done = self.plot("damaged.h5", "-o", "out.svg", code=2)
            self.assertIn("damaged.h5", done.err)

    def test_failed_write_leaves_the_old_picture(self):
        limit = ["sh", "-c", "ulimit -f 1; trap '' XFSZ; exec \"$@\"", "sh"]
        self.write("old.svg", "old")
        done = subprocess.run(
            [*limit, support.PROGRAM, "plot", "a.h5", "-o", "old.svg"],
            cwd=self.folder.name,
            capture_output=True,
        )
        self.assertEqual(done.returncode, 3, done.stderr)
        self.assertIn(b"old.svg", done.stderr)
        with open(self.path("old.svg")) as file:
            self.assertEqual(file.read(), "old")
        self.assertEqual([f for f in self.files() if "part" in f], [])

    def test_not_finite_numbers_are_gaps(self):
        self.write("gap.csv", "time,x\n0,1\n1,nan\n2,inf\n3,2\n4,3\n")
        self.drawn("gap.csv", "x")
        self.write("gap.csv", "time,x\n0,nan\n1,nan\n")
        done = self.plot("gap.csv", "x", "-o", "out.svg", code=2)
        self.assertIn("no value is finite", done.err)

    def test_one_frame(self):
        self.write("one.csv", "time,x\n0,1\n")
        self.drawn("one.csv", "x")

    def test_names_that_are_markup(self):
        self.write("odd.csv", 'time,"<script>alert(1)</script>.x",a_b^c\n0,1,2\n1,2,3\n')
        said = self.drawn("odd.csv", "<script>alert(1)</script>.x", "a_b^c")
        self.assertIn("<script>alert(1)</script>.x", said)
        self.assertIn("a_b^c", said)

    def test_long_run_keeps_its_extremes(self):
        """A spike of one frame in half a million is in the picture, which stays small."""
        rows = ["time,x"]
        rows += [f"{k},{100 if k == 123457 else math.sin(k / 5000):.6f}" for k in range(500000)]
        self.write("long.csv", "\n".join(rows) + "\n")
        self.plot("long.csv", "x", "-o", "out.svg")
        self.assertLess(os.path.getsize(self.path("out.svg")), 100000)
        points = self.longest_path("out.svg")
        heights = sorted(p[1] for p in points)
        self.assertGreater(heights[2] - heights[0], 50)

    def test_without_channels_round_off_is_not_drawn(self):
        """A coordinate that only round-off moves does not count as moving."""
        rows = ["time,a.position.x,a.position.y,a.position.z"]
        rows += [f"{k},{math.sin(k / 9)},{1e-17 * math.sin(k)},0" for k in range(100)]
        self.write("flat.csv", "\n".join(rows) + "\n")
        said = self.drawn("flat.csv")
        self.assertIn("a.position.x", said)
        self.assertFalse({"y", "z"} & set(said), said)


class Tables(support.Case):
    """--list and --stats."""

    def setUp(self):
        super().setUp()
        self.write("model.yaml", MODEL)
        self.run_it("run", "model.yaml", "-o", "a.h5", "--csv", "a.csv", "-q")

    def test_list(self):
        done = self.run_it("plot", "a.h5", "--list")
        lines = done.out.splitlines()
        self.assertEqual(lines[0], "a.h5: 51 rows, t = 0 ... 1 s")
        self.assertEqual(lines[1].split(), ["channel", "unit", "min", "max", "description"])
        row = next(line for line in lines if line.startswith("rod.position.z"))
        self.assertEqual(row.split()[1], "m")
        self.assertTrue(row.endswith("position in the world"), row)
        low, high = (float(word) for word in row.split()[2:4])
        self.assertLess(low, -0.9)
        self.assertEqual(high, 0)
        self.assertEqual(len(lines), 2 + 3 + 3 + 5 + 3)
        self.assertEqual(done.err, "")
        said = self.json_of("plot", "a.h5", "--list", "--json")["results"][0]
        self.assertEqual(said["rows"], 51)
        self.assertEqual(len(said["channels"]), 14)
        force = next(c for c in said["channels"] if c["name"] == "hinge.force.z")
        self.assertEqual(force["unit"], "N")
        self.assertLess(force["min"], force["max"])

    def channels(self, *words):
        self.run_it("run", "model.yaml", "-o", "c.h5", "-q", *words)
        said = self.json_of("plot", "c.h5", "--list", "--json")["results"][0]["channels"]
        return [c["name"] for c in said]

    def test_output_default_and_patterns(self):
        """`default` in a list of channels is what is output without it; `*` is part of a word."""
        self.write("model.yaml", MODEL.replace("    inertia", "    points: {tip: [0.5, 0, 0]}\n    inertia"))
        default = self.channels("--set", "output.channels=null")
        self.assertIn("rod.rotation.w", default)
        both = self.channels("--set", "output.channels=[default, rod.tip.position]")
        self.assertEqual(sorted(default + [f"rod.tip.position.{k}" for k in "xyz"]), sorted(both))
        tip = self.channels("--set", "output.channels=[rod.tip.*]")
        self.assertEqual({name.rsplit(".", 1)[0] for name in tip},
                         {f"rod.tip.{k}" for k in ["position", "velocity", "acceleration"]})
        some = self.channels("--set", "output.channels=['r*.vel*.z', 'hin*.for*', 'energy.k*']")
        self.assertEqual(sorted(some), ["energy.kinetic", "hinge.force.x", "hinge.force.y",
                                        "hinge.force.z", "rod.velocity.z"])  # fmt: skip
        done = self.run_it("run", "model.yaml", "--set", "output.channels=['rad*.position']", code=2)
        self.assertIn("unknown channel `rad*.position`", done.err)

    def test_output_of_a_bushing(self):
        self.write("model.yaml", MODEL.replace("joints:", """forces:
  hang: {type: bushing, between: [ground, rod], at: rod, stiffness: [1, 1, 1, 1, 1, 1]}
joints:"""))
        names = self.channels("--set", "output.channels=null")
        for name in ["hang.displacement.x", "hang.rotation.x", "hang.force.x", "hang.torque.x"]:
            self.assertIn(name, names)

    def test_list_of_some(self):
        lines = self.run_it("plot", "a.h5", "energy", "--list").out.splitlines()
        self.assertEqual([line.split()[0] for line in lines[2:]],
                         ["energy.dissipated", "energy.kinetic", "energy.potential",
                          "energy.total", "energy.work"])

    def test_stats(self):
        """Rows that are not uniform: means are over time, not over rows."""
        times = [k * k / 1e4 for k in range(101)]
        rows = ["time,y"] + [f"{t!r},{3 * t - 1!r}" for t in times]
        self.write("line.csv", "\n".join(rows) + "\n")
        said = self.json_of("plot", "line.csv", "y", "--stats", "--json")["results"][0]
        found = said["channels"][0]
        self.assertEqual((found["min"], found["t_min"]), (-1, 0))
        self.assertEqual((found["max"], found["t_max"]), (2, 1))
        self.assertAlmostEqual(found["mean"], 0.5, 12)
        self.assertAlmostEqual(found["rms"], 1, 3)  # int (3t - 1)^2 dt = 1
        said = self.json_of("plot", "line.csv", "2*y", "--stats", "--json", "--range", "0.25:1")
        found = said["results"][0]["channels"][0]
        self.assertEqual((found["name"], found["min"], found["t_min"]), ("2*y", -0.5, 0.25))
        done = self.run_it("plot", "line.csv", "--stats")
        self.assertEqual(done.out.splitlines()[1].split(),
                         ["channel", "unit", "min", "at", "s", "max", "at", "s", "mean", "rms"])

    def test_stats_of_a_sine(self):
        rows = ["time,y"] + [f"{k / 200!r},{2 * math.sin(math.pi * k / 20)!r}" for k in range(401)]
        self.write("sine.csv", "\n".join(rows) + "\n")
        found = self.json_of("plot", "sine.csv", "--stats", "--json")["results"][0]["channels"][0]
        self.assertAlmostEqual(found["mean"], 0, 12)
        self.assertAlmostEqual(found["rms"], math.sqrt(2), 12)

    def test_stats_of_what_is_not_finite(self):
        self.write("gap.csv", "time,x,y\n0,1,nan\n1,nan,nan\n2,inf,nan\n3,2,nan\n4,4,nan\n")
        x, y = self.json_of("plot", "gap.csv", "--stats", "--json")["results"][0]["channels"]
        self.assertEqual((x["min"], x["max"], x["t_max"], x["mean"]), (1, 4, 4, 3))
        self.assertEqual([y[k] for k in ("min", "max", "mean", "rms")], [None] * 4)
        self.write("one.csv", "time,x\n7,-3\n")
        x = self.json_of("plot", "one.csv", "--stats", "--json")["results"][0]["channels"][0]
        self.assertEqual((x["min"], x["t_min"], x["mean"], x["rms"]), (-3, 7, -3, 3))

    def test_compare(self):
        said = self.json_of("plot", "a.h5", "energy.total", "--stats", "--json", "--compare",
                            "a.csv")["results"]
        self.assertEqual([r["file"] for r in said], ["a.h5", "a.csv"])
        self.assertEqual(said[0]["channels"][0]["max"], said[1]["channels"][0]["max"])

    def test_mistakes(self):
        for words, message, code in [
            (["a.h5", "rod.positon", "--stats"], "did you mean 'rod.position'?", 2),
            (["a.h5", "no.such.thing.here", "--list"], "`galpha plot a.h5 --list`", 2),
            (["a.h5", "energy", "--stats", "--list"], "either --list or --stats", 2),
            (["a.h5", "energy", "--stats", "--fft"], "cannot be combined with --fft", 2),
            (["a.h5", "energy", "--stats", "-o", "x.svg"], "cannot be combined with --output", 2),
            (["a.h5", "energy", "--json"], "--json needs --list or --stats", 2),
            (["a.h5", "energy", "--stats", "--range", "5:6"], "no row between", 2),
            (["none.h5", "--list"], "none.h5", 3),
            (["model.yaml", "--list"], "this is a model, not a result", 2),
        ]:
            done = self.run_it("plot", *words, code=code)
            self.assertIn(message, done.err)
            self.assertEqual(done.err.count("\n"), 1, done.err)
            self.assertEqual(done.out, "")


class Spectra(Picture):
    """--fft; test_fft.c has the numbers."""

    def setUp(self):
        super().setUp()
        rows = ["time,y,z"]
        for k in range(1001):
            t = k / 500
            y = 7 + 2 * math.sin(2 * math.pi * 30.2 * t) + math.sin(2 * math.pi * 60.4 * t)
            rows.append(f"{t!r},{y!r},{math.sin(t)!r}")
        self.write("sines.csv", "\n".join(rows) + "\n")

    def test_axes_and_window(self):
        said = self.drawn("a.h5", "rod.position.z", "--fft")
        self.assertIn("frequency (Hz)", said)
        self.assertIn("rod.position.z (m)", said)
        self.assertIn("two_rods <&>: amplitude spectrum, Hann window", said)
        said = self.drawn("a.h5", "rod.position", "--fft", "--window", "flat-top", "--log-y")
        self.assertIn("two_rods <&>: amplitude spectrum, flat-top window", said)

    def test_axis_ends_behind_the_last_amplitude(self):
        self.write("fast.yaml", MODEL)
        self.run_it("run", "fast.yaml", "-q", "-o", "fast.h5", "--set", "simulate.step=1e-4",
                    "--set", "output.every=0")
        said = self.drawn("fast.h5", "rod.position.z", "--fft")
        numbers = [float(s) for s in said if re.fullmatch(r"\d+(\.\d+)?", s)]
        self.assertLess(max(numbers), 2000)  # of 5000 Hz

    def test_peaks(self):
        """Two sines: one twice as high as the other, at half its frequency."""
        self.plot("sines.csv", "y", "--fft", "--x-range", "0:100", "--y-range", "0:4",
                  "-o", "out.svg")  # fmt: skip
        points = self.longest_path("out.svg")
        left, bottom = min(p[0] for p in points), max(p[1] for p in points)
        middle = left + 45 / 100 * (max(p[0] for p in points) - left)
        first = min((p for p in points if p[0] < middle), key=lambda p: p[1])
        second = min((p for p in points if p[0] > middle), key=lambda p: p[1])
        self.assertAlmostEqual((bottom - first[1]) / (bottom - second[1]), 2, delta=0.02)
        self.assertAlmostEqual((second[0] - left) / (first[0] - left), 2, delta=0.02)

    def test_range_ends_with_the_power(self):
        """Of 30 and 60 Hz sampled at 500 Hz the empty upper half is not drawn, unless asked for
        or on a logarithmic axis."""
        said = self.drawn("sines.csv", "y", "--fft")
        self.assertNotIn("200", said)
        self.assertIn("60", said)
        self.assertIn("200", self.drawn("sines.csv", "y", "--fft", "--x-range", "0:250"))
        self.assertIn("200", self.drawn("sines.csv", "y", "--fft", "--log-y"))

    def test_several_results(self):
        self.run_it("run", "model.yaml", "-o", "b.h5", "-q", "--set", "output.every=0.01")
        said = self.drawn("a.h5", "rod.position.z", "--fft", "--compare", "b.h5")
        self.assertIn("b.h5", said)

    def test_spectrum_mistakes(self):
        self.write("few.csv", "time,x\n0,1\n1,2\n2,1\n")
        self.write("gap.csv", "time,x\n" + "".join(f"{k},{'nan' if k == 5 else k}\n" for k in range(20)))
        for words, message in [
            (["few.csv", "x", "--fft"], "too few, expected 8 or more"),
            (["gap.csv", "x", "--fft"], "not finite at t = 5 s"),
            (["a.h5", "energy", "--fft", "--x", "rod.position.x"], "cannot be combined with --x"),
            (["a.h5", "energy", "--fft", "--window", "hanning"], "expected hann, flat-top or none"),
            (["a.h5", "energy", "--window", "hann"], "--window needs --fft"),
            (["a.h5", "energy", "--fft", "--range", "0.5:0.52"], "too few"),
        ]:
            done = self.plot(*words, "-o", "out.svg", code=2)
            self.assertIn(message, done.err)
        self.drawn("gap.csv", "x", "--fft", "--range", "6:19")


if __name__ == "__main__":
    support.main()
