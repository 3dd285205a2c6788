package import Vault

/// Remembers, outside of the vault, how far this vault's chains of changes have got. A vault that was
/// restored from a backup, or copied, then begins new chains instead of using a number twice.
package protocol ChainMemory {
    /// Returns the last position written from this vault file on this machine; nil if unknown.
    func position(in compartment: Identifier) -> ChainPosition?

    /// Stores a position, before the vault that contains the change is written.
    func keep(_ position: ChainPosition, in compartment: Identifier) throws
}

/// A place in a chain of changes.
package struct ChainPosition: Equatable, Sendable {
    package let chain: Identifier
    package let counter: UInt64

    package init(chain: Identifier, counter: UInt64) {
        (self.chain, self.counter) = (chain, counter)
    }
}
