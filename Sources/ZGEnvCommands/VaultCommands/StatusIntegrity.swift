internal import CommandLineKit
internal import JSON
internal import Vault

/// The state of the audit log for `status`. Problems of the log fail `verify` and `log`, not `status`.
struct AuditStatus {
    private let report: AuditReport?
    private let problem: String?
    private let path: String?
    /// Whether the log is at a path that the user chose.
    private let isElsewhere: Bool

    init(_ session: VaultSession, _ keys: VaultKeys, _ index: VaultIndex) {
        path = try? session.auditLog().path
        isElsewhere = session.options.auditLogPath != nil
        do {
            let report = try session.auditReport(with: keys, index: index)
            self.report = report
            problem = report.problems.first?.message
        } catch {
            report = nil
            problem = CommandError(mapping: error).message
        }
    }

    /// `{"whole","lines","path","elsewhere"}`; the first two are null if the log cannot be read.
    var json: JSONValue {
        [
            "whole": .bool(orNull: report?.isWhole),
            "lines": .integer(orNull: report.map { Int64($0.entryCount) }),
            "path": .string(orNull: path), "elsewhere": .bool(isElsewhere),
        ]
    }

    var line: String {
        let place = isElsewhere ? ", at \(safe(path)) (--audit-log or ZG_ENV_AUDIT_LOG)" : ""
        guard let report else { return "Audit log cannot be read: \(safe(problem))\(place)\n" }
        if report.isWhole { return "Audit log \(report.wholeText)\(place)\n" }
        return "Audit log NOT INTACT: \(safe(problem)) (see: zg-env log)\(place)\n"
    }

    private func safe(_ text: String?) -> String { DisplayText.safe(sentence: text ?? "") }
}
