internal import CommandLineKit
internal import Glibc
internal import JSON
internal import PostalProtocol
internal import Sealing
internal import Vault
internal import VercelAPI

/// What `webhook create --postal` makes beside the webhook: an address at the relay that nobody guesses,
/// and the file that the relay takes the webhook's secret from.
struct RelayedWebhook {
    static let options = [
        OptionSpec(
            flag: "postal",
            "Tell the relay that was joined: its address, all events that devices are told of"),
        OptionSpec(
            "credential-file", value: "FILE",
            "With --postal: where the relay's file goes, webhook.HOOK by default",
            completion: .file),
    ]

    /// All that devices are told of.
    static let events = PostalEventType.allCases.map(\.rawValue)

    /// Where the platform sends events.
    let url: String
    private let hook: String
    private let path: String
    private let account: String
    private let registration: RelayRegistration

    /// Finds relay and account, and sees that the file's place is free. Makes nothing.
    ///
    /// - Parameter relay: Its address, where the vault knows several.
    init(
        at relay: String?, credentialFile: String?, _ workspace: Workspace, _ scope: WebhookScope
    ) throws {
        registration = try RelayAccess.registration(relay, workspace)
        // 24 bytes are 32 letters.
        hook = String(decoding: Base64.encoded(Random.bytes(24), .urlSafe), as: UTF8.self)
        url = "\(registration.relay)/webhook/\(hook)"
        let named = credentialFile ?? "webhook.\(hook)"
        path = named.hasPrefix("/") ? named : "\(workspace.context.workingDirectory)/\(named)"
        account = try Self.account(scope)
        var status = stat()
        guard unsafe lstat(path, &status) != 0 else { throw Self.taken(path) }
        if !registration.accounts.contains(account) {
            workspace.context.warn(
                "other-account",
                "This device is told of \(registration.accounts.joined(separator: ", ")), not of \(account): only devices that were invited for that hear of this webhook."
            )
        }
    }

    /// For `--json`.
    var members: [JSONValue.Member] {
        [
            .init("relay", .string(registration.relay)), .init("hook", .string(hook)),
            .init("account", .string(account)), .init("credentialFile", .string(path)),
        ]
    }

    /// What is left to be done by whoever runs the relay.
    var remedy: String {
        "\(path) is for the relay, which reads it as webhook.\(hook): hand it to whoever runs \(registration.relay), and delete it here then. It holds the webhook's secret."
    }

    /// Writes the relay's file for its owner alone, and never over another one.
    func write(_ secret: SecretSlice) throws {
        let content = try GuardedBytes.json { (json) throws(OutputError) in
            try json.object { (json) throws(OutputError) in
                try json.member("account", account)
                try json.member("secret", secret)
            }
        }
        do {
            try content.withBytes {
                try PrivateFile.write($0, to: path, replaces: false)
            }
        } catch let error as CommandError where error.code == .conflict {
            throw Self.taken(path)
        }
    }

    private static func taken(_ path: String) -> CommandError {
        CommandError(
            .conflict, "\(path) is there already.",
            hint: "It was left as it is. Name another file with --credential-file.")
    }

    /// Whose events the webhook sends, as messages name it.
    private static func account(_ scope: WebhookScope) throws -> String {
        if let owner = scope.project?.accountId, PostalName.isAccount(owner) { return owner }
        switch scope.client.scope {
        case .team(let id): return id
        case .teamSlug(let slug):
            guard let team = try scope.client.teams().first(where: { $0.slug == slug }) else {
                throw CommandError(
                    .notFound, "This account sees no team \(slug).",
                    hint: "Nothing was made.")
            }
            return team.id
        case .personal: return try scope.client.user().id
        }
    }
}
