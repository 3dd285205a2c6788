#!/usr/bin/env python3
"""Times zg-env as whole processes, beside a reference and the installed peers.

    benchmark.py ZG_ENV YARDSTICK [--before PROGRAM] [--reader READER] [--runs N]
        [--rows NAME,…] [--json FILE]

Every row runs its contestants in turn, round after round, so that a busy machine is unfair to none,
and prints medians, the spread between the quartiles, and ratios. --before adds an earlier zg-env with
vaults of its own to the rows of run, list and set. The yardstick makes the same calls of
libsodium and of the kernel without anything around them (yardstick.c). Works in a temporary home with
a bus, a keyring and a session keyring of its own. Ends with status 1 where a command fails; a missed
goal is shown, not failed, since the machine's load decides too.
"""

import argparse
import contextlib
import ctypes
import json
import os
import pathlib
import platform
import random
import shutil
import statistics
import subprocess
import sys
import tempfile
import time

PASSPHRASE = "correct horse battery staple"


class Contestant:
    """A command to time. `prepare` runs before each round, outside of the time. `stdin` is bytes, or makes
    them."""

    def __init__(self, label, words, stdin=b"", prepare=None, environment=None):
        self.label = label
        self.words = [str(word) for word in words]
        self.stdin = stdin
        self.prepare = prepare
        self.environment = environment or {}
        self.seconds = []
        self.peak_kilobytes = 0

    def again(self):
        """The same command, for another row."""
        return Contestant(self.label, self.words, self.stdin, self.prepare, self.environment)

    def run_once(self, home):
        if self.prepare:
            self.prepare()
        result = home.path / "result"
        done = subprocess.run(
            [home.yardstick, "time", result, *self.words],
            input=self.stdin() if callable(self.stdin) else self.stdin,
            stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, cwd=home.path,
            env=home.environment | self.environment)
        if done.returncode != 0:
            sys.exit(f"benchmark: {self.label} could not be timed: {done.stderr.decode()}")
        seconds, peak, status = result.read_text().split()
        if status != "0":
            sys.exit(f"benchmark: {self.label} ended with {status}: {done.stderr.decode()}")
        self.seconds.append(float(seconds))
        self.peak_kilobytes = max(self.peak_kilobytes, int(peak))

    @property
    def median(self):
        return statistics.median(self.seconds)

    @property
    def spread(self):
        if len(self.seconds) < 4:
            return max(self.seconds) - min(self.seconds)
        low, _, high = statistics.quantiles(self.seconds, n=4)
        return high - low


class Row:
    """One goal: zg-env first, then its reference."""

    def __init__(self, name, goal, contestants, is_met):
        self.name = name
        self.goal = goal
        self.contestants = contestants
        self.is_met = is_met

    def contestant(self, label):
        return next((one for one in self.contestants if one.label == label), None)

    def measure(self, home, runs):
        for one in self.contestants:
            one.run_once(home)
        for one in self.contestants:
            one.seconds.clear()
        for _ in range(runs):
            for one in self.contestants:
                one.run_once(home)

    def show(self):
        first = self.contestants[0]
        met = self.is_met(self)
        print(f"\n{self.name}\n  goal: {self.goal}: {'met' if met else 'MISSED'}")
        for one in self.contestants:
            ratio = "" if one is first else f"   zg-env takes {first.median / one.median:.2f} of it"
            print(
                f"  {one.label:<34}{one.median * 1e3:8.1f} ms  ±{one.spread * 1e3:5.1f}"
                f"  {one.peak_kilobytes / 1024:6.1f} MB{ratio}")

    def report(self):
        return {
            "row": self.name, "goal": self.goal, "met": self.is_met(self),
            "contestants": [
                {"label": one.label, "medianSeconds": one.median, "spreadSeconds": one.spread,
                 "peakKilobytes": one.peak_kilobytes}
                for one in self.contestants]}


