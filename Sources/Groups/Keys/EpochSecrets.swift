package import Sealing
package import Vault

/// The secrets of one epoch, as far as a member may have them.
package struct EpochSecrets {
    package let compartment: Identifier
    /// 32 bytes; nil only if just the value secret could be opened.
    package let indexKey: SecretSlice?
    /// 32 bytes; nil for a member that reads no values.
    package let valueSecret: SecretSlice?

    package init(compartment: Identifier, indexKey: SecretSlice?, valueSecret: SecretSlice?) {
        self.compartment = compartment
        self.indexKey = indexKey
        self.valueSecret = valueSecret
    }
}
