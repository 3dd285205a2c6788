package import Vault

/// What the vault stores of a record on Vercel. The planner has agreements of its own.
package typealias StoredAgreement = Agreement
