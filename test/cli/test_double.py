#!/usr/bin/python3
"""The program with a double (double.c) in place of models and simulations.

    test_double.py PROGRAM
"""
import csv
import os
import resource
import signal
import subprocess
import time

import support

NO_CONVERGE = 10  # GA_ERR_NO_CONVERGE
INCONSISTENT = 8  # GA_ERR_INCONSISTENT
MODEL = "model.yaml"


class Case(support.Case):
    def setUp(self):
        super().setUp()
        self.write(MODEL, "steps 100\n")


class Usage(Case):
    def test_help(self):
        for words in (["--help"], ["-h"], ["help"]):
            said = self.run_it(*words)
            self.assertIn("run MODEL", said.out)
            self.assertNotIn("completion", said.out)
            self.assertEqual(said.err, "")
        for words in (["run", "--help"], ["help", "run"], ["run", MODEL, "-h"]):
            self.assertIn("--set PATH=VALUE", self.run_it(*words).out)
        for command in ("check", "schema", "elements", "completion", "manual"):
            self.assertIn("usage: galpha " + command, self.run_it(command, "--help").out)

    def test_version(self):
        self.assertRegex(self.run_it("--version").out, r"^galpha \d+\.\d+\.\d+\n$")

    def expect_mistake(self, *words, says):
        said = self.run_it(*words, code=2)
        self.assertEqual(said.out, "")
        self.assertIn(says, said.err)
        self.assertEqual(self.files(), [MODEL])

    def test_mistakes(self):
        self.expect_mistake(says="usage: galpha COMMAND")
        self.expect_mistake("rnu", says="did you mean 'run'?")
        self.expect_mistake("frobnicate", says="there is no command 'frobnicate'")
        self.expect_mistake("--vresion", says="no option '--vresion'")
        self.expect_mistake("help", "chekc", says="did you mean 'check'?")
        self.expect_mistake("run", says="MODEL is missing")
        self.expect_mistake("run", MODEL, "more", says="unexpected argument 'more'")
        self.expect_mistake("schema", "x", says="unexpected argument")
        self.expect_mistake("run", MODEL, "--jsn", says="did you mean '--json'?")
        self.expect_mistake("run", MODEL, "--zzzzzzz", says="galpha run --help")
        self.expect_mistake("run", MODEL, "-x", says="no option '-x'")
        self.expect_mistake("run", MODEL, "-qx", says="no option '-qx'")
        self.expect_mistake("run", MODEL, "--set", says="a value is missing")
        self.expect_mistake("run", MODEL, "-o", says="a value is missing")
        self.expect_mistake("run", MODEL, "--json=yes", says="takes no value")
        self.expect_mistake("check", MODEL, "-o", "x", says="no option '-o'")
        self.expect_mistake("run", MODEL, "--csv", MODEL, says="overwritten")
        self.expect_mistake("run", MODEL, "--csv", "./" + MODEL, says="overwritten")
        self.expect_mistake("run", MODEL, "--csv", "x", "-o", "x", says="overwritten")
        self.expect_mistake("elements", "revolut", says="did you mean 'revolute'?")

    def test_order_and_spelling(self):
        for words in (
            ["run", "--set", "steps=7", "--json", MODEL],
            ["run", MODEL, "--json", "--set=steps=7"],
            ["run", "--json", "--set=steps=3", "--set=steps=7", "--", MODEL],
        ):
            self.assertEqual(self.json_of(*words)["steps"]["accepted"], 7)
        os.rename(self.path(MODEL), self.path("-m.yaml"))
        self.run_it("run", "-q", "--", "-m.yaml")
        self.run_it("run", "-oresult.h5", "./-m.yaml")
        self.assertEqual(self.files(), ["-m.h5", "-m.yaml", "model.h5", "result.h5"])

    def test_stdin(self):
        said = self.run_it("run", "-", "--json", input=b"steps 5\n")
        self.assertIn('"accepted": 5', said.out)

    def test_reference(self):
        self.assertEqual(self.json_of("schema"), {"$schema": "x"})
        self.assertEqual(self.run_it("elements").out, "all\n")
        self.assertEqual(self.run_it("elements", "revolute").out, "revolute\n")

    def test_completion(self):
        script = self.run_it("completion").out
        ask = (
            script + 'COMP_WORDS=(galpha "$@"); COMP_CWORD=$#; compopt() { :; }; _galpha;'
            'echo "${COMPREPLY[@]}"'
        )

        def complete(*words):
            done = subprocess.run(
                ["bash", "-c", ask, "bash", *words],
                cwd=self.folder.name,
                capture_output=True,
                text=True,
                check=True,
            )
            return done.stdout.split()

        self.assertEqual(complete("ch"), ["check"])
        self.assertEqual(complete("run", "--js"), ["--json"])
        self.assertEqual(complete("run", "mo"), [MODEL])
        self.assertEqual(complete("run", MODEL, "-o", "mo"), [MODEL])
        self.assertEqual(complete("elements", "rev"), ["revolute"])

    def test_manual(self):
        page = self.run_it("manual").out
        self.assertTrue(page.startswith(".TH GALPHA 1"))
        self.assertIn(r"\-\-include\-anywhere", page)


