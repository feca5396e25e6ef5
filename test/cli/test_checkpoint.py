#!/usr/bin/python3
"""Runs that are stopped or killed, and go on from their checkpoints: results are those of a run that
was never stopped, to the last digit.

    test_checkpoint.py PROGRAM EXAMPLES [KILL]

KILL is to be preloaded, see test/io/kill.c; without it, or if it is empty, nothing is killed.
"""
import os
import random
import signal
import subprocess
import sys
import time

import support

KILL = sys.argv.pop(3) if len(sys.argv) > 3 else ""
KILL = KILL and os.path.abspath(KILL)
EXAMPLES = os.path.abspath(sys.argv.pop(2))

PENDULUM = """\
galpha: 1
gravity: [0, 0, -9.81]
parameters: {length: 1}
bodies:
  bob: {mass: 2, inertia: [0.1, 0.1, 0.1], position: [length, 0, 0]}
joints:
  hinge: {type: revolute, between: [ground, bob], at: [0, 0, 0], axis: [0, 1, 0], friction: {coefficient: 0.2, radius: 0.05}}
simulate: {t_end: 0.01953125, step: 0.0009765625}   # 20 steps of 1/1024 s
output: {every: 0.0009765625, channels: [bob.position, hinge.angle, energy]}
"""


class Case(support.Case):
    def setUp(self):
        super().setUp()
        self.write("pendulum.yaml", PENDULUM)

    def content(self, name):
        with open(self.path(name), "rb") as file:
            return file.read()

    def whole(self, model, *words):
        self.sums = None
        self.run_it("run", model, "-o", "whole.h5", "--csv", "whole.csv", "-q", *words, timeout=200)

    def check_whole(self, what=""):
        """The results that were made in pieces; of the HDF5 one its statistics."""
        self.assertEqual(self.content("cut.csv"), self.content("whole.csv"), what)
        if not self.sums:
            self.sums = self.run_it("plot", "whole.h5", "--stats", "--json").out.replace("whole", "cut")
        self.assertEqual(self.run_it("plot", "cut.h5", "--stats", "--json").out, self.sums, what)
        left = [f for f in self.files() if f.endswith((".part", ".before"))]
        # a checkpoint that was not finished may be there
        self.assertFalse([f for f in left if not f.startswith("c.ga.")], what)


CUT = ("-o", "cut.h5", "--csv", "cut.csv", "--checkpoint", "c.ga", "--checkpoint-every", "0.02")


