internal import Vault

/// An operation on a project's variables that a key of the screen starts.
enum VariableAction: Equatable {
    case copy(WatchVariable)
    /// nil for the targets that `set` chooses.
    case set(String, Scope?)
    case edit(WatchVariable)
    case remove(WatchVariable)
    case history(WatchVariable)
    case restore(WatchVariable, UInt64)
    case difference, push, pull

    /// Whether it sends requests to Vercel.
    var needsVercel: Bool { [.difference, .push, .pull].contains(self) }

    /// What it does, for a prompt, as in "Passphrase to copy KEY".
    var purpose: String {
        switch self {
        case .copy(let variable): "copy \(variable.name)"
        case .set(let name, _): "set \(name)"
        case .edit(let variable): "edit \(variable.name)"
        case .remove(let variable): "remove \(variable.name)"
        case .history(let variable): "list the versions of \(variable.name)"
        case .restore(let variable, let number):
            "restore version \(number) of \(variable.name)"
        case .difference: "compare with Vercel"
        case .push: "push"
        case .pull: "pull"
        }
    }

    /// The equivalent command.
    ///
    /// - Throws: ``ExitCode/usage`` for an invalid name.
    func command() throws -> any Command {
        switch self {
        case .copy(let variable): Reveal(copying: variable.name, in: variable.scope)
        case .set(let name, let scope): try SetVariable(name, in: scope)
        case .edit(let variable): Edit(variable.name, in: variable.scope)
        case .remove(let variable): Remove(variable.name, in: variable.scope)
        case .history(let variable): ShowHistory(of: variable.name)
        case .restore(let variable, let number):
            RestoreVersion(number, of: variable.name, in: variable.scope)
        case .difference: Difference(RemoteDifference())
        case .push: Push()
        case .pull: Pull()
        }
    }
}
