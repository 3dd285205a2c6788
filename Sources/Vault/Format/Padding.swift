/// Length padding, so that a sealed text's length reveals little.
package enum Padding {
    /// The padded length of a value including its four length bytes: multiples of 128 up to 1 KiB,
    /// then Padmé, which keeps the highest bits of the length and adds at most 12 %.
    ///
    /// Padmé: Nikitin and others, "Reducing Metadata Leakage from Encrypted Files", 2019.
    package static func paddedByteCount(ofValue count: Int) -> Int {
        let length = max(count, 1)
        if length <= 1024 { return (length + 127) / 128 * 128 }
        let exponent = Int.bitWidth - 1 - length.leadingZeroBitCount
        let significant = Int.bitWidth - exponent.leadingZeroBitCount
        let mask = (1 << (exponent - significant)) - 1
        return (length + mask) & ~mask
    }

    /// The padded length of the index and of cached responses: multiples of 4 KiB.
    package static func paddedByteCount(ofIndex count: Int) -> Int {
        (count + VaultFormat.indexPaddingStep - 1) / VaultFormat.indexPaddingStep
            * VaultFormat.indexPaddingStep
    }
}