class Home:
    """A temporary home with vaults of several sizes."""

    def __init__(self, path, zg_env, yardstick):
        self.path = pathlib.Path(path)
        self.zg_env = zg_env
        self.yardstick = yardstick
        self.passphrase = self.path / "passphrase"
        self.passphrase.write_text(PASSPHRASE)
        self.passphrase.chmod(0o600)
        self.environment = {
            "HOME": str(path), "PATH": os.environ["PATH"], "LC_ALL": "C.UTF-8",
            "SWIFT_BACKTRACE": "enable=no", "XDG_RUNTIME_DIR": str(path),
            "XDG_STATE_HOME": f"{path}/state", "XDG_CONFIG_HOME": f"{path}/config",
            "XDG_DATA_HOME": f"{path}/data", "XDG_CACHE_HOME": f"{path}/cache",
            "ZG_ENV_PROJECT": "bench"}
        self.random = random.Random(1)

    def do(self, *words, stdin=b"", **environment):
        done = subprocess.run(
            [str(word) for word in words], input=stdin, capture_output=True, cwd=self.path,
            env=self.environment | environment)
        if done.returncode != 0:
            sys.exit(f"benchmark: {' '.join(map(str, words))} failed: {done.stderr.decode()}")
        return done.stdout

    def dotenv(self, name, count, value_bytes):
        lines = (
            f"VARIABLE_{number:05d}={self.random.randbytes(value_bytes // 2).hex()}\n"
            for number in range(count))
        path = self.path / name
        path.write_text("".join(lines))
        return path

    def vault(self, name, kdf="8MiB,1", keyring=False, file=None, settled=False, program=None):
        """Creates a vault with a key file that opens its index."""
        vault = Made(
            self, self.path / f"{name}.zgv", self.path / f"{name}.key", program or self.zg_env)
        options = ["--kdf", kdf] + ([] if keyring else ["--no-secret-service"])
        vault.do("init", "--lock", *options)
        vault.do("slot", "add", "file", vault.key)
        if file:
            vault.do("import", file, "-q")
        if settled:
            vault.do("set", "SETTLED", "-q", stdin=b"with the value key")
        return vault


class Made:
    """A vault and the secret that opens it."""

    def __init__(self, home, path, key, program):
        self.home, self.path, self.key, self.program = home, path, key, program
        self.unlocked = {"ZG_ENV_VAULT": str(path)}
        self.with_passphrase = {
            "ZG_ENV_VAULT": str(path), "ZG_ENV_PASSPHRASE_FILE": str(home.passphrase)}
        self.with_key = {"ZG_ENV_VAULT": str(path), "ZG_ENV_KEY_FILE": str(key)}

    def do(self, *words, stdin=b""):
        return self.home.do(self.program, *words, stdin=stdin, **self.with_passphrase)

    def index_bytes(self, count, chunk_bytes):
        """Bytes of the file that are no chunks of values."""
        return self.path.stat().st_size - count * chunk_bytes

    def unlock(self):
        self.do("unlock", "--for", "60m", *self.home.unlock_scope)


def own_session_keyring():
    """Puts this process and its children into a new session keyring."""
    call = {"x86_64": 250, "aarch64": 219}.get(platform.machine())
    if call is None:
        return False
    return ctypes.CDLL(None, use_errno=True).syscall(call, 1, None) > 0


@contextlib.contextmanager
def keyring(home):
    """A bus with an unlocked gnome-keyring on it; yields its address, or None if it is not installed."""
    if not shutil.which("dbus-daemon") or not shutil.which("gnome-keyring-daemon"):
        yield None
        return
    bus = subprocess.Popen(
        ["dbus-daemon", "--session", "--nofork", "--print-address=1"], stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL, env=home.environment)
    address = bus.stdout.readline().decode().strip()
    daemon = subprocess.Popen(
        ["gnome-keyring-daemon", "--foreground", "--unlock", "--components=secrets"],
        stdin=subprocess.PIPE, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
        env=home.environment | {"DBUS_SESSION_BUS_ADDRESS": address})
    daemon.stdin.write(b"keyring")
    daemon.stdin.close()
    time.sleep(1)
    try:
        yield address
    finally:
        for process in (daemon, bus):
            process.terminate()
            process.wait()


# ------------------------------------------------------------------------------ the rows

# A sealed value of at most 1,020 bytes: its text in steps of 128 bytes, its nonce and its tag.
def chunk_bytes(value_bytes):
    return (value_bytes + 4 + 127) // 128 * 128 + 40


def programs(home):
    """The measured program, and the one before it."""
    return [("zg-env", home.zg_env)] + ([("before", home.before)] if home.before else [])


