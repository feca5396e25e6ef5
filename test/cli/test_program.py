#!/usr/bin/python3
"""The program as it is, with a pendulum.

    test_program.py PROGRAM
"""
import csv
import json
import math
import os
import resource
import signal
import subprocess
import time

import support

PENDULUM = """\
galpha: 1
name: pendulum
gravity: [0, 0, -9.81]
parameters: {length: 1}
bodies:
  bob: {mass: 2, inertia: [0.1, 0.1, 0.1], position: [length, 0, 0]}
joints:
  hinge: {type: revolute, between: [ground, bob], at: [0, 0, 0], axis: [0, 1, 0]}
simulate: {t_end: 1, step: 1e-3}
output: {every: 0.01, channels: [bob.position, hinge.force, energy.total]}
"""


class Program(support.Case):
    def setUp(self):
        super().setUp()
        self.write("pendulum.yaml", PENDULUM)

    def test_run(self):
        said = self.json_of("run", "pendulum.yaml", "--json", "--csv", "out.csv", "-o", "out.h5")
        self.assertEqual(said["model"], "pendulum")
        self.assertEqual(said["status"], "done")
        self.assertEqual(said["t_end"], 1)
        self.assertEqual(said["steps"]["accepted"], 1000)
        x, y, z = said["final"]["bob.position"]
        # the joint holds to round-off, energy to the error of the method at this step
        self.assertAlmostEqual(math.hypot(x, y, z), 1, delta=1e-10)
        self.assertLess(said["energy"]["drift_max"], 1e-3)
        self.assertLess(said["constraints"]["position_max"], 1e-10)
        with open(self.path("out.csv")) as file:
            rows = list(csv.reader(file))
        self.assertEqual(len(rows), 102)
        self.assertEqual(
            rows[0][:4], ["time", "bob.position.x", "bob.position.y", "bob.position.z"]
        )
        self.assertEqual([float(number) for number in rows[-1][1:4]], [x, y, z])

    def test_hdf5(self):
        try:
            import h5py
        except ImportError:
            self.skipTest("no h5py")
        said = self.json_of("run", "pendulum.yaml", "--json", "-o", "out.h5")
        with h5py.File(self.path("out.h5"), "r") as file:
            self.assertEqual(file["time"].shape, (101,))
            self.assertEqual(file["channels/bob.position"].shape, (101, 3))
            self.assertEqual(
                list(file["channels/bob.position"][-1]), said["final"]["bob.position"]
            )
            self.assertEqual(file["channels/bob.position"].attrs["unit"], "m")
            self.assertEqual(file["model"].asstr()[()], PENDULUM)
            self.assertEqual(file["solver"].attrs["steps_accepted"], 1000)
            self.assertEqual(file["solver"].attrs["formulation"], "index2")

    def test_set(self):
        said = self.json_of(
            "run", "pendulum.yaml", "--json", "--set", "simulate.step=0.01", "--set=parameters.length=2"
        )
        self.assertEqual(said["steps"]["accepted"], 100)
        self.assertAlmostEqual(math.hypot(*said["final"]["bob.position"]), 2, delta=1e-10)

    def test_newton_tolerance(self):
        """Fewer iterations, and the end differs by no more than is asked for, step by step."""
        runs = []
        for tolerance in ("0", "1e-7"):
            said = self.run_it(
                "run", "pendulum.yaml", "--json", "--set", f"simulate.newton_tolerance={tolerance}"
            )
            runs.append(json.loads(said.stdout))
        exact, loose = runs
        self.assertLess(loose["newton_iterations"], exact["newton_iterations"])
        self.assertEqual(loose["steps"], exact["steps"])
        allowed = 1e-7 * exact["steps"]["accepted"]
        self.assertLess(abs(loose["energy"]["final"] - exact["energy"]["final"]), allowed * 10)

    def test_check(self):
        said = self.json_of("check", "pendulum.yaml", "--json")
        self.assertEqual(said["bodies"], 1)
        self.assertEqual(said["coordinates"], 6)
        self.assertEqual(said["constraints"], 5)
        self.assertEqual(said["degrees_of_freedom"], 1)
        self.assertEqual(said["redundant"], [])
        self.assertEqual(said["moved"], [])
        # a rod held at its end falls with m g L / (J + m L^2), its bearing carries the rest
        angular = 2 * 9.81 / (0.1 + 2)
        acceleration = said["initial"]["accelerations"]["bob.acceleration"]
        self.assertAlmostEqual(acceleration[2], -angular, delta=1e-9)
        force = said["initial"]["reactions"]["hinge.force"]
        self.assertAlmostEqual(force[2], 2 * (9.81 - angular), delta=1e-9)
        self.assertLess(said["tangent_error"], 1e-5)
        self.assertIn("hinge", self.run_it("check", "pendulum.yaml").out)

    def test_large_results_are_announced(self):
        """Before the run, which is then stopped."""
        with subprocess.Popen(
            [support.PROGRAM, "run", "pendulum.yaml", "-q", "--csv", "large.csv", "--set",
             "output.every=1e-9"], cwd=self.folder.name, stderr=subprocess.PIPE) as process:
            said = process.stderr.readline().decode()
            process.send_signal(signal.SIGINT)
            process.communicate(timeout=60)
        self.assertIn("warning: large.csv will take about", said)
        self.assertIn("GB", said)
        small = self.run_it("run", "pendulum.yaml", "-q", "--csv", "small.csv")
        self.assertEqual(small.err, "")

    def test_removed_results_are_an_error(self):
        with subprocess.Popen(
            [support.PROGRAM, "run", "pendulum.yaml", "-q", "--json", "--csv", "gone.csv", "-o",
             "gone.h5", "--set", "output.every=1e-7"], cwd=self.folder.name,
            stdout=subprocess.PIPE, stderr=subprocess.PIPE) as process:
            path = self.path("gone.csv.part")
            while process.poll() is None:
                if os.path.exists(path) and os.path.getsize(path) > 10000:  # rows
                    break
                time.sleep(0.01)
            os.remove(path)
            process.send_signal(signal.SIGINT)
            out, error = process.communicate(timeout=60)
        self.assertEqual(process.returncode, 3)
        self.assertIn("gone.csv.part: was removed or replaced", error.decode())
        self.assertEqual(json.loads(out)["files"], ["gone.h5.part"])

    def test_full_disk(self):
        """What was written stays readable, and nothing is said about rows that are not there."""
        def limit():
            resource.setrlimit(resource.RLIMIT_FSIZE, (200000, 200000))
            signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
        for option, name in ("-o", "full.h5"), ("--csv", "full.csv"):
            nothing_else = ["--no-results"] if option == "--csv" else []
            done = subprocess.run(
                [support.PROGRAM, "run", "pendulum.yaml", "-q", option, name, *nothing_else, "--set",
                 "output.every=1e-5"], cwd=self.folder.name, capture_output=True, preexec_fn=limit, timeout=60, check=False)
            error = done.stderr.decode()
            self.assertEqual(done.returncode, 3, error)
            self.assertIn(f"results up to that time are in {name}.part", error)
            self.assertFalse(os.path.exists(self.path(name)))
            self.assertIn("unfinished" if option == "-o" else "frames",
                          self.run_it("info", f"{name}.part").out)

    def test_crash_on_csv_does_not_blame_hdf5(self):
        """The process that reads is ended as by a crash; what it read is named."""
        with open(self.path("long.csv"), "w", encoding="utf-8") as stream:
            stream.write("time,a,b,c,d\n")
            stream.writelines(f"{k},0.123456789,1.23456789e-5,-7,{k}\n" for k in range(500000))
        with subprocess.Popen([support.PROGRAM, "info", "long.csv"], cwd=self.folder.name,
                              stdout=subprocess.PIPE, stderr=subprocess.PIPE) as process:
            children = f"/proc/{process.pid}/task/{process.pid}/children"
            reader = ""
            while not reader and process.poll() is None:
                with open(children, encoding="utf-8") as stream:
                    reader = stream.read()
            if reader:
                os.kill(int(reader.split()[0]), signal.SIGABRT)  # which sanitizers do not catch
            _, error = process.communicate(timeout=60)
        if process.returncode == 0:
            self.skipTest("it was read too fast")
        self.assertEqual(process.returncode, 2)
        self.assertIn("long.csv is damaged: the reader of CSV crashes", error.decode())
        self.assertNotIn("HDF5", error.decode())

    def test_check_leaves_tangents_of_large_models(self):
        self.write("large.yaml", """
            galpha: 1
            repeat: [{count: 250, index: i, bodies: {"b{i}": {mass: 1, inertia: 1, position: [i, 0]}}}]
            dimension: 2
            simulate: {t_end: 1, step: 0.1}
            """)
        said = self.run_it("check", "large.yaml")
        self.assertIn("Jacobians           not checked: the model is too large\n", said.out)
        self.assertNotIn("nan", said.out + said.err)
        self.assertNotIn("wrong", said.err)
        self.assertIsNone(self.json_of("check", "large.yaml", "--json")["tangent_error"])

    def test_mistakes(self):
        self.write("bad.yaml", PENDULUM.replace("mass: 2", "mas: 2").replace("revolute", "revolut"))
        said = self.run_it("run", "bad.yaml", "-o", "out.h5", code=2)
        self.assertIn("bad.yaml:6:", said.err)
        self.assertIn("mass", said.err)
        self.assertIn("bad.yaml:8:", said.err)
        self.assertIn("revolute", said.err)
        self.assertNotIn("out.h5", self.files())
        self.run_it("run", "none.yaml", code=3)
        self.run_it("run", "pendulum.yaml", "--set", "simulate.stepp=1", code=2)
        said = self.run_it("run", "pendulum.yaml", "--set", "output.channels=[bob.positon]", code=2)
        self.assertIn("bob.position", said.err)

    def test_slips_of_options(self):
        for words, said in (
                (["-o", "x.csv"], "-o writes HDF5; for CSV, use --csv x.csv"),
                (["-o", "x.CSV"], "use --csv x.CSV"),
                (["--checkpoint", "-q"], "--checkpoint: '-q' looks like an option"),
                (["--csv=-q"], "--csv: '-q' looks like an option"),
                (["--checkpoint", "-"], "a checkpoint cannot go to standard output"),
                (["--out", "x.h5"], "did you mean '--output'?"),
                (["--t-end", "3"], "'--set simulate.t_end=VALUE'"),
                (["--t_end=3"], "'--set simulate.t_end=VALUE'"),
                (["--every", "3"], "'--set output.every=VALUE'"),
                (["--jsn"], "did you mean '--json'?")):
            self.assertIn(said, self.run_it("run", "pendulum.yaml", *words, code=2).err)
        self.assertEqual(self.files(), ["pendulum.yaml"])
        self.assertIn("has no option '--t-end'; see",
                      self.run_it("elements", "--t-end", "3", code=2).err)

    def test_interrupt(self):
        code, out, err = self.interrupt_when_running(
            ["run", "pendulum.yaml", "-q", "-o", "out.h5", "--set=simulate.t_end=1e6"],
            "out.h5.part",
        )
        self.assertEqual(code, 130)
        self.assertRegex(err, r"stopped at t = [\d.]+ s")

    def test_stdin(self):
        said = self.run_it("run", "-", "--json", "-q", input=PENDULUM.encode())
        self.assertEqual(json.loads(said.out)["status"], "done")

    def test_reference(self):
        self.assertIn("$schema", self.json_of("schema"))
        self.assertIn("revolute", self.run_it("elements").out)
        self.assertIn("axis", self.run_it("elements", "revolute").out)


support.main()
