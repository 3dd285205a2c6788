/// How a command opens the vault; declared by commands that differ from the default.
package struct VaultUse {
    /// Whether it needs the path of a vault.
    var need = VaultRequirement.always
    /// Whether it shows only names and so may use the index key that `list` kept.
    var showsNamesOnly = false
    /// Whether a person at a terminal picks the project if none is given. Not for commands that
    /// send something or start a program: those need to be told.
    var picksProject = false
    /// Whether it may change the variables of open rotations.
    var changesRotated = false
    /// Whether the vault must be the newest one seen: not for commands that fix that.
    var checksRollback = true
    /// Whether to warn of who else can replace the file: not for a command that reports it itself.
    var warnsOfRisk = true
}
