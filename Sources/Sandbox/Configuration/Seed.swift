internal import JSON

/// The initial content of a sandbox, as a JSON document.
///
/// Members, all optional: `seed` (number for generated identifiers), `token`, `user` (`email`,
/// `name`, `username`, `limited`), `users` (the other members of all teams: `username`, `name`,
/// `email`; one colleague by default), `teams` (`slug`, `name`, `role`, null for a foreign team,
/// `limitedBy`, `sensitiveEnvironmentVariablePolicy`, `disjunctiveProductionSecretPolicy`),
/// `projects` (`name`, `team` slug, `framework`,
/// `autoExposeSystemEnvs`, `autoAssignCustomDomains`, `rollingRelease`,
/// `sensitiveEnvironmentVariablePolicy`, `customEnvironments` with `slug` and `type`, `env` with
/// `key`, `value`, `type`, `target`, `gitBranch`, `comment`, `visibility`, `integration` (the kind of
/// its `contentHint`), `customEnvironments` slugs, and
/// `deployments`, oldest first, with `target`, `state`, `branch`, `message`), `sharedEnv` (`team`,
/// `key`, `value`, `type`, `target`, `projects` names), `tokens` (`name`, `token`, `type`, `team`,
/// `project` for a token of one project, `expiresAt`, `leakedAt`, `hidesProduction`).
package struct Seed: Sendable {
    let document: JSONValue

    /// Parses a seed document; its content is checked when it is used.
    package init(json bytes: [UInt8]) throws(SandboxError) {
        do {
            document = try JSONValue(parsing: bytes)
        } catch {
            throw SandboxError(code: .seedUnreadable, reason: "The seed is not valid JSON.")
        }
    }

    private init(document: JSONValue) { self.document = document }

    /// One user with a project `web`, and a team with a project `api`.
    package static let standard = Seed(
        document: [
            "projects": [
                [
                    "name": "web", "framework": "nextjs",
                    "env": [
                        [
                            "key": "SEED_DATABASE_URL", "type": "encrypted",
                            "value":
                                "postgres://seed:p%40ss@db.example.com:5432/web?sslmode=require",
                            "target": ["production", "preview", "development"],
                        ],
                        [
                            "key": "SEED_API_KEY", "type": "sensitive",
                            "value": "seed-api-key-4f8a", "target": ["production", "preview"],
                        ],
                        [
                            "key": "SEED_SITE_NAME", "type": "plain", "value": "Seed Site",
                            "target": ["production", "preview", "development"],
                            "comment": "Shown in the page title",
                        ],
                        [
                            "key": "SEED_DEBUG", "type": "encrypted", "value": "seed:*",
                            "target": ["development"],
                        ],
                    ],
                    "deployments": [["target": "production"]],
                ],
                [
                    "name": "api", "team": "acme",
                    "env": [
                        [
                            "key": "SEED_TEAM_KEY", "type": "encrypted", "value": "seed-team-key",
                            "target": ["production", "preview", "development"],
                        ]
                    ],
                    "deployments": [["target": "production"]],
                ],
            ],
            "teams": [["slug": "acme", "name": "Acme"]],
        ])
}
