internal import CommandLineKit
internal import DotEnv
internal import EnvOperations
internal import Vault
internal import VercelAPI

/// What commands say once about new variables: Vercel's own tools hide those of deployed environments
/// unless told otherwise, and zg-env does not.
struct ReadableNotice {
    private var keys: [String] = []

    /// Adds a variable that is new. Only what would be readable and could be hidden is said.
    mutating func add(_ key: String, _ attributes: VariableAttributes) {
        guard attributes.kind != .sensitive, !attributes.scope.isOnlyDevelopment,
            PublicPrefix(of: key) == nil, !keys.contains(key)
        else { return }
        keys.append(key)
    }

    /// Returns the sentence without a full stop; nil if nothing of that kind is new.
    ///
    /// - Parameter way: Returns how to hide "it" or "them", as a clause.
    func text(_ way: (String) -> String) -> String? {
        guard !keys.isEmpty else { return nil }
        let subject = keys.count == 1 ? "1 new variable" : "\(keys.count) new variables"
        return
            "\(subject) will be readable on Vercel (Config); \(way(keys.count == 1 ? "it" : "them"))"
    }

    /// The names as arguments of a command, each followed by a space.
    var words: String { ConflictAdvice.words(keys) }

    /// Says what `set` or `import` made.
    ///
    /// - Parameter made: The new variables of a project that is linked to Vercel.
    static func note(_ made: [Variable], in project: VaultProject, _ workspace: Workspace) {
        guard project.binding != nil else { return }
        var notice = ReadableNotice()
        for variable in made { notice.add(variable.name, variable.attributes) }
        if let text = notice.text({ "--type sensitive hides \($0)" }) { workspace.note("\(text).") }
    }
}
