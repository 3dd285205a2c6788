internal import CommandLineKit
internal import EnvOperations
internal import Sealing
internal import Vault

/// The results of `doctor -p NAME` for the variables of a project. Values are checked only while they
/// are unlocked, and never shown.
struct ProjectFindings {
    /// The project's name in the vault.
    let project: String
    /// The number of variables.
    let count: Int
    /// The number of variables whose values were not checked because they are locked.
    let lockedCount: Int
    /// The number of variables without a value in the vault.
    let missingCount: Int
    let findings: [ProjectCheck.Finding]

    /// Checks the project of the options.
    ///
    /// - Returns: nil without `-p` or ZG_ENV_PROJECT.
    /// - Throws: ``ExitCode/notFound`` for an unknown project.
    init?(_ workspace: Workspace) throws {
        guard workspace.options.project != nil else { return nil }
        guard let keys = try workspace.session.keysWithoutPrompt() else {
            throw CommandError(
                .locked, "The project was not checked: the index is locked.",
                hint: "Unlock the vault with: zg-env unlock")
        }
        let vault = try workspace.session.opened()
        let index = try vault.index(
            with: keys, extent: keys.opensValues ? .currentValues : .listing)
        let project = try ProjectResolver(workspace).existing(in: index)
        let reader = try ValueReader(vault: vault, index: index, keys: keys)
        let arena = SecretArena()
        let subjects = try index.variables(of: project.id).map { variable in
            ProjectCheck.Subject(
                variable: variable,
                value: try reader?.currentValue(of: variable, in: arena))
        }
        self.project = project.name
        count = subjects.count
        missingCount = subjects.count { $0.variable.currentVersion == 0 }
        lockedCount = reader == nil ? count - missingCount : 0
        findings = ProjectCheck(project: project.name, subjects: subjects).findings()
    }

    /// A sentence about values that could not be checked; nil if all were.
    var unseen: String? {
        func values(_ count: Int) -> String {
            count == 1 ? "The value of 1 variable was" : "The values of \(count) variables were"
        }
        return lockedCount == 0
            ? nil
            : "\(values(lockedCount)) not checked because the vault is locked. "
                + "Unlock it with: zg-env unlock"
    }
}

extension ProjectFindings {
    /// Returns the findings for the project of the options; none without a project.
    ///
    /// - Parameter vault: nil if it cannot be read, which another check reports.
    /// - Throws: ``ExitCode/notFound`` for an unknown project.
    static func findings(_ workspace: Workspace, vault: Vault?) throws -> [Finding] {
        guard vault != nil else { return [] }
        let found: ProjectFindings
        do {
            guard let looked = try ProjectFindings(workspace) else { return [] }
            found = looked
        } catch let error as CommandError where error.code == .locked {
            return [Finding("project", .skipped, error.message, remedy: error.hint)]
        } catch let error as VaultError where error.code == .damaged {
            return [
                Finding(
                    "project", .skipped, "The vault is damaged, so the variables were not checked.",
                    remedy: "Run: zg-env verify")
            ]
        }
        var findings = found.findings.map {
            Finding($0.code.rawValue, .warning, $0.message, remedy: $0.remedy)
        }
        if let unseen = found.unseen {
            findings.append(Finding("project-values", .skipped, unseen))
        } else if findings.isEmpty {
            findings.append(
                Finding(
                    "project", .ok, "No problems in \(DisplayText.count(found.count, "variable")).")
            )
        }
        return findings
    }
}
