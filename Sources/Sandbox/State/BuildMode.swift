/// How builds that start from now on end.
package enum BuildMode: Sendable, Equatable, Codable {
    case ok
    /// ERROR.
    case fail
    /// CANCELED, as by a project's ignored build step.
    case ignored
    /// BLOCKED.
    case blocked
    /// READY, but built with the variables of the previous deployment.
    case keepsOldEnvironment
    /// READY, with the aliases assigned after some seconds.
    case aliasLate(seconds: Double)
    /// READY, but the aliases are never assigned.
    case aliasNever
    /// READY, but assigning the aliases fails.
    case aliasError
    /// READY, but not made the current production deployment.
    case staged

    /// Parses a word such as `fail` or `alias-late:5`.
    package init?(_ text: String) {
        let simple: [Self] = [
            .ok, .fail, .ignored, .blocked, .keepsOldEnvironment, .aliasNever, .aliasError, .staged,
        ]
        if let mode = simple.first(where: { $0.text == text }) {
            self = mode
            return
        }
        guard text.hasPrefix("alias-late:"), let seconds = Seconds.value(of: text.dropFirst(11))
        else { return nil }
        self = .aliasLate(seconds: seconds)
    }

    /// The word that ``init(_:)`` parses.
    package var text: String {
        switch self {
        case .ok: "ok"
        case .fail: "fail"
        case .ignored: "ignored"
        case .blocked: "blocked"
        case .keepsOldEnvironment: "keeps-old-env"
        case .aliasLate(let seconds): "alias-late:\(Seconds.text(seconds))"
        case .aliasNever: "alias-never"
        case .aliasError: "alias-error"
        case .staged: "staged"
        }
    }
}
