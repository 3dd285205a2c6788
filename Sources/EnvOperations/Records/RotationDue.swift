package import Vault

/// Finds values that are due for rotation.
package enum RotationDue {
    /// Returns the live records whose value is older than their rotation interval.
    ///
    /// - Parameters:
    ///   - index: Decoded with at least the current values, because changing a comment does not
    ///     renew a value.
    ///   - now: Milliseconds since 1970, by the clock that timestamps versions.
    package static func records(in index: VaultIndex, now: UInt64) -> [Variable] {
        index.variables.filter { variable in
            guard variable.isLive, variable.rotationSeconds > 0,
                let made = index.currentVersions[variable.id]?.createdAt
            else { return false }
            let (span, overflow) = variable.rotationSeconds.multipliedReportingOverflow(by: 1_000)
            return !overflow && now >= made && now - made >= span
        }
    }
}
