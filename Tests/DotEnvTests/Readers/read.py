"""Reads a file with a real reader; writes NAME=VALUE and a NUL for each variable.

read.py python-dotenv|systemd|json|k8s|yaml|docker|compose FILE

The last two have no program that runs without a container engine; they follow its rules.
"""

import base64
import ctypes
import glob
import json
import re
import sys


def python_dotenv(path):
    import dotenv

    return dotenv.dotenv_values(path, encoding="utf-8")


def systemd(path):
    """The parser behind EnvironmentFile=, which systemd has in a library of its own."""
    names = glob.glob("/usr/lib/*/systemd/libsystemd-shared-*.so")
    names += glob.glob("/usr/lib*/systemd/libsystemd-shared-*.so")
    if not names:
        sys.exit("there is no libsystemd-shared")
    c = ctypes.CDLL(None)
    c.fopen.restype = ctypes.c_void_p
    c.fopen.argtypes = [ctypes.c_char_p, ctypes.c_char_p]
    load = ctypes.CDLL(names[0]).load_env_file
    strings = ctypes.POINTER(ctypes.c_char_p)
    load.argtypes = [ctypes.c_void_p, ctypes.c_char_p, ctypes.POINTER(strings)]
    found = strings()
    file = c.fopen(path.encode(), b"r")
    if not file or load(file, path.encode(), ctypes.byref(found)) < 0:
        sys.exit("systemd refuses the file")
    values = {}
    index = 0
    while found[index] is not None:
        name, _, value = found[index].partition(b"=")
        values[name.decode()] = value.decode()
        index += 1
    return values


def read_json(path):
    with open(path, encoding="utf-8") as file:
        return json.load(file)


def k8s(path):
    """The data of a Secret, with two JSON strings on each line."""
    values = {}
    with open(path, encoding="utf-8") as file:
        lines = file.read().split("\ndata:\n", 1)[1].splitlines()
    for line in lines:
        name, value = line.strip().split(": ", 1)
        values[json.loads(name)] = base64.b64decode(json.loads(value)).decode()
    return values


def yaml(path):
    """One mapping with a pair of JSON strings, which YAML reads alike, on each line."""
    with open(path, encoding="utf-8") as file:
        text = file.read()
    return {} if text == "{}\n" else json.loads("{" + ",".join(text.split("\n")[:-1]) + "}")


def docker(path):
    """`docker run --env-file`: a line each, without quotes."""
    values = {}
    with open(path, "rb") as file:
        lines = file.read().removeprefix(b"\xef\xbb\xbf").split(b"\n")
    for line in lines:
        line = line.removesuffix(b"\r").decode().lstrip()
        if not line or line.startswith("#"):
            continue
        name, sign, value = line.partition("=")
        if not name or re.search(r"\s", name):
            sys.exit("docker refuses the file")
        if sign:
            values[name] = value
    return values


COMPOSE = re.compile(
    r"""^[ \t]*(?:export[ \t]+)?([\w.-]+)[ \t]*[=:][ \t]*
    (?:'((?:\\'|[^'])*)'|"((?:\\.|[^"\\])*)"|([^\n]*?))[ \t]*(?:(?<=[ \t'"])\#[^\n]*)?$""",
    re.MULTILINE | re.DOTALL | re.VERBOSE)


def compose(path):
    """The files of Docker Compose: escapes in double quotes, references outside of single ones."""
    values = {}

    def expanded(text):
        return re.sub(r"\$(?:(\$)|\{(\w+)\}|(\w+))", lambda found: found[1] or values.get(
            found[2] or found[3], ""), text)

    def unescaped(text):
        letters = {"n": "\n", "r": "\r", "t": "\t"}
        return re.sub(r"\\(.)", lambda found: letters.get(found[1], found[1]), text)

    with open(path, encoding="utf-8-sig", newline="") as file:
        text = file.read().replace("\r\n", "\n")
    for name, single, double, bare in COMPOSE.findall(text):
        values[name] = single or expanded(unescaped(double) or bare)
    return values


READERS = {
    "python-dotenv": python_dotenv, "systemd": systemd, "json": read_json, "k8s": k8s, "yaml": yaml,
    "docker": docker, "compose": compose,
}

for name, value in READERS[sys.argv[1]](sys.argv[2]).items():
    sys.stdout.buffer.write(f"{name}={value}".encode() + b"\0")
