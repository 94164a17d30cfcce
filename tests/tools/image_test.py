"""scripts/image knows all that the Dockerfile says, and counts sizes as an image does. What it builds needs root and a network."""
import importlib.machinery
import importlib.util
import os
import pathlib
import tempfile

ROOT = pathlib.Path(__file__).resolve().parents[2]
loader = importlib.machinery.SourceFileLoader("image", str(ROOT / "scripts/image"))
image = importlib.util.module_from_spec(importlib.util.spec_from_loader("image", loader))
loader.exec_module(image)


def stopped(text):
    try:
        image.stages(text)
    except SystemExit as error:
        return str(error)
    raise AssertionError(text)


def main():
    build, last = image.stages((ROOT / "Dockerfile").read_text())
    assert build[0] == "build" and [word for word, _ in build[1]] == ["COPY", "WORKDIR", "RUN"], build
    assert [word for word, _ in last[1]] == ["RUN", "WORKDIR", "ENTRYPOINT"] and "from=build" in last[1][0][1], last
    assert "unknown instruction VOLUME" in stopped("FROM debian:12-slim\nVOLUME /x\n")
    assert "not alpine" in stopped("FROM alpine\n")
    with tempfile.TemporaryDirectory() as folder:
        folder = pathlib.Path(folder)
        (folder / "base/a").mkdir(parents=True)
        (folder / "base/a/file").write_bytes(b"x" * 1000)
        os.link(folder / "base/a/file", folder / "base/again")
        assert image.size(folder / "base") == 1000
        # A folder of another stage is there while its command runs, and not in the image.
        ran = []
        image.in_chroot = lambda where, command, workdir: ran.append((command, workdir, (where / "packages/file").read_bytes()[:1]))
        (folder / "image").mkdir()
        image.run_instruction("--mount=type=bind,from=build,source=/a,target=/packages  install it", folder / "image", "/work",
                              {"build": folder / "base"})
        assert ran == [("install it", "/work", b"x")] and not (folder / "image/packages").exists()


main()
