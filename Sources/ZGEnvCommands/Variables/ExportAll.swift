internal import CommandLineKit
internal import DotEnv
internal import EnvOperations
internal import Glibc
internal import JSON
internal import SystemFiles
internal import Vault

/// `export --all-projects`: writes a file for each project and place into a directory of its own.
///
/// Everything is read and checked before the first file is written.
struct ExportAll {
    /// A file to write.
    private struct File {
        let project: String
        let place: ValueTarget
        let path: String
        /// The names of the variables in it.
        var keys: [String] = []
        var isWritten = false

        /// The project and place, for messages.
        var title: String { "\(project) (\(place.title))" }

        var json: JSONValue {
            [
                "file": .string(path), "project": .string(project), "target": .string(place.name),
                "branch": .string(orNull: place.branch), "keys": .strings(keys),
                "written": .bool(isWritten),
            ]
        }
    }

    private let workspace: Workspace
    private let directory: String
    private let format: DotEnvFormat
    private let dialect: DotEnvDialect?
    private let allowsMissing: Bool

    init(
        _ workspace: Workspace, to path: String, format: DotEnvFormat, for dialect: DotEnvDialect?,
        allowsMissing: Bool
    ) {
        self.workspace = workspace
        var directory = path
        while directory.count > 1, directory.last == "/" { directory.removeLast() }
        self.directory = directory
        self.format = format
        self.dialect = dialect
        self.allowsMissing = allowsMissing
    }

    func run() throws -> CommandResult {
        let isNew = try checkDirectory()
        let keys = try workspace.session.keys(.values)
        let index = try workspace.session.opened().index(with: keys, extent: .listing)
        var files = try checked(plan(index))
        guard !files.isEmpty else {
            throw CommandError(.notFound, "The vault has no values to export.")
        }
        for file in files { try OutputPath.check(file.path, workspace) }
        guard try workspace.confirm(question(files), "Write these files?") else {
            return result(files)
        }
        return try write(&files, isNew: isNew)
    }

    // MARK: Plan

    /// Checks that the directory is free: it does not exist, or it is empty and private.
    ///
    /// - Returns: Whether to create it.
    private func checkDirectory() throws -> Bool {
        guard directory != "-" else {
            throw CommandError(.usage, "--all-projects needs a directory.", hint: "Use -o DIR.")
        }
        guard FileKind.isTaken(directory) else { return true }
        let facts = try SystemError.mapped(try FileFacts(directory)) {
            CommandError(
                .failed, "\(directory) cannot be read: \($0.reason).",
                hint: "Choose a new directory.")
        }
        guard facts.kind == .directory else {
            throw CommandError(
                .conflict, "\(directory) is not a directory.", hint: "Choose a new directory.")
        }
        let found = Directory.names(in: try OpenFile(directory, O_RDONLY | O_DIRECTORY))
        guard found.error == nil, found.names.isEmpty else {
            throw CommandError(
                .conflict, "\(directory) is not empty.", hint: "Choose a new directory.")
        }
        guard facts.isOwn, !facts.isAccessibleToOthers else {
            throw CommandError(
                .conflict, "Other users can open \(directory).",
                hint: "Choose a new directory, or run: chmod 700 \(word: directory)")
        }
        return false
    }

    /// Returns a file for each project and place in which it has variables, sorted.
    private func plan(_ index: VaultIndex) -> [File] {
        var (stems, names): (Set<String>, Set<String>) = ([], [])
        var files: [File] = []
        let projects = index.projects.sorted {
            $0.name.utf8.lexicographicallyPrecedes($1.name.utf8)
        }
        for project in projects {
            let records = index.variables(of: project.id).filter(\.isLive)
            let places = Self.places(of: records)
            let stem =
                places.isEmpty ? "" : Self.unique(Self.part(project.name), ending: "", &stems)
            for place in places {
                let parts = [place.name, place.branch].compactMap(\.self).map(Self.part)
                let name = Self.unique(
                    ([stem] + parts).joined(separator: "."), ending: ending, &names)
                files.append(
                    File(project: project.name, place: place, path: "\(directory)/\(name)"))
            }
            let without = records.filter(\.attributes.scope.isEmpty).map(\.name)
            if !without.isEmpty {
                workspace.context.warn(
                    "no-target",
                    "Skipped, no target: \(VariableName.list(without)) in \(project.name).")
            }
        }
        return files
    }

    /// Returns the places in which some of the records apply: targets, custom environments, branches.
    private static func places(of records: [Variable]) -> [ValueTarget] {
        let scopes = records.map(\.attributes.scope)
        let environments = Set(scopes.flatMap(\.customEnvironments)).sorted()
        let general = (Scope.Targets.all.names + environments).map {
            ValueTarget(named: $0)
        }
        let branches = Set(scopes.compactMap(\.branch)).sorted().map {
            ValueTarget(.target(.preview), branch: $0)
        }
        return (general + branches).filter { place in
            scopes.contains { $0.applies(in: place) }
        }
    }

    /// The ending of the names of files.
    private var ending: String {
        switch format {
        case .dotenv, .docker, .systemd: ".env"
        case .json: ".env.json"
        case .yaml: ".env.yaml"
        case .shell: ".sh"
        case .k8s: ".yaml"
        }
    }

    /// Returns a name that is not taken, also where case makes no difference.
    private static func unique(
        _ name: String, ending: String, _ taken: inout Set<String>
    ) -> String {
        var (unique, number) = (name + ending, 2)
        while !taken.insert(unique.lowercased()).inserted {
            unique = "\(name)-\(number)\(ending)"
            number += 1
        }
        return unique
    }

