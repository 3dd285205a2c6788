internal import CommandLineKit
internal import Glibc
internal import HTTPClient
internal import JSON
internal import PostalProtocol
internal import Sealing
internal import Vault
internal import VercelAPI

/// What `webhook create --postal` adds to a webhook: an unguessable URL at the relay, and the
/// credential file with the webhook's secret for the relay.
struct RelayedWebhook {
    static let options = [
        OptionSpec(
            flag: "postal",
            "Send every event that devices can receive to the relay that this vault has joined"),
        OptionSpec(
            "credential-file", value: "FILE",
            "With --postal, write the relay's credential to FILE (default webhook.HOOK, where HOOK is the last part of the webhook's URL)",
            completion: .file),
    ]

    /// The events that the relay passes on to devices.
    static let events = PostalEventType.allCases.map(\.rawValue)

    /// The URL that Vercel calls.
    let url: String
    private let hook: String
    private let path: String
    private let account: String
    private let registration: RelayRegistration

    /// Finds the relay and the account, and checks that the credential file does not exist.
    ///
    /// - Parameter relay: Its URL; nil if the vault has only one.
    init(
        at relay: String?, credentialFile: String?, _ workspace: Workspace, _ scope: WebhookScope
    ) throws {
        registration = try RelayAccess.registration(relay, workspace)
        // 24 bytes are 32 letters.
        hook = String(decoding: Base64.encoded(Random.bytes(24), .urlSafe), as: UTF8.self)
        url = "\(registration.relay)/webhook/\(hook)"
        path = workspace.context.absolute(credentialFile ?? "webhook.\(hook)")
        account = try Self.account(scope)
        var status = stat()
        guard unsafe lstat(path, &status) != 0 else { throw Self.taken(path) }
        if !registration.accounts.contains(account) {
            workspace.context.warn(
                "other-account",
                "This device receives events for \(registration.accounts.joined(separator: ", ")), not for \(account). Only devices invited for \(account) receive this webhook's events."
            )
        }
    }

    var members: [JSONValue.Member] {
        [
            .init("relay", .string(registration.relay)), .init("hook", .string(hook)),
            .init("account", .string(account)), .init("credentialFile", .string(path)),
        ]
    }

    /// What remains for the relay's operator to do.
    var remedy: String {
        "\(path) contains the webhook's secret for the relay, which expects a file named webhook.\(hook). Give the file to the operator of \(registration.relay), then delete it from this machine."
    }

    /// Writes the credential file, readable by its owner only; never overwrites a file.
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
            .conflict, "\(path) already exists.",
            hint: "Choose another file with --credential-file.")
    }

    /// Returns the id of the team or user whose events the webhook sends.
    private static func account(_ scope: WebhookScope) throws -> String {
        if let owner = scope.project?.accountId, PostalName.isAccount(owner) { return owner }
        switch scope.client.scope {
        case .team(let id): return id
        case .teamSlug(let slug):
            guard let team = try scope.client.teams().first(where: { $0.slug == slug }) else {
                throw CommandError(
                    .notFound, "The team \(slug) does not exist, or this account is not a member.",
                    hint: "See the accounts with: zg-env account list")
            }
            return team.id
        case .personal: return try scope.client.user().id
        }
    }
}
