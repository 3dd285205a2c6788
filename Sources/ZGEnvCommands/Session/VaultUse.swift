/// How a command opens the vault; declared by commands that differ from the default.
package struct VaultUse {
    /// Whether it needs the path of a vault.
    var need = VaultRequirement.always
    /// Whether it shows only names and so may use the index key that `list` kept.
    var showsNamesOnly = false
    /// Whether a person at a terminal picks the project if none is given. Not for commands that
    /// send something or start a program: those need to be told.
    var picksProject = false
}
