"""Vercel's published description, made as strict as its behavior.

The published description is looser than the API: answers are often "this, or any object". What is
changed here is listed below with its reason, and `test_description.py` proves that an empty object
is no answer any more.
"""

import copy
import json
import pathlib

PACKAGE = pathlib.Path(__file__).resolve().parents[2]
# The operations that zg-env uses, without the published prose.
SCHEMAS = PACKAGE / "Tests" / "OpenAPI" / "vercel-api-schemas.json"
# What Vercel has added to them, or changed, since.
ADDITIONS = PACKAGE / "Tests" / "OpenAPI" / "vercel-api-additions.json"
METHODS = ("get", "put", "post", "delete", "options", "head", "patch", "trace")

# Members that responses always have, by operation: a path of members to the object ("[]" for the
# elements of an array, "" for the answer itself), and the names.
ENV_RECORD = ["id", "key", "type", "createdAt", "updatedAt"]
DEPLOYMENT = ["id", "readyState", "createdAt", "url", "projectId", "name"]
PAGINATION = ("pagination", ["count", "next", "prev"])
TOKEN = ["id", "name", "type", "createdAt", "activeAt"]
SHARED = ["id", "key", "type", "target", "projectId", "ownerId", "createdAt", "updatedAt"]
REQUIRED = {
    "GET /v2/user": [("", ["user"]), ("user", ["id", "email", "name", "username", "createdAt"])],
    "GET /v2/teams": [("", ["teams", "pagination"]), ("teams/[]", ["id", "slug", "name"]), PAGINATION],
    "GET /v2/teams/{teamId}": [("", ["id", "slug", "name"])],
    "GET /v10/projects": [("projects/[]", ["id", "name", "accountId"])],
    "GET /v9/projects/{idOrName}": [("", ["id", "name", "accountId"])],
    "POST /v11/projects": [("", ["id", "name", "accountId"])],
    "GET /v10/projects/{idOrName}/env": [("", ["envs"]), ("envs/[]", ENV_RECORD)],
    "POST /v10/projects/{idOrName}/env": [("", ["created", "failed"]), ("created", ENV_RECORD)],
    "GET /v1/projects/{idOrName}/env/{id}": [("", ENV_RECORD)],
    "PATCH /v9/projects/{idOrName}/env/{id}": [("", ENV_RECORD)],
    "DELETE /v9/projects/{idOrName}/env/{id}": [("", ["key", "type"])],
    "DELETE /v1/projects/{idOrName}/env": [("", ["deleted", "ids"])],
    "GET /v6/deployments": [
        ("", ["deployments", "pagination"]),
        ("deployments/[]", ["uid", "name", "projectId", "url", "created", "readyState"]),
        PAGINATION,
    ],
    "GET /v7/deployments": [
        ("", ["deployments", "pagination"]),
        ("deployments/[]", ["uid", "name", "projectId", "url", "created", "readyState"]),
        PAGINATION,
    ],
    "POST /v13/deployments": [("", DEPLOYMENT)],
    "GET /v13/deployments/{idOrUrl}": [("", DEPLOYMENT)],
    "PATCH /v12/deployments/{id}/cancel": [("", ["id", "readyState", "url"])],
    "GET /v1/projects/{projectId}/promote/aliases": [("", ["aliases", "pagination"])],
    "GET /v5/user/tokens": [("tokens/[]", TOKEN)],
    "GET /v6/user/tokens": [("tokens/[]", TOKEN)],
    "GET /v5/user/tokens/{tokenId}": [("token", TOKEN)],
    "GET /v1/env": [("", ["data", "pagination"]), ("data/[]", SHARED)],
    "GET /v1/env/{id}": [("", SHARED)],
    "PATCH /v1/env/{id}/unlink/{projectId}": [("", ["id"])],
}

# Query parameters that the description lacks and the reference has.
UNDESCRIBED_QUERIES = {
    "POST /v13/deployments": ["withCache"],
    "GET /v9/projects/{idOrName}": ["rollbackInfo"],
    "GET /v5/user/tokens": ["limit", "next"],
}


