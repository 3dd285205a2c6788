/// Whether a command needs a place for a vault: the system's units and what makes packages have none.
package enum VaultNeed {
    case always
    /// Not with a token of the environment.
    case withoutToken
    case never
}
