package import Vault

/// Values that should have been replaced by now.
package enum RotationDue {
    /// The records in use whose value is older than their rotation time allows.
    ///
    /// - Parameters:
    ///   - index: Decoded with current values at least: a note that was changed makes no value newer.
    ///   - now: The clock that versions are stamped by, in milliseconds since 1970.
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
