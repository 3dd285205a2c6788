"""What the sandbox sends to webhooks has the members that Vercel documents."""

import http.server
import json
import os
import tempfile
import threading
import time
import unittest

import description
from openapi_schema_validator import OAS30Validator
from programs import Sandbox

SCHEMAS = {
    "project.env-variable.created": "WebhookPayloadEnvVariableCreated",
    "project.env-variable.updated": "WebhookPayloadEnvVariableUpdated",
    "project.env-variable.deleted": "WebhookPayloadEnvVariableDeleted",
    "project.renamed": "WebhookPayloadProjectRenamed",
    "deployment.rollback": "WebhookPayloadDeploymentRollback",
}


class Receiver:
    """Records the messages that are posted to it."""

    def __init__(self):
        self.messages = []
        receiver = self

        class Handler(http.server.BaseHTTPRequestHandler):
            def log_message(self, *_):
                pass

            def do_POST(self):
                body = self.rfile.read(int(self.headers["Content-Length"]))
                receiver.messages.append(json.loads(body))
                self.send_response(204)
                self.end_headers()

        self.server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self.url = f"http://127.0.0.1:{self.server.server_address[1]}/hook"
        threading.Thread(target=self.server.serve_forever, daemon=True).start()

    def close(self):
        self.server.shutdown()
        self.server.server_close()


class Webhooks(unittest.TestCase):
    def current(self):
        return self.sandbox.send("GET", "/v9/projects/web")["targets"]["production"]["id"]

    def change(self):
        """Causes one event of each kind."""
        record = {"key": "A", "value": "v", "type": "encrypted", "target": ["production"]}
        made = self.sandbox.send("POST", "/v10/projects/web/env", record)["created"]["id"]
        self.sandbox.send("PATCH", f"/v9/projects/web/env/{made}", {"value": "w"})
        other = self.sandbox.send("POST", "/v10/projects/web/env", record | {"key": "B"})["created"]["id"]
        self.sandbox.send("DELETE", "/v1/projects/web/env", {"ids": [made, other]})
        first = self.current()
        redeploy = {"name": "web", "deploymentId": first, "target": "production"}
        self.sandbox.send("POST", "/v13/deployments?forceNew=1", redeploy)
        self.sandbox.send("POST", "/_sandbox/clock", {"advanceSeconds": 60})
        self.sandbox.send("POST", f"/v1/projects/web/rollback/{first}", {})
        self.sandbox.send("POST", "/_sandbox/clock", {"advanceSeconds": 60})
        self.sandbox.send("PATCH", "/v9/projects/web", {"name": "site"})

    def test_every_documented_payload_fits(self):
        receiver = Receiver()
        self.addCleanup(receiver.close)
        with tempfile.TemporaryDirectory() as directory:
            secret = os.path.join(directory, "secret")
            with open(secret, "w", encoding="utf-8") as file:
                file.write("hook secret")
            self.sandbox = Sandbox("--webhook", receiver.url, "--webhook-secret-file", secret)
            self.addCleanup(self.sandbox.close)
            self.change()
            end = time.monotonic() + 60
            while not SCHEMAS.keys() <= {each["type"] for each in receiver.messages}:
                self.assertLess(time.monotonic(), end, [each["type"] for each in receiver.messages])
                time.sleep(0.05)
        document = description.load()
        for message in receiver.messages:
            name = SCHEMAS.get(message["type"])
            if name is None:
                continue
            schema = document["components"]["schemas"][name]
            validator = OAS30Validator({"components": document["components"], "allOf": [schema]})
            problems = [error.message for error in validator.iter_errors(message["payload"])]
            self.assertFalse(problems, message)
            unknown = set(message["payload"]) - set(schema["properties"])
            self.assertFalse(unknown, message)


if __name__ == "__main__":
    unittest.main()
