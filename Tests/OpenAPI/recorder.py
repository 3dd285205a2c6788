"""A proxy on this machine that forwards requests to the sandbox and records every exchange."""

import http.client
import http.server
import threading
import urllib.parse

NOT_PASSED_ON = {"host", "connection", "transfer-encoding", "content-length", "keep-alive"}


class Exchange:
    """One request and its response, without the token."""

    def __init__(self, method, target, headers, body):
        split = urllib.parse.urlsplit(target)
        self.method = method
        self.path = split.path
        self.query = urllib.parse.parse_qsl(split.query, keep_blank_values=True)
        self.headers = {
            name: value for name, value in headers.items() if name.lower() != "authorization"
        }
        self.has_token = headers.get("Authorization", "").startswith("Bearer ")
        self.body = body
        self.status = 0
        self.answer_headers = {}
        self.answer = b""

    def __str__(self):
        return f"{self.method} {self.path} -> {self.status}"


class Recorder:
    """Serves on a free port until closed."""

    def __init__(self, upstream):
        address = urllib.parse.urlsplit(upstream)
        self.exchanges = []
        lock = threading.Lock()
        recorder = self

        class Handler(http.server.BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"
            # Head and body in one write: otherwise the kernel delays the body.
            wbufsize = -1

            def log_message(self, *_):
                pass

            def pass_on(self):
                body = self.rfile.read(int(self.headers.get("Content-Length") or 0))
                exchange = Exchange(self.command, self.path, self.headers, body)
                connection = http.client.HTTPConnection(address.hostname, address.port, timeout=60)
                connection.request(
                    self.command,
                    self.path,
                    body=body or None,
                    headers={
                        name: value
                        for name, value in self.headers.items()
                        if name.lower() not in NOT_PASSED_ON
                    },
                )
                answer = connection.getresponse()
                exchange.status = answer.status
                exchange.answer = answer.read()
                exchange.answer_headers = dict(answer.getheaders())
                connection.close()
                with lock:
                    recorder.exchanges.append(exchange)
                self.send_response(exchange.status)
                for name, value in exchange.answer_headers.items():
                    if name.lower() not in NOT_PASSED_ON:
                        self.send_header(name, value)
                self.send_header("Content-Length", str(len(exchange.answer)))
                self.end_headers()
                self.wfile.write(exchange.answer)
                self.wfile.flush()

            do_GET = do_POST = do_PATCH = do_PUT = do_DELETE = pass_on

        self.server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self.server.daemon_threads = True
        self.url = f"http://127.0.0.1:{self.server.server_address[1]}"
        threading.Thread(target=self.server.serve_forever, daemon=True).start()

    def close(self):
        self.server.shutdown()
        self.server.server_close()
