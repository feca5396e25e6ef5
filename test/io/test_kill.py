#!/usr/bin/python3
"""Results of runs that are killed: before and in the middle of every single write, at random
moments, and in a long step.

    test_kill.py PROGRAM DUMP KILL SLOW

DUMP prints a result; KILL is to be preloaded, see kill.c; SLOW is a plug-in, see slow.c.
"""
import os
import random
import subprocess
import sys
import tempfile
import time

try:
    import h5py
except ImportError:
    h5py = None

PROGRAM, DUMP, KILL, SLOW = (os.path.abspath(path) for path in sys.argv[1:5])

MODEL = """\
galpha: 1
gravity: [0, 0, -9.81]
bodies:
  bob: {mass: 2, inertia: [0.1, 0.1, 0.1], position: [1, 0, 0]}
joints:
  hinge: {type: revolute, between: [ground, bob], at: [0, 0, 0], axis: [0, 1, 0]}
simulate: {t_end: 0.02, step: 1e-3}
output: {every: 1e-3, channels: [bob.position, hinge.angle]}
"""


class Failure(Exception):
    pass


def check(condition, text):
    if not condition:
        raise Failure(text)


def run(words, **more):
    """The program, under the preloaded library if `more` has something for it."""
    environment = dict(os.environ)
    if more:
        environment["LD_PRELOAD"] = KILL
        environment.update({name: str(value) for name, value in more.items()})
    return subprocess.run([PROGRAM, "run", "model.yaml", "-q", *words], env=environment,
                          capture_output=True, timeout=120, check=False)


def rows(path):
    """The frames of a result; null if it cannot be read, with what was said."""
    done = subprocess.run([DUMP, path], capture_output=True, text=True, timeout=60, check=False)
    return (done.stdout.splitlines(), "") if done.returncode == 0 else (None, done.stderr)


def csv_rows(path):
    """Whole lines, without the header."""
    if not os.path.exists(path):
        return 0
    with open(path, "rb") as file:
        return max(0, file.read().count(b"\n") - 1)


def content(path):
    with open(path, "rb") as file:
        return file.read()


def check_part(path, reference, at_least, what):
    """The part is readable, has the rows it should, and is as good for others when repaired.
    Whether there was something to repair."""
    found, said = rows(path)
    if at_least > 0 or found:
        check(found is not None, f"{what}: {said}")
        check(found == reference[: len(found)], f"{what}: other numbers")
        check(len(found) >= at_least, f"{what}: {len(found)} rows, at least {at_least} expected")
    else:
        check(len(said.splitlines()) == 1, f"{what}: {said}")
        return False
    if path.endswith(".csv.part"):
        return False
    done = subprocess.run([PROGRAM, "repair", path], capture_output=True, check=False)
    check(done.returncode == 0, f"{what}: repair says {done.stderr}")
    if done.stdout.endswith(b": repaired\n"):
        check(rows(path)[0] == found, f"{what}: other rows after repair")
    if h5py:
        with h5py.File(path, "r") as file:
            check(len(file["time"]) == len(found), f"{what}: h5py finds other rows")
            check(len(file["channels/bob.position"][:]) == len(found), f"{what}: h5py")
    return done.stdout.endswith(b": repaired\n")


def every_write(settings, ending, clock, lag, every=1):
    """Kills a run at every call that changes the file of this ending. At most `lag` rows of those
    that CSV has may be missing."""
    csv, h5 = ["--csv", "new.csv"], ["-o", "new.h5"]
    words = csv + h5 + [word for value in settings for word in ("--set", value)]
    done = run(words, KILL_FILE=ending, KILL_COUNT="count", KILL_CLOCK=clock)
    check(done.returncode == 0, f"the reference failed: {done.stderr}")
    reference = {name: rows(name)[0] for name in ("new.h5", "new.csv")}
    check(len(reference["new.h5"]) == len(reference["new.csv"]), "two results differ")
    with open("count", encoding="utf-8") as file:
        calls = int(file.read())
    repaired = least = 0
    for how in ("before", "middle"):
        for at in range(1, calls + 1, every):
            before = {}
            for name in reference:
                with open(name, "wb") as file:
                    file.write(b"an earlier result")
                before[name] = content(name)
                if os.path.exists(name + ".part"):
                    os.remove(name + ".part")
            done = run(words, KILL_FILE=ending, KILL_AT=at, KILL_HOW=how, KILL_CLOCK=clock)
            what = f"{ending} {how} call {at} of {calls}"
            check(done.returncode == -9, f"{what}: not killed, {done.returncode}")
            computed = csv_rows("new.csv.part")
            for name in reference:
                if content(name) != before[name]:  # complete, or not touched
                    check(rows(name)[0] == reference[name], f"{what}: {name} is incomplete")
                    continue
                allowed = 1 if name == "new.csv" else lag
                if os.path.exists(name + ".part"):
                    repaired += check_part(name + ".part", reference[name], computed - allowed,
                                           f"{what}, {name}")
                else:
                    check(computed <= 1, f"{what}: {name}.part is not there")
            least = max(least, computed)
    check(every > 1 or least >= len(reference["new.h5"]) - 1, "no run got to the end")
    print(f"{ending}: killed at {calls} calls, twice each; {repaired} files to repair")
    return repaired


