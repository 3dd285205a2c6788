internal import JSON
package import PostalProtocol

/// A webhook's body as far as the relay reads it: what is common to all types, and names.
///
/// The platform has written members differently over the years, so each name is looked for in several
/// places. No value of a variable is taken, wherever it stands.
package struct WebhookEvent: Sendable {
    /// Most characters of an event's id.
    private static let idLimit = 200

    /// The platform's id of the event.
    package let id: String
    /// As the webhook names it.
    package let typeName: String
    /// In milliseconds since 1970.
    package let createdAt: Int64
    /// The payload's team, else its user; nil where it names neither.
    package let account: String?
    private let payload: JSONValue

    /// Reads a body; nil for what is none of a webhook.
    package init?(body: [UInt8]) {
        guard let value = try? JSONValue(parsing: body),
            let id = value["id"]?.filledText, let type = value["type"]?.filledText,
            case .integer(let createdAt)? = value["createdAt"],
            let payload = value["payload"], case .object = payload,
            id.unicodeScalars.count <= Self.idLimit, PostalEvent.plainText(id) == id
        else { return nil }
        (self.id, typeName, self.createdAt, self.payload) = (id, type, createdAt, payload)
        account = payload["team"]?["id"]?.filledText ?? payload["user"]?["id"]?.filledText
    }

    /// What devices are told; nil for a type that they are not told of.
    package func event(account: String) -> PostalEvent? {
        guard let type = PostalEventType(webhookName: typeName) else { return nil }
        return PostalEvent(
            id: id, type: type, createdAt: createdAt, account: account, project: project,
            deployment: deployment, variable: type.isOfVariable ? variable : nil)
    }

    private var project: PostalEvent.Project? {
        let project = payload["project"]
        guard
            let id = project?["id"]?.filledText ?? payload["projectId"]?.filledText ?? project?
                .filledText
                ?? payload["deployment"]?["projectId"]?.filledText
        else { return nil }
        let name =
            project?["name"]?.filledText ?? payload["projectName"]?.filledText
            ?? payload["deployment"]?["name"]?.filledText ?? payload["name"]?.filledText
        return .init(id: Self.plain(id), name: name.map(Self.plain))
    }

    private var deployment: PostalEvent.Deployment? {
        let deployment = payload["deployment"]
        guard
            let id = deployment?["id"]?.filledText ?? payload["deploymentId"]?.filledText
                ?? deployment?.filledText
        else { return nil }
        let meta = deployment?["meta"]
        func named(_ suffixes: String...) -> String? {
            for suffix in suffixes {
                for service in ["github", "gitlab", "bitbucket", "git"] {
                    if let text = meta?[service + suffix]?.filledText { return Self.plain(text) }
                }
            }
            return nil
        }
        let url = deployment?["url"]?.filledText ?? payload["url"]?.filledText
        let target = payload["target"]?.filledText ?? deployment?["target"]?.filledText
        return .init(
            id: Self.plain(id), url: url.map { Self.plain(Self.host($0)) },
            target: target.map(Self.plain), branch: named("CommitRef"),
            commit: named("CommitMessage"), author: named("CommitAuthorName", "CommitAuthorLogin"))
    }

    private var variable: PostalEvent.Variable? {
        let names = ["envVar", "env", "variable", "environmentVariable", "envVariable"]
        let variable = names.lazy.compactMap { payload[$0] }.first { $0 != .null }
        let id =
            variable?["id"]?.filledText
            ?? Self.first(["envVarId", "envId", "variableId"], of: payload)
        let key =
            variable?["key"]?.filledText ?? variable?["name"]?.filledText
            ?? Self.first(["envVarKey", "envKey", "variableKey", "key"], of: payload)
        guard id != nil || key != nil else { return nil }
        return .init(id: id.map(Self.plain), key: key.map(Self.plain))
    }

    private static func first(_ names: [String], of value: JSONValue) -> String? {
        names.lazy.compactMap { value[$0]?.filledText }.first
    }

    private static func plain(_ text: String) -> String { PostalEvent.plainText(text) }

    /// An address without its scheme and path.
    private static func host(_ url: String) -> String {
        var rest = url[...]
        for scheme in ["https://", "http://"] where rest.hasPrefix(scheme) {
            rest = rest.dropFirst(scheme.count)
        }
        return String(rest.prefix { $0 != "/" })
    }
}

extension PostalEventType {
    /// Whether the event is about a variable of a project.
    fileprivate var isOfVariable: Bool {
        switch self {
        case .variableCreated, .variableUpdated, .variableDeleted: true
        default: false
        }
    }
}

extension PostalEvent {
    /// The text to be sealed. What is longer than it may be loses its least needed names.
    package var fittingText: [UInt8]? {
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
