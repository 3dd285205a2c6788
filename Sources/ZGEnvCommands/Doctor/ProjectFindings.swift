internal import EnvOperations
internal import Sealing
internal import Vault

/// What `doctor -p NAME` says of the variables of a project. Values are looked at only while they are
/// unlocked, and none is shown.
struct ProjectFindings {
    /// The project's name in the vault.
    let project: String
    /// Variables in use.
    let count: Int
    /// Those whose values were not checked, because they are locked.
    let lockedCount: Int
    /// Those whose values were not checked, because nobody has accepted them.
    let unacceptedCount: Int
    /// Those that the vault has no value of.
    let missingCount: Int
    /// What was found.
    let findings: [ProjectCheck.Finding]

    /// Looks at the project that the options name.
    ///
    /// - Returns: nil where no project is named by `-p` or the environment: then `doctor` is about this
    ///   machine alone.
    /// - Throws: ``ExitCode/notFound`` for a project that the vault does not have.
    init?(_ workspace: Workspace) throws {
        guard workspace.options.project != nil else { return nil }
        guard let keys = try workspace.session.keysAtHand() else {
            throw CommandError(
                .locked, "The project cannot be looked at: the index is locked.",
                hint: "Unlock it with: zg-env unlock")
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
                value: reader?.isAccepted(variable) == true
                    ? try reader?.currentValue(of: variable, in: arena) : nil)
        }
        unacceptedCount =
            reader.map { reader in
                subjects.count { !reader.isAccepted($0.variable) }
            } ?? 0
        self.project = project.name
        count = subjects.count
        missingCount = subjects.count { $0.variable.currentVersion == 0 }
        lockedCount = reader == nil ? count - missingCount : 0
        findings = ProjectCheck(project: project.name, subjects: subjects).findings()
    }

    /// What could not be looked at, as a sentence; nil where all was.
    var unseen: String? {
        if unacceptedCount > 0 {
            return
                "The values of \(unacceptedCount) variables were not compared: they were changed "
                + "while the vault was locked. See: zg-env status"
        }
        return lockedCount == 0
            ? nil
            : "The values of \(lockedCount) variables were not compared: they are locked. "
                + "Open them with: zg-env unlock"
    }
}

extension ProjectFindings {
    /// What `doctor` shows of the project; nothing where none is named.
    ///
    /// - Parameter vault: nil where it cannot be read, which is told elsewhere.
    /// - Throws: ``ExitCode/notFound`` for a project that the vault does not have.
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
                    "project", .skipped, "The vault is damaged, so no variable was looked at.",
                    remedy: "zg-env verify")
            ]
        }
        var findings = found.findings.map {
            Finding($0.code.rawValue, .warning, $0.message, remedy: $0.remedy)
        }
        if let unseen = found.unseen {
            findings.append(Finding("project-values", .skipped, unseen))
        } else if findings.isEmpty {
            findings.append(
                Finding("project", .ok, "Nothing is odd about the \(found.count) variables."))
        }
        return findings
    }
}