class Run(Case):
    def test_summary(self):
        said = self.run_it("run", MODEL, "--csv", "out.csv", "-o", "out.h5")
        for words in ("done", "100, 0 rejected", "200 iterations", "dissipated 0.5"):
            self.assertIn(words, said.out)
        self.assertIn("energy balance error at most 1e-09 J (5e-10 of 2 J)", said.out)
        self.assertIn("out.csv, 101 rows", said.out)
        with open(self.path("out.csv")) as file:
            rows = list(csv.reader(file))
        self.assertEqual(len(rows), 102)
        self.assertEqual(rows[0][:2], ["time", "top.acceleration.x"])
        self.assertEqual(self.files(), [MODEL, "out.csv", "out.h5"])

    def test_json(self):
        said = self.json_of("run", MODEL, "--json")
        self.assertEqual(said["model"], "double")
        self.assertEqual(said["status"], "done")
        self.assertEqual(said["message"], "")
        self.assertEqual(said["t_start"], 0)
        self.assertEqual(said["t_end"], 10)
        self.assertEqual(said["steps"], {"accepted": 100, "rejected": 0})
        for key in ("newton_iterations", "factorizations", "evaluations", "wall_seconds"):
            self.assertIn(key, said)
        self.assertEqual(said["energy"]["initial"], 3)
        self.assertEqual(said["energy"]["final"], 2.5)
        self.assertEqual(said["energy"]["drift_max"], 1e-9)
        self.assertEqual(set(said["constraints"]), {"position_max", "velocity_max"})
        self.assertEqual(
            said["final"],
            {"top.acceleration": [10, 11, 12], "pivot.force": [13, 14, 15], "energy.total": 16},
        )

    def test_json_is_valid(self):
        """Values that are not finite, names with every kind of character."""
        said = self.json_of("run", MODEL, "--json", "--set", "odd=1")
        self.assertEqual(said["final"]["top.acceleration"], [None, None, 12])
        self.assertEqual(said["model"], 'odd "\\\n\ufffd name')
        self.json_of("check", MODEL, "--json", "--set", "odd=1")

    def test_progress_lines(self):
        self.assertEqual(self.run_it("run", MODEL).err, "")  # none before a second has passed
        lines = self.run_it("run", MODEL, "--set=sleep=20").err.splitlines()
        self.assertLess(len(lines), 10)
        self.assertRegex(lines[0], r"\d+ %  t = [\d.]+ of 10 s")
        self.assertGreaterEqual(float(lines[0].split()[-4]), 1.0, lines[0])
        self.assertIn("100 %", lines[-1])
        self.assertEqual(self.run_it("run", MODEL, "--quiet", "--set=sleep=12").err, "")
        self.assertEqual(self.run_it("run", MODEL, "-q").out, "")

    def test_progress_bar(self):
        for columns in (80, 40, 10):
            shown, code = self.on_terminal(
                "run", MODEL, "--set=sleep=20", "--set=steps=70", columns=columns
            )
            self.assertEqual(code, 0)
            frames = shown.split("\r")[1:]
            self.assertLess(len(frames), 3 + 10 * 2)  # 10 a second at most
            self.assertGreater(len(frames), 2)
            for frame in frames:
                self.assertLess(len(frame.replace("\x1b[K", "")), columns)
            self.assertEqual(frames[-1], "\x1b[K")  # cleared
            self.assertNotIn("\n", shown)
        shown, _ = self.on_terminal("run", MODEL, "--quiet", "--set=sleep=5")
        self.assertEqual(shown, "")

    def test_failure(self):
        said = self.run_it(
            "run", MODEL, "--csv", "out.csv", f"--set=fail={NO_CONVERGE}", "-q", code=1
        )
        for words in (
            "gave up at t = 5",
            "hinge3, rotation about x",
            "worst body: top",
            "positions 2, velocities 3",
            "try: a smaller step",
            "--set simulate.step=null --set simulate.tolerance=1e-6",
            "simulate.formulation=index2",
            "galpha check model.yaml shows",
            "51 rows, are in model.h5.part and out.csv.part",
        ):
            self.assertIn(words, said.err)
        self.assertEqual(self.files(), ["model.h5.part", MODEL, "out.csv.part"])
        with open(self.path("out.csv.part")) as file:
            self.assertEqual(len(file.readlines()), 52)  # up to the failure

    def test_ended_by_a_library(self):
        """As HDF5 ends it where memory is out."""
        said = self.run_it("run", MODEL, "--csv", "out.csv", "--set=leave=1", "-q", code=1)
        self.assertIn("a library ended the program", said.err)
        self.assertEqual(len(said.err.splitlines()), 1)

    def test_failure_keeps_what_was_there(self):
        """A result of a run that finished is not replaced by one that fails."""
        words = ["run", MODEL, "-q", "--csv", "out.csv", "-o", "out.h5"]
        self.run_it(*words)
        before = [open(self.path(name), "rb").read() for name in ("out.csv", "out.h5")]
        self.run_it(*words, f"--set=fail={NO_CONVERGE}", code=1)
        after = [open(self.path(name), "rb").read() for name in ("out.csv", "out.h5")]
        self.assertEqual(before, after)
        for part in ("out.csv.part", "out.h5.part"):
            said = self.json_of("info", part, "--json")
            self.assertEqual(said["frames"], 51)
            self.assertEqual(said["t_last"], 5)
        self.assertEqual(self.json_of("info", "out.h5.part", "--json")["status"], "failed")
        self.run_it(*words)  # takes the place of the parts
        self.assertEqual(self.files(), [MODEL, "out.csv", "out.h5"])

    def test_default_output(self):
        os.mkdir(self.path("sub"))
        self.write("sub/top.v2.yaml", "steps 5\n")
        said = self.run_it("run", "sub/top.v2.yaml")
        self.assertIn("top.v2.h5, 6 rows", said.out)
        self.assertEqual(self.files(), [MODEL, "sub", "top.v2.h5"])
        self.assertEqual(os.listdir(self.path("sub")), ["top.v2.yaml"])
        self.assertIn("model.h5, 6 rows", self.run_it("run", "-", input=b"steps 5\n").out)
        self.assertEqual(self.json_of("run", "-", "--json", input=b"steps 5\n")["files"], ["model.h5"])
        os.remove(self.path("model.h5"))
        for words in (["--no-results"], ["--csv", "-"], ["--no-results", "--csv", "out.csv"]):
            self.run_it("run", MODEL, *words)
            self.assertNotIn("model.h5", self.files())
        self.assertIn("out.csv", self.files())

    def test_options_that_exclude_each_other(self):
        for words in (
            ["--no-results", "-o", "x.h5"],
            ["--csv", "-", "--json"],
            ["-o", "-"],
            ["--view", "-"],
        ):
            said = self.run_it("run", MODEL, *words, code=2)
            self.assertEqual(len(said.err.splitlines()), 1)
            self.assertEqual(self.files(), [MODEL])

    def test_csv_to_stdout(self):
        said = self.run_it("run", MODEL, "--csv", "-")
        rows = list(csv.reader(said.out.splitlines()))
        self.assertEqual(len(rows), 102)
        self.assertEqual(rows[0][0], "time")
        self.assertIn("done", said.err)  # the summary
        self.assertEqual(self.files(), [MODEL])
        with open(self.path("redirected"), "w") as file:  # behind what is there
            file.write("# mine\n")
            file.flush()
            subprocess.run([support.PROGRAM, "run", MODEL, "-q", "--csv", "-"],
                           cwd=self.folder.name, stdout=file, check=True)
        with open(self.path("redirected")) as file:
            self.assertEqual(file.read(), "# mine\n" + said.out)

    def test_two_runs_into_one_file(self):
        first = self.start("run", MODEL, "-q", "-o", "out.h5", "--set=sleep=20")
        while not os.path.exists(self.path("out.h5.part")):
            time.sleep(0.01)
        said = self.run_it("run", MODEL, "-q", "-o", "out.h5", code=3)
        self.assertIn("out.h5: another run is writing this file", said.err)
        self.assertEqual(first.wait(30), 0)
        first.communicate()
        self.assertEqual(self.files(), [MODEL, "out.h5"])
        self.run_it("run", MODEL, "-q", "-o", "out.h5")  # and again, one after the other

    def test_failure_json(self):
        said = self.json_of("run", MODEL, "--json", f"--set=fail={NO_CONVERGE}", code=1)
        self.assertEqual(said["status"], "failed")
        self.assertEqual(said["message"], "gave up at t = 5")
        self.assertEqual(said["t_end"], 5)
        self.assertEqual(said["failure"]["code"], "GA_ERR_NO_CONVERGE")
        self.assertEqual(said["failure"]["element"], "hinge3")
        self.assertIsNone(said["failure"]["norms"]["multipliers"])

    def test_no_start(self):
        words = ["run", MODEL, "--csv", "out.csv", "-o", "out.h5", f"--set=start={INCONSISTENT}"]
        self.run_it(*words, code=1)
        self.assertEqual(self.files(), [MODEL])
        self.assertEqual(self.json_of(*words, "--json", code=1)["final"], {})

    def test_bad_model(self):
        said = self.run_it("run", MODEL, "-o", "out.h5", "--set", "errors=25", code=2)
        lines = said.err.splitlines()
        self.assertEqual(len(lines), 21)
        self.assertTrue(lines[0].startswith("model.yaml:1:3: joints.hinge.axis: zero vector"))
        self.assertNotIn("\x1b", said.err)
        self.assertEqual(lines[-1], "... and 5 more errors")
        self.assertEqual(said.out, "")
        self.assertEqual(self.files(), [MODEL])
        self.run_it("check", MODEL, "--set", "errors=1", code=2)

    def test_bad_model_json(self):
        said = self.json_of("run", MODEL, "--json", "--set", "errors=25", code=2)
        self.assertEqual(said["status"], "invalid")
        self.assertEqual(said["errors"], 25)
        self.assertEqual(len(said["messages"]), 20)
        self.assertEqual(said["messages"][4]["line"], 5)

    def test_bad_channel(self):
        said = self.run_it("run", MODEL, "--set", "bad_channel=1", "--csv", "x", code=2)
        self.assertIn("joints.hinge.axis", said.err)
        self.assertEqual(self.files(), [MODEL])

    def test_warnings(self):
        said = self.run_it("run", MODEL, "--set", "warnings=2")
        self.assertEqual(said.err.count("warning: joints.hinge.axis"), 2)
        self.assertEqual(
            said.err.count("warning: top was moved by 0.1 m\n  remedy: correct its position\n"), 2)
        self.assertIn("warnings     2: start-moved\n", said.out)
        self.assertNotIn("top was moved", self.run_it("run", MODEL, "-q", "--set",
                                                      "warnings=2").err)

    def test_warnings_json(self):
        said = self.json_of("run", MODEL, "--json", "--set", "warnings=1")
        self.assertEqual(said["warnings"], [{
            "code": "start-moved", "message": "top was moved by 0.1 m",
            "remedy": "correct its position", "element": "top", "time": None}])

    def test_missing_model(self):
        said = self.run_it("run", "none.yaml", code=3)
        self.assertIn("none.yaml", said.err)
        self.run_it("check", "none.yaml", code=3)


