#!/usr/bin/python3
"""Random mechanisms through the program, and properties that must hold.

    net.py PROGRAM [--seed S] [--count N | --minutes M] [--shard I/N] [--families a,b] [--with stops]
    net.py PROGRAM --model FILE --property NAME
    net.py PROGRAM --again FOLDER

Model k of a seed is always the same. Each goes through the properties that look at one run, and
through two of the others in turn (properties.py). A failure is shrunk to a small model, printed
and kept in the folder of --failures; the second form runs one such file again, the third all of a
folder, whose first line begins with the property.

Exit code 1 if a property is violated, if the program fails, or if too many models are excluded.
"""

import argparse
import collections
import os
import random
import re
import sys
import tempfile
import time

os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")  # matrices are small
import yaml

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
import generate
import properties
import shrink

# Families with properties of their own. `--with NAME` adds them to the others.
SWITCHES = {"stops": "rigid limits: resting, bouncing and accumulating impacts"}
PER_MODEL = 2  # of the properties that take turns
MOST_EXCLUDED = 0.08  # of all checks: chaotic, singular or unresolved models say nothing


def model_of(seed, k, families):
    family = families[k % len(families)]
    return family, generate.mechanism(f"{seed}-{k}", family)


class Result:
    def __init__(self):
        self.checks, self.excluded = collections.Counter(), collections.Counter()
        self.failures, self.models = [], 0
        self.seconds = collections.Counter()


def judge(net, name, model):
    """None where the property holds, 'excluded', 'inapplicable', or what is wrong; and the reason."""
    try:
        properties.ALL[name](net, model)
    except properties.Violation as wrong:
        return "violated", str(wrong)
    except properties.ProgramFailed as wrong:
        return "program failed", str(wrong)
    except properties.Excluded as why:
        return "excluded", str(why)
    except properties.Inapplicable as why:
        return "inapplicable", str(why)
    return None, ""


def fails_alike(program, name, verdict):
    """Does a smaller model fail in the same way? Models that are no longer right do not count."""

    def fails(candidate):
        with tempfile.TemporaryDirectory() as scratch:
            try:
                got, why = judge(properties.Net(program, scratch), name, candidate)
            except Exception:  # not a model any more
                return False
        return got == verdict and "exit code 2" not in why

    return fails


