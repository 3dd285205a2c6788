"""Checks exchanges against the tightened description, with openapi-core."""

import json
import urllib.parse

from openapi_core import OpenAPI
from openapi_core.datatypes import RequestParameters
from werkzeug.datastructures import Headers, ImmutableMultiDict

import description

# Members that a runtime log line always has.
LOG_LINE = {"level", "message", "rowId", "source", "timestampInMs", "domain"}


class Request:
    """An exchange's request in the form that openapi-core reads."""

    def __init__(self, exchange):
        self.host_url = "http://127.0.0.1"
        self.path = exchange.path
        self.method = exchange.method.lower()
        self.body = exchange.body or None
        self.content_type = "application/json"
        headers = dict(exchange.headers)
        if exchange.has_token:
            headers["Authorization"] = "Bearer masked"
        self.parameters = RequestParameters(
            query=ImmutableMultiDict(exchange.query), header=Headers(headers), cookie={}
        )


class Response:
    """An exchange's response in the form that openapi-core reads."""

    def __init__(self, exchange):
        self.data = exchange.answer
        self.status_code = exchange.status
        given = exchange.answer_headers
        self.content_type = next(
            (given[name].split(";")[0] for name in given if name.lower() == "content-type"), ""
        )
        self.headers = Headers(exchange.answer_headers)


class Validator:
    """Finds violations in exchanges."""

    def __init__(self):
        self.document = description.tightened()
        self.api = OpenAPI.from_dict(self.document)
        self.paths = [
            (method.split(" ")[1].strip("/").split("/"), method, operation)
            for method, operation in description.operations(self.document)
        ]

    def operation(self, exchange):
        """The name and object of a request's operation."""
        parts = exchange.path.strip("/").split("/")
        best = None
        for pattern, name, operation in self.paths:
            if not name.startswith(exchange.method + " ") or len(pattern) != len(parts):
                continue
            if all(p.startswith("{") or p == part for p, part in zip(pattern, parts)):
                # The more fixed words, the better: /user/tokens/current is not a user id.
                fixed = sum(not p.startswith("{") for p in pattern)
                if best is None or fixed > best[0]:
                    best = (fixed, name, operation)
        return (best[1], best[2]) if best else (None, None)

    def problems(self, exchange):
        """Sentences on the violations; empty for a valid exchange."""
        name, operation = self.operation(exchange)
        if operation is None:
            return ["the description has no such operation"]
        problems = []
        if not exchange.has_token:
            problems.append("no token")
        if Response(exchange).content_type == "application/stream+json":
            # Lines, each of them JSON; the description speaks of one line, and openapi-core reads
            # the whole.
            for line in exchange.answer.splitlines():
                if not LOG_LINE <= set(json.loads(line)):
                    problems.append(f"answer: {line!r} is not a log line")
            return problems + self.strictness(exchange, operation)
        problems += self.strictness(exchange, operation)
        for what, errors in (
            ("request", lambda: self.api.iter_request_errors(Request(exchange))),
            (
                "answer",
                lambda: self.api.iter_response_errors(Request(exchange), Response(exchange)),
            ),
        ):
            if what == "answer" and not self.is_described(exchange, operation):
                continue
            for error in errors():
                details = getattr(error.__cause__ or error, "schema_errors", None) or [error]
                for detail in list(details)[:4]:
                    problems.append(f"{what}: {str(detail)[:400]}")
        return problems

    def is_described(self, exchange, operation):
        """Whether the description has a JSON response with that status.

        The statuses of errors differ from operation to operation; what errors look like does not,
        and is checked by `error_problems`.
        """
        answer = operation["responses"].get(str(exchange.status))
        return bool(answer and answer.get("content"))

    def strictness(self, exchange, operation):
        """Checks that the description does not make: unknown queries, unknown members, wrong statuses."""
        problems = []
        known = {
            item["name"] for item in operation.get("parameters", []) if item["in"] == "query"
        } | {"teamId", "slug"}
        for name, _ in exchange.query:
            if name not in known:
                problems.append(f"request: unknown query {name}")
        if exchange.status < 400:
            if str(exchange.status) not in operation["responses"]:
                problems.append(f"answer: unknown status {exchange.status}")
        else:
            problems += self.error_problems(exchange)
        body = operation.get("requestBody", {}).get("content", {}).get("application/json")
        # Vercel's own command-line tool sends an empty object where no body is described.
        if exchange.body and body is None and exchange.body.strip() != b"{}":
            problems.append("request: a body, but the description has none")
        elif exchange.body and body is not None:
            problems += self.unknown_members(json.loads(exchange.body), body["schema"])
        return problems

    def unknown_members(self, value, schema):
        """Members of a body that are in no alternative of the description."""
        schema = description.resolved(self.document, schema)
        alternatives = []
        waiting = [schema]
        while waiting:
            one = description.resolved(self.document, waiting.pop())
            more = [item for word in ("oneOf", "anyOf", "allOf") for item in one.get(word, [])]
            waiting += more
            if one.get("type") == "array" and isinstance(value, list):
                waiting.append(one["items"])
            if "properties" in one:
                alternatives.append(set(one["properties"]))
            elif one.get("additionalProperties") or (one.get("type") == "object" and not more):
                return []
        known = set().union(*alternatives) if alternatives else set()
        values = value if isinstance(value, list) else [value]
        return [
            f"request: unknown member {name}"
            for item in values
            if isinstance(item, dict)
            for name in item
            if name not in known
        ]

    @staticmethod
    def error_problems(exchange):
        """Errors are `{"error":{"code","message"}}`, whatever their status."""
        try:
            error = json.loads(exchange.answer)["error"]
            if isinstance(error["code"], str) and isinstance(error["message"], str):
                return []
        except (ValueError, KeyError, TypeError):
            pass
        return ["answer: no error object"]


def shown(exchange):
    """An exchange for a message of a test; bodies of requests hold values of tests alone."""
    query = urllib.parse.urlencode(exchange.query)
    return f"{exchange}?{query} {exchange.body[:300]!r} {exchange.answer[:600]!r}"
