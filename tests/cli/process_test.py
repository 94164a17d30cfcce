#!/usr/bin/env python3
"""What only a process shows: standard streams that break.

  process_test.py PROGRAM
"""
import os
import signal
import subprocess
import sys
import unittest

PROGRAM = sys.argv.pop(1)
LONG = [PROGRAM, "ops", "--format=markdown"]


class Streams(unittest.TestCase):
    def test_full_device(self):
        with open("/dev/full", "w") as full:
            run = subprocess.run(LONG, stdout=full, stderr=subprocess.PIPE, text=True)
        self.assertEqual(run.returncode, 2)
        self.assertEqual(run.stderr, "hlosim: can't write to standard output\n")

    def test_reader_goes_away(self):
        # As a shell starts it: the signal ends the program, without a word.
        restore = lambda: signal.signal(signal.SIGPIPE, signal.SIG_DFL)
        run = subprocess.Popen(LONG, stdout=subprocess.PIPE, stderr=subprocess.PIPE, preexec_fn=restore)
        run.stdout.close()
        error = run.stderr.read()
        run.stderr.close()
        self.assertIn(run.wait(), (-signal.SIGPIPE, 0))
        self.assertEqual(error, b"")

    def test_reader_goes_away_and_the_signal_is_ignored(self):
        ignore = lambda: signal.signal(signal.SIGPIPE, signal.SIG_IGN)
        reader, writer = os.pipe()
        os.close(reader)
        run = subprocess.run(LONG, stdout=writer, stderr=subprocess.PIPE, text=True, preexec_fn=ignore)
        self.assertEqual(run.returncode, 2)
        self.assertEqual(run.stderr, "hlosim: can't write to standard output\n")

    def test_unwritable_output(self):
        text = "HloModule m\nENTRY e { ROOT a = f32[4] parameter(0) }\n"
        run = subprocess.run([PROGRAM, "print", "-", "-o", "/proc/no_such_file"], input=text, capture_output=True, text=True)
        self.assertEqual(run.returncode, 2)
        self.assertRegex(run.stderr, r"^hlosim: error: cannot write '/proc/no_such_file': ")
        run = subprocess.run([PROGRAM, "print", "-", "-o", "/dev/full"], input=text, capture_output=True, text=True)
        self.assertEqual(run.returncode, 2)
        self.assertEqual(run.stderr, "hlosim: error: cannot write '/dev/full': No space left on device\n")

    def test_standard_input(self):
        text = "HloModule m\nENTRY e { ROOT a = f32[4] parameter(0) }\n"
        run = subprocess.run([PROGRAM, "--device=unit", "-"], input=text, capture_output=True, text=True)
        self.assertEqual((run.returncode, run.stderr), (0, ""))
        self.assertTrue(run.stdout.startswith("m on unit\n"), run.stdout)


if __name__ == "__main__":
    unittest.main()