class Signals(Case):
    def check_stopped(self, number, code):
        words = ["run", MODEL, "--csv", "out.csv", "-o", "out.h5", "--set=sleep=10", "--json"]
        got, out, err = self.interrupt_when_running(
            [*words, "--set=steps=3000", "-q"], "out.h5.part", number
        )
        self.assertEqual(got, code)
        self.assertRegex(err, r"stopped at t = [\d.]+ s of 300 s")
        self.assertIn('"status": "interrupted"', out)
        self.assertIn("out.h5.part and out.csv.part", err)
        self.assertEqual(self.files(), [MODEL, "out.csv.part", "out.h5.part"])
        with open(self.path("out.csv.part")) as file:
            self.assertTrue(file.read().endswith("\n"))

    def test_interrupt(self):
        self.check_stopped(signal.SIGINT, 130)

    def test_terminate(self):
        self.check_stopped(signal.SIGTERM, 143)

    def test_second_interrupt(self):
        """A step that takes longer than anyone waits."""
        process = self.start("run", MODEL, "--csv", "out.csv", "--set=sleep=900", "-q")
        while not os.path.exists(self.path("out.csv.part")):
            pass
        time.sleep(0.1)  # the first row is written, the step goes on
        process.send_signal(signal.SIGINT)
        try:
            process.wait(0.1)
        except subprocess.TimeoutExpired:
            pass
        process.send_signal(signal.SIGINT)
        self.assertEqual(process.wait(0.6), -signal.SIGINT)
        process.communicate()


