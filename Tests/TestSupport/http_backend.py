#!/usr/bin/env python3
"""Serves the git repositories below a directory over HTTP, with git http-backend.

    http_backend.py DIRECTORY PORT_FILE

Listens on a free port of 127.0.0.1, and writes its number into a file. With a file `password` in the
directory, requests need the user `alice` and that password.
"""

import base64
import os
import subprocess
import sys
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

DIRECTORY = Path(sys.argv[1])


class Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def body(self):
        if self.headers.get("Transfer-Encoding", "").lower() != "chunked":
            return self.rfile.read(int(self.headers.get("Content-Length") or 0))
        pieces = []
        while size := int(self.rfile.readline(), 16):
            pieces.append(self.rfile.read(size))
            self.rfile.readline()
        self.rfile.readline()
        return b"".join(pieces)

    def answer(self, status, headers, body):
        self.send_response(status)
        for name, value in headers:
            self.send_header(name, value)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def serve(self):
        body = self.body()
        secret = DIRECTORY / "password"
        if secret.exists():
            wanted = base64.b64encode(b"alice:" + secret.read_bytes()).decode()
            if self.headers.get("Authorization") != f"Basic {wanted}":
                self.answer(401, [("WWW-Authenticate", 'Basic realm="git"')], b"")
                return
        path, _, query = self.path.partition("?")
        environment = {
            "PATH": "/usr/bin:/bin", "HOME": str(DIRECTORY), "GIT_PROJECT_ROOT": str(DIRECTORY),
            "GIT_HTTP_EXPORT_ALL": "1", "PATH_INFO": path, "QUERY_STRING": query,
            "REQUEST_METHOD": self.command, "REMOTE_USER": "alice", "REMOTE_ADDR": "127.0.0.1",
            "CONTENT_TYPE": self.headers.get("Content-Type", ""), "CONTENT_LENGTH": str(len(body)),
            "GIT_PROTOCOL": self.headers.get("Git-Protocol", ""),
            "HTTP_CONTENT_ENCODING": self.headers.get("Content-Encoding", ""),
            "GIT_CONFIG_NOSYSTEM": "1",
        }
        result = subprocess.run(
            ["git", "http-backend"], input=body, env=environment, stdout=subprocess.PIPE)
        head, _, content = result.stdout.partition(b"\r\n\r\n")
        status, headers = 200, []
        for line in head.decode().split("\r\n"):
            name, _, value = line.partition(": ")
            if name == "Status":
                status = int(value.split()[0])
            elif name:
                headers.append((name, value))
        self.answer(status, headers, content)

    do_GET = do_POST = serve

    def log_message(self, *_):
        pass


def main():
    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    port = Path(sys.argv[2])
    port.with_suffix(".new").write_text(str(server.server_port))
    os.replace(port.with_suffix(".new"), port)
    server.serve_forever()


if __name__ == "__main__":
    main()
