#!/usr/bin/env python3
"""What only a process shows: standard streams that break, pipes in place of files, names of files on a terminal.

  process_test.py PROGRAM
"""
import os
import pathlib
import signal
import subprocess
import sys
import tempfile
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


MODULE = "HloModule m\nENTRY e { ROOT a = f32[4] parameter(0) }\n"


class InFolder(unittest.TestCase):
    def setUp(self):
        self.folder = tempfile.TemporaryDirectory()
        self.path = pathlib.Path(self.folder.name)

    def tearDown(self):
        self.folder.cleanup()

    def run_in_folder(self, *arguments, **options):
        """A run that waits for a writer never ends: 60 s are an error."""
        return subprocess.run([PROGRAM, *arguments], capture_output=True, cwd=self.path, timeout=60, **options)


class Pipes(InFolder):
    def setUp(self):
        super().setUp()
        (self.path / "m.hlo").write_text(MODULE)

    def expect_no_file(self, name, *arguments):
        run = self.run_in_folder(*arguments, text=True)
        self.assertEqual(run.returncode, 2, run.stderr)
        self.assertIn(f"cannot read '{name}': a pipe\n", run.stderr)
        self.assertIn("  hint: a regular file is expected here\n", run.stderr)
        self.assertEqual(run.stdout, "")

    def test_as_device(self):
        os.mkfifo(self.path / "device.yaml")
        self.expect_no_file("device.yaml", "--device=device.yaml", "m.hlo")
        self.expect_no_file("device.yaml", "devices", "device.yaml")

    def test_as_base_of_a_device(self):
        os.mkfifo(self.path / "base.yaml")
        (self.path / "device.yaml").write_text("extends: base.yaml\nname: mine\n")
        self.expect_no_file("base.yaml", "--device=device.yaml", "m.hlo")

    def test_as_journal(self):
        (self.path / "sweep.yaml").write_text("modules: m.hlo\ndevices: v5e\n")
        os.mkfifo(self.path / "journal")
        self.expect_no_file("journal", "sweep", "sweep.yaml", "--journal=journal")
        # What a rank of another run left.
        (self.path / "journal").unlink()
        os.mkfifo(self.path / "journal.1")
        self.expect_no_file("./journal.1", "sweep", "sweep.yaml", "--journal=journal")

    def test_as_member_of_a_dump(self):
        (self.path / "dump").mkdir()
        os.mkfifo(self.path / "dump" / "module_0001.m.cpu_after_optimizations.txt")
        self.expect_no_file("dump/module_0001.m.cpu_after_optimizations.txt", "report", "--device=unit", "dump")
        # What is no part of the dump doesn't matter.
        (self.path / "dump" / "module_0001.m.cpu_after_optimizations.txt").unlink()
        os.mkfifo(self.path / "dump" / "pipe")
        (self.path / "dump" / "module_0001.m.cpu_after_optimizations.txt").write_text(MODULE)
        self.assertEqual(self.run_in_folder("report", "--device=unit", "dump").returncode, 0)

    def test_as_module(self):
        """Modules come from anywhere: what a shell puts in place of <(command) is a pipe."""
        for name in ("-", "/dev/stdin"):
            run = self.run_in_folder("--device=unit", name, input=MODULE, text=True)
            self.assertEqual((run.returncode, run.stderr), (0, ""))
            self.assertTrue(run.stdout.startswith("m on unit\n"), run.stdout)
        reader, writer = os.pipe()
        os.write(writer, MODULE.encode())
        os.close(writer)
        run = self.run_in_folder("--device=unit", f"/dev/fd/{reader}", pass_fds=[reader])
        os.close(reader)
        self.assertEqual((run.returncode, run.stderr), (0, b""))


class NamesOfFiles(InFolder):
    """A name of a file neither begins a line of its own nor moves the cursor."""

    NAME = b"a\x1b[31mred\nhlosim: error: forged\r\x9bK"

    def expect_escaped(self, run, codes):
        self.assertIn(run.returncode, codes, run.stderr)
        for text in (run.stdout, run.stderr):
            self.assertNotIn(b"\x1b[31mred", text)
            self.assertNotIn(b"\r", text)
            self.assertNotIn(b"\x9b", text)
            self.assertFalse([line for line in text.split(b"\n") if line.startswith(b"hlosim: error: forged")], text)
        if run.returncode == 2:
            self.assertIn(b"\\x0ahlosim: error: forged", run.stderr)

    def folder_of(self, text, stage=b"cpu_after_optimizations.txt"):
        folder = os.path.join(os.fsencode(self.path), b"dump")
        os.makedirs(folder, exist_ok=True)
        for number in (1, 2):
            with open(os.path.join(folder, b"module_000%d." % number + self.NAME + b"." + stage), "w") as file:
                file.write(text)
        return folder

    def test_of_members_of_a_dump(self):
        folder = self.folder_of(MODULE)
        for arguments in ([b"report", b"--device=unit"], [b"report", b"--device=unit", b"--list"],
                          [b"report", b"--device=unit", b"-v", b"--color=always"]):
            self.expect_escaped(self.run_in_folder(*arguments, folder), (0, 2))

    def test_of_members_that_are_wrong(self):
        folder = self.folder_of("HloModule m\nENTRY e { what }\n")
        for arguments in ([b"report", b"--device=unit"], [b"report", b"--device=unit", b"--color=always"]):
            self.expect_escaped(self.run_in_folder(*arguments, folder), (2,))

    def test_of_files_on_the_line(self):
        name = self.NAME + b".hlo"
        for arguments in ([b"report", b"--device=unit"], [b"check"], [b"cost"], [b"buffers", b"--device=unit"],
                          [b"report", b"--device=" + self.NAME], [b"gate", b"--config=" + self.NAME],
                          [b"diff", b"--device=unit", name], [b"profile", b"--device=unit"], [b"print", b"-o", b"/no/" + name]):
            self.expect_escaped(self.run_in_folder(*arguments, name), (2,))
        (self.path / os.fsdecode(name)).write_text(MODULE)
        for arguments in ([b"report", b"--device=unit"], [b"check", b"-v"], [b"diff", b"--device=unit", name],
                          [b"run", b"--time", b"--args=random"]):
            self.expect_escaped(self.run_in_folder(*arguments, name), (0,))


if __name__ == "__main__":
    unittest.main()
