/// How a command opens the vault, where that is special. Each command declares it beside its description.
package struct VaultUse {
    /// Whether it needs a place for a vault.
    var need = VaultNeed.always
    /// Whether it shows names and nothing else, and so may use the index key that `list` kept.
    var showsNamesOnly = false
}
