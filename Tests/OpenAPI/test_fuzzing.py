"""The sandbox answers every request that fits the description as described, and never with 5xx.

schemathesis makes the requests. Half of their ids are those of things that are there, since made up
ones would only ever find that nothing is.
"""

import os
import random
import unittest

import schemathesis
from hypothesis import HealthCheck, Phase, given, seed, settings
from schemathesis.generation import GenerationMode

import description
from programs import Sandbox
from test_commands import SEED
from validation import Validator, shown
from recorder import Exchange

# The number of requests per operation, half of them valid and half broken.
EXAMPLES = int(os.environ.get("ZG_FUZZ_EXAMPLES") or 20)

# The only permitted differences from the description, with the reason:
#
# - Statuses of errors. The description lists others at each operation; by the reference 404 (outside
#   of the scope), 405, 413 and 422 may come at any. What an error looks like is checked at all.
# - Logs at run time are lines of JSON, which are checked line by line.


class Fuzzing(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.sandbox = Sandbox("--build-seconds", "0", seed=SEED)
        cls.validator = Validator()
        cls.schema = schemathesis.openapi.from_dict(description.tightened())

    @classmethod
    def tearDownClass(cls):
        cls.sandbox.close()

    def things(self):
        """Resets the sandbox, and maps path parameters to existing ids."""
        self.sandbox.send("POST", "/_sandbox/reset")
        team = self.sandbox.send("GET", "/v2/teams")["teams"][0]["id"]
        project = self.sandbox.send("GET", "/v9/projects/web")["id"]
        records = self.sandbox.send("GET", "/v10/projects/web/env")["envs"]
        deployments = self.sandbox.send("GET", "/v6/deployments?limit=100")["deployments"]
        hook = self.sandbox.send("POST", "/v1/webhooks", {"url": "http://127.0.0.1:9/", "events": ["deployment.created"]})
        other = self.sandbox.send("POST", "/v3/user/tokens", {"name": "other"})["token"]["id"]
        shared = self.sandbox.send("GET", f"/v1/env?teamId={team}")["data"]
        return {
            "team": [team],
            "idOrName": ["web", project],
            "projectId": [project],
            "deploymentId": [item["uid"] for item in deployments],
            "idOrUrl": [item["uid"] for item in deployments] + [deployments[0]["url"]],
            "environmentSlugOrId": ["qa"],
            "teamId": [team, "acme"],
            # The token in use stays: without it no request would work.
            "tokenId": [other],
            "env/{id}": [item["id"] for item in records],
            "deployments/{id}": [item["uid"] for item in deployments],
            "webhooks/{id}": [hook["id"]],
            "v1/env/{id}": [item["id"] for item in shared],
        }

    def place(self, case, things, chance):
        """Puts mostly real ids into a path."""
        for name in list(case.path_parameters or {}):
            known = things.get(name) or next(
                (values for key, values in things.items() if f"{key}" in case.path and "{" in key),
                [],
            )
            if known and chance.random() < 0.7:
                case.path_parameters[name] = chance.choice(known)
        query = dict(case.query or {})
        if case.path.startswith("/v1/env") or chance.random() < 0.2:
            query["teamId"] = things["team"][0]
        elif chance.random() < 0.8:
            query.pop("teamId", None)
            query.pop("slug", None)
        # A log that is followed stays open as long as the build may go on.
        query.pop("follow", None)
        case.query = query

    def check(self, operation, mode):
        things = self.things()
        chance = random.Random(operation.label)
        seen = set()

        @seed(1)
        @settings(
            max_examples=EXAMPLES,
            deadline=None,
            database=None,
            phases=[Phase.generate],
            suppress_health_check=list(HealthCheck),
        )
        @given(case=operation.as_strategy(generation_mode=mode))
        def run(case):
            self.place(case, things, chance)
            answer = case.call(
                base_url=self.sandbox.url,
                headers={"Authorization": f"Bearer {self.sandbox.token}"},
                timeout=30,
            )
            seen.add(answer.status_code)
            what = f"{operation.label} {answer.request.url} {answer.request.body!r}"
            self.assertLess(answer.status_code, 500, f"{what} {answer.text[:500]}")
            exchange = Exchange(operation.method.upper(), answer.request.url, {}, b"")
            exchange.status = answer.status_code
            exchange.answer = answer.content
            exchange.answer_headers = {k: v[0] for k, v in answer.headers.items()}
            if answer.status_code >= 400:
                problems = self.validator.error_problems(exchange)
            else:
                exchange.has_token = True
                problems = [
                    problem
                    for problem in self.validator.problems(exchange)
                    if problem.startswith("answer")
                ]
            self.assertFalse(problems, f"{what} {shown(exchange)}")

        run()
        return seen

    def test_requests_that_fit_are_answered_by_the_description(self):
        good = 0
        for result in self.schema.get_all_operations():
            operation = result.ok()
            with self.subTest(operation.label):
                seen = self.check(operation, GenerationMode.POSITIVE)
                good += any(status < 300 for status in seen)
        # Otherwise only refusals would have been checked.
        self.assertGreaterEqual(good, 25)

    def test_broken_requests_are_refused_by_the_description(self):
        for result in self.schema.get_all_operations():
            operation = result.ok()
            with self.subTest(operation.label):
                try:
                    self.check(operation, GenerationMode.NEGATIVE)
                except schemathesis.errors.SchemathesisError as error:
                    # An operation with nothing to break.
                    self.assertIn("negat", str(error).lower())


if __name__ == "__main__":
    unittest.main()
