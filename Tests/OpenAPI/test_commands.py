"""Every request of a command, and every response of the sandbox, matches the description."""

import json
import unittest

from programs import Home, Sandbox
from recorder import Recorder
from validation import Validator, shown

SEED = {
    "teams": [{"slug": "shut", "limitedBy": ["scope", "mfa"]}, {"slug": "acme", "name": "Acme"}],
    "projects": [
        {
            "name": "web",
            "framework": "nextjs",
            "customEnvironments": [{"slug": "qa", "type": "preview"}],
            "env": [
                {"key": "SEED_PLAIN", "value": "p", "type": "plain", "target": ["production"]},
                {"key": "SEED_SECRET", "value": "s", "type": "sensitive", "target": ["preview"]},
                {
                    "key": "SEED_BRANCH", "value": "b", "type": "encrypted",
                    "target": ["preview"], "gitBranch": "feature", "comment": "of a branch",
                },
                {"key": "SEED_QA", "value": "q", "customEnvironments": ["qa"]},
            ],
            "deployments": [
                {"target": "preview", "branch": "feature"},
                {"target": "production", "state": "ERROR"},
                {"target": "production"},
            ],
        },
        {"name": "api", "team": "acme", "deployments": [{"target": "production"}]},
        {"name": "bare"},
    ],
    "sharedEnv": [
        {"team": "acme", "key": "SHARED", "value": "x", "target": ["production"], "projects": ["api"]}
    ],
    "tokens": [{"token": "only-api-4f2a9c", "team": "acme", "project": "api"}],
}


def deployments(home, web):
    """Operations on deployments and webhooks."""
    listed = home.json("deployment", "list", *web, "--refresh")["deployments"]
    current = next(each for each in listed if each["current"])
    older = next(
        each for each in reversed(listed)
        if each["target"] == "production" and each["state"] == "READY" and not each["current"])
    preview = next(
        each for each in listed if each["target"] == "preview" and each["state"] == "READY")
    home.json("deployment", "list", *web, "--failed", "-t", "production", "--limit", "5", "--refresh")
    home.json("deployment", "show", current["id"])
    home.run("deployment", "show", "dpl_unknown", "--json", status=4)
    home.run("deployment", "logs", current["url"], "--json")
    home.json("deployment", "rollback", older["id"], *web, "--yes")
    home.json("deployment", "promote", current["id"], *web, "--yes")
    home.json("deployment", "promote", preview["id"], *web, "--yes")
    building = home.json("redeploy", *web, "--yes")
    home.json("deployment", "cancel", building["id"], "--yes")
    home.run("deployment", "logs", building["id"], "--follow", "--json", status=9)
    home.json("deployment", "delete", building["id"], "--yes")
    made = home.json(
        "webhook", "create", "https://example.com/hook", *web, "--event", "deployment.ready", "--yes")
    home.json("webhook", "list", *web)
    home.json("webhook", "delete", made["id"], "--yes")


def run_everything(home, token):
    """All commands that use Vercel, with success and failure."""
    home.run("login", "--name", "me", given=token)
    home.run("login", "--name", "wrong", given="wrong-token-123", status=6)
    home.json("account", "list", "--refresh")
    home.json("account", "use", "me", "--team", "acme")
    home.json("project", "list")
    home.run("account", "use", "me", "--team", "nobody", status=4)
    home.json("account", "use", "me", "--personal")
    home.json("project", "list")
    home.json("link", "web")
    home.json("link", "api", "--team", "acme", "--as", "team-api", "--force")
    home.run("link", "nowhere", "--json", status=4)
    home.json("project", "create", "fresh")
    home.json("project", "create", "shop", "--team", "acme")
    home.run("project", "create", "bare", "--json", status=5)
    web = ("-p", "web")
    home.run("import", "-", *web, given='A=1\nB="two\nlines"\nGONE=x\nOLD=o\n')
    home.run("set", "HIDDEN", *web, "--type", "sensitive", given="h")
    home.run("set", "RENAMED", *web, "--type", "sensitive", given="r")
    home.run("set", "OPEN", *web, "--type", "plain", "--comment", "a note", given="open")
    home.run("set", "BRANCH", *web, "-t", "preview", "-b", "feature", given="b")
    home.run("set", "QA", *web, "-t", "qa", given="q")
    home.json("push", *web, "--dry-run")
    assert len(home.json("push", *web, "--yes")["created"]) == 9
    home.run("import", "-", *web, given="A=2\nNEW=1\n")
    home.run("set", "B", *web, "-t", "production", given="split")
    home.run("set", "HIDDEN", *web, given="hh")
    home.run("set", "OPEN", *web, "--comment", "another", given="open")
    home.run("rename", "OLD", "NEWER", *web)
    home.run("rename", "RENAMED", "RENAMED_TOO", *web)
    home.run("rm", "GONE", *web, "--yes")
    report = home.json("push", *web, "--yes")
    assert report["created"] and report["updated"] and report["deleted"], report
    home.json("push", *web, "--prune", "--yes")
    home.run("set", "A", *web, "--push", "--yes", given="3")
    home.run("rm", "NEW", *web, "--push", "--yes")
    home.json("list", *web, "--refresh")
    home.json("list", "--all-projects", "--refresh")
    home.json("status", *web, "--refresh")
    home.json("redeploy", *web, "--yes", "--wait")
    home.json("redeploy", *web, "--yes", "-t", "preview", "--with-cache")
    home.json("redeploy", "-p", "team-api", "--yes", "--wait", "--latest-commit")
    home.run("redeploy", "-p", "bare", "--yes", "--json", status=4)
    home.run("redeploy", "dpl_unknown", "--yes", "--json", status=4)
    home.json("pull", *web, "--yes")
    home.json("pull", "-p", "team-api", "--yes")
    home.json("diff", "--remote", *web)
    home.json("harden", *web, "--yes")
    deployments(home, web)
    home.run(
        "rotate", "A", *web, "--redeploy", "--yes", "--json", "--timeout", "1m", given="rotated")
    home.run("push", *web, "--json", "--yes", environment={"VERCEL_TOKEN": "wrong"}, status=6)
    home.json("project", "list", environment={"VERCEL_TOKEN": token})
    home.run("logout", "--all")
    # A token of one project.
    home.json("login", "--name", "only", given="only-api-4f2a9c")
    home.json("account", "list", "--refresh")
    home.json("pull", "-p", "team-api", "--yes")
    home.run("set", "SCOPED", "-p", "team-api", "-t", "production", "--push", "--yes", given="s")
    home.json("redeploy", "-p", "team-api", "--yes", "--wait")
    home.run("link", "web", "--json", status=6)


