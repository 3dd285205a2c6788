internal import CommandLineKit
internal import EnvOperations
internal import Vault
internal import VercelAPI

/// Advice for a write that Vercel rejects permanently.
struct RejectionAdvice {
    /// One or two sentences.
    let text: String

    /// - Returns: nil if the first failure may be transient, or was not a rejection.
    init?(_ failures: [PushOutcome], project: String) {
        // A variable that was accepted but is not shown was not rejected.
        guard let first = failures.first, first.record == nil, let error = first.error,
            let text = Self.text(error, failures.map(\.step), project)
        else { return nil }
        self.text = text
    }

    /// Returns the keys of steps as command arguments.
    static func keys(of steps: [PushPlan.Step]) -> String {
        var keys: [String] = []
        for step in steps where !keys.contains(step.key) { keys.append(step.key) }
        return keys.map { "\(word: $0)" }.joined(separator: " ")
    }

    /// Returns the advice for rules about Secrets, which Vercel's API names only in its messages.
    private static func secretAdvice(
        _ error: VercelAPIError, _ steps: [PushPlan.Step], _ place: String
    ) -> String? {
        guard let step = steps.first(where: { $0.attributes.kind == .sensitive }),
            let message = error.vercelMessage?.lowercased()
        else { return nil }
        let key = "\(word: step.key)"
        let targets = step.attributes.scope.targets
        if targets.contains(.production),
            ["different value", "own environment group", "separate"].contains(
                where: message.contains)
        {
            return
                "The team requires a production Secret to be a separate variable with its own value. Give production a different value with: zg-env set \(key) \(place) -t production"
        }
        if targets.contains(.development), message.contains("development") {
            return
                "Vercel does not accept this Secret for development. Give development a readable value with: zg-env set \(key) \(place) -t development --type encrypted"
        }
        return nil
    }

    /// - Parameter steps: All failed steps; not empty. The error is that of the first one.
    private static func text(
        _ error: VercelAPIError, _ steps: [PushPlan.Step], _ project: String
    ) -> String? {
        let (step, place) = (steps[0], "-p \(word: project)")
        let key = "\(word: step.key)"
        let removal = "zg-env rm \(key) \(place) --all"
        let code = error.vercelCode?.uppercased() ?? ""
        switch code {
        case "MAX_ENVS_EXCEEDED":
            return
                "An environment has reached Vercel's maximum number of variables. Remove other variables with rm --push, or remove this variable (its history is kept) with: \(removal)"
        case "KEY_INVALID_CHARACTERS", "KEY_INVALID_LENGTH", "KEY_RESERVED", "INVALID_KEY",
            "RESERVED_ENV_VARIABLE":
            return
                "Use another name, or remove the variable (its history is kept) with: \(removal)"
        case "VALUE_INVALID_LENGTH", "INVALID_VALUE":
            return
                "Set a different value with: zg-env set \(key) \(place)\(step.attributes.scope.optionText)"
        default: break
        }
        switch error.code {
        case .paymentRequired, .gone: return error.hint.map { CommandError.sentence($0) }
        case .badRequest, .notPossible, .tooLarge, .invalidRequest: break
        default: return nil
        }
        if let advice = secretAdvice(error, steps, place) { return advice }
        if case .delete = step.action {
            return
                "Vercel does not let this account delete the variable. Delete it on the project's page on Vercel; the next push detects that."
        }
        let readable = steps.filter { step in
            let scope = step.attributes.scope
            return step.attributes.kind != .sensitive
                && !(scope.targets.subtracting(.development).isEmpty
                    && scope.customEnvironments.isEmpty)
        }
        guard !readable.isEmpty else {
            return
                "Change the variable's type, targets or value with: zg-env set \(key) \(place)\(step.attributes.scope.optionText). Or remove it with: \(removal)"
        }
        return
            "If the team requires sensitive variables, make this variable sensitive with: zg-env harden \(keys(of: readable)) \(place). Otherwise change its type, targets or value, or remove it with: \(removal)"
    }
}
