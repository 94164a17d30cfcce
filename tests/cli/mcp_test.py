#!/usr/bin/env python3
"""hlosim mcp: a client of JSON-RPC asks its tools; paths outside of its folder are refused.

  mcp_test.py PROGRAM SOURCE_DIR
"""
import json
import os
import pathlib
import shutil
import subprocess
import sys
import tempfile
import unittest

ROOT = pathlib.Path(sys.argv.pop(2))
PROGRAM = os.path.abspath(sys.argv.pop(1))


class Mcp(unittest.TestCase):
    def setUp(self):
        self.temporary = tempfile.TemporaryDirectory()
        self.addCleanup(self.temporary.cleanup)
        self.folder = pathlib.Path(self.temporary.name, "inside")
        self.folder.mkdir()
        shutil.copy(ROOT / "examples/mlp.hlo", self.folder / "mlp.hlo")
        shutil.copy(ROOT / "examples/mlp_plain.hlo", self.folder / "plain.hlo")
        shutil.copy(ROOT / "examples/mlp.hlo", self.folder.parent / "outside.hlo")
        (self.folder / "link.hlo").symlink_to(self.folder.parent / "outside.hlo")
        (self.folder / "wrong.hlo").write_text("HloModule m\nENTRY e {\n  ROOT x = f32[2] parametr(0)\n}\n")

    def serve(self, *lines):
        text = "".join((line if isinstance(line, str) else json.dumps(line)) + "\n" for line in lines)
        done = subprocess.run([PROGRAM, "mcp"], input=text, cwd=self.folder, capture_output=True, text=True)
        self.assertEqual((done.returncode, done.stderr), (0, ""))
        return [json.loads(line) for line in done.stdout.splitlines()]

    def tool(self, name, **arguments):
        reply, = self.serve({"jsonrpc": "2.0", "id": 7, "method": "tools/call", "params": {"name": name, "arguments": arguments}})
        self.assertEqual((reply["jsonrpc"], reply["id"]), ("2.0", 7))
        return reply

    def text(self, name, **arguments):
        result = self.tool(name, **arguments)["result"]
        return result["isError"], result["content"][0]["text"]

    def command(self, *arguments):
        return subprocess.run([PROGRAM, *arguments], cwd=self.folder, capture_output=True, text=True).stdout

    def test_handshake_and_list(self):
        hello, pong, tools = self.serve(
            {"jsonrpc": "2.0", "id": 0, "method": "initialize", "params": {"protocolVersion": "2025-03-26"}},
            {"jsonrpc": "2.0", "method": "notifications/initialized"},
            {"jsonrpc": "2.0", "id": "p", "method": "ping"},
            {"jsonrpc": "2.0", "id": 1, "method": "tools/list"})
        self.assertEqual(hello["result"]["protocolVersion"], "2025-03-26")
        self.assertEqual(hello["result"]["serverInfo"]["name"], "hlosim")
        self.assertEqual((pong["id"], pong["result"]), ("p", {}))
        schemas = {tool["name"]: tool["inputSchema"] for tool in tools["result"]["tools"]}
        self.assertEqual(set(schemas), {"report", "explain", "diff", "check"})
        self.assertEqual(schemas["explain"]["required"], ["file", "instruction", "device"])

    def test_answers_are_those_of_the_commands(self):
        path = str(self.folder.resolve() / "mlp.hlo")
        plain = str(self.folder.resolve() / "plain.hlo")
        self.assertEqual(self.text("report", file="mlp.hlo", device="v5e", format="json"),
                         (False, self.command("report", "--device=v5e", "--format=json", path)))
        self.assertEqual(self.text("explain", file="mlp.hlo", instruction="hidden", device="v5e"),
                         (False, self.command("explain", "--device=v5e", path, "hidden")))
        self.assertEqual(self.text("diff", old="plain.hlo", new="mlp.hlo", device="v5e"),
                         (False, self.command("diff", "--device=v5e", plain, path)))

    def test_wrong_modules_are_results_with_their_place(self):
        failed, text = self.text("check", file="wrong.hlo")
        self.assertTrue(failed)
        self.assertIn("wrong.hlo:3:", text)
        self.assertIn("did you mean \"parameter\"?", text)

    def test_paths_outside_are_refused(self):
        for file in ("../outside.hlo", "link.hlo", "/etc/passwd", "-", "", "a/../../outside.hlo"):
            error = self.tool("report", file=file, device="v5e")["error"]
            self.assertEqual(error["code"], -32602, file)
            self.assertIn("not inside", error["message"])
        self.assertEqual(self.tool("report", file="mlp.hlo", device="../x.yaml")["error"]["code"], -32602)
        self.assertEqual(self.tool("report", file="mlp.hlo", device="v5e", xla_flags="@/etc/passwd")["error"]["code"], -32602)

    def test_wrong_requests(self):
        replies = self.serve("{", "[]", {"jsonrpc": "2.0", "id": 1}, {"jsonrpc": "2.0", "id": 2, "method": "resources/list"},
                             {"jsonrpc": "2.0", "id": 3, "method": "tools/call", "params": {"name": "rm"}}, "")
        self.assertEqual([reply["error"]["code"] for reply in replies], [-32700, -32600, -32600, -32601, -32602])
        self.assertEqual(self.tool("report", file="mlp.hlo")["error"]["message"], "arguments: report needs 'device'")
        self.assertEqual(self.tool("check", file="mlp.hlo", output="x")["error"]["message"], "arguments: check has no 'output'")
        self.assertEqual(self.tool("check", file=3)["error"]["message"], "arguments: 'file' is not a string")


if __name__ == "__main__":
    unittest.main()