class Files(Case):
    def test_unwritable(self):
        for option in ("--csv", "-o"):
            said = self.run_it("run", MODEL, option, "none/out", code=3)
            self.assertIn("none/out: No such file or directory", said.err)
            said = self.run_it("run", MODEL, option, ".", code=3)
            self.assertIn("Is a directory", said.err)
        self.assertEqual(self.files(), [MODEL])
        said = self.run_it("run", MODEL, "-q", "--csv", "/dev/full", code=3)
        self.assertIn("/dev/full: No space left on device", said.err)

    def test_limited_size(self):
        """Like a full disk."""

        def limit():
            resource.setrlimit(resource.RLIMIT_FSIZE, (60000, 60000))

        for option, more in (("--csv", ["--no-results"]), ("-o", [])):
            said = self.run_it(
                "run", MODEL, "-q", option, "out", "--set=steps=3000", *more, code=3,
                preexec_fn=limit,
            )
            self.assertIn("out: File too large", said.err)
            self.assertIn("are in out.part", said.err)
            self.assertEqual(len(said.err.splitlines()), 2)

    def test_stdout(self):
        for words in (["run", MODEL, "-q", "--json"], ["check", MODEL], ["schema"], ["--help"]):
            with open("/dev/full", "w") as full:
                done = subprocess.run(
                    [support.PROGRAM, *words],
                    cwd=self.folder.name,
                    stdout=full,
                    stderr=subprocess.PIPE,
                    text=True,
                )
            self.assertEqual(done.returncode, 3, words)
            self.assertIn("No space left", done.stderr)
        reader, writer = os.pipe()
        os.close(reader)
        for words in (["schema"], ["--help"], ["check", MODEL], ["run", MODEL, "--json"],
                      ["run", MODEL, "-q", "--csv", "-", "--set=steps=30000"]):
            done = subprocess.run([support.PROGRAM, *words], cwd=self.folder.name, stdout=writer,
                                  stderr=subprocess.PIPE, text=True)
            self.assertEqual((done.returncode, done.stderr), (0, ""), words)  # nobody reads it
        # a failure is one, read or not
        done = subprocess.run([support.PROGRAM, "run", MODEL, f"--set=fail={NO_CONVERGE}"],
                              cwd=self.folder.name, stdout=writer, stderr=subprocess.PIPE)
        self.assertEqual(done.returncode, 1)
        os.close(writer)

    def test_pipe(self):
        said = self.run_it("run", MODEL, "-q", "--csv", "/dev/stdout")
        self.assertEqual(len(said.out.splitlines()), 102)


