internal import CommandLineKit
internal import Vault

/// A new name that differs from a known one by one slip of the fingers: it is asked about before
/// anything of that name is made.
enum Slip {
    /// Whether one letter too many, too few, wrong, or two swapped, in one part of at least four letters
    /// (three for a swap), turn `name` into `known`. Numbers count: `KEY_1` and `KEY_2` are two names, and so are
    /// `DB_A` and `DB_B`.
    static func isOne(_ known: String, for name: String, shortest: Int = 4) -> Bool {
        func parts(_ text: String) -> [[UInt8]] {
            let separators = Array("_-.".utf8)
            let bytes = Array(text.lowercased().utf8)
            return bytes.split { separators.contains($0) }.map { Array($0) }
        }
        let (first, second) = (parts(known), parts(name))
        guard first.count == second.count, first != second else { return false }
        let differing = zip(first, second).filter { $0 != $1 }
        guard differing.count == 1, let (old, new) = differing.first else { return false }
        func digits(_ word: [UInt8]) -> [UInt8] { word.filter { (0x30...0x39).contains($0) } }
        // Words of three letters are near too many others, but for two letters swapped.
        let shortest = old.sorted() == new.sorted() ? 3 : shortest
        guard min(old.count, new.count) >= shortest, max(old.count, new.count) <= 64,
            digits(old) == digits(new)
        else { return false }
        return Suggestion.isOneSlip(old, new)
    }

    /// Asks where a project, a variable or a custom environment that `set` would make is near one that
    /// there is.
    ///
    /// - Throws: ``ExitCode/usage`` where nobody can be asked, ``ExitCode/failed`` for a no. Nothing was
    ///   made then.
    static func check(
        _ key: String, _ projectName: String, _ scope: Scope?, in index: VaultIndex,
        _ workspace: Workspace
    ) throws {
        guard let project = index.project(named: projectName) else {
            return try check(project: projectName, in: index, workspace)
        }
        let records = index.variables.lazy.filter { $0.project == project.id && $0.isLive }
        // Most commands set what is there already.
        if !records.contains(where: { $0.name == key }) {
            try check("variable", key, among: Set(records.map(\.name)), workspace)
        }
        for name in scope?.customEnvironments ?? [] {
            let environments = Set(records.flatMap { $0.attributes.scope.customEnvironments })
            try check("custom environment", name, among: environments, workspace)
        }
    }

    /// The same of a project alone.
    static func check(
        project name: String, in index: VaultIndex, _ workspace: Workspace
    ) throws {
        try check("project", name, among: Set(index.projects.map(\.name)), workspace)
    }

    private static func check(
        _ kind: String, _ name: String, among known: Set<String>, _ workspace: Workspace
    ) throws {
        guard !known.contains(name), !workspace.options.yes,
            let near = known.sorted().first(where: { isOne($0, for: name) })
        else { return }
        let (name, old) = (DisplayText.safe(name), DisplayText.safe(near))
        let line = "There is no \(kind) \(name), but there is \(old)."
        let unattended = CommandError(
            .usage, line, hint: "Nothing was changed. Did you mean \(old)? If not, say --yes.")
        if workspace.options.dryRun {
            return workspace.context.warn("near-name", "\(line) Did you mean \(old)?")
        }
        guard workspace.interaction.canConfirm else { throw unattended }
        _ = try workspace.confirm([line], "Make \(name) all the same?")
    }
}
