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


if __name__ == "__main__":
    unittest.main()
