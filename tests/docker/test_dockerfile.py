"""The Dockerfile, without an engine: what it says, and that what it says runs."""

import os
import re
import shutil
import subprocess
import sys
import urllib.request
from pathlib import Path

import pytest

from tests.servers import free_port, wait_until

ROOT = Path(__file__).parents[2]


def instructions():
    """Instructions of the Dockerfile in order, each a keyword and its text on one line."""
    text = (ROOT / "Dockerfile").read_text(encoding="utf-8")
    lines = re.sub(r"(?m)^\s*#.*\n", "", text).replace("\\\n", " ").splitlines()
    return [
        (word.upper(), rest.strip()) for word, _, rest in (x.partition(" ") for x in lines) if word
    ]


def texts(keyword):
    return [text for word, text in instructions() if word == keyword]


def copies():
    """Source and target of each thing that is copied."""
    for text in texts("COPY"):
        *sources, target = text.split()
        yield from ((source, target) for source in sources)


def health_command():
    (text,) = texts("HEALTHCHECK")
    return text.partition("CMD ")[2]


def test_base_is_a_pinned_slim_python():
    (base,) = texts("FROM")
    assert re.fullmatch(r"python:3\.11\.\d+-slim-bookworm", base)


def test_copies_what_running_needs_and_no_more():
    sources = {source.rstrip("/") for source, _ in copies()}
    assert sources == {"requirements.txt", "app.py", "pages", "delphi_core", ".streamlit"}
    assert all((ROOT / source).exists() for source in sources)
    assert not texts("ADD")
    # What is copied is what .dockerignore lets through.
    ignore = (ROOT / ".dockerignore").read_text(encoding="utf-8").splitlines()
    assert "*" in ignore
    assert {line[1:].rstrip("/") for line in ignore if line.startswith("!")} == sources


def test_requirements_are_installed_before_the_code_comes():
    words = [f"{word} {text}" for word, text in instructions()]
    (install,) = (place for place, text in enumerate(words) if "pip install" in text)
    assert "--no-cache-dir" in words[install]
    assert "COPY requirements.txt" in words[install - 1]
    assert words.index("COPY app.py ./") > install


def test_the_server_is_not_root():
    words = [word for word, _ in instructions()]
    (user,) = texts("USER")
    assert user not in ("root", "0")
    assert "RUN" not in words[words.index("USER") :]
    assert any(user in text for text in texts("RUN"))


def test_port_health_and_start_are_said():
    (port,) = texts("EXPOSE")
    assert f"PORT={port}" in " ".join(texts("ENV")).split()
    assert port == "8501"
    command = health_command()
    assert "/_stcore/health" in command
    assert "b'ok'" in command
    (start,) = texts("CMD")
    assert "--server.address 0.0.0.0" in start
    assert '--server.port "$PORT"' in start


def environment(venv, port):
    """The Dockerfile's variables, with another port, and a virtual environment's commands."""
    own = dict(word.split("=", 1) for text in texts("ENV") for word in text.split())
    kept = {name: text for name, text in os.environ.items() if name[:6] not in ("DELPHI", "PYTHON")}
    path = f"{venv / 'bin'}{os.pathsep}{os.environ['PATH']}"
    return {**kept, **own, "PORT": str(port), "PATH": path}


def shell(command, **options):
    """Run a command as the Dockerfile's shell form does."""
    # S603, here and below: the commands are the Dockerfile's own.
    command = ["/bin/sh", "-c", command]
    return subprocess.run(command, check=False, capture_output=True, text=True, **options)  # noqa: S603


PROBE = "python -m pip install --dry-run --no-deps --ignore-installed --retries 0 pip"
RUN_PAGE = """python -c "
from streamlit.testing.v1 import AppTest
page = AppTest.from_file('app.py', default_timeout=60).run()
assert not page.exception and not page.error, page
print(page.title[0].value)"
"""


@pytest.mark.skipif(os.name != "posix", reason="the Dockerfile's commands need a POSIX shell")
def test_what_is_copied_installs_and_runs(tmp_path):
    app, venv, log = (tmp_path / name for name in ("app", "venv", "log"))
    app.mkdir()
    for source, target in copies():
        if source.endswith("/"):
            ignored = shutil.ignore_patterns("__pycache__")
            shutil.copytree(ROOT / source, app / target, ignore=ignored)
        else:
            shutil.copy(ROOT / source, app / target)
    subprocess.run([sys.executable, "-m", "venv", venv], check=True)  # noqa: S603
    port = free_port()
    there = {"cwd": app, "env": environment(venv, port)}
    if shell(PROBE, **there).returncode:
        pytest.skip("no package index can be reached, so nothing can be installed")
    (install,) = (text for text in texts("RUN") if "pip install" in text)
    installed = shell(install, **there)
    assert installed.returncode == 0, installed.stderr

    # From here on it is the Dockerfile's user, who has no home and could not make one.
    home = tmp_path / "nonexistent"
    there["env"]["HOME"] = str(home)

    def healthy():
        return shell(health_command(), **there).returncode == 0

    assert not healthy()
    start = ["/bin/sh", "-c", *texts("CMD")]
    with (
        log.open("w", encoding="utf-8") as output,
        subprocess.Popen(start, stdout=output, stderr=output, **there) as server,  # noqa: S603
    ):
        try:
            wait_until(healthy, server)
            with urllib.request.urlopen(f"http://127.0.0.1:{port}/?x=params", timeout=10) as page:
                assert page.status == 200
                assert "text/html" in page.headers["content-type"]
        finally:
            server.terminate()
    # The page that a visitor's session runs, from the copied files alone.
    page = shell(RUN_PAGE, **there)
    assert page.returncode == 0, page.stderr
    assert "the optimal number of tokens grows" in page.stdout
    assert not home.exists()
