"""The tightened description constrains every response."""

import unittest

import description
from openapi_schema_validator import OAS30Validator

# Responses without content, or with content other than JSON.
WITHOUT_JSON = {
    "DELETE /v1/webhooks/{id}",
    "GET /v1/projects/{projectId}/deployments/{deploymentId}/runtime-logs",
    "POST /v10/projects/{projectId}/promote/{deploymentId}",
    "POST /v1/projects/{projectId}/rollback/{deploymentId}",
}


class Description(unittest.TestCase):
    def setUp(self):
        self.document = description.tightened()

    def fits(self, schema, value):
        root = {"components": self.document["components"], "allOf": [schema]}
        return OAS30Validator(root).is_valid(value)

    def test_no_good_answer_is_an_empty_object(self):
        count = 0
        for name, operation in description.operations(self.document):
            schemas = list(description.answers(operation))
            self.assertEqual(not schemas, name in WITHOUT_JSON, name)
            for status, schema in schemas:
                count += 1
                for value in ({}, {"x": 1}, None, "", 1):
                    self.assertFalse(self.fits(schema, value), f"{name} {status} {value}")
        self.assertGreaterEqual(count, 30)

    def test_the_published_description_takes_empty_objects(self):
        """Otherwise tightening would do nothing, and this test could not fail."""
        published = description.load()
        loose = 0
        for _, operation in description.operations(published):
            for _, schema in description.answers(operation):
                root = {"components": published["components"], "anyOf": [schema]}
                loose += OAS30Validator(root).is_valid({})
        self.assertGreaterEqual(loose, 1)

    def test_every_member_that_is_required_is_missed(self):
        record = {
            "id": "a", "key": "K", "type": "plain", "value": "v", "target": ["production"],
            "createdAt": 1, "updatedAt": 1, "configurationId": None, "createdBy": None,
            "updatedBy": None,
        }
        path = self.document["paths"]["/v10/projects/{idOrName}/env"]
        schema = dict(description.answers(path["get"]))["200"]
        self.assertTrue(self.fits(schema, {"envs": [record]}))
        self.assertTrue(self.fits(schema, {"envs": []}))
        for name in description.ENV_RECORD:
            broken = {key: value for key, value in record.items() if key != name}
            self.assertFalse(self.fits(schema, {"envs": [broken]}), name)

    def test_the_additions_are_part_of_the_description(self):
        record = {
            "id": "a", "key": "K", "type": "encrypted", "value": "c", "target": ["production"],
            "createdAt": 1, "updatedAt": 1, "visibility": "secret", "legacyValue": "x",
            "contentHint": {"type": "blob-store-id", "storeId": "store_1"},
        }
        paths = self.document["paths"]
        listed = dict(description.answers(paths["/v10/projects/{idOrName}/env"]["get"]))["200"]
        self.assertTrue(self.fits(listed, {"envs": [record], "hiddenProductionEnvCount": 2}))
        self.assertIn(
            {"envs", "hiddenProductionEnvCount"}, [set(each["properties"]) for each in listed["anyOf"]])
        for change in ({"visibility": "other"}, {"contentHint": {"type": "other"}}):
            self.assertFalse(self.fits(listed, {"envs": [record | change]}), change)
        body = paths["/v10/projects/{idOrName}/env"]["post"]["requestBody"]
        words = body["content"]["application/json"]["schema"]["oneOf"][0]["properties"]["type"]["enum"]
        self.assertNotIn("secret", words)
        hook = paths["/v1/webhooks"]["post"]["requestBody"]["content"]["application/json"]["schema"]
        events = hook["properties"]["events"]["items"]["enum"]
        self.assertEqual(len(events), 112)
        self.assertIn("project.renamed", events)
        self.assertNotIn("budget.reset", events)
        team = self.document["components"]["schemas"]["Team"]["properties"]
        self.assertIn("disjunctiveProductionSecretPolicy", team)


if __name__ == "__main__":
    unittest.main()