class Check(Case):
    def test_report(self):
        said = self.run_it("check", MODEL).out
        for words in (
            "joints.hinge3: rotation about x is redundant with hinge1, hinge2",
            "degrees of freedom  3 (4 without motions; 2 by counting)",
            "by 0.25 m, rotated by 0.125 rad",
            "position: [1, 2, 3], rotation: {quaternion: [0.6, 0.8, 0, 0]}",
            "pivot                spherical",
            "top.acceleration",
            "pivot.force",
            "agree with finite differences to 1e-09 (worst: stiffness matrix K)",
        ):
            self.assertIn(words, said)
        self.assertNotIn("redundant", self.run_it("check", MODEL, "--set=clean=1").out)

    def test_json(self):
        said = self.json_of("check", MODEL, "--json")
        self.assertEqual(said["bodies"], 1)
        self.assertEqual(said["coordinates"], 6)
        self.assertEqual(said["constraints"], 4)
        self.assertEqual(said["degrees_of_freedom"], 3)
        self.assertEqual(
            said["redundant"],
            [{"joint": "hinge3", "direction": "rotation about x", "with": ["hinge1", "hinge2"]}],
        )
        self.assertEqual(said["moved"], [{"body": "top", "distance": 0.25, "angle": 0.125,
                                          "position": [1, 2, 3], "rotation": [0.6, 0.8, 0, 0]}])
        self.assertEqual(said["initial"]["accelerations"], {"top.acceleration": [0, 1, 2]})
        self.assertEqual(said["initial"]["reactions"], {"pivot.force": [3, 4, 5]})
        self.assertEqual(said["tangent_error"], 1e-9)

    def test_failure(self):
        said = self.json_of("check", MODEL, "--json", f"--set=start={INCONSISTENT}", code=1)
        self.assertEqual(said["status"], "failed")
        said = self.run_it("check", MODEL, f"--set=start={INCONSISTENT}", code=1)
        self.assertNotIn("galpha check", said.err)


support.main()
