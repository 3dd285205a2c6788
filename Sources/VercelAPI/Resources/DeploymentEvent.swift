/// One line of a build's log, or a change of the deployment while it builds.
///
/// The text is what programs printed: it may hold control characters, and values if they printed
/// those.
package struct DeploymentEvent: Decodable, Sendable, Equatable {
    /// `stdout`, `stderr`, `command`, `delimiter`, `exit`, `deployment-state`, `alias-assigned` and
    /// other words.
    package let type: String
    /// Tells events apart.
    package let id: String?
    /// When it happened.
    package let date: APITime?
    /// What was printed.
    package let text: String?
    /// `error` or `warning`, where the platform says so.
    package let level: String?
    /// The step that a `delimiter` opens or closes.
    package let step: String?
    /// The part of the build it belongs to.
    package let name: String?
    /// The state that a `deployment-state` tells.
    package let state: Deployment.State?
    /// The status of the command that an `exit` ends.
    package let statusCode: Int64?
    /// Why addresses could not be set, for `alias-assigned`.
    package let aliasError: String?

    /// Reads an event of any of the platform's shapes: members flat, or inside of `payload`.
    ///
    /// - Throws: Also for what only keeps the connection open.
    package init(from decoder: any Decoder) throws {
        let outer = try decoder.object()
        let payload = outer.object("payload")
        let inner = payload ?? outer
        let created = outer.time("created") ?? outer.time("createdAt")
        date = inner.time("date") ?? outer.time("date") ?? created
        let info = inner.object("info")
        if outer.text("event") == "state", let value = payload?.text("value") {
            type = "deployment-state"
            state = Deployment.State(rawValue: value)
        } else {
            guard date != nil else { throw KeepAlive() }
            type = try outer.requiredText("type")
            state = info?.text("readyState").map { Deployment.State(rawValue: $0) }
        }
        id = inner.text("id") ?? outer.text("id") ?? inner.text("serial")
        text = try Self.text(of: inner) ?? Self.text(of: outer)
        level = inner.text("level") ?? outer.text("level")
        step = info?.text("step")
        name = info?.text("name")
        statusCode = inner.number("statusCode")
        if let error = outer.object("aliasError") {
            aliasError = error.text("message") ?? error.text("code") ?? "unknown"
        } else {
            aliasError = outer.text("aliasError")
        }
    }

    /// What was printed; an error where it is a text that cannot be read, rather than none.
    private static func text(of object: JSONObject) throws -> String? {
        guard object.contains("text") else { return nil }
        return try object.decodeIfPresent(String.self, forKey: "text")
    }

    private struct KeepAlive: Error {}
}
