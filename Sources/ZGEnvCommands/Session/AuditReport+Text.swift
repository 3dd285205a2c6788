internal import Vault

extension AuditReport.Problem {
    /// For scripts.
    var code: String {
        switch self {
        case .damaged: "damaged"
        case .missing: "missing"
        case .cut: "cut"
        case .replaced: "replaced"
        }
    }

    /// What is wrong, as a sentence without its full stop.
    var message: String {
        switch self {
        case .damaged(let line):
            "line \(line) of the file was changed, moved or put in by somebody without the key"
        case .missing(let range): "\(Self.lines(range)) not there, and later ones are"
        case .cut(let range): "\(Self.lines(range)) not there: the log was cut, or kept elsewhere"
        case .replaced(let sequence):
            "line \(sequence) is not the one that this vault knows: lines were cut and put in"
        }
    }

    private static func lines(_ range: ClosedRange<UInt64>) -> String {
        range.count == 1
            ? "line \(range.lowerBound) is"
            : "lines \(range.lowerBound) to \(range.upperBound) are"
    }
}

extension AuditReport {
    /// The failure of a command that found the log not whole; nil where it is.
    func failure(of log: AuditLog) -> CommandError? {
        guard let first = problems.first else { return nil }
        let more = problemCount > 1 ? ", and \(problemCount - 1) more problems" : ""
        return CommandError(
            .damaged, "The audit log \(log.path) is not whole: \(first.message)\(more).",
            hint: "See it with: zg-env log. If you know why, zg-env log --accept begins it anew.")
    }
}

extension VaultSession {
    /// Checks the audit log with the chain from its first line to what the vault knows of it.
    ///
    /// - Parameter index: Opened before; any extent.
    func auditReport(with keys: VaultKeys, index: VaultIndex) throws -> AuditReport {
        try auditLog().verify(with: keys, index: index)
    }
}
