"""Runs the program and looks at what it says."""
import json
import os
import pty
import select
import signal
import subprocess
import sys
import tempfile
import time
import unittest

PROGRAM = None


class Case(unittest.TestCase):
    """Each test has a scratch folder, which is the current folder of the program."""

    def setUp(self):
        self.folder = tempfile.TemporaryDirectory()
        self.addCleanup(self.folder.cleanup)

    def path(self, name):
        return os.path.join(self.folder.name, name)

    def write(self, name, text):
        with open(self.path(name), "w") as file:
            file.write(text)
        return name

    def files(self):
        return sorted(os.listdir(self.folder.name))

    def run_it(self, *words, code=0, timeout=60, **options):
        """Runs to the end; checks the exit code."""
        done = subprocess.run(
            [PROGRAM, *words],
            cwd=self.folder.name,
            capture_output=True,
            timeout=timeout,
            **options,
        )
        done.out = done.stdout.decode() if done.stdout is not None else ""
        done.err = done.stderr.decode()
        self.assertEqual(done.returncode, code, f"{words}: {done.out}{done.err}")
        return done

    def json_of(self, *words, **options):
        def refuse(name):
            raise ValueError(name + " is no JSON")

        return json.loads(self.run_it(*words, **options).stdout, parse_constant=refuse)

    def start(self, *words):
        return subprocess.Popen(
            [PROGRAM, *words],
            cwd=self.folder.name,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
        )

    def interrupt_when_running(self, words, file, number=signal.SIGINT):
        """Sends the signal once `file` has appeared; the process and what it said."""
        process = self.start(*words)
        for _ in range(500):
            if os.path.exists(self.path(file)):
                break
            time.sleep(0.01)
        else:
            process.kill()
            self.fail(f"{file} never appeared: {process.communicate()}")
        time.sleep(0.05)
        process.send_signal(number)
        out, err = process.communicate(timeout=30)
        return process.returncode, out, err

    def on_terminal(self, *words, columns=80):
        """stderr is a terminal; what it showed, and the exit code."""
        master, slave = pty.openpty()
        import fcntl
        import struct
        import termios

        fcntl.ioctl(slave, termios.TIOCSWINSZ, struct.pack("HHHH", 24, columns, 0, 0))
        process = subprocess.Popen(
            [PROGRAM, *words],
            cwd=self.folder.name,
            stdout=subprocess.DEVNULL,
            stderr=slave,
            env={**os.environ, "TERM": "xterm"},
        )
        os.close(slave)
        shown = b""
        while select.select([master], [], [], 30)[0]:
            try:
                piece = os.read(master, 4096)
            except OSError:  # the other end is closed
                break
            if not piece:
                break
            shown += piece
        os.close(master)
        return shown.decode(), process.wait(timeout=30)


def main():
    global PROGRAM
    PROGRAM = os.path.abspath(sys.argv.pop(1))
    # the tests use this module under its own name
    sys.modules["support"].PROGRAM = PROGRAM
    unittest.main(module="__main__", verbosity=1)
