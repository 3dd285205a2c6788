"""Another server of Vercel's API, which shares no code and no habits with the sandbox.

Written from the reference alone. Wherever that leaves a choice this server takes the other one:
cursors are texts, lists are bare arrays or single records, members are missing instead of null, words
that nobody has heard of stand in answers, a change is answered by an empty object, errors have every
shape that was ever seen.
"""

import email.utils
import http.server
import itertools
import json
import threading
import time
import urllib.parse

USER = "xYz0123456789AbCdEfGhIjK"
TEAM = "team_ZZ98"
STARTED = 1_700_000_000_000


class Refusal(Exception):
    """An error response."""

    def __init__(self, status, body=None, headers=()):
        super().__init__(status)
        self.status, self.body, self.headers = status, body, headers


class Platform:
    """The server's state."""

    def __init__(self, token):
        self.token = token
        self.lock = threading.RLock()
        self.ticks = itertools.count(1)
        self.projects = [
            self.project(name, owner)
            for name, owner in [("web", USER), ("docs", USER), ("shop", USER), ("api", TEAM)]
        ]
        self.records = []
        self.deployments = []
        self.seen = []
        self.busy = set()
        self.deploy(self.find_project("web", USER), None)
        self.add("web", {"key": "KNOWN", "value": "k", "type": "encrypted", "target": ["production"]})
        self.add("web", {"key": "NEW_KIND", "value": "?", "type": "quantum", "target": ["edge"]})

    def now(self):
        return STARTED + next(self.ticks) * 1000

    def project(self, name, owner):
        return {
            "id": f"prj_{name}", "name": name, "accountId": owner, "createdAt": self.now(),
            "framework": "a-framework-of-next-year",
        }

    def find_project(self, name, owner):
        for project in self.projects:
            if name in (project["id"], project["name"]) and project["accountId"] == owner:
                return project
        raise Refusal(404, None)

    # Variables

    def add(self, project, wish):
        targets = set(wish.get("target", []))
        for record in self.records:
            if (
                record["project"] == project
                and record["key"] == wish["key"]
                and record.get("gitBranch") == wish.get("gitBranch")
                and targets & set(record["target"])
            ):
                raise Refusal(
                    400,
                    {"err": {"code": "ENV_CONFLICT", "message": "taken", "envVarKey": wish["key"]}},
                )
        now = self.now()
        record = {
            "id": f"e{next(self.ticks)}", "project": project, "createdAt": now, "updatedAt": now,
            **{k: wish[k] for k in ("key", "value", "type", "gitBranch", "comment") if k in wish},
            "target": sorted(targets),
        }
        self.records.append(record)
        return record

    @staticmethod
    def shown(record, value=False):
        """A record as responses have it: no null, one target as a text, and a value only if asked."""
        shown = {k: v for k, v in record.items() if k not in ("project", "value") and v is not None}
        if len(record["target"]) == 1:
            shown["target"] = record["target"][0]
        if not record["target"]:
            del shown["target"]
        if value and record["type"] != "sensitive":
            shown["value"] = record["value"]
            shown["decrypted"] = True
        return shown

    def list_records(self, project, query):
        records = [r for r in self.records if r["project"] == project["name"]]
        records.sort(key=lambda r: r["createdAt"])
        until = query.get("until")
        if until:
            records = [r for r in records if r["createdAt"] > int(until)]
        page, rest = records[:3], records[3:]
        if len(records) == 1 and not until:
            return self.shown(records[0])
        body = {"envs": [self.shown(r) for r in page]}
        if rest:
            body["pagination"] = {"count": len(page), "next": str(page[-1]["createdAt"])}
        return body

    # Deployments

    def deploy(self, project, source, target="production"):
        deployment = {
            "id": f"dpl_{next(self.ticks)}", "project": project["id"], "created": self.now(),
            "asked": 0, "target": target, "source": source,
            "env": [r["key"] for r in self.records if r["project"] == project["name"]],
        }
        deployment["url"] = f"{deployment['id'].replace('_', '-')}.example.app"
        self.deployments.insert(0, deployment)
        return deployment

    def state(self, deployment):
        """Each request advances a build by one step."""
        if deployment["source"] is None:
            return "READY", True
        steps = ["QUEUED", "WARMING_UP", "BUILDING", "READY"]
        return steps[min(deployment["asked"], 3)], deployment["asked"] > 4

    def one(self, deployment):
        state, is_live = self.state(deployment)
        deployment["asked"] += 1
        body = {
            "id": deployment["id"], "readyState": state, "createdAt": deployment["created"],
            "url": deployment["url"], "name": deployment["project"][4:],
            "projectId": deployment["project"], "env": deployment["env"],
        }
        if is_live:
            body["aliasAssigned"] = deployment["created"] + 5
        if deployment["target"]:
            body["target"] = deployment["target"]
        return body

    def listed(self, deployment):
        state, is_live = self.state(deployment)
        return {
            "uid": deployment["id"], "state": state, "created": deployment["created"],
            "url": deployment["url"], "name": deployment["project"][4:],
            "projectId": deployment["project"], "aliasAssigned": is_live,
            "source": "by-carrier-pigeon",
            **({"target": deployment["target"]} if deployment["target"] else {}),
            **(
                {"meta": {"action": "redeploy", "originalDeploymentId": deployment["source"]}}
                if deployment["source"]
                else {}
            ),
        }

    def shown_project(self, project):
        for deployment in self.deployments:
            if deployment["project"] == project["id"] and deployment["target"] == "production":
                if self.state(deployment)[1]:
                    return {**project, "targets": {"production": self.one(deployment)}}
        return project

    # Requests

    def answer(self, method, path, query, headers, body):
        """Status and body; None for an empty body."""
        self.seen.append(f"{method} {path}")
        if headers.get("Authorization") != f"Bearer {self.token}":
            # Flat, and 401, where other endpoints wrap it and send 403.
            raise Refusal(401, {"code": "forbidden", "message": "Not authorized", "invalidToken": True})
        parts = path.strip("/").split("/")[1:]
        owner = TEAM if query.get("teamId") == TEAM or query.get("slug") == "zoo" else USER
        self.be_busy(method, path)
        match (method, parts):
            case "GET", ["user"]:
                return 200, {"user": {"id": USER, "email": "a@b.example", "username": "zoe", "x": [1]}}
            case "GET", ["teams"]:
                if query.get("until") == "later":
                    return 200, {"teams": [{"id": TEAM, "slug": "zoo"}], "pagination": {"next": None}}
                return 200, {
                    "teams": [{"id": "team_other", "slug": "other", "limited": {"x": 1}}],
                    "pagination": {"count": 1, "next": "later", "prev": None},
                }
            case "GET", ["teams", ("zoo" | "team_ZZ98")]:
                return 200, {"id": TEAM, "slug": "zoo", "membership": {"role": "JUGGLER"}}
            case "GET", ["user", "tokens", "current"]:
                raise Refusal(404, {"error": {"code": "not_found"}})
            case "GET", ["projects"]:
                mine = [p for p in self.projects if p["accountId"] == owner]
                if owner == TEAM:
                    return 200, mine
                start = int((query.get("from") or "cursor-0").split("-")[1])
                page = {"projects": [self.shown_project(p) for p in mine[start : start + 2]]}
                if start + 2 < len(mine):
                    page["pagination"] = {"count": 2, "next": f"cursor-{start + 2}"}
                return 200, page
            case "GET", ["projects", name]:
                return 200, self.shown_project(self.find_project(name, owner))
            case "GET", ["projects", _, "custom-environments"]:
                raise Refusal(404, {"message": "No such feature in this plan.", "code": "not_found"})
            case "GET", ["projects", name, "env"]:
                return 200, self.list_records(self.find_project(name, owner), query)
            case "POST", ["projects", name, "env"]:
                return self.create(self.find_project(name, owner), body)
            case _, ["projects", name, "env", record]:
                return self.one_record(method, self.find_project(name, owner), record, body)
            case "GET", ["deployments"]:
                found = [
                    self.listed(d)
                    for d in self.deployments
                    if d["project"] == query.get("projectId", d["project"])
                    and ("target" not in query or d["target"] == query["target"])
                ]
                return 200, {"deployments": found, "pagination": {"next": None}}
            case "GET", ["deployments", name]:
                for deployment in self.deployments:
                    if name in (deployment["id"], deployment["url"]):
                        return 200, self.one(deployment)
            case "POST", ["deployments"]:
                source = next(d for d in self.deployments if d["id"] == body["deploymentId"])
                project = next(p for p in self.projects if p["id"] == source["project"])
                return 200, self.one(self.deploy(project, source["id"], body.get("target")))
        raise Refusal(404, None)

    def be_busy(self, method, path):
        """Refuses the first request of some kinds, each differently."""
        ways = {
            "POST env": Refusal(
                400,
                {"error": {"code": "bad_request", "message": "There is an ongoing update of it."}},
            ),
            "GET projects": Refusal(
                429,
                {"error": {"code": "rate_limited", "limit": {"remaining": 0}}},
                [("Retry-After", email.utils.formatdate(time.time() + 1, usegmt=True))],
            ),
            "PATCH env": Refusal(503, None, [("Retry-After", "0")]),
            "GET deployments": Refusal(502, "<html>Bad gateway</html>"),
        }
        kind = f"{method} {'env' if '/env' in path else path.split('/')[2]}"
        if kind in ways and kind not in self.busy:
            self.busy.add(kind)
            raise ways[kind]

    def create(self, project, body):
        wishes = body if isinstance(body, list) else [body]
        created, failed = [], []
        for wish in wishes:
            try:
                created.append(self.shown(self.add(project["name"], wish)))
            except Refusal as refusal:
                failed.append({"error": refusal.body["err"]})
        if not created:
            raise Refusal(400, {"err": failed[0]["error"], "failed": failed})
        # A single created record is not in a list.
        answer = {"created": created[0] if len(created) == 1 else created}
        if failed:
            answer["failed"] = failed
        return 201, answer

    def one_record(self, method, project, name, body):
        for record in self.records:
            if record["id"] != name or record["project"] != project["name"]:
                continue
            if method == "GET":
                return 200, self.shown(record, value=True)
            if method == "DELETE":
                self.records.remove(record)
                return 200, [self.shown(record)]
            if method == "PATCH":
                if record["type"] == "sensitive" and "key" in body:
                    raise Refusal(400, {"error": "bad_request", "message": "No renaming."})
                for member in ("key", "value", "type", "comment", "gitBranch"):
                    if member in body:
                        record[member] = body[member]
                if "target" in body:
                    record["target"] = sorted(body["target"])
                record["updatedAt"] = self.now()
                return 200, {}
        raise Refusal(404, None)


