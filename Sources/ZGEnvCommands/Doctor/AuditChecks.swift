internal import Glibc
internal import SystemFiles
internal import Vault

/// Checks whether the audit log can be written; if not, no value is revealed.
enum AuditChecks {
    static func findings(_ workspace: Workspace, vault: Vault?) -> [Finding] {
        let path: String
        do {
            if let vault {
                path = try VaultSession(
                    options: workspace.options, context: workspace.context,
                    use: workspace.session.use,
                    stages: [], vault: vault
                ).auditLog().path
            } else {
                path =
                    try workspace.options.auditLogPath
                    ?? Directories(workspace.context).state + "/log"
            }
        } catch {
            let problem = CommandError(mapping: error)
            return [Finding("audit-log", .failed, problem.message, remedy: problem.hint)]
        }
        return [
            finding(path, FileChecks.Status(path), user: geteuid()) { canWriteNearest(path, $0) }
        ]
    }

    /// Checks the file, or the place where it will be created.
    ///
    /// - Parameter allows: Whether the file (true) or the nearest existing directory can be written.
    static func finding(
        _ path: String, _ status: FileChecks.Status?, user: uid_t, allows: (Bool) -> Bool
    ) -> Finding {
        let check = "audit-log"
        let remedy = "Choose another path with --audit-log FILE or ZG_ENV_AUDIT_LOG."
        if let status {
            let rule = FileChecks.Rule(check: check, path: path, kind: S_IFREG, forbidden: 0o077)
            if let finding = FileChecks.finding(rule, status, user: user), finding.state == .failed
            {
                return finding
            }
        }
        guard allows(status != nil) else {
            return Finding(
                check, .failed,
                "\(path) cannot be written. Values cannot be revealed without the audit log.",
                remedy: remedy)
        }
        return Finding(
            check, .ok, status == nil ? "\(path) can be created." : "\(path) can be written.")
    }

    private static func canWriteNearest(_ path: String, _ isThere: Bool) -> Bool {
        if isThere { return unsafe access(path, W_OK) == 0 }
        var directory = FileReplacement.directory(of: path)
        while unsafe access(directory, F_OK) != 0, directory != "/", directory != "." {
            directory = FileReplacement.directory(of: directory)
        }
        return unsafe FileKind.isDirectory(directory) && access(directory, W_OK | X_OK) == 0
    }
}