def run_rows(home, yardstick):
    true = shutil.which("true")
    few_file = home.dotenv("few.env", 50, 64)
    many_file = home.dotenv("many.env", 2000, 64)
    others = [home.dotenv(f"others-{number}.env", 3000, 64) for number in range(4)]

    def contestant(label, vault):
        vault.unlock()
        words = [vault.program, "run", "-q", "-t", "production", "--", true]
        return Contestant(label, words, environment=vault.unlocked)

    few, many, beside = [], [], []
    for name, program in programs(home):
        vault = home.vault(f"{name}-few", file=few_file, settled=True, program=program)
        few.append(contestant(f"{name} run, 50 variables", vault))
        crowd = home.vault(f"{name}-crowd", file=few_file, settled=True, program=program)
        for number, file in enumerate(others):
            crowd.do("import", file, "-q", "-p", f"other-{number}")
        beside.append(contestant(f"{name} run, 50 beside 12,000", crowd))
        if name == "zg-env":
            plain = Contestant(
                "the same calls", [yardstick, "run", vault.path, 50, 192, true])
            vault = home.vault("many", file=many_file, settled=True)
            many.append(contestant("zg-env run, 2,000 variables", vault))
            plain_many = Contestant(
                "the same calls", [yardstick, "run", vault.path, 2000, 192, true])
    contestants = few + [Contestant("bare exec", [yardstick, "exec"]), plain]
    contestants += run_peers(home, few_file, true)

    def run_is_met(row):
        mine = row.contestants[0].median
        direnv, sops = row.contestant("direnv exec"), row.contestant("sops exec-env")
        return (not direnv or mine <= direnv.median / 5) and (not sops or mine < sops.median / 3)

    yield Row(
        "run with 50 variables, unlocked and settled",
        "at most 1/5 of direnv exec; under 1/3 of sops exec-env", contestants, run_is_met)
    yield Row(
        "run beside 12,000 variables of other projects", "at most 1.3x the time alone",
        [beside[0], few[0].again()] + beside[1:],
        lambda row: row.contestants[0].median <= 1.3 * row.contestants[1].median)
    yield Row(
        "run with 2,000 variables, unlocked and settled", "under 2x the time for 50",
        many + [few[0].again(), plain_many],
        lambda row: row.contestants[0].median < 2 * row.contestants[1].median)


def run_peers(home, file, true):
    if shutil.which("direnv"):
        place = home.path / "direnv"
        place.mkdir()
        (place / ".envrc").write_text(f"dotenv {file}\n")
        home.do("direnv", "allow", place)
        yield Contestant("direnv exec", ["direnv", "exec", place, true])
    if shutil.which("age-keygen"):
        identity = home.path / "age.key"
        home.do("age-keygen", "-o", identity)
        recipient = home.do("age-keygen", "-y", identity).decode().strip()
        home.do("age", "-r", recipient, "-o", home.path / "few.age", file)
        yield Contestant("age -d", ["age", "-d", "-i", identity, home.path / "few.age"])
        if shutil.which("sops"):
            sealed = home.path / "few.sops.env"
            sealed.write_bytes(home.do(
                "sops", "-e", "--age", recipient, "--input-type", "dotenv", "--output-type",
                "dotenv", file))
            yield Contestant(
                "sops exec-env", ["sops", "exec-env", sealed, true],
                environment={"SOPS_AGE_KEY_FILE": str(identity)})
    if shutil.which("dotenv"):
        yield Contestant("dotenv run (python-dotenv)", ["dotenv", "-f", file, "run", "--", true])
    if shutil.which("node"):
        yield Contestant("node --env-file", ["node", f"--env-file={file}", "-e", "0"])


def list_and_set_rows(home, yardstick):
    file = home.dotenv("large.env", 10_000, 1000)
    few_file = home.path / "few.env"
    lists, sets, beside = [], [], []
    for name, program in programs(home):
        large = home.vault(f"{name}-large", file=file, program=program)
        crowd = home.vault(f"{name}-set-crowd", file=few_file, program=program)
        crowd.do("import", file, "-q", "-p", "other")
        lists.append(Contestant(f"{name} list", [program, "list"], environment=large.with_key))
        for vault, row in (large, sets), (crowd, beside):
            vault.unlock()
            row.append(Contestant(
                f"{name} set", [program, "set", "ADDED", "-q"],
                # An equal value would not be written.
                stdin=lambda: home.random.randbytes(8).hex().encode(),
                environment=vault.unlocked))
        if name == "zg-env":
            json_list = Contestant(
                "zg-env list --json", [program, "list", "--json"], environment=large.with_key)
            index_bytes = large.index_bytes(10_000, chunk_bytes(1000))
            copy = home.path / "copy.zgv"
            shutil.copy(large.path, copy)
    yield Row(
        "list of 10,000 variables, index key at hand", "within 25 ms and 24 MB",
        lists + [json_list, Contestant("the same calls", [yardstick, "list", index_bytes])],
        lambda row: row.contestants[0].median <= 0.025
        and row.contestants[0].peak_kilobytes <= 24 * 1024)
    yield Row(
        "set in a vault of 10,000 variables and 10 MB, unlocked", "at most 1.4x the same calls",
        sets + [Contestant("the same calls", [yardstick, "write", copy, index_bytes, 256])],
        lambda row: row.contestants[0].median <= 1.4 * row.contestants[-1].median)
    yield Row(
        "set beside 10,000 variables and 10 MB of another project, unlocked",
        "at most half of the time before", beside,
        lambda row: len(row.contestants) < 2
        or row.contestants[0].median <= row.contestants[1].median / 2)


