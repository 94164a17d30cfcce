#!/usr/bin/env python3
"""The man page and the completions tell every command and option, and do what they say.

  manual_test.py PROGRAM
"""
import re
import shutil
import subprocess
import sys
import unittest

PROGRAM = sys.argv.pop(1)


def hlosim(*arguments):
    return subprocess.run([PROGRAM, *arguments], capture_output=True, text=True, check=True).stdout


def commands():
    """Every command with its long options, from its own help."""
    names = re.findall(r"^  (\S+) ", hlosim("help").split("Commands:")[1], re.M)
    found = []
    for name in names:
        text = hlosim("help", name)
        subcommands = re.findall(r"^  " + name + r" (\S+) ", text, re.M)
        for full in [f"{name} {s}" for s in subcommands] or [name]:
            found.append((full, re.findall(r"--([a-z][a-z-]*)", hlosim("help", *full.split()).split("Options:")[-1].split("Examples:")[0])))
    return found


class Manual(unittest.TestCase):
    def test_everything_is_told(self):
        scripts = {shell: hlosim("completion", shell) for shell in ("bash", "zsh", "fish")}
        page = hlosim("man").replace("\\-", "-")
        for command, options in commands():
            self.assertIn(f".SS hlosim {command}", page)
            section = page.split(f".SS hlosim {command}")[1].split(".SS ")[0]
            for word in command.split():
                for shell, script in scripts.items():
                    self.assertRegex(script, rf"\b{word}\b", shell)
            for option in options:
                self.assertIn(f"--{option}", section, command)
                for shell, script in scripts.items():
                    self.assertIn(f"-l {option}" if shell == "fish" else f"--{option}", script, f"{shell} {command}")

    def test_options_say_what_they_take(self):
        for command, _ in commands():
            self.assertNotIn(" TEXT\n", hlosim("help", *command.split()) + "\n", command)
            self.assertNotRegex(hlosim("help", *command.split()), r"--[a-z-]+ TEXT\b", command)

    def test_every_device_has_its_short_name(self):
        for command, options in commands():
            if "device" in options:
                self.assertIn("-d, --device", hlosim("help", *command.split()), command)

    def test_examples_are_in_help(self):
        self.assertIn("Examples:\n  hlosim report module.hlo --device=v5e\n", hlosim("help", "report"))
        self.assertIn("Examples:\n  hlosim gate --update-baseline\n", hlosim("gate", "--help"))

    def complete(self, *words):
        """What bash offers for the last of `words`."""
        quoted = " ".join("'" + w + "'" for w in words)
        script = hlosim("completion", "bash") + (
            f"\nCOMP_WORDS=({quoted}); COMP_CWORD={len(words) - 1}; compopt() {{ :; }}; _hlosim; "
            "printf '%s\\n' \"${COMPREPLY[@]}\"\n")
        run = subprocess.run(["bash", "--norc", "-eu", "-c", script.replace("-eu", "")], capture_output=True, text=True, check=False)
        self.assertEqual(run.stderr, "")
        return run.stdout.split()

    def test_bash(self):
        self.assertEqual(self.complete("hlosim", "rep"), ["report"])
        self.assertEqual(self.complete("hlosim", "report", "--top"), ["--topology=", "--top="])
        self.assertIn("v5e", self.complete("hlosim", "report", "--device", "=", "v"))
        self.assertEqual(self.complete("hlosim", "report", "--format", "=", "j"), ["json"])
        self.assertEqual(self.complete("hlosim", "gate", "--on-new", "f"), ["fail"])
        self.assertIn("schedule", self.complete("hlosim", "tune", ""))
        self.assertIn("--knob=", self.complete("hlosim", "tune", "schedule", "--kn"))

    def test_other_shells_take_the_scripts(self):
        for shell in ("bash", "zsh", "fish"):
            if shutil.which(shell):
                subprocess.run([shell, "-n", "/dev/stdin"], input=hlosim("completion", shell), text=True, check=True)

    def test_man_takes_the_page(self):
        if not shutil.which("groff"):
            self.skipTest("no groff")
        run = subprocess.run(["groff", "-man", "-Tascii", "-ww"], input=hlosim("man"), capture_output=True, text=True, check=True)
        self.assertEqual(run.stderr, "")
        plain = re.sub(".\\x08", "", run.stdout)  # bold and underlined letters
        self.assertIn("\nEXIT STATUS\n", plain)
        self.assertIn("hlosim gate --update-baseline\n", plain)

    def test_wrong_shell(self):
        run = subprocess.run([PROGRAM, "completion", "tcsh"], capture_output=True, text=True, check=False)
        self.assertEqual((run.returncode, run.stdout), (2, ""))
        self.assertIn("bash, zsh or fish", run.stderr)


if __name__ == "__main__":
    unittest.main()