class Stopped(Case):
    def stop_now_and_then(self, model, words, number, code):
        """Stops a run at random moments until it is done; how often."""
        order, stops = ["run", model, *CUT, "-q", *words], 0
        pause = random.Random(7)
        for _ in range(40):
            process = self.start(*order)
            time.sleep(0.03 + 0.15 * pause.random())
            process.send_signal(number)
            _, err = process.communicate(timeout=60)
            if process.returncode == 0 or "the run ended at" in str(err):
                return stops  # in the latter case it was killed after its last checkpoint
            self.assertIn(process.returncode, (code, -number), err)
            stops += 1
            if os.path.exists(self.path("c.ga")):
                order = ["resume", "c.ga", "-q"]
        self.run_it(*order, timeout=200)
        return stops

    def test_stopped(self):
        for model, words in (
            ("double_pendulum", ["--set", "simulate.t_end=2"]),
            ("stick_slip", []),
            ("puck", ["--set", "simulate.t_end=1"]),
        ):
            path = os.path.join(EXAMPLES, model + ".yaml")
            self.whole(path, *words)
            self.stop_now_and_then(path, words, signal.SIGTERM, 143)
            self.check_whole(model)
            os.remove(self.path("c.ga"))

    def test_killed(self):
        path = os.path.join(EXAMPLES, "double_pendulum.yaml")
        self.whole(path)
        self.stop_now_and_then(path, [], signal.SIGKILL, -9)
        self.check_whole()

    def test_sentence(self):
        # takes minutes
        words = ["run", "pendulum.yaml", "--set", "simulate.t_end=1e5", "--set", "output.every=100", *CUT]
        code, _, err = self.interrupt_when_running(words, "c.ga")
        self.assertEqual(code, 130)
        self.assertIn("to continue: galpha resume c.ga", err)

    def test_every_write(self):
        """Killed before and in the middle of every write and rename, with a checkpoint after every
        step."""
        if not KILL:
            self.skipTest("nothing to preload")
        short = ["--set", "simulate.t_end=0.005859375"]
        words = ["run", "pendulum.yaml", "-q", *short, *CUT[:-1], "0.001"]
        tick = {**os.environ, "LD_PRELOAD": KILL, "KILL_FILE": ".part", "KILL_CLOCK": "1"}
        quick = {**os.environ, "LD_PRELOAD": KILL}  # no waiting for the disk
        self.run_it(*words, env={**tick, "KILL_COUNT": self.path("count")})
        calls = int(self.content("count"))
        self.assertGreater(calls, 30)
        self.whole("pendulum.yaml", *short)
        for how in ("before", "middle"):
            for at in range(1, calls + 1):
                for name in ("c.ga", "cut.h5", "cut.csv"):
                    if os.path.exists(self.path(name)):
                        os.remove(self.path(name))
                self.run_it(*words, env={**tick, "KILL_AT": str(at), "KILL_HOW": how}, code=-9)
                if not os.path.exists(self.path("c.ga")):
                    continue
                said = subprocess.run([support.PROGRAM, "resume", "c.ga", "-q"], env=quick,
                                      cwd=self.folder.name, capture_output=True, check=False)
                if said.returncode == 2:  # it was the one of the end
                    self.assertIn(b"the run ended at", said.stderr)
                    continue
                self.assertEqual(said.returncode, 0, f"{how} {at}: {said.stderr}")
                self.assertEqual(said.stderr, b"", f"{how} {at}")
                for name in self.files():  # of a checkpoint that was not finished
                    if name.startswith("c.ga.") and name.endswith(".part"):
                        os.remove(self.path(name))
                self.check_whole(f"{how} call {at} of {calls}")


    def test_unwritable(self):
        """Told before the run, which would not be worth its time."""
        os.mkdir(self.path("folder"))
        for name, word in (("none/c.ga", "No such file"), ("folder", "is a folder"),
                           ("/dev/null", "not a regular file")):
            said = self.run_it("run", "pendulum.yaml", "-q", "--checkpoint", name, code=3)
            self.assertIn(word, said.err)
            self.assertFalse([f for f in self.files() if f.endswith((".h5", ".part"))])


