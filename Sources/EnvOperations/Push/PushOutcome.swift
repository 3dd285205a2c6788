package import Vault
package import VercelAPI

/// What became of one step of a push, after it was read back.
package struct PushOutcome {
    /// How it ended.
    package enum End {
        /// Done and seen on the platform.
        case verified
        /// Sent; the platform does not show what it holds.
        case unverified(String)
        /// Not done, or not as it should be.
        case failed(String, VercelAPIError?)
    }

    /// The step.
    package let step: PushPlan.Step
    /// How it ended.
    package var end: End
    /// The platform's record now; nil where there is none or it was not seen.
    package var record: PlatformRecord?
}

/// What the vault has to keep of a push: told after each request that changed the platform.
package struct PushRecord {
    /// The vault's record.
    package let variable: Identifier
    /// The version that was sent; 0 where the platform is known to hold something else.
    package let version: UInt64
    /// The platform's record now; nil when it is gone.
    package let record: PlatformRecord?
    /// What both sides agree on; the platform's own attributes where they differ.
    package let agreed: VariableAttributes?
}