def at_random(count, seed):
    """Kills runs at random moments. HDF5 has all rows that CSV had a second before, and all but
    two blocks where blocks fill up faster than that."""
    dice = random.Random(seed)
    for k in range(count):
        slow = k % 10 == 0  # as many rows as fit into seconds, or few
        for name in ("new.h5.part", "new.csv.part"):
            if os.path.exists(name):
                os.remove(name)
        with subprocess.Popen(
            [PROGRAM, "run", "model.yaml", "-q", "--csv", "new.csv", "-o", "new.h5", "--set",
             "simulate.t_end=1e3", "--set", f"output.every={'0.5' if slow else '1e-4'}", "--set",
             f"simulate.step={'2e-5' if slow else '1e-4'}"], stderr=subprocess.DEVNULL) as process:
            end = time.monotonic() + (dice.uniform(1.2, 2.2) if slow else dice.uniform(0.02, 0.3))
            second_ago = 0
            while time.monotonic() < end:
                time.sleep(0.005)
                if time.monotonic() < end - 1.25:  # a busy machine may be late
                    second_ago = csv_rows("new.csv.part")
            process.kill()
        what = f"random kill {k}"
        csv = csv_rows("new.csv.part")
        if not os.path.exists("new.h5.part"):
            check(csv == 0, f"{what}: no file")
            continue
        reference = rows("new.csv.part")[0] if csv else []
        check(not csv or len(reference) == csv, f"{what}: CSV")
        found = rows("new.h5.part")[0]
        check(csv <= 1 or found is not None, f"{what}: {rows('new.h5.part')[1]}")
        at_least = max(second_ago, 0 if slow else csv - 2 * 512)
        if found is not None:
            check(found == reference[: len(found)] or len(found) == csv + 1, f"{what}: numbers")
            check(len(found) >= at_least, f"{what}: {len(found)} of {csv} rows, {at_least}")
    print(f"{count} kills at random moments")


def in_a_long_step():
    """The rows within a step come at once, before seconds of computation."""
    with open("slow.yaml", "w", encoding="utf-8") as file:
        file.write(f"""\
galpha: 1
bodies: {{stone: {{mass: 1, inertia: [1, 1, 1]}}}}
forces: {{slow: {{type: plugin, library: {SLOW}, bodies: [stone]}}}}
simulate: {{t_end: 9, step: 1, method: generalized-alpha}}
output: {{every: 0.1, channels: [stone.position]}}
""")
    end = time.monotonic() + 60
    with subprocess.Popen([PROGRAM, "run", "slow.yaml", "--allow-plugins", "--include-anywhere", "-q",
                           "--csv", "slow.csv", "-o", "slow.h5"]) as process:
        while csv_rows("slow.csv.part") < 10 and time.monotonic() < end:
            time.sleep(0.01)
        time.sleep(1)
        process.kill()
    check(csv_rows("slow.csv.part") >= 10, "the run with long steps did not begin")
    found = len(rows("slow.h5.part")[0] or [])
    check(found >= 10, f"killed in a long step: {found} of 10 rows that are a second old")


def main():
    with tempfile.TemporaryDirectory() as folder:
        os.chdir(folder)
        with open("model.yaml", "w", encoding="utf-8") as file:
            file.write(MODEL)
        # A look at the clock, of which there are some at every row, takes a tenth of a second.
        repaired = every_write([], ".h5.part", 0.1, 6)
        every_write([], ".csv.part", 0.1, 6)
        # Several chunks, which takes new nodes of their index.
        repaired += every_write(["simulate.t_end=1.2"], ".h5.part", 0.005, 100, every=11)
        check(repaired > 0, "no kill met the middle of an update")
        at_random(50, 1)
        in_a_long_step()


if __name__ == "__main__":
    try:
        main()
    except Failure as failure:
        sys.exit(f"test_kill: {failure}")
