/// What does not hold in a damaged vault, in the words of `docs/vault-format.md`, section 8.1.
package enum VaultDamage: String, Sendable, CaseIterable {
    /// The file ends before the header does, or before the length that the header says.
    case truncated
    /// The file does not begin as a vault.
    case magic
    /// A field of the header, slots apart.
    case header
    /// The header's checksum.
    case checksum
    /// A slot's kind, tier, derivation, cost or zeros.
    case slot
    /// The file is longer than the header says.
    case extended
    /// The public key is not that of the root, or, without the root, one that nothing can be sealed to.
    case exchangedKey = "exchanged-key"
    /// The index's seal.
    case tag
    /// The length in front of the index's content, or the zeros behind it.
    case padding
    /// A text, list or number of the index exceeds its bound or its section.
    case bounds
    /// UTF-8, a flag, a number with a closed set of meanings, a section not filled exactly, an empty
    /// name.
    case encoding
    /// Something is not in ascending order, or there twice.
    case order
    /// A rule among the sections of the index, or chunks with gaps or overlaps.
    case layout
    /// The checkpoint's code or generation.
    case checkpoint
    /// A rotation in the journal that the checkpoint does not hold.
    case rotation
    /// A data key does not open, or names another vault or batch; or a sealed one has a version that the
    /// checkpoint names.
    case batch
    /// A chunk's checksum.
    case chunk
    /// A chunk does not open, or its padding is wrong.
    case value
}