def import_row(home, yardstick):
    file = home.dotenv("import.env", 2000, 64)
    vault = home.vault("import")
    empty = vault.path.read_bytes()
    stand_in = home.path / "import-copy.zgv"

    def put_back():
        vault.path.write_bytes(empty)
        shutil.rmtree(home.path / "state", ignore_errors=True)

    vault.unlock()
    yield Row(
        "import of 2,000 variables, unlocked", "under 60 ms",
        [Contestant(
            "zg-env import", [home.zg_env, "import", file, "-q"], prepare=put_back,
            environment=vault.unlocked),
         Contestant(
             "the same calls", [yardstick, "write", stand_in, 400_000, 2000 * 192],
             prepare=lambda: stand_in.write_bytes(empty))],
        lambda row: row.contestants[0].median < 0.060)


def reveal_row(home, yardstick):
    vault = home.vault("reveal", kdf="64MiB,3", file=home.path / "few.env")
    yield Row(
        "reveal, one passphrase slot", "the Argon2id time plus at most 5 ms",
        [Contestant(
            "zg-env reveal", [home.zg_env, "reveal", "VARIABLE_00001"],
            environment=vault.with_passphrase),
         Contestant("the same Argon2id", [yardstick, "derive", 64 << 20, 3])],
        lambda row: row.contestants[0].median <= row.contestants[1].median + 0.005)


def keyring_row(home, address):
    bus = {"DBUS_SESSION_BUS_ADDRESS": address}
    home.environment |= bus
    vault = home.vault("keyring", keyring=True, file=home.path / "few.env")
    contestants = [Contestant(
        "zg-env list", [home.zg_env, "list"], environment={"ZG_ENV_VAULT": str(vault.path)})]
    if shutil.which("secret-tool"):
        home.do("secret-tool", "store", "--label=benchmark", "bench", "mark", stdin=b"secret")
        contestants.append(
            Contestant("secret-tool lookup", ["secret-tool", "lookup", "bench", "mark"]))
    yield Row(
        "index opened through the Secret Service", "not slower than secret-tool lookup plus 5 ms",
        contestants,
        lambda row: len(row.contestants) < 2
        or row.contestants[0].median <= row.contestants[1].median + 0.005)


class Reading(Contestant):
    """One parse of a file, timed in a program that already has it in memory."""

    def run_once(self, home):
        done = subprocess.run(
            self.words, capture_output=True, text=True, env=home.environment, cwd=home.path)
        if done.returncode != 0:
            sys.exit(f"benchmark: {self.label} failed: {done.stdout}")
        # The first parse also allocates the memory.
        self.seconds.append(min(float(line) for line in done.stdout.split()[2:]))


def ordinary_file(home, name, byte_count):
    """Every name once; values bare, quoted and long, comments and empty lines."""
    lines = []
    size = number = 0
    while size < byte_count:
        service = f"SERVICE_{number:06d}"
        block = (
            f"# {service}: where it is and how to get in\n"
            f"{service}_URL=https://{number}.host.example:8443/v1?region=eu\n"
            f"{service}_NAME=\"the service number {number}\"\n"
            f"{service}_TOKEN={home.random.randbytes(32).hex()}\n"
            f"{service}_ENABLED=true\n\n")
        lines.append(block)
        size += len(block)
        number += 1
    path = home.path / name
    path.write_text("".join(lines))
    return path


