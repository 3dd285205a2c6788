internal import EnvOperations
internal import Sealing
internal import Vault
internal import VercelAPI

/// Where the secrets of webhooks are kept: sealed in the value tier, as variables of a project of the
/// vault's own. Its name is none that the platform gives, so that no push sends them there.
enum WebhookSecrets {
    static let projectName = "@webhooks"

    /// The variable that holds the secret of a webhook.
    static func key(of id: String) -> String {
        // An id is a word; anything else would only be no name of a variable.
        let word = id.utf8.map { byte -> Character in
            let scalar = Unicode.Scalar(byte)
            let isPlain = scalar.properties.isAlphabetic || (0x30...0x39).contains(byte)
            return byte < 0x80 && isPlain ? Character(scalar) : "_"
        }
        return "WEBHOOK_SECRET_" + String(word.prefix(200))
    }

    /// Seals a secret, and looks that the vault has it.
    static func keep(
        _ secret: SecretSlice, of webhook: Webhook, with keys: VaultKeys, _ workspace: Workspace
    ) throws {
        let key = key(of: webhook.id)
        let time = workspace.context.now()
        let record = try workspace.session.update(with: keys) { transaction -> Variable in
            let project = transaction.project(named: projectName, at: time).project
            let all = transaction.index.variables.filter {
                $0.project == project.id && $0.name == key
            }
            let edit = transaction.assign(
                Scope(targets: .all), to: key, of: project.id, records: all, kind: .encrypted,
                at: time)
            transaction.index.variables[edit.position].attributes.comment =
                "Signs what the platform sends for webhook \(webhook.id)"
            try secret.withBytes { bytes in
                _ = try transaction.store(bytes, forVariableAt: edit.position, at: time)
            }
            return transaction.index.variables[edit.position]
        }
        let index = try workspace.session.opened().index(with: keys, extent: .listing)
        let kept = index.variables.first { $0.id == record.id }
        guard kept?.currentVersion == record.currentVersion else {
            throw CommandError(.failed, "The vault does not show the secret that was sealed.")
        }
    }

    /// The webhooks whose secret the vault has; none without a vault at hand.
    static func known(_ workspace: Workspace) throws -> Set<String> {
        guard let index = try workspace.session.indexAtHand(),
            let project = index.project(named: projectName)
        else { return [] }
        return Set(index.variables(of: project.id).map(\.name))
    }

    /// Takes the secret of a webhook that is gone out of use; its history stays.
    static func remove(of id: String, _ workspace: Workspace) throws {
        guard try known(workspace).contains(key(of: id)),
            let keys = try workspace.session.keysAtHand()
        else { return }
        let time = workspace.context.now()
        try workspace.session.update(with: keys) { transaction in
            guard let project = transaction.index.project(named: projectName) else { return }
            for record in transaction.index.variables(of: project.id, named: key(of: id)) {
                guard let position = transaction.position(of: record.id) else { continue }
                transaction.remove(at: position, time: time)
            }
        }
    }
}
