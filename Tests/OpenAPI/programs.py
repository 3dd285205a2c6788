"""The built programs: a sandbox, and homes in which zg-env runs."""

import json
import os
import pathlib
import shutil
import subprocess
import tempfile
import urllib.request

PACKAGE = pathlib.Path(__file__).resolve().parents[2]
PASSPHRASE = "correct horse battery staple"


def program(name):
    """The path of a built program; ZG_PROGRAMS names another directory than the debug build's."""
    path = pathlib.Path(os.environ.get("ZG_PROGRAMS") or PACKAGE / ".build" / "debug") / name
    if not path.exists():
        raise SystemExit(f"{path} is not built; run: swift build")
    return str(path)


class Sandbox:
    """A running sandbox."""

    def __init__(self, *arguments, seed=None):
        self.directory = tempfile.mkdtemp(prefix="zg-openapi-")
        arguments = list(arguments)
        if seed is not None:
            path = os.path.join(self.directory, "seed.json")
            with open(path, "w", encoding="utf-8") as file:
                json.dump(seed, file)
            arguments += ["--seed", path]
        self.process = subprocess.Popen(
            [program("zg-env-sandbox"), "--port", "0", *arguments],
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
        )
        started = json.loads(self.process.stdout.readline())
        self.url, self.token = started["url"], started["token"]

    def send(self, method, path, body=None):
        """Sends a request with the token, and returns the JSON of its answer; None without a body."""
        request = urllib.request.Request(
            self.url + path,
            method=method,
            data=None if body is None else json.dumps(body).encode(),
            headers={"Authorization": f"Bearer {self.token}"},
        )
        with urllib.request.urlopen(request, timeout=30) as answer:
            text = answer.read()
        return json.loads(text) if text else None

    def close(self):
        self.process.terminate()
        self.process.wait(timeout=20)
        self.process.stdout.close()
        shutil.rmtree(self.directory)


class Home:
    """A home directory with a vault."""

    def __init__(self, url):
        self.directory = tempfile.mkdtemp(prefix="zg-openapi-")
        self.passphrase = os.path.join(self.directory, "passphrase")
        with open(self.passphrase, "w", encoding="utf-8") as file:
            file.write(PASSPHRASE)
        os.chmod(self.passphrase, 0o600)
        self.url = url
        self.run("init", "--kdf", "8MiB,1")

    def run(self, *arguments, given="", status=0, environment=None):
        """Runs zg-env to its end, and returns what it printed."""
        result = subprocess.run(
            [program("zg-env"), *arguments],
            input=given.encode(),
            capture_output=True,
            timeout=120,
            cwd=self.directory,
            env={
                "HOME": self.directory,
                "PATH": "/usr/bin:/bin",
                "ZG_ENV_API_URL": self.url,
                "ZG_ENV_PASSPHRASE_FILE": self.passphrase,
                **(environment or {}),
            },
        )
        if result.returncode != status:
            raise AssertionError(
                f"{' '.join(arguments)}: {result.returncode}, not {status}: "
                f"{result.stdout.decode()}{result.stderr.decode()}"
            )
        return result.stdout.decode()

    def json(self, *arguments, **options):
        """The one JSON value that a command prints."""
        return json.loads(self.run(*arguments, "--json", **options))

    def close(self):
        shutil.rmtree(self.directory)
