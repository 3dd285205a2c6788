internal import EnvOperations
internal import Sealing
internal import Vault

/// The warnings about many values: all of them with `--json`, else a few of each kind.
struct ValueReport {
    /// Number of warnings shown of each kind.
    private static let shown = 5

    private var warnings: [ValueWarning] = []
    private var empty: [String] = []
    private var seen: Set<ValueWarning> = []

    /// Checks a value.
    mutating func add(_ value: RawSpan, of name: String, in scope: Scope?) {
        for warning in ValueWarning.warnings(about: value, of: name, in: scope)
        where seen.insert(warning).inserted {
            if warning.code == .emptyValue { empty.append(name) } else { warnings.append(warning) }
        }
    }

    /// Shows the warnings.
    ///
    /// - Parameter strict: Whether the worst one is an error. An empty value is not.
    func finish(_ workspace: Workspace, strict: Bool = false) throws {
        for code in ValueWarning.Code.allCases {
            let group = warnings.filter { $0.code == code }
            if let first = group.first, strict {
                throw CommandError(
                    .usage, first.message, hint: "Fix the file, or leave out --strict.")
            }
            let isCut = !workspace.options.json && group.count > Self.shown + 1
            for warning in group.prefix(isCut ? Self.shown : group.count) {
                workspace.context.warn(code.rawValue, warning.message)
            }
            if isCut {
                workspace.context.warn(
                    code.rawValue,
                    "\(group.count - Self.shown) more warnings of this kind (--json lists all).")
            }
        }
        guard !empty.isEmpty else { return }
        if workspace.options.json {
            for name in empty {
                workspace.context.warn("empty-value", "\(name) has an empty value.")
            }
        } else {
            workspace.note(
                empty.count == 1
                    ? "\(empty[0]) has an empty value."
                    : "\(empty.count) variables have an empty value: \(VariableName.list(empty)).")
        }
    }
}
