internal import DotEnv
internal import EnvOperations
internal import Vault
internal import VercelAPI

/// What to do about a write that Vercel refuses for what it is, which sending it again does not change.
struct RefusalAdvice {
    /// One or two sentences.
    let text: String

    /// - Returns: nil where the first of the failures may pass by itself, or was no refusal.
    init?(_ failures: [PushOutcome], project: String) {
        // What was taken and then not shown was not refused.
        guard let first = failures.first, first.record == nil,
            case .failed(_, let error?) = first.end,
            let text = Self.text(error, failures.map(\.step), project)
        else { return nil }
        self.text = text
    }

    /// The keys of steps as words of a command.
    static func keys(of steps: [PushPlan.Step]) -> String {
        var keys: [String] = []
        for step in steps where !keys.contains(step.key) { keys.append(step.key) }
        return keys.map { "\(word: $0)" }.joined(separator: " ")
    }

    /// - Parameter steps: All that failed; not empty. The error is that of the first.
    private static func text(
        _ error: VercelAPIError, _ steps: [PushPlan.Step], _ project: String
    ) -> String? {
        let (step, place) = (steps[0], "-p \(word: project)")
        let key = "\(word: step.key)"
        let removal = "zg-env rm \(key) \(place) --all"
        let code = error.platformCode?.uppercased() ?? ""
        switch code {
        case "MAX_ENVS_EXCEEDED":
            return
                "Vercel takes no more variables of this project. Make room by rm --push of others, or take this one out, with its history kept, with: \(removal)"
        case "KEY_INVALID_CHARACTERS", "KEY_INVALID_LENGTH", "KEY_RESERVED", "INVALID_KEY",
            "RESERVED_ENV_VARIABLE":
            return
                "Give it another name, or take it out, with its history kept, with: \(removal)"
        case "VALUE_INVALID_LENGTH", "INVALID_VALUE":
            return
                "Give it another value with: zg-env set \(key) \(place)\(step.attributes.scope.optionText)"
        default: break
        }
        switch error.code {
        case .paymentRequired, .gone: return error.hint.map { CommandError.sentence($0) }
        case .badRequest, .notPossible, .tooLarge, .invalidRequest: break
        default: return nil
        }
        if case .delete = step.action {
            return
                "Vercel does not delete it for this account as things are. Remove it on the project's page at Vercel; the next push takes note of that."
        }
        let readable = steps.filter { step in
            let scope = step.attributes.scope
            return step.attributes.kind != .sensitive
                && !(scope.targets.subtracting(.development).isEmpty
                    && scope.customEnvironments.isEmpty)
        }
        guard !readable.isEmpty else {
            return
                "Vercel does not take it as it is. Change its type, targets or value with: zg-env set \(key) \(place)\(step.attributes.scope.optionText). Or take it out with: \(removal)"
        }
        return
            "Where the team wants sensitive variables, accept that with: zg-env harden \(keys(of: readable)) \(place). Else change its type, targets or value, or take it out with: \(removal)"
    }
}
