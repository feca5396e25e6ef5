"""Makes a model that fails smaller while it goes on failing, and writes it down."""

import copy
import json
import time

SECTIONS = ("forces", "motions", "joints", "bodies")


def mentions(entry, name):
    """Does an entry of a model refer to a body or joint?"""
    if isinstance(entry, dict):
        return any(mentions(v, name) for v in entry.values())
    if isinstance(entry, list):
        return any(mentions(v, name) for v in entry)
    return isinstance(entry, str) and (entry == name or entry.startswith(name + ".") or f"{name}." in entry)


def without(model, section, name):
    """The model without an entry and all that refers to it."""
    out = copy.deepcopy(model)
    del out[section][name]
    gone = [name]
    while gone:
        dead = gone.pop()
        for s in SECTIONS:
            for other in [n for n, e in out.get(s, {}).items() if mentions(e, dead)]:
                del out[s][other]
                gone.append(other)
    return {k: v for k, v in out.items() if v != {}} if out.get("bodies") else None


def paths(node, prefix=()):
    """All paths into a model, the deepest last."""
    for key, value in list(node.items()) if isinstance(node, dict) else list(enumerate(node)):
        yield prefix + (key,)
        if isinstance(value, (dict, list)):
            yield from paths(value, prefix + (key,))


def lookup(model, path):
    for key in path:
        model = model[key]
    return model


def changed(model, path, value, remove=False):
    out = copy.deepcopy(model)
    parent = lookup(out, path[:-1])
    if remove:
        del parent[path[-1]]
    else:
        parent[path[-1]] = value
    return out


def candidates(model):
    """Simpler models, the boldest first."""
    for section in reversed(SECTIONS):
        for name in list(model.get(section, {})):
            yield without(model, section, name)
    for path in list(paths(model)):
        if path[0] in SECTIONS and len(path) >= 3 and isinstance(path[-1], str):
            yield changed(model, path, None, remove=True)
        elif path in (("gravity",), ("parameters",)):
            yield changed(model, path, None, remove=True)
    for path in list(paths(model)):
        value = lookup(model, path)
        if isinstance(value, float) or (isinstance(value, int) and not isinstance(value, bool)):
            for simple in (0.0, 1.0, float(f"{value:.1g}"), float(f"{value:.3g}")):
                if simple != value and len(repr(simple)) <= len(repr(value)):
                    yield changed(model, path, simple)


def shrink(model, fails, seconds):
    """Greedy: any candidate that still fails is the new model, until none does or time is up."""
    end = time.monotonic() + seconds
    progress = True
    while progress and time.monotonic() < end:
        progress = False
        tried = iter(candidates(model))
        for candidate in tried:
            if time.monotonic() > end:
                break
            if candidate is not None and candidate != model and fails(candidate):
                model, progress = candidate, True
                break
    return model


def text(model):
    """A model file: one line for each entry, in JSON, which YAML contains."""
    lines = []
    for key, value in model.items():
        if key in SECTIONS:
            lines.append(f"{key}:")
            lines += [f"  {name}: {json.dumps(entry)}" for name, entry in value.items()]
        else:
            lines.append(f"{key}: {json.dumps(value)}")
    return "\n".join(lines) + "\n"
