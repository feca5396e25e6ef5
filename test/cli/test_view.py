#!/usr/bin/python3
"""Pages and scenes, as the program makes them. What a browser shows is test/viewer's.

    test_view.py PROGRAM EXAMPLES
"""
import glob
import json
import math
import os
import random
import re
import subprocess
import sys
import time
import unittest

import support

EXAMPLES = os.path.abspath(sys.argv.pop(2))

PENDULUM = """\
galpha: 1
name: pendulum <b>
gravity: [0, 0, -9.81]
bodies:
  bob: {mass: 2, inertia: [0.1, 0.1, 0.1], position: [1, 0, 0]}
joints:
  hinge: {type: revolute, between: [ground, bob], at: [0, 0, 0], axis: [0, 1, 0]}
simulate: {t_end: 0.2, step: 1e-2}
"""


def header_of(path):
    with open(path, encoding="utf-8") as stream:
        text = stream.read()
    found = re.search(r'id="galpha-header">(.*?)</script>', text, re.DOTALL)
    return json.loads(found.group(1)), text


class View(support.Case):
    def setUp(self):
        super().setUp()
        self.write("pendulum.yaml", PENDULUM)
        done = self.attempt("view", "no_such_file.h5")
        self.built_in = "without the viewer" not in done.err

    def need_viewer(self):
        if not self.built_in:
            self.skipTest("built without the viewer")

    def attempt(self, *words):
        """Runs to the end, however that is; crashes are for the caller to notice."""
        # HDF5 asks for as much memory as a damaged file says, and takes no for an answer
        options = os.environ.get("ASAN_OPTIONS", "") + ":allocator_may_return_null=1"
        done = subprocess.run([support.PROGRAM, *words], cwd=self.folder.name,
                              capture_output=True, timeout=60,
                              env=dict(os.environ, ASAN_OPTIONS=options))
        done.err = done.stderr.decode()
        # what HDF5 itself does wrong is what the process of its own is for
        if re.search(r"AddressSanitizer: .*\n(.*\n)?    #0 .*(interceptor|libhdf5).*\n    #1 .*libhdf5",
                     done.err):
            done.returncode, done.err = 2, "galpha: damaged\n"
        if "AddressSanitizer failed to allocate" in done.err:
            done.err = "".join(re.findall("^galpha: .*\n", done.err, re.MULTILINE))
        return done

    def test_without_viewer(self):
        if self.built_in:
            self.skipTest("built with the viewer")
        for words in (["view", "a.h5"], ["run", "pendulum.yaml", "--view", "page.html"]):
            done = self.run_it(*words, code=2)
            self.assertIn("built without the viewer", done.err)
            self.assertEqual(len(done.err.splitlines()), 1)
            self.assertEqual(self.files(), ["pendulum.yaml"])

    def test_view(self):
        self.need_viewer()
        self.run_it("run", "pendulum.yaml", "-o", "out.h5", "--quiet")
        done = self.run_it("view", "out.h5")
        self.assertEqual((done.out, done.err), ("out.html\n", ""))
        header, text = header_of(self.path("out.html"))
        self.assertEqual(header["title"], "pendulum <b>")
        self.assertIn("<title>pendulum &#60;b&#62;</title>", text)
        run = header["runs"][0]
        self.assertEqual((run["label"], run["frames"], run["notices"]), ("out.h5", 21, []))
        self.assertEqual(run["model"], PENDULUM)
        self.assertEqual(run["solver"]["status"], "done")
        self.assertEqual(run["scene"]["joints"][0]["name"], "hinge")
        self.run_it("run", "pendulum.yaml", "-o", "two.h5", "--quiet", "--set", "simulate.step=5e-3")
        done = self.run_it("view", "out.h5", "two.h5", "-o", "both.html", "--title", "A", "--quiet")
        self.assertEqual((done.out, done.err), ("", ""))
        header, text = header_of(self.path("both.html"))
        self.assertEqual([run["frames"] for run in header["runs"]], [21, 41])
        self.assertEqual(header["title"], "A")
        self.assertLess(len(text), 3e6)  # mostly the viewer itself

    def test_run_view(self):
        self.need_viewer()
        said = self.json_of("run", "pendulum.yaml", "--view", "page.html", "--json",
                            "--set", "output.channels=[energy.total]")
        self.assertEqual(self.files(), ["page.html", "pendulum.h5", "pendulum.yaml"])
        self.assertEqual(said["files"], ["pendulum.h5", "page.html"])
        os.remove(self.path("pendulum.h5"))
        said = self.json_of("run", "pendulum.yaml", "--view", "page.html", "--json",
                            "--no-results", "--set", "output.channels=[energy.total]")
        self.assertEqual(self.files(), ["page.html", "pendulum.yaml"])
        self.assertEqual(said["files"], ["page.html"])
        run = header_of(self.path("page.html"))[0]["runs"][0]
        self.assertEqual(sorted(channel["name"] for channel in run["channels"]),
                         ["bob.position", "bob.rotation", "energy.total", "solver.step"])
        self.assertEqual(run["label"], "pendulum <b>")
        done = self.run_it("run", "pendulum.yaml", "--view", "page.html", "-o", "out.h5")
        self.assertIn("  page         page.html\n", done.out)
        self.assertEqual(self.files(), ["out.h5", "page.html", "pendulum.yaml"])
        self.assertEqual(header_of(self.path("page.html"))[0]["runs"][0]["label"], "out.h5")

    def test_run_view_of_a_failure(self):
        """What was computed until then is shown."""
        self.need_viewer()
        self.write("bad.yaml", PENDULUM + "forces:\n  push: {type: force, on: bob, force: "
                                          "[0, 0, \"sqrt(0.1-t)\"]}\n")
        self.run_it("run", "bad.yaml", "--view", "page.html", "--quiet", code=1)
        run = header_of(self.path("page.part.html"))[0]["runs"][0]
        self.assertEqual(run["solver"]["status"], "failed")
        self.assertGreater(run["frames"], 5)
        self.assertEqual(self.files(), ["bad.h5.part", "bad.yaml", "page.part.html", "pendulum.yaml"])
        self.run_it("view", "bad.h5.part", "-o", "again.html")
        self.run_it("plot", "bad.h5.part", "bob.position", "-o", "a.svg")

    def test_page_of_a_part_goes_with_it(self):
        """A run that is resumed leaves its own page only."""
        self.need_viewer()
        run = self.start("run", "pendulum.yaml", "--view", "page.html", "--checkpoint", "c.ga",
                         "--set", "simulate.t_end=1e5", "--set", "output.every=100")
        time.sleep(1)
        run.terminate()
        run.communicate()
        self.assertEqual(run.returncode, 143)
        self.assertIn("page.part.html", self.files())
        done = json.loads(self.run_it("info", "pendulum.h5.part", "--json").out)["t_last"]
        said = self.run_it("resume", "c.ga", "--t-end", str(done + 200)).out
        self.assertIn(" s since resumed\n", said)
        self.assertEqual(self.files(), ["c.ga", "page.html", "pendulum.h5", "pendulum.yaml"])

    def test_start_of_a_model(self):
        """All channels at the start, in one frame."""
        self.need_viewer()
        done = self.run_it("view", "pendulum.yaml")
        self.assertEqual((done.out, done.err), ("pendulum.html\n", ""))
        self.assertEqual(self.files(), ["pendulum.html", "pendulum.yaml"])
        header = header_of(self.path("pendulum.html"))[0]
        self.assertEqual(header["title"], "pendulum <b>")
        self.assertEqual(len(header["runs"]), 1)
        run = header["runs"][0]
        self.assertEqual((run["label"], run["frames"], run["model"]), ("assembled", 1, PENDULUM))
        names = {channel["name"] for channel in run["channels"]}
        self.assertLessEqual({"bob.position", "bob.acceleration", "hinge.force"}, names)
        self.assertNotIn("gaps", run["scene"])
        done = self.run_it("view", "-", "-q", "--title", "T", input=PENDULUM.encode())
        self.assertEqual((done.out, done.err), ("", ""))
        self.assertEqual(header_of(self.path("model.html"))[0]["title"], "T")
        self.run_it("view", "pendulum.yaml", "-o", "set.html", "--set", "bodies.bob.mass=7")
        bodies = header_of(self.path("set.html"))[0]["runs"][0]["scene"]["bodies"]
        self.assertEqual(bodies[0]["mass"], 7)

    def test_models_by_their_content(self):
        self.need_viewer()
        self.write("model.txt", "# a comment\n\n" + PENDULUM)
        self.run_it("view", "model.txt", "-o", "page.html")
        self.write("other.txt", "hello\n")
        self.assertIn("neither HDF5 nor", self.run_it("view", "other.txt", code=2).err)

    def test_start_that_assembly_moves(self):
        self.need_viewer()
        self.write("rough.yaml", PENDULUM.replace("joints:", "joints:\n  rod: {type: distance, "
                                                  "between: [[0, 0, 1], bob], length: 1.5}"))
        done = self.run_it("view", "rough.yaml")
        self.assertIn("bob was moved by", done.err)
        runs = header_of(self.path("rough.html"))[0]["runs"]
        self.assertEqual([run["label"] for run in runs], ["assembled", "as in the file"])
        self.assertEqual([gap["element"] for gap in runs[1]["scene"]["gaps"]], ["rod"])
        self.assertAlmostEqual(runs[1]["scene"]["gaps"][0]["distance"], 1.5 - math.sqrt(2), 12)

    def test_start_that_cannot_be_assembled(self):
        """Exit code 1, what is wrong on stderr, and a page that shows where."""
        self.need_viewer()
        self.write("open.yaml", PENDULUM.replace("joints:", "joints:\n  rod: {type: distance, "
                                                 "between: [[0, 0, 9], bob], length: 1}"))
        done = self.run_it("view", "open.yaml", code=1)
        self.assertEqual(done.out, "open.html\n")
        self.assertIn("open.yaml: ", done.err)
        self.assertIn("gaps in the model as given:", done.err)
        self.assertRegex(done.err, r"rod: sides are 8.06 m apart")
        self.assertEqual(self.files(), ["open.html", "open.yaml", "pendulum.yaml"])
        run = header_of(self.path("open.html"))[0]["runs"][0]
        self.assertEqual((run["label"], run["solver"]["status"]), ("as in the file", "not assembled"))
        self.assertEqual(run["scene"]["gaps"][0]["element"], "rod")
        done = self.run_it("view", "open.yaml", "-q", code=1)
        self.assertEqual(done.out, "")
        self.assertIn("open.yaml: ", done.err)

    def test_bad_models_leave_nothing(self):
        self.need_viewer()
        self.write("bad.yaml", "galpha: 1\nbodies: {}\n")
        self.run_it("run", "bad.yaml", "--view", "page.html", code=2)
        self.run_it("view", "bad.yaml", code=2)
        self.assertEqual(self.files(), ["bad.yaml", "pendulum.yaml"])

    def test_paths(self):
        self.need_viewer()
        self.run_it("run", "pendulum.yaml", "-o", "out.h5", "--quiet")
        for words, code, text in (
            (["view"], 2, "FILE"),
            (["view", "nothing.h5"], 3, "nothing.h5"),
            (["view", "."], 3, "."),
            (["view", "out.h5", "-o", "out.h5"], 2, "overwritten"),
            (["view", "out.h5", "-o", "no/such/folder.html"], 3, "no/such/folder.html"),
            (["view", "nothing.yaml"], 3, "nothing.yaml"),
            (["view", "pendulum.yaml", "out.h5"], 2, "one model, or any number of results"),
            (["view", "pendulum.yaml", "-o", "pendulum.yaml"], 2, "overwritten"),
            (["view", "pendulum.yaml", "-o", "no/such/folder.html"], 3, "no/such/folder.html"),
            (["view", "out.h5", "--set", "gravity=[0,0,0]"], 2, "--set: out.h5 is a result"),
            (["view", "out.h5", "--tilte", "a"], 2, "--title"),
            (["run", "pendulum.yaml", "--view", "pendulum.yaml"], 2, "overwritten"),
            (["run", "pendulum.yaml", "--view", "a.html", "--csv", "a.html"], 2, "overwritten"),
            (["run", "pendulum.yaml", "--view", "no/such/folder.html"], 3, "no/such/folder.html"),
        ):
            done = self.run_it(*words, code=code)
            self.assertIn(text, done.err)
        self.assertEqual(self.files(), ["out.h5", "pendulum.yaml"])

    def test_results_of_others(self):
        """Foreign files, files without a scene, positions or frames."""
        self.need_viewer()
        try:
            import h5py
        except ImportError:
            self.skipTest("no h5py")
        with h5py.File(self.path("foreign.h5"), "w") as file:
            file["measurements"] = [1.0, 2.0]
        done = self.run_it("view", "foreign.h5", code=2)
        self.assertIn("not a galpha result", done.err)
        with h5py.File(self.path("empty.h5"), "w") as file:
            file.create_dataset("time", (0,), float)
            file.create_group("channels")
        self.assertIn("no frames", self.run_it("view", "empty.h5", code=2).err)
        self.assertEqual(len(done.err.splitlines()), 1)
        with h5py.File(self.path("bare.h5"), "w") as file:
            file["time"] = [0.0, 1.0]
            file["channels/a"] = [float("nan"), 2.0]
        done = self.run_it("view", "bare.h5")
        self.assertIn("no scene", done.err)
        self.assertIn("no positions", done.err)
        run = header_of(self.path("bare.html"))[0]["runs"][0]
        self.assertIsNone(run["scene"])
        self.assertEqual(run["channels"][0]["name"], "a")

    def test_damaged_results(self):
        """Cut off or changed anywhere, a file gives a page or one line, and never a crash."""
        self.need_viewer()
        self.run_it("run", "pendulum.yaml", "-o", "out.h5", "--quiet")
        with open(self.path("out.h5"), "rb") as stream:
            whole = stream.read()
        dice = random.Random(7)
        pages = 0
        for k in range(int(os.environ.get("GALPHA_DAMAGED", "120"))):
            data = bytearray(whole)
            if k % 6 == 0:
                del data[dice.randrange(len(data)):]
            else:
                for _ in range(dice.choice((1, 1, 2, 8, 60))):
                    data[dice.randrange(len(data))] = dice.choice((0, 1, 0x7f, 0xff, dice.randrange(256)))
            with open(self.path("damaged.h5"), "wb") as stream:
                stream.write(data)
            done = self.attempt("view", "damaged.h5", "-o", "damaged.html", "--quiet")
            self.assertIn(done.returncode, (0, 2, 3), k)
            self.assertEqual(len(done.err.splitlines()), 0 if done.returncode == 0 else 1, done.err)
            if done.returncode == 0:
                header_of(self.path("damaged.html"))
                pages += 1
        self.assertGreater(pages, 10)