def reader_row(home, yardstick):
    whole = ordinary_file(home, "ordinary.env", 15_000_000)
    half = ordinary_file(home, "half.env", 7_500_000)
    megabytes = whole.stat().st_size / 1e6

    def reading(label, path):
        return Reading(label, [home.reader, path, 4])

    def is_met(row):
        first, second = row.contestants
        return megabytes / first.median >= 100 and first.median < 2.3 * second.median

    if home.reader:
        yield Row(
            f".env reader by itself, an ordinary file of {megabytes:.0f} MB",
            "linear; at least 100 MB/s (here: under "
            f"{megabytes * 10:.0f} ms, and under 2.3x the time for half)",
            [reading("the reader", whole), reading("the reader, half of it", half)], is_met)
    yield Row(
        f"convert of the same file to JSON, a whole process", "none",
        [Contestant("zg-env convert", [home.zg_env, "convert", whole, "--format", "json"])],
        lambda row: True)


def scan_row(home, yardstick):
    """A file without any of the values, so that both programs read all of it."""
    vault = home.vault("scan", file=home.path / "few.env")
    vault.unlock()
    values = home.path / "few.values"
    lines = (home.path / "few.env").read_text().splitlines()
    values.write_text("".join(line.split("=", 1)[1] + "\n" for line in lines))
    file = home.path / "scanned.txt"
    with open(file, "w") as text:
        for _ in range(20):
            block = home.random.randbytes(2_500_000).hex()
            text.writelines(block[at:at + 100] + "\n" for at in range(0, len(block), 100))
    yield Row(
        f"scan of {file.stat().st_size / 1e6:.0f} MB for 50 values, unlocked", "as fast as grep -F",
        [Contestant(
            "zg-env scan", [home.zg_env, "scan", file], environment=vault.with_key),
         Contestant(
             "grep -Ff", ["sh", "-c", f"grep -qFf '{values}' '{file}'; test $? -eq 1"])],
        lambda row: row.contestants[0].median <= row.contestants[1].median)


def rows(home, yardstick, address):
    """Creates each row when it runs: one row's vaults must not warm another's caches."""
    yield "run", lambda: run_rows(home, yardstick)
    yield "list", lambda: list_and_set_rows(home, yardstick)
    yield "import", lambda: import_row(home, yardstick)
    yield "reveal", lambda: reveal_row(home, yardstick)
    yield "reader", lambda: reader_row(home, yardstick)
    yield "scan", lambda: scan_row(home, yardstick)
    if address:
        yield "keyring", lambda: keyring_row(home, address)
    else:
        print("\nindex opened through the Secret Service\n  not measured: there is no gnome-keyring")


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("zg_env", type=pathlib.Path)
    parser.add_argument("yardstick", type=pathlib.Path)
    parser.add_argument("--before", type=pathlib.Path)
    parser.add_argument("--reader", type=pathlib.Path)
    parser.add_argument("--runs", type=int, default=21)
    parser.add_argument("--rows", help="run, list, import, reveal, reader, scan, keyring")
    parser.add_argument("--json", type=pathlib.Path)
    options = parser.parse_args()
    zg_env, yardstick = options.zg_env.resolve(), options.yardstick.resolve()
    wanted = options.rows.split(",") if options.rows else None
    reports = []
    with tempfile.TemporaryDirectory(prefix="zg-env-bench-") as directory:
        home = Home(directory, zg_env, yardstick)
        home.unlock_scope = [] if own_session_keyring() else ["--scope", "user"]
        home.before = options.before.resolve() if options.before else None
        home.reader = options.reader.resolve() if options.reader else None
        home.dotenv("few.env", 50, 64)
        stripped = home.path / "stripped"
        shutil.copy(zg_env, stripped)
        home.do("strip", stripped)
        megabytes = stripped.stat().st_size / 1e6
        print(f"{platform.machine()}, {os.cpu_count()} cores; medians of {options.runs} runs")
        print(f"installed size {megabytes:.1f} MB, goal under 20 MB")
        with keyring(home) as address:
            for name, make in rows(home, yardstick, address):
                if wanted and name not in wanted:
                    continue
                for row in make():
                    row.measure(home, options.runs)
                    row.show()
                    reports.append(row.report())
    if options.json:
        options.json.write_text(json.dumps(reports, indent=2) + "\n")
    missed = sum(not report["met"] for report in reports)
    print(f"\n{len(reports)} goals measured, {missed} missed")


if __name__ == "__main__":
    main()
