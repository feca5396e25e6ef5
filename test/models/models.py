"""What the checks of model files share: running the program, comparing, reporting."""

import json
import os
import subprocess
import sys
import tempfile

HERE = os.path.dirname(os.path.abspath(__file__))
EXAMPLES = os.path.join(HERE, "..", "..", "examples")
BENCHMARK = os.path.join(HERE, "benchmark")


class Failure(Exception):
    pass


class Checks:
    """Counts checks; says which failed and ends with the right exit code."""

    def __init__(self):
        self.count = 0
        self.failures = []

    def that(self, good, what):
        self.count += 1
        if not good:
            self.failures.append(what)
            print("FAIL", what, flush=True)

    def near(self, got, expected, tolerance, what):
        """tolerance is absolute; numbers or lists."""
        got, expected = flat(got), flat(expected)
        error = max(
            (abs(g - x) for g, x in zip(got, expected)), default=0.0
        ) if len(got) == len(expected) else float("inf")
        self.that(error <= tolerance, f"{what}: off by {error:.3g}, allowed {tolerance:.3g}")
        return error

    def attempt(self, what, function, *arguments):
        try:
            return function(*arguments)
        except Failure as failure:
            self.that(False, f"{what}: {failure}")
            return None

    def finish(self):
        print(f"{self.count - len(self.failures)} of {self.count} checks passed")
        sys.exit(1 if self.failures or self.count == 0 else 0)


def flat(x):
    if isinstance(x, (list, tuple)):
        return [number for item in x for number in flat(item)]
    return [float(x)]


def call(program, *arguments, timeout=120, cwd=None):
    return subprocess.run(
        [program, *arguments], capture_output=True, timeout=timeout, cwd=cwd, check=False
    )


def sets(settings):
    """{"simulate.step": 0.1} as arguments; values become YAML, which JSON is."""
    return [
        part
        for path, value in settings.items()
        for part in ("--set", f"{path}={value if isinstance(value, str) else json.dumps(value)}")
    ]


def run(program, model, settings=None, csv=None, timeout=300):
    """The summary of a run, as the program prints it."""
    arguments = ["run", model, "--json", "--quiet", "--no-results", *sets(settings or {})]
    if csv:
        arguments += ["--csv", csv]
    try:
        done = call(program, *arguments, timeout=timeout)
    except subprocess.TimeoutExpired:
        raise Failure(f"took more than {timeout} s") from None
    if done.returncode != 0:
        lines = done.stderr.decode(errors="replace").strip().splitlines()
        raise Failure(f"exit code {done.returncode}: {' | '.join(lines[:2])}")
    return json.loads(done.stdout)


def rows(program, model, settings=None):
    """All output of a run: a list of {channel: number}, by the names in the CSV header."""
    with tempfile.TemporaryDirectory() as folder:
        path = os.path.join(folder, "out.csv")
        run(program, model, settings, csv=path)
        with open(path, encoding="utf-8") as stream:
            names = stream.readline().strip().split(",")
            return [
                dict(zip(names, map(float, line.strip().split(",")))) for line in stream
            ]


def example(name):
    return os.path.join(EXAMPLES, name + ".yaml")


def benchmark(name):
    return os.path.join(BENCHMARK, name + ".yaml")


def solve(matrix, right):
    """Gaussian elimination with pivoting, for the small systems of statics."""
    n = len(right)
    rows_ = [list(row) + [x] for row, x in zip(matrix, right)]
    for k in range(n):
        pivot = max(range(k, n), key=lambda i: abs(rows_[i][k]))
        rows_[k], rows_[pivot] = rows_[pivot], rows_[k]
        for i in range(k + 1, n):
            factor = rows_[i][k] / rows_[k][k]
            for j in range(k, n + 1):
                rows_[i][j] -= factor * rows_[k][j]
    x = [0.0] * n
    for k in reversed(range(n)):
        x[k] = (rows_[k][n] - sum(rows_[k][j] * x[j] for j in range(k + 1, n))) / rows_[k][k]
    return x
