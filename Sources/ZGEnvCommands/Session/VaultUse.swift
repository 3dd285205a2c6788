/// What is special in how a command opens the vault. Each says so of itself, beside its description.
package struct VaultUse {
    /// Whether it needs a place for a vault.
    var need = VaultNeed.always
    /// Whether it shows names and nothing else, and so may use the index key that `list` kept.
    var showsNamesOnly = false
    /// What says whether it may use an unlocked vault.
    var unlockSetting = Setting.cacheFor
}