def rotate(q, v):
    w, x, y, z = q
    t = [2 * (y * v[2] - z * v[1]), 2 * (z * v[0] - x * v[2]), 2 * (x * v[1] - y * v[0])]
    return [v[0] + w * t[0] + y * t[2] - z * t[1], v[1] + w * t[1] + z * t[0] - x * t[2],
            v[2] + w * t[2] + x * t[1] - y * t[0]]


class Scene(support.Case):
    def place(self, scene, at, point=(0, 0, 0)):
        """A point of a joint's frame, in the world at t = 0."""
        p = [a + b for a, b in zip(rotate(at["rotation"], point), at["position"])]
        if at["body"] < 0:
            return p
        body = scene["bodies"][at["body"]]
        return [a + b for a, b in zip(rotate(body["rotation"], p), body["position"])]

    def test_examples(self):
        """Both markers of a joint that holds points together are in one place, and their axes
        agree where the joint keeps an axis."""
        try:
            import h5py
        except ImportError:
            self.skipTest("no h5py")
        apart = {"distance", "point-on-line", "point-on-plane", "rolling-disc", "planar",
                 "constant-velocity"}
        turning = {"revolute", "prismatic", "cylindrical", "fixed", "screw"}
        seen = 0
        for path in sorted(glob.glob(os.path.join(EXAMPLES, "*.yaml"))):
            self.run_it("run", path, "-o", "out.h5", "--quiet", "--set", "simulate.t_end=1e-4",
                        "--set", "simulate.t_start=0", code=0)
            with h5py.File(self.path("out.h5"), "r") as file:
                scene = json.loads(file["scene"].asstr()[()])
                names = {body["name"] for body in scene["bodies"]}
                channels = set(file["channels"])
            self.assertEqual(scene["format"], 1)
            for joint in scene["joints"]:
                if "a" not in joint:
                    self.assertEqual(len(joint["joints"]), 2)
                    continue
                what = f"{os.path.basename(path)}: {joint['name']}"
                a, b = (self.place(scene, joint[k]) for k in "ab")
                if joint["type"] not in apart:
                    seen += 1
                    self.assertLess(math.dist(a, b), 1e-3, what)
                if joint["type"] in turning:
                    az, bz = (self.place(scene, joint[k], (0, 0, 1)) for k in "ab")
                    self.assertLess(math.dist([q - p for p, q in zip(a, az)],
                                              [q - p for p, q in zip(b, bz)]), 1e-3, what)
                if joint["type"] == "rolling-disc":
                    self.assertGreater(joint["radius"], 0)
                    self.assertEqual(len(joint["plane"]["normal"]), 3)
            self.assertTrue(names)
            os.remove(self.path("out.h5"))
        self.assertGreater(seen, 50)


support.main()