class SecondServer:
    """Serves on a free port until closed."""

    def __init__(self, token="zz-token-0123456789"):
        self.platform = platform = Platform(token)
        self.token = token

        class Handler(http.server.BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"
            wbufsize = -1

            def log_message(self, *_):
                pass

            def serve(self):
                split = urllib.parse.urlsplit(self.path)
                query = dict(urllib.parse.parse_qsl(split.query))
                sent = self.rfile.read(int(self.headers.get("Content-Length") or 0))
                body = json.loads(sent) if sent else None
                headers = []
                with platform.lock:
                    try:
                        status, answer = platform.answer(
                            self.command, split.path, query, self.headers, body
                        )
                    except Refusal as refusal:
                        status, answer, headers = refusal.status, refusal.body, refusal.headers
                text = b"" if answer is None else answer.encode() if isinstance(
                    answer, str
                ) else json.dumps(answer).encode()
                self.send_response(status)
                for name, value in headers:
                    self.send_header(name, value)
                self.send_header("Transfer-Encoding", "chunked")
                self.end_headers()
                # In two pieces, cut anywhere.
                for piece in (text[: len(text) // 2], text[len(text) // 2 :]):
                    if piece:
                        self.wfile.write(b"%x\r\n%s\r\n" % (len(piece), piece))
                        self.wfile.flush()
                self.wfile.write(b"0\r\n\r\n")
                self.wfile.flush()

            do_GET = do_POST = do_PATCH = do_DELETE = serve

        self.server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self.server.daemon_threads = True
        self.url = f"http://127.0.0.1:{self.server.server_address[1]}"
        threading.Thread(target=self.server.serve_forever, daemon=True).start()

    def records(self, key):
        """The records of a key as "targets=value"."""
        return sorted(
            ",".join(r["target"]) + "=" + r["value"] for r in self.platform.records if r["key"] == key
        )

    def close(self):
        self.server.shutdown()
        self.server.server_close()
