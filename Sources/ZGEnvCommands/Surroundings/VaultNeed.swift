/// Whether a command needs a place for a vault. System units and package builds have no home directory.
package enum VaultNeed {
    case always
    /// Only where the environment has no token.
    case withoutToken
    case never
}
