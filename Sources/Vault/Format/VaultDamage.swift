/// The kinds of damage, as named in `docs/vault-format.md`, section 8.1.
package enum VaultDamage: String, Sendable, CaseIterable {
    /// The file is shorter than the header, or than the length in the header.
    case truncated
    /// The file does not start with the magic bytes.
    case magic
    /// A header field, except slots.
    case header
    /// The header's checksum.
    case checksum
    /// A slot's kind, tier, derivation, cost or zeros.
    case slot
    /// The file is longer than the header says.
    case extended
    /// The public key is not the root's.
    case exchangedKey = "exchanged-key"
    /// The seal of the index's table, or that of a section.
    case tag
    /// The index's code or, without the root, its signature.
    case signature
    /// The hash of a section.
    case section
    /// The length before the content of the table or of a section, or the zeros after it.
    case padding
    /// A text, list or number of the index exceeds its bound or its part.
    case bounds
    /// Invalid UTF-8, a flag or enumeration, a part that is not filled exactly, an empty name.
    case encoding
    /// Entries are not in ascending order, or duplicated.
    case order
    /// Inconsistent parts of the index, or chunks with gaps or overlaps.
    case layout
    /// A data key does not open: it is corrupt, or was sealed for another root, vault or batch.
    case batch
    /// A chunk's checksum.
    case chunk
    /// A chunk does not open, or its padding is wrong.
    case value
}
