internal import EnvOperations
internal import Sealing
internal import Vault
internal import VercelAPI

/// The secrets of webhooks, stored as encrypted variables of a reserved vault project. Vercel
/// allows no project of this name, so they are never pushed.
enum WebhookSecrets {
    static let projectName = "@webhooks"

    /// Returns the name of the variable with a webhook's secret.
    static func key(of id: String) -> String {
        // An id normally has only these characters; others are not valid in a variable name.
        let word = id.utf8.map { byte -> Character in
            let scalar = Unicode.Scalar(byte)
            let isPlain = scalar.properties.isAlphabetic || (0x30...0x39).contains(byte)
            return byte < 0x80 && isPlain ? Character(scalar) : "_"
        }
        return "WEBHOOK_SECRET_" + String(word.prefix(200))
    }

    /// Stores a secret, and checks that the vault has it.
    static func keep(
        _ secret: SecretSlice, of webhook: Webhook, _ workspace: Workspace
    ) throws {
        let key = key(of: webhook.id)
        let time = workspace.context.now()
        let record = try workspace.session.commit { transaction, _ -> Variable in
            let project = transaction.project(named: projectName, at: time).project
            let edits = try secret.withBytes { bytes in
                try transaction.assign(
                    bytes, to: Scope(targets: .all), of: key, in: project.id,
                    AssignmentWishes(
                        kind: .encrypted, comment: "Signing secret of webhook \(webhook.id)"),
                    at: time)
            }
            return transaction.index.variables[edits[0].position]
        }
        let index = try workspace.session.index(.listing)
        let kept = index.variables.first { $0.id == record.id }
        guard kept?.currentVersion == record.currentVersion else {
            throw CommandError(.failed, "The vault does not contain the stored secret.")
        }
    }

    /// Returns the keys of the stored secrets; empty without an open vault.
    static func known(_ workspace: Workspace) throws -> Set<String> {
        guard let index = try workspace.session.indexWithoutPrompt(),
            let project = index.project(named: projectName)
        else { return [] }
        return Set(index.variables(of: project.id).map(\.name))
    }

    /// Removes a deleted webhook's secret; its history stays. Asks for no passphrase.
    ///
    /// - Throws: ``ExitCode/locked`` if there is a secret and the values are locked.
    static func remove(of id: String, _ workspace: Workspace) throws {
        guard try known(workspace).contains(key(of: id)) else { return }
        guard try workspace.session.bestKeysWithoutPrompt().opensValues else {
            throw CommandError(
                .locked,
                "The values are locked. Remove it with: zg-env rm \(key(of: id)) -p \(projectName)")
        }
        let time = workspace.context.now()
        try workspace.session.commit { transaction, _ in
            guard let project = transaction.index.project(named: projectName) else { return }
            for record in transaction.index.variables(of: project.id, named: key(of: id)) {
                guard let position = transaction.position(of: record.id) else { continue }
                transaction.remove(at: position, time: time)
            }
        }
    }
}
