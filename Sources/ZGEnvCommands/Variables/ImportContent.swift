internal import EnvOperations
internal import JSON
internal import Sealing
internal import Vault

/// The variables of the imported files that belong in the vault, and where.
struct ImportContent {
    let source: PlaintextSource
    /// The variables without stand-ins, in the order of the files.
    let items: [PlaintextSource.Assignment]
    /// The names that are left out, by reason.
    let leftOut: [FileStandIns.Group: [String]]
    /// The targets of each file.
    var targets: ImportTargets

    /// Leaves out the stand-ins of `source`.
    init(_ source: PlaintextSource, _ targets: ImportTargets) {
        self.source = source
        self.targets = targets
        var items: [PlaintextSource.Assignment] = []
        var leftOut: [FileStandIns.Group: [String]] = [:]
        for item in source.assignments {
            let isFromCLI = source.sources[item.file].origin.isFromVercelCLI
            let group = item.value.withBytes {
                FileStandIns.group(of: item.key, $0, isFromVercelCLI: isFromCLI)
            }
            guard let group else {
                items.append(item)
                continue
            }
            if leftOut[group]?.contains(item.key) != true {
                leftOut[group, default: []].append(item.key)
            }
        }
        let derived = Self.derived(source, from: items)
        leftOut[.derived] = derived.isEmpty ? nil : derived.map(\.key)
        let positions = Set(derived.map(\.position))
        self.items = items.enumerated().filter { !positions.contains($0.offset) }.map(\.element)
        self.leftOut = leftOut
    }

    /// Returns the items that got a value inserted that is left out, and those that got one of theirs.
    private static func derived(
        _ source: PlaintextSource, from items: [PlaintextSource.Assignment]
    ) -> [(position: Int, key: String)] {
        struct Name: Hashable {
            let file: String
            let key: [UInt8]

            init(_ file: String, _ key: String) { (self.file, self.key) = (file, Array(key.utf8)) }
        }
        if source.insertions.isEmpty { return [] }
        var kept: [Name: [Int]] = [:]
        for (position, item) in items.enumerated() {
            kept[Name(source.sources[item.file].name, item.key), default: []].append(position)
        }
        let users = Dictionary(grouping: source.insertions) { Name($0.file, $0.name) }
        var open = users.keys.filter { kept[$0] == nil }
        var found: [(position: Int, key: String)] = []
        while let name = open.popLast() {
            for user in users[name] ?? [] {
                let key = Name(user.file, user.key)
                guard let positions = kept.removeValue(forKey: key) else { continue }
                found += positions.map { ($0, user.key) }
                open.append(key)
            }
        }
        return found.sorted { $0.position < $1.position }
    }

    /// The names of the variables, each once.
    var keys: [String] {
        var seen: Set<String> = []
        return items.map(\.key).filter { seen.insert($0).inserted }
    }

    /// Returns the plan's candidates, one for each item.
    func candidates() -> [ImportPlan.Candidate] {
        items.map { item in
            .init(
                key: item.key, wanted: targets.scope(ofFile: item.file), comment: comment(of: item))
        }
    }

    /// Returns the comment to import.
    private func comment(of item: PlaintextSource.Assignment) -> String? {
        item.comment.flatMap { comment in
            comment.text.isEmpty || comment.text.utf8.count > VaultFormat.commentLimit
                ? nil : comment.text
        }
    }

    /// Returns whether a file has a value that is not among those that the import stores, because a
    /// later line or file sets a different one.
    func hasReplacedValue(_ file: String, _ plan: ImportPlan) -> Bool {
        var stored: [String: [SecretSlice]] = [:]
        for entry in plan.entries {
            stored[entry.key, default: []].append(items[entry.number].value)
        }
        func isLost(_ key: String, _ value: SecretSlice) -> Bool {
            !(stored[key] ?? []).contains { $0.equals(value) }
        }
        return source.replaced.contains { $0.file == file && isLost($0.key, $0.value) }
            || plan.replaced.contains { number in
                let item = items[number]
                return source.sources[item.file].name == file && isLost(item.key, item.value)
            }
    }

    // MARK: Reporting

    /// Reports what is odd about the files, and throws for it with `--strict`.
    ///
    /// - Parameter scope: Returns where a variable without targets of its own applies.
    func report(
        _ workspace: Workspace, strict: Bool, scope: (String) -> Scope
    ) throws {
        try source.report(workspace, strict: strict)
        var report = ValueReport()
        for item in items {
            let place = targets.scope(ofFile: item.file) ?? scope(item.key)
            item.value.withBytes { report.add($0, of: item.key, in: place) }
            if let warning = CodeLoadingName.warning(about: item.key) {
                workspace.context.warn(warning.code, warning.message)
            }
            reportComment(of: item, workspace)
        }
        for group in FileStandIns.Group.allCases {
            guard let names = leftOut[group] else { continue }
            if strict {
                throw CommandError(
                    .usage, group.message(names),
                    hint: "Nothing was imported. Leave out --strict, or these variables.")
            }
            workspace.context.warn(group.code, group.message(names))
        }
        try report.finish(workspace, strict: strict)
        reportReferences(workspace)
    }

    private func reportComment(of item: PlaintextSource.Assignment, _ workspace: Workspace) {
        guard let comment = item.comment else { return }
        func warn(_ code: String, _ message: String) { workspace.context.warn(code, message) }
        if comment.leftOut > 0 {
            warn(
                "comment-left-out",
                "Dropped a line that looks like an assignment from the comment above \(item.key).")
        }
        if comment.valuesLeftOut > 0 {
            warn(
                "comment-left-out",
                "Dropped a line from the comment above \(item.key): it contains a value from the file."
            )
        }
        if comment.text.utf8.count > VaultFormat.commentLimit {
            warn(
                "comment-too-long",
                "Dropped the comment above \(item.key): it is longer than 4 KiB.")
        }
    }

    /// Reports values that refer to other variables of their file.
    private func reportReferences(_ workspace: Workspace) {
        guard let first = source.references.first else { return }
        var seen: Set<String> = []
        let keys = source.references.map(\.key).filter { seen.insert($0).inserted }
        let what =
            keys.count == 1
            ? "\(first.key) refers to \(first.name), but its value is stored as written"
            : "\(VariableName.list(keys)) refer to other variables of the file, but their values are stored as written"
        let isNext = source.sources.contains { NextProject.contains($0.name, workspace.context) }
        workspace.context.warn(
            "reference",
            isNext
                ? "\(what). package.json depends on next: import with --dialect next to get the values that Next.js uses, or with --expand."
                : "\(what). Import with --expand to insert the values.")
    }

    /// The members for `--json`.
    var members: [JSONValue.Member] {
        [
            .init("files", .array(targets.files.map(\.json))),
            .init(
                "leftOut",
                .object(
                    FileStandIns.Group.allCases.map {
                        .init($0.rawValue, .strings(leftOut[$0] ?? []))
                    })),
        ]
    }
}
