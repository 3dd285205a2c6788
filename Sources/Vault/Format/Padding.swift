/// How much longer a text is made, so that its length says little.
package enum Padding {
    /// The padded length of a value with its four bytes of length: steps of 128 to 1 KiB, then
    /// Padmé, which keeps the highest bits of the length and adds at most 12 %.
    ///
    /// Padmé: Nikitin and others, "Reducing Metadata Leakage from Encrypted Files", 2019.
    static func paddedByteCount(ofValue count: Int) -> Int {
        let length = max(count, 1)
        if length <= 1024 { return (length + 127) / 128 * 128 }
        let exponent = Int.bitWidth - 1 - length.leadingZeroBitCount
        let significant = Int.bitWidth - exponent.leadingZeroBitCount
        let mask = (1 << (exponent - significant)) - 1
        return (length + mask) & ~mask
    }

    /// The padded length of the index, and of answers kept: steps of 4 KiB.
    package static func paddedByteCount(ofIndex count: Int) -> Int {
        (count + VaultFormat.indexPaddingStep - 1) / VaultFormat.indexPaddingStep
            * VaultFormat.indexPaddingStep
    }
}
