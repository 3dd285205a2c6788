@testable import EnvOperations
@testable import Vault

extension PushPlan {
    /// Plans without having read a value, and without unfinished writes.
    init(variables: [Variable], platform: ListedRecords, rules: Rules) {
        self.init(ProjectState(variables: variables, platform: platform, rules: rules))
    }
}