def check_model(net, k, family, model, result):
    net.forget()
    names = [p.__name__ for p in properties.ALWAYS]
    turns = [p.__name__ for p in (properties.STOPS if family == "stops" else properties.ROTATING)]
    start = (k // 8) * PER_MODEL % len(turns) if family != "stops" else 0
    left = PER_MODEL
    for name in names + turns[start:] + turns[:start]:
        if name in turns:
            if left == 0:
                return
            left -= 1
        before = time.monotonic()
        verdict, why = judge(net, name, model)
        result.seconds[name] += time.monotonic() - before
        if verdict == "inapplicable":
            left += name in turns
            continue
        result.checks[name] += 1
        if verdict == "excluded":
            result.excluded[why] += 1
        elif verdict:
            result.failures.append((k, family, name, verdict, why, model))
            print(f"FAIL model {k} ({family}), {name}: {verdict}: {why}", flush=True)


def report_failure(arguments, failure):
    k, family, name, verdict, why, model = failure
    small = shrink.shrink(model, fails_alike(arguments.program, name, verdict), arguments.shrink)
    with tempfile.TemporaryDirectory() as scratch:
        _, why = judge(properties.Net(arguments.program, scratch), name, small)
    text = f"# {name}: {why.splitlines()[0] if why else ''}\n# seed {arguments.seed}, model {k}, {family}\n" + shrink.text(small)
    os.makedirs(arguments.failures, exist_ok=True)
    path = os.path.join(arguments.failures, f"{family}_{arguments.seed}_{k}_{name}.yaml")
    with open(path, "w") as f:
        f.write(text)
    print(f"\n{path}, again: net.py PROGRAM --model {path} --property {name}\n{text}", flush=True)


def run_net(arguments):
    families = arguments.families.split(",") if arguments.families else generate.FAMILIES + arguments.switch
    shard, shards = (int(x) for x in arguments.shard.split("/"))
    result = Result()
    end = time.monotonic() + 60 * arguments.minutes if arguments.minutes else None
    with tempfile.TemporaryDirectory() as scratch:
        net = properties.Net(arguments.program, scratch)
        k = shard
        while (time.monotonic() < end) if end else (k < arguments.count):
            family, model = model_of(arguments.seed, k, families)
            check_model(net, k, family, model, result)
            result.models += 1
            k += shards
        for failure in result.failures[: arguments.show]:
            report_failure(arguments, failure)
        print_summary(arguments, net, result)
    checks, excluded = sum(result.checks.values()), sum(result.excluded.values())
    too_many = excluded > max(1, MOST_EXCLUDED * checks)
    if too_many:
        print(f"FAIL {excluded} of {checks} checks are excluded, at most {MOST_EXCLUDED:.0%} may be")
    return 1 if result.failures or too_many or result.models == 0 else 0


def print_summary(arguments, net, result):
    print(f"seed {arguments.seed}: {result.models} models, {sum(result.checks.values())} checks, {net.runs} runs, {len(result.failures)} failures")
    for name, count in result.checks.items():
        print(f"  {name:26} {count:5}   {result.seconds[name]:6.1f} s")
    print(f"  excluded: {sum(result.excluded.values())}", *[f"; {n} {why}" for why, n in result.excluded.items()], sep="")


def run_one(program, path, name):
    """Does the property hold for a model file? Other verdicts than `holds` are failures."""
    with open(path) as f:
        model = yaml.load(f, Loader=Yaml12)
    with tempfile.TemporaryDirectory() as scratch:
        verdict, why = judge(properties.Net(program, scratch), name, model)
    print(f"{os.path.basename(path)}: {name}: {verdict or 'holds'} {why}")
    return verdict is None


class Yaml12(yaml.SafeLoader):
    """Numbers as YAML 1.2 has them: 1e-7 is one."""


Yaml12.add_implicit_resolver("tag:yaml.org,2002:float", re.compile(r"^[-+]?(\d+\.?\d*|\.\d+)([eE][-+]?\d+)?$"), list("-+0123456789."))


def run_again(program, folder):
    """All files of a folder; the first line of each names the property after `# `."""
    good = True
    files = sorted(n for n in os.listdir(folder) if n.endswith(".yaml"))
    for n in files:
        path = os.path.join(folder, n)
        with open(path) as f:
            name = f.readline()[2:].split(":")[0]
        good = run_one(program, path, name) and good
    return good and bool(files)


def main():
    parser = argparse.ArgumentParser(description="random mechanisms, and properties that must hold")
    parser.add_argument("program")
    parser.add_argument("--seed", default=None)
    parser.add_argument("--count", type=int, default=300)
    parser.add_argument("--minutes", type=float, default=0)
    parser.add_argument("--shard", default="0/1")
    parser.add_argument("--families", default="")
    parser.add_argument("--with", dest="switch", default=[], action="append", choices=sorted(SWITCHES))
    parser.add_argument("--failures", default="failures")
    parser.add_argument("--show", type=int, default=3, help="how many failures are shrunk")
    parser.add_argument("--shrink", type=float, default=40, help="seconds for each")
    parser.add_argument("--again", metavar="FOLDER")
    parser.add_argument("--model")
    parser.add_argument("--property", choices=sorted(properties.ALL))
    arguments = parser.parse_args()
    if arguments.again:
        return 0 if run_again(arguments.program, arguments.again) else 1
    if arguments.model:
        return 0 if run_one(arguments.program, arguments.model, arguments.property) else 1
    if arguments.seed is None:
        arguments.seed = str(random.SystemRandom().randrange(10**6))
        print(f"seed {arguments.seed}", flush=True)
    return run_net(arguments)


if __name__ == "__main__":
    sys.exit(main())