def load():
    """The published schemas, with the additions."""
    with open(SCHEMAS, encoding="utf-8") as file:
        document = json.load(file)
    add(document, additions())
    return document


def additions():
    """The fragments that were added to the published schemas."""
    with open(ADDITIONS, encoding="utf-8") as file:
        return json.load(file)


def objects(schema):
    """Every object schema in a schema, itself included."""
    if isinstance(schema, dict):
        if isinstance(schema.get("properties"), dict):
            yield schema
        for value in schema.values():
            yield from objects(value)
    elif isinstance(schema, list):
        for value in schema:
            yield from objects(value)


def add(document, fragments):
    """Merges fragments, which have only the members that are new or different."""
    parts = fragments["components"]["schemas"]
    own = document["components"]["schemas"]
    for name in ("Team", "TeamLimited", "AuthToken"):
        for member, schema in parts[f"{name}Additions"]["properties"].items():
            own[name]["properties"].setdefault(member, schema)
    for name in ("ProjectEnvVisibility", "ProjectEnvContentHint"):
        own[name] = parts[name]
    own.update({name: schema for name, schema in parts.items() if name.startswith("WebhookPayload")})
    events = set(parts["WebhookEventsAdded"]["enum"])
    gone = set(parts["WebhookEventsRemoved"]["enum"])
    for name, operation in operations(document):
        for schema in list(objects(operation.get("responses", {}))):
            # Every record of a variable, wherever it is.
            if {"key", "contentHint", "configurationId"} <= set(schema["properties"]):
                schema["properties"].update(copy.deepcopy(parts["ProjectEnvAdditions"]["properties"]))
        replace_events(operation, events, gone)
        method, path = name.split(" ")
        change = fragments["paths"].get(path, {}).get(method.lower(), {})
        for status, answer in change.get("responses", {}).items():
            add_answer(operation["responses"].setdefault(status, {"description": ""}), answer)
        body = change.get("requestBody")
        if body is not None and "requestBody" in operation:
            new = body["content"]["application/json"]["schema"]["properties"]
            schema = operation["requestBody"]["content"]["application/json"]["schema"]
            waiting = [schema]
            while waiting:
                one = waiting.pop()
                waiting += [item for word in ("oneOf", "anyOf") for item in one.get(word, [])]
                if one.get("type") == "array":
                    waiting.append(one["items"])
                if "properties" in one:
                    one["properties"].update(copy.deepcopy(new))


def add_answer(answer, more):
    """Adds an alternative to a response. Its lists have the records of the other alternatives."""
    if "content" not in more:
        return
    schema = copy.deepcopy(more["content"]["application/json"]["schema"])
    content = answer["content"]["application/json"]
    for name, member in schema["properties"].items():
        for other in objects(content["schema"]):
            same = other["properties"].get(name)
            if same is not None and same.get("type") == "array" == member.get("type"):
                member["items"] = copy.deepcopy(same["items"])
                break
    content["schema"] = {"oneOf": [*content["schema"].get("oneOf", [content["schema"]]), schema]}


def replace_events(schema, events, gone):
    """Brings every list of a webhook's events up to date."""
    if isinstance(schema, dict):
        words = schema.get("enum")
        if isinstance(words, list) and "deployment.created" in words:
            schema["enum"] = sorted((set(words) | events) - gone)
        for value in schema.values():
            replace_events(value, events, gone)
    elif isinstance(schema, list):
        for value in schema:
            replace_events(value, events, gone)


def operations(document):
    """Every operation as "METHOD path", with its object."""
    for path, item in document["paths"].items():
        for method, operation in item.items():
            if method in METHODS:
                yield f"{method.upper()} {path}", operation


def answers(operation):
    """The schemas of successful JSON responses, by status."""
    for status, answer in operation["responses"].items():
        schema = answer.get("content", {}).get("application/json", {}).get("schema")
        if status.startswith("2") and schema is not None:
            yield status, schema


def resolved(document, schema):
    """The schema that a reference names."""
    while "$ref" in schema:
        name = schema["$ref"].removeprefix("#/components/schemas/")
        schema = document["components"]["schemas"][name]
    return schema