    /// Returns a part of a file name, at most 98 bytes of the 255 that Linux allows for the whole:
    /// letters, digits, `.`, `_` and `-` as they are, other bytes as `%XX`, as also `.` or `-` at the
    /// start.
    private static func part(_ text: String) -> String {
        var part = ""
        for byte in text.utf8 where part.utf8.count < 96 {
            let scalar = Unicode.Scalar(byte)
            let isMark = scalar == "-" || scalar == "."
            if "_\(scalar)".isPortableName || (isMark && !part.isEmpty) {
                part.unicodeScalars.append(scalar)
            } else {
                part += "%" + Hexadecimal.text(of: [byte]).uppercased()
            }
        }
        return part
    }

    /// Reads every value and writes every text in memory, so that nothing is written if one fails.
    ///
    /// - Returns: The files that have values.
    private func checked(_ files: [File]) throws -> [File] {
        var checked: [File] = []
        var missing: [(file: File, names: [String])] = []
        var unportable: [String] = []
        for var file in files {
            try about(file) {
                let found = try values(of: file)
                if !found.missing.isEmpty { missing.append((file, found.missing)) }
                if let remark = try found.sharedVariablesNote(workspace) {
                    workspace.context.warn("shared-not-here", remark)
                }
                let text = try ExportText(format: format, for: dialect, values: found.values)
                unportable += text.unportable.map { "\($0) in \(file.project)" }
                file.keys = found.values.map(\.name)
            }
            if !file.keys.isEmpty { checked.append(file) }
        }
        if !missing.isEmpty {
            let list = missing.map { "\($0.file.title): \(VariableName.list($0.names))" }
                .joined(separator: "; ")
            guard allowsMissing else {
                throw CommandError(
                    .notFound, "Nothing was written. The vault has no value for \(list).",
                    hint: "Set the values, or add --allow-missing to skip such variables.")
            }
            workspace.context.warn("missing-value", "Skipped, no value in the vault: \(list).")
        }
        var seen: Set<String> = []
        ExportText.warn(
            unportable.filter { seen.insert($0).inserted },
            remedy: "Use --format json, which can hold every value.", workspace)
        return checked
    }

    private func values(of file: File) throws -> PlaceValues {
        try PlaceValues(
            workspace.using(file.project), ScopeOptions(Scope(file.place)), allowsMissing: nil)
    }

    /// Adds the project and place to an error.
    private func about(_ file: File, _ body: () throws -> Void) throws {
        do {
            try body()
        } catch let error as DotEnvError {
            let failure = CommandError(mapping: error)
            throw CommandError(
                failure.code, "\(file.title): \(failure.message)", hint: failure.hint)
        } catch let error as CommandError where error.code != .locked {
            throw CommandError(error.code, "\(file.title): \(error.message)", hint: error.hint)
        }
    }

    private func question(_ files: [File]) -> [String] {
        let projects = Set(files.map(\.project)).count
        let values = files.reduce(0) { $0 + $1.keys.count }
        return [
            "write \(DisplayText.count(values, "value")) of \(DisplayText.count(projects, "project")) in plain text to \(DisplayText.count(files.count, "file")) in \(directory)"
        ]
    }

    // MARK: Writing

    private func write(_ files: inout [File], isNew: Bool) throws -> CommandResult {
        if isNew, unsafe mkdir(directory, 0o700) != 0 {
            throw CommandError(
                .failed, "\(directory) cannot be created: \(SystemError.last.reason).",
                hint: "Nothing was written.")
        }
        workspace.interaction.setInterruptionMessage(
            "Interrupted: \(directory) may have files with values in plain text.",
            hint: "Delete \(directory), or export again to another directory.")
        for number in files.indices {
            do {
                let found = try values(of: files[number])
                let text = try ExportText(format: format, for: dialect, values: found.values)
                try found.audit(workspace.using(files[number].project))
                try text.withBytes {
                    try PrivateFile.write($0, to: files[number].path, replaces: false)
                }
                files[number].isWritten = true
            } catch {
                let error = CommandError(mapping: error)
                // The file may be there, though not for certain on disk.
                files[number].isWritten =
                    error.code != .conflict && FileKind.isTaken(files[number].path)
                return result(files, failure: failure(error, files))
            }
        }
        workspace.note(
            "Wrote \(DisplayText.count(files.count, "file")) to \(directory) in plain text.")
        return result(files)
    }

    /// Returns the error of the first file that was not written, with the fate of all.
    private func failure(_ error: CommandError, _ files: [File]) -> CommandError {
        func list(_ isWritten: Bool) -> String {
            let paths = files.filter { $0.isWritten == isWritten }.map(\.path)
            return paths.isEmpty ? "none" : paths.joined(separator: ", ")
        }
        return CommandError(
            error.code,
            "\(error.message) Written: \(list(true)). Not written: \(list(false)).",
            hint:
                "Export again to another directory, and delete this one."
        )
    }

    private func result(_ files: [File], failure: CommandError? = nil) -> CommandResult {
        let isDryRun = workspace.options.dryRun
        let shown = files.filter { isDryRun || $0.isWritten }
        return CommandResult(
            json: [
                "directory": .string(directory), "format": .string(format.rawValue),
                "files": .array(files.map(\.json)), "dryRun": .bool(isDryRun),
            ],
            text: workspace.options.quiet
                ? "" : shown.map { DisplayText.safe($0.path) + "\n" }.joined(),
            failure: failure)
    }
}
