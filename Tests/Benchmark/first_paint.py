#!/usr/bin/env python3
"""Times the full-screen program from its start to its first screen, with cached projects.

    first_paint.py ZG_ENV SANDBOX [--projects N] [--runs N]

A sandbox has the projects, and one run of `watch --json` fills the response cache. Then each round
starts, on a new terminal, the screen and `zg-env --version` in turn, and times both until the last
line of the screen, or the version, has been written. Ends with status 1 where a command fails.
"""

import argparse
import fcntl
import json
import os
import pathlib
import pty
import select
import signal
import statistics
import struct
import subprocess
import sys
import tempfile
import termios
import time

PASSPHRASE = "correct horse battery staple"


def seconds_until(text, words, environment, directory):
    """Runs a command on a terminal of 80 by 24, and returns the seconds until it wrote `text`."""
    begin = time.monotonic()
    child, terminal = pty.fork()
    if child == 0:
        os.chdir(directory)
        os.execvpe(words[0], words, environment)
    fcntl.ioctl(terminal, termios.TIOCSWINSZ, struct.pack("HHHH", 24, 80, 0, 0))
    seen = b""
    while text not in seen:
        ready, _, _ = select.select([terminal], [], [], 20)
        try:
            piece = os.read(terminal, 65536) if ready else b""
        except OSError:
            piece = b""
        if not piece:
            sys.exit(f"first paint: {' '.join(words)} wrote {seen[-400:]!r}")
        seen += piece
    taken = time.monotonic() - begin
    os.kill(child, signal.SIGTERM)
    os.waitpid(child, 0)
    os.close(terminal)
    return taken


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("zg_env")
    parser.add_argument("sandbox")
    parser.add_argument("--projects", type=int, default=200)
    parser.add_argument("--runs", type=int, default=21)
    options = parser.parse_args()
    options.zg_env = os.path.abspath(options.zg_env)
    with tempfile.TemporaryDirectory() as name:
        path = pathlib.Path(name)
        projects = [
            {"name": f"project-{number:03d}",
             "env": [{"key": f"KEY_{place}", "value": "v", "target": ["production"]}
                     for place in range(5)],
             "deployments": [{"target": "production", "message": f"Commit {number}"}]}
            for number in range(options.projects)]
        (path / "seed.json").write_text(json.dumps({"projects": projects}))
        (path / "passphrase").write_text(PASSPHRASE)
        (path / "passphrase").chmod(0o600)
        sandbox = subprocess.Popen(
            [options.sandbox, "--port", "0", "--seed", path / "seed.json"],
            stdout=subprocess.PIPE, text=True)
        try:
            ready = json.loads(sandbox.stdout.readline())
            url, token = ready["url"], ready["token"]
            environment = {
                "HOME": name, "PATH": os.environ["PATH"], "TERM": "xterm", "LC_ALL": "C.UTF-8",
                "SWIFT_BACKTRACE": "enable=no", "ZG_ENV_API_URL": url,
                "ZG_ENV_VAULT": str(path / "vault.zgv"), "ZG_ENV_KEY_FILE": str(path / "key"),
                "XDG_RUNTIME_DIR": name}

            def do(*words, stdin="", **more):
                done = subprocess.run(
                    [options.zg_env, *words], input=stdin, text=True, capture_output=True,
                    cwd=path, env=environment | more)
                if done.returncode != 0:
                    sys.exit(f"first paint: {' '.join(words)} failed: {done.stderr}")

            file = {"ZG_ENV_PASSPHRASE_FILE": str(path / "passphrase"), "ZG_ENV_KEY_FILE": ""}
            do("init", "--lock", "--kdf", "8MiB,1", "--no-secret-service", **file)
            do("slot", "add", "file", str(path / "key"), **file)
            do("login", stdin=token + "\n", **file)
            filling = subprocess.Popen(
                [options.zg_env, "watch", "--json"], stdout=subprocess.PIPE, text=True, cwd=path,
                env=environment)
            for line in filling.stdout:
                if '"kept":false' in line:
                    break
            filling.terminate()
            filling.wait()
            screen, version = [], []
            for _ in range(options.runs + 1):
                # The footer is painted last.
                screen.append(seconds_until(
                    b"? help", [options.zg_env, "watch"], environment, path))
                version.append(seconds_until(
                    b"zg-env ", [options.zg_env, "--version"], environment, path))
        finally:
            sandbox.terminate()
            sandbox.wait()
    screen, version = screen[1:], version[1:]
    first, reference = statistics.median(screen), statistics.median(version)
    print(
        f"first screen with {options.projects} projects: {first * 1e3:.1f} ms median, "
        f"{max(screen) * 1e3:.1f} ms most; --version: {reference * 1e3:.1f} ms; "
        f"ratio {first / reference:.1f}; goal 50 ms: {'met' if first <= 0.05 else 'MISSED'}")


if __name__ == "__main__":
    main()
