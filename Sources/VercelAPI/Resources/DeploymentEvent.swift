/// One line of a build log, or a state change of the deployment during the build.
///
/// The text is what programs printed: it may contain control characters, and values if a program
/// printed them.
package struct DeploymentEvent: Decodable, Sendable, Equatable {
    /// `stdout`, `stderr`, `command`, `delimiter`, `exit`, `deployment-state`, `alias-assigned` or
    /// another word.
    package let type: String
    package let id: String?
    package let date: APITime?
    /// The printed text.
    package let text: String?
    /// `error` or `warning`, if Vercel reports it.
    package let level: String?
    /// The step that a `delimiter` opens or closes.
    package let step: String?
    /// The new state, for `deployment-state`.
    package let state: Deployment.State?
    /// The exit code of the command, for `exit`.
    package let statusCode: Int64?
    /// Why domains could not be assigned, for `alias-assigned`.
    package let aliasError: String?

    /// Decodes any of Vercel's forms: members at the top level, or in `payload`.
    ///
    /// - Throws: Also for events that only keep the connection open.
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
        statusCode = inner.number("statusCode")
        aliasError = outer.aliasError
    }

    /// Returns the printed text, or throws if it cannot be decoded.
    private static func text(of object: JSONObject) throws -> String? {
        guard object.contains("text") else { return nil }
        return try object.decodeIfPresent(String.self, forKey: "text")
    }

    private struct KeepAlive: Error {}
}