def is_empty(schema):
    """Whether the schema allows anything: an object without constraints."""
    said = set(schema) - {"type", "description", "nullable", "title", "example"}
    return not said and schema.get("type", "object") == "object"


def without_empty_alternatives(schema):
    """The schema, and everything in it, without "or any object"; and with anyOf for oneOf.

    The alternatives of one answer overlap in the published description, so an answer that fits two
    of them would be wrong under oneOf.
    """
    if isinstance(schema, list):
        return [without_empty_alternatives(item) for item in schema]
    if not isinstance(schema, dict):
        return schema
    schema = {key: without_empty_alternatives(value) for key, value in schema.items()}
    for word in ("oneOf", "anyOf"):
        if isinstance(schema.get(word), list):
            left = [item for item in schema.pop(word) if not is_empty(item)]
            if not left:
                continue
            schema["anyOf"] = schema.get("anyOf", []) + left
    if schema.get("nullable") and isinstance(schema.get("enum"), list):
        # The published description leaves null out of the allowed words.
        schema["enum"] = list(dict.fromkeys([*schema["enum"], None]))
    if schema.get("nullable") and "anyOf" in schema and "type" not in schema:
        # "nullable" only counts beside a type, and applies to all alternatives.
        schema["anyOf"] = [
            {**item, "nullable": True} if "type" in item else item for item in schema["anyOf"]
        ]
    return schema


def not_null(schema):
    """The schema of a whole response, which is never null."""
    schema.pop("nullable", None)
    for item in schema.get("anyOf", []):
        item.pop("nullable", None)
    return schema


def reached(document, schema, steps):
    """The objects of a schema at the end of a path of members, through all alternatives.

    What is reached is copied first, since a component may be shared by operations.
    """
    schema = resolved(document, schema)
    if "anyOf" in schema:
        schema["anyOf"] = [copy.deepcopy(resolved(document, item)) for item in schema["anyOf"]]
        for item in schema["anyOf"]:
            yield from reached(document, item, steps)
        return
    if not steps:
        if schema.get("type") == "array":
            yield from reached(document, schema["items"], steps)
        else:
            yield schema
        return
    step, rest = steps[0], steps[1:]
    if step == "[]":
        if schema.get("type") == "array":
            schema["items"] = copy.deepcopy(resolved(document, schema["items"]))
            yield from reached(document, schema["items"], rest)
        return
    member = schema.get("properties", {}).get(step)
    if member is not None:
        schema["properties"][step] = copy.deepcopy(resolved(document, member))
        yield from reached(document, schema["properties"][step], rest)


def require(document, schema, path, names):
    """Makes members required in each alternative that has them."""
    found = False
    for target in reached(document, schema, [step for step in path.split("/") if step]):
        known = target.get("properties", {})
        target["required"] = sorted(
            set(target.get("required", [])) | {name for name in names if name in known}
        )
        found = found or any(name in known for name in names)
    if not found:
        raise ValueError(f"the description has no schema at {path!r} with any of {names}")


def tightened(document=None):
    """The description without empty alternatives, and with the members that are always present required."""
    document = copy.deepcopy(document or load())
    schemas = document["components"]["schemas"]
    for name in schemas:
        schemas[name] = without_empty_alternatives(schemas[name])
    for name, operation in operations(document):
        for status, answer in operation["responses"].items():
            content = answer.get("content", {}).get("application/json")
            if content and "schema" in content:
                # A copy, so that one operation's required members do not affect another.
                schema = copy.deepcopy(resolved(document, content["schema"]))
                content["schema"] = not_null(without_empty_alternatives(schema))
        for path, names in REQUIRED.get(name, []):
            for _, schema in answers(operation):
                require(document, schema, path, names)
        for query in UNDESCRIBED_QUERIES.get(name, []):
            known = {item["name"] for item in operation.get("parameters", [])}
            if query not in known:
                operation.setdefault("parameters", []).append(
                    {"name": query, "in": "query", "schema": {"type": "string"}}
                )
    unknown = set(REQUIRED) - {name for name, _ in operations(document)}
    if unknown:
        raise ValueError(f"the description has no {sorted(unknown)}")
    document["servers"] = [{"url": "/"}]
    return document
