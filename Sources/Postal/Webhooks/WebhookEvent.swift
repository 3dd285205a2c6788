internal import JSON
package import PostalProtocol

/// The parts of a webhook's body that the relay uses: the common members and names.
///
/// Vercel has changed the members over the years, so each name has several possible places. Values
/// of variables are never read.
package struct WebhookEvent: Sendable {
    /// Most characters of an event's id.
    private static let idLimit = 200

    /// Vercel's id of the event.
    package let id: String
    /// The type as the webhook spells it.
    package let typeName: String
    /// In milliseconds since 1970.
    package let createdAt: Int64
    /// The payload's team, or else its user.
    package let account: String?
    private let payload: JSONValue

    /// Parses a body; nil if it is not a webhook's.
    package init?(body: [UInt8]) {
        guard let value = try? JSONValue(parsing: body),
            let id = value["id"]?.nonEmptyString, let type = value["type"]?.nonEmptyString,
            case .integer(let createdAt)? = value["createdAt"],
            let payload = value["payload"], case .object = payload,
            id.unicodeScalars.count <= Self.idLimit, PostalEvent.plainText(id) == id
        else { return nil }
        (self.id, typeName, self.createdAt, self.payload) = (id, type, createdAt, payload)
        account = payload["team"]?["id"]?.nonEmptyString ?? payload["user"]?["id"]?.nonEmptyString
    }

    /// Returns the event for devices; nil for a type that they do not receive.
    package func event(account: String) -> PostalEvent? {
        guard let type = PostalEventType(webhookName: typeName) else { return nil }
        return PostalEvent(
            id: id, type: type, createdAt: createdAt, account: account, project: project,
            deployment: deployment, variable: type.concernsVariable ? variable : nil)
    }

    private var project: PostalEvent.Project? {
        let project = payload["project"]
        guard
            let id = project?["id"]?.nonEmptyString ?? payload["projectId"]?.nonEmptyString
                ?? project?
                .nonEmptyString
                ?? payload["deployment"]?["projectId"]?.nonEmptyString
        else { return nil }
        let name =
            project?["name"]?.nonEmptyString ?? payload["projectName"]?.nonEmptyString
            ?? payload["deployment"]?["name"]?.nonEmptyString ?? payload["name"]?.nonEmptyString
        return .init(id: Self.plain(id), name: name.map(Self.plain))
    }

    private var deployment: PostalEvent.Deployment? {
        let deployment = payload["deployment"]
        guard
            let id = deployment?["id"]?.nonEmptyString ?? payload["deploymentId"]?.nonEmptyString
                ?? deployment?.nonEmptyString
                // A rollback names the former deployment, and the one that is live again.
                ?? payload["toDeploymentId"]?.nonEmptyString
        else { return nil }
        let meta = deployment?["meta"]
        func named(_ suffixes: String...) -> String? {
            for suffix in suffixes {
                for service in ["github", "gitlab", "bitbucket", "git"] {
                    if let text = meta?[service + suffix]?.nonEmptyString {
                        return Self.plain(text)
                    }
                }
            }
            return nil
        }
        let url = deployment?["url"]?.nonEmptyString ?? payload["url"]?.nonEmptyString
        let target = payload["target"]?.nonEmptyString ?? deployment?["target"]?.nonEmptyString
        return .init(
            id: Self.plain(id), url: url.map { Self.plain(Self.host($0)) },
            target: target.map(Self.plain), branch: named("CommitRef"),
            commit: named("CommitMessage"), author: named("CommitAuthorName", "CommitAuthorLogin"))
    }

    private var variable: PostalEvent.Variable? {
        let names = ["envVar", "env", "variable", "environmentVariable", "envVariable"]
        let variable = names.lazy.compactMap { payload[$0] }.first { $0 != .null }
        let id =
            variable?["id"]?.nonEmptyString
            ?? Self.first(["envVarId", "envId", "variableId"], of: payload)
        let key =
            variable?["key"]?.nonEmptyString ?? variable?["name"]?.nonEmptyString
            ?? Self.first(["envVarKey", "envKey", "variableKey", "key"], of: payload)
        guard id != nil || key != nil else { return nil }
        return .init(id: id.map(Self.plain), key: key.map(Self.plain))
    }

    private static func first(_ names: [String], of value: JSONValue) -> String? {
        names.lazy.compactMap { value[$0]?.nonEmptyString }.first
    }

    private static func plain(_ text: String) -> String { PostalEvent.plainText(text) }

    /// Returns a URL's host.
    private static func host(_ url: String) -> String {
        var rest = url[...]
        for scheme in ["https://", "http://"] where rest.hasPrefix(scheme) {
            rest = rest.dropFirst(scheme.count)
        }
        return String(rest.prefix { $0 != "/" })
    }
}

extension PostalEvent {
    /// The text to seal; drops the least important names of a long event.
    package var shortenedSealedText: [UInt8]? {
        var event = self
        if let text = event.sealedText { return text }
        event.deployment?.commit = nil
        if let text = event.sealedText { return text }
        event.deployment?.author = nil
        event.deployment?.branch = nil
        event.deployment?.url = nil
        if let text = event.sealedText { return text }
        event.project?.name = nil
        event.variable?.id = nil
        return event.sealedText
    }
}