class Resumed(Case):
    def setUp(self):
        super().setUp()
        self.run_it("run", "pendulum.yaml", "-q", "--set", "simulate.t_end=0.009765625", *CUT)

    def kill_while_copying(self):
        """Leaves the rows of the run of setUp in cut.csv.before and cut.h5.before."""
        for name in ("cut.csv", "cut.h5"):
            os.rename(self.path(name), self.path(name + ".before"))

    def test_set_aside(self):
        """Rows that a killed resume has set aside are found by the next resume."""
        self.whole("pendulum.yaml")
        self.kill_while_copying()
        self.run_it("resume", "c.ga", "--t-end", "0.01953125", "-q")
        self.check_whole()

    def test_set_aside_and_begun_anew(self):
        """They are not taken for rows of a later run to the same files, which differ."""
        self.kill_while_copying()
        longer = ["--set", "parameters.length=2"]
        self.whole("pendulum.yaml", *longer)
        words = ["run", "pendulum.yaml", "-q", "--set", "simulate.t_end=0.009765625", *longer]
        self.run_it(*words, "-o", "cut.h5", "--csv", "cut.csv")  # c.ga may still need them
        self.assertIn("cut.csv.before", self.files())
        self.run_it(*words, *CUT)
        self.assertFalse([f for f in self.files() if f.endswith(".before")])
        self.run_it("resume", "c.ga", "--t-end", "0.01953125", "-q")
        self.check_whole()

    def test_later_end(self):
        """Steps go on as they would have, and the rows of both are in one file."""
        self.whole("pendulum.yaml")
        said = self.run_it("resume", "c.ga", "--t-end", "0.01953125")
        self.assertNotIn(self.folder.name, said.out + said.err)
        self.check_whole()

    def test_other_folder_and_files(self):
        self.whole("pendulum.yaml")
        os.mkdir(self.path("sub"))
        words = ["resume", "../c.ga", "--t-end", "0.01953125", "-q", "-o", "new.h5", "--csv", "new.csv"]
        subprocess.run([support.PROGRAM, *words], cwd=self.path("sub"), check=True)
        self.assertEqual(self.content("sub/new.csv"), self.content("whole.csv"))
        self.assertTrue(os.path.exists(self.path("cut.csv")))

    def test_without_earlier_rows(self):
        os.remove(self.path("cut.csv"))
        os.remove(self.path("cut.h5"))
        said = self.run_it("resume", "c.ga", "--t-end", "0.01953125", "-q")
        self.assertIn("begins at t = 0.009765625 s: the results of the earlier run are missing", said.err)
        self.assertEqual(self.content("cut.csv").count(b"\n"), 11)

    def test_true_row_count(self):
        """The summary counts the rows of the file, and says where they begin; a second resume finds
        them."""
        os.remove(self.path("cut.csv"))
        os.remove(self.path("cut.h5"))
        said = self.run_it("resume", "c.ga", "--t-end", "0.015625")
        self.assertIn("cut.csv, 6 rows, from t = 0.009765625 s on", said.out)
        self.assertEqual(self.content("cut.csv").count(b"\n"), 7)
        said = self.run_it("resume", "c.ga", "--t-end", "0.01953125")
        self.assertEqual(self.content("cut.csv").count(b"\n"), 11)
        self.assertIn("cut.csv, 10 rows", said.out)

    def test_one_of_two_missing(self):
        self.whole("pendulum.yaml")
        before = {name: self.content(name) for name in ("cut.csv", "cut.h5", "c.ga")}
        for missing in ("cut.csv", "cut.h5"):
            for name, content in before.items():
                self.write_bytes(name, content)
            os.remove(self.path(missing))
            said = self.run_it("resume", "c.ga", "--t-end", "0.01953125", "-q")
            self.assertEqual(said.err, "")
            self.check_whole(missing)

    def write_bytes(self, name, content):
        with open(self.path(name), "wb") as file:
            file.write(content)

    def check_refused(self, *words):
        """Nothing is changed."""
        before = {name: self.content(name) for name in self.files()}
        said = self.run_it("resume", "c.ga", "--t-end", "0.01953125", *words, code=2)
        self.assertIn("the rows before t = 0.009765625 s cannot be kept", said.err)
        self.assertTrue(before == {name: self.content(name) for name in self.files()})
        return said.err

    def test_other_channels(self):
        """Earlier rows that lack channels are never replaced, complete or of a killed run."""
        for ending in ("", ".part"):
            err = self.check_refused("--view", "page.html")
            self.assertIn("resume without --view; `galpha view", err)
            if not ending:
                os.rename(self.path("cut.h5"), self.path("cut.h5.part"))
                os.rename(self.path("cut.csv"), self.path("cut.csv.part"))
        self.write("pendulum.yaml", PENDULUM.replace("[bob", "[hinge.rate, bob"))
        self.assertIn("resume with the original output.channels", self.check_refused())
        self.write("pendulum.yaml", PENDULUM)
        self.whole("pendulum.yaml")
        self.run_it("resume", "c.ga", "--t-end", "0.01953125", "-q")
        self.check_whole()

    def test_rows_of_another_run(self):
        """A result of the same name, of the same model with another value, is not taken for the rows
        before the checkpoint; nor is one with a number changed."""
        kept = self.content("cut.csv"), self.content("cut.h5")
        self.run_it("run", "pendulum.yaml", "--set", "bodies.bob.velocity=[0, 0, 0.5]", "--csv",
                    "cut.csv", "-o", "cut.h5", "-q")
        self.assertIn("its rows are those of another run", self.check_refused())
        self.write_bytes("cut.h5", kept[1])
        lines = kept[0].splitlines(keepends=True)
        lines[4] = lines[4].replace(b"1", b"2", 1)
        self.write_bytes("cut.csv", b"".join(lines))
        self.assertIn("its rows are those of another run", self.check_refused())

    def test_symbolic_link(self):
        """A result that is a link: the file it points to is replaced, the link stays."""
        self.whole("pendulum.yaml")
        os.mkdir(self.path("far"))
        for name in ("cut.csv", "cut.h5"):
            os.rename(self.path(name), self.path("far/" + name))
            os.symlink("far/" + name, self.path(name))
        self.run_it("resume", "c.ga", "--t-end", "0.01953125", "-q")
        self.check_whole()
        self.assertTrue(os.path.islink(self.path("cut.csv")) and os.path.islink(self.path("cut.h5")))
        self.assertEqual(sorted(os.listdir(self.path("far"))), ["cut.csv", "cut.h5"])

    def interrupt(self, folder=""):
        """As if the run of setUp had been interrupted at its end."""
        for name in ("cut.csv", "cut.h5"):
            os.rename(self.path(folder + name), self.path(folder + name + ".part"))

    def test_same_file_by_another_name(self):
        """The checkpoint has its absolute path: the part is set aside, not overwritten."""
        self.whole("pendulum.yaml")
        kept = [self.content(name) for name in ("cut.csv", "cut.h5", "c.ga")]
        for csv, h5 in (("cut.csv", "cut.h5"), ("./cut.csv", "./cut.h5")):
            for name, bytes_ in zip(("cut.csv", "cut.h5", "c.ga"), kept):
                self.write_bytes(name, bytes_)
            self.interrupt()
            self.run_it("resume", "c.ga", "--t-end", "0.01953125", "-q", "-o", h5, "--csv", csv)
            self.check_whole(h5)

    def test_links_to_files_that_are_not_there_yet(self):
        """Results and checkpoint go where links lead, also what an interrupted run leaves."""
        self.whole("pendulum.yaml")
        os.mkdir(self.path("far"))
        names = ("c.ga", "cut.csv", "cut.h5")
        for name in names:
            os.remove(self.path(name))
            os.symlink("far/" + name, self.path(name))
        self.run_it("run", "pendulum.yaml", "-q", "--set", "simulate.t_end=0.009765625", *CUT)
        self.assertEqual(sorted(os.listdir(self.path("far"))), sorted(names))
        self.interrupt("far/")
        self.run_it("resume", "c.ga", "--t-end", "0.01953125", "-q")
        self.check_whole()
        self.assertTrue(all(os.path.islink(self.path(name)) for name in names))
        self.assertEqual(sorted(os.listdir(self.path("far"))), sorted(names))

    def test_mutants(self):
        """Bytes changed, cut off, added: refused with a sentence, and nothing is written."""
        good = self.content("c.ga")
        mutate = random.Random(7)
        for k in range(60):
            bad = bytearray(good)
            if k % 3 == 0:
                del bad[mutate.randrange(len(bad)) :]
            elif k % 3 == 1:
                bad[mutate.randrange(len(bad))] ^= 1 << mutate.randrange(8)
            else:
                at = mutate.randrange(len(bad))
                bad[at : at + mutate.randrange(64)] = mutate.randbytes(mutate.randrange(1, 64))
            if bytes(bad) == good:
                continue
            self.write_bytes("c.ga", bytes(bad))
            said = self.run_it("resume", "c.ga", "--t-end", "0.01953125", "-q", code=2)
            self.assertTrue(said.err.strip(), f"mutant {k} is refused without a word")

    def test_killed_after_the_end(self):
        """The result is complete, a resume from an earlier checkpoint was killed before it had copied
        its rows: the empty part is not taken for them."""
        self.whole("pendulum.yaml")
        for name in ("cut.csv.part", "cut.h5.part"):
            self.write_bytes(name, b"")
        self.run_it("resume", "c.ga", "--t-end", "0.01953125", "-q")
        self.check_whole()

    def test_damaged_rows(self):
        rows = self.content("cut.csv").splitlines(keepends=True)
        self.write_bytes("cut.csv", b"".join(rows[:5]))
        self.assertIn("move that file away", self.check_refused())

    def test_damaged_hdf5(self):
        """The rows of the other file stay, and are those of both when the damaged one is gone."""
        self.whole("pendulum.yaml")
        self.write_bytes("cut.h5", b"x" + self.content("cut.h5")[1:5000])
        said = self.run_it("resume", "c.ga", "--t-end", "0.01953125", code=2)
        self.assertIn("cannot be kept: ", said.err)
        os.remove(self.path("cut.h5"))
        self.run_it("resume", "c.ga", "--t-end", "0.01953125", "-q")
        self.check_whole()

    def test_over(self):
        said = self.run_it("resume", "c.ga", code=2)
        self.assertIn("the run ended at t = 0.009765625 s; --t-end T", said.err)
        said = self.run_it("resume", "c.ga", "--t-end", "0.001", code=2)
        self.assertIn("t_end = 0.001 s is before that", said.err)

    def test_refused(self):
        self.write("pendulum.yaml", PENDULUM.replace("mass: 2", "mass: 3"))
        said = self.run_it("resume", "c.ga", "--t-end", "0.01953125", code=2)
        self.assertIn("the model has changed", said.err)
        self.write("pendulum.yaml", "# other words\n" + PENDULUM)
        self.run_it("resume", "c.ga", "--t-end", "0.015", "-q")
        os.remove(self.path("pendulum.yaml"))
        self.run_it("resume", "c.ga", "--t-end", "0.01953125", code=3)
        for words in (["nothing.ga"], ["--t-end", "soon", "c.ga"]):
            self.run_it("resume", *words, code=3 if words == ["nothing.ga"] else 2)

    def test_damaged(self):
        whole = self.content("c.ga")
        for at in range(0, len(whole), len(whole) // 50):
            with open(self.path("bad.ga"), "wb") as file:
                file.write(whole[:at] + bytes([whole[at] ^ 1]) + whole[at + 1:])
            said = self.run_it("resume", "bad.ga", "--t-end", "0.01953125", code=2)
            self.assertEqual(len(said.err.splitlines()), 1, said.err)
        for at in range(0, len(whole), len(whole) // 20):
            with open(self.path("bad.ga"), "wb") as file:
                file.write(whole[:at])
            self.run_it("resume", "bad.ga", "--t-end", "0.01953125", code=2)

    def test_standard_input(self):
        self.whole("pendulum.yaml")
        self.run_it("run", "-", "-q", "--set", "simulate.t_end=0.009765625", *CUT, input=PENDULUM.encode())
        self.run_it("resume", "c.ga", "--t-end", "0.01953125", "-q")
        self.check_whole()

    def test_csv_alone(self):
        """No HDF5 result, neither before nor after."""
        self.whole("pendulum.yaml")
        self.run_it("run", "pendulum.yaml", "-q", "--set", "simulate.t_end=0.009765625", "--no-results",
                    "--csv", "alone.csv", "--checkpoint", "alone.ga")
        self.run_it("resume", "alone.ga", "--t-end", "0.01953125", "-q")
        self.assertEqual(self.content("alone.csv"), self.content("whole.csv"))
        self.assertNotIn("alone.h5", self.files())
        self.assertNotIn("pendulum.h5", self.files())

    def test_name_of_a_result(self):
        for name in ("cut.h5", "./cut.csv", "cut.h5.part", "pendulum.yaml"):
            said = self.run_it("run", "pendulum.yaml", *CUT[:4], "--checkpoint", name, code=2)
            self.assertIn(name + " would be overwritten by results", said.err)

    def test_options(self):
        said = self.run_it("run", "pendulum.yaml", "--checkpoint-every", "5", code=2)
        self.assertIn("--checkpoint-every needs --checkpoint", said.err)
        said = self.run_it("run", "pendulum.yaml", "--checkpoint", "c.ga", "--checkpoint-every", "0", code=2)
        self.assertIn("above 0", said.err)
        said = self.run_it("run", "pendulum.yaml", "--checkpoint", "pendulum.yaml", code=2)
        self.assertIn("would be overwritten", said.err)
        said = self.run_it("run", "pendulum.yaml", "--checkpoint", "no/folder/c.ga", "-q", code=3)
        self.assertIn("no/folder/c.ga", said.err)
        self.assertFalse(os.path.exists(self.path("pendulum.h5")))


if __name__ == "__main__":
    support.main()