# Paths that Vercel's own CLI uses and the description does not have.
UNDESCRIBED = ("/v3/env/pull/",)


class Commands(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.sandbox = Sandbox("--build-seconds", "0.2", seed=SEED)
        cls.recorder = Recorder(cls.sandbox.url)
        cls.home = Home(cls.recorder.url)
        try:
            run_everything(cls.home, cls.sandbox.token)
        finally:
            cls.home.close()
            cls.recorder.close()
            cls.sandbox.close()
        cls.validator = Validator()
        cls.exchanges = [
            exchange for exchange in cls.recorder.exchanges
            if not exchange.path.startswith(UNDESCRIBED)
        ]

    def test_every_exchange_fits(self):
        self.assertGreater(len(self.exchanges), 100)
        wrong = []
        for exchange in self.exchanges:
            for problem in self.validator.problems(exchange):
                wrong.append(f"{problem}\n    {shown(exchange)}")
        # One exchange for each problem is enough.
        unique = list({text.split("\n    ")[0]: text for text in sorted(wrong)}.values())
        self.assertFalse(unique, f"{len(unique)} problems:\n" + "\n".join(unique[:20]))

    def test_the_run_has_every_call_that_commands_make(self):
        made = {self.validator.operation(exchange)[0] for exchange in self.exchanges}
        self.assertEqual(
            made,
            {
                "GET /v2/user", "GET /v2/teams", "GET /v2/teams/{teamId}",
                "GET /v5/user/tokens/{tokenId}", "GET /v10/projects",
                "GET /v9/projects/{idOrName}", "POST /v11/projects",
                "GET /v9/projects/{idOrName}/custom-environments",
                "GET /v10/projects/{idOrName}/env", "POST /v10/projects/{idOrName}/env",
                "GET /v1/projects/{idOrName}/env/{id}", "PATCH /v9/projects/{idOrName}/env/{id}",
                "DELETE /v9/projects/{idOrName}/env/{id}", "DELETE /v1/projects/{idOrName}/env",
                "GET /v6/deployments",
                "GET /v13/deployments/{idOrUrl}", "POST /v13/deployments", "GET /v1/env",
                "GET /v3/deployments/{idOrUrl}/events", "PATCH /v12/deployments/{id}/cancel",
                "DELETE /v13/deployments/{id}",
                "POST /v10/projects/{projectId}/promote/{deploymentId}",
                "POST /v1/projects/{projectId}/rollback/{deploymentId}",
                "GET /v1/webhooks", "GET /v1/webhooks/{id}", "POST /v1/webhooks",
                "DELETE /v1/webhooks/{id}",
            },
        )
        self.assertTrue(
            any(each.path.startswith(UNDESCRIBED) for each in self.recorder.exchanges))

    def test_a_broken_exchange_does_not_fit(self):
        """Each kind of violation is found, in a copy of a real exchange."""
        import copy

        def first(operation):
            for exchange in self.exchanges:
                name, _ = self.validator.operation(exchange)
                if name == operation and exchange.status < 400:
                    return copy.copy(exchange)
            self.fail(operation)

        for operation in {self.validator.operation(e)[0] for e in self.exchanges}:
            exchange = first(operation)
            if not exchange.answer:
                # An empty response is valid by the description too.
                continue
            exchange.answer = b"{}"
            self.assertTrue(self.validator.problems(exchange), operation)
        exchange = first("POST /v10/projects/{idOrName}/env")
        body = json.loads(exchange.body)
        for change in ({"type": "open"}, {"target": "everywhere"}, {"unknown": 1}):
            exchange.body = json.dumps([{**body[0], **change}]).encode()
            self.assertTrue(self.validator.problems(exchange), change)
        exchange = first("GET /v10/projects/{idOrName}/env")
        exchange.query = exchange.query + [("unheard", "1")]
        self.assertTrue(self.validator.problems(exchange))
        exchange = first("GET /v2/user")
        exchange.has_token = False
        self.assertTrue(self.validator.problems(exchange))


if __name__ == "__main__":
    unittest.main()
