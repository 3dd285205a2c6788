internal import SyncPlan

/// What both sides agreed for one key and target, as the planner takes it. `Agreement` alone is what
/// the vault stores.
typealias PlannedAgreement = Agreement
