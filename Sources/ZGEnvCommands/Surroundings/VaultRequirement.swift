/// Whether a command needs the path of a vault. System units and package builds have no home directory.
package enum VaultRequirement {
    case always
    /// Unless the environment has a token.
    case withoutToken
    case never
}
