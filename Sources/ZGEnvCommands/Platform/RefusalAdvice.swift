internal import CommandLineKit
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
            let text = Self.text(error, first.step, DisplayText.safe(project))
        else { return nil }
        self.text = text
    }

    private static func text(
        _ error: VercelAPIError, _ step: PushPlan.Step, _ project: String
    ) -> String? {
        let key = DisplayText.safe(step.key)
        let code = error.platformCode?.uppercased() ?? ""
        switch code {
        case "MAX_ENVS_EXCEEDED":
            return
                "Vercel takes no more variables of this project. Make room, one by one, with: zg-env rm KEY -p \(project) --push"
        case "KEY_INVALID_CHARACTERS", "KEY_INVALID_LENGTH", "KEY_RESERVED", "INVALID_KEY",
            "RESERVED_ENV_VARIABLE":
            return "Give it another name: zg-env rename \(key) NAME -p \(project)"
        case "VALUE_INVALID_LENGTH", "INVALID_VALUE":
            return "Give it another value: zg-env set \(key) -p \(project)"
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
        let removal = "zg-env rm \(key) -p \(project)"
        let scope = step.attributes.scope
        let rest = scope.targets.names.filter { $0 != "development" } + scope.customEnvironments
        guard step.attributes.kind != .sensitive, !rest.isEmpty else {
            return
                "Vercel does not take it as it is. Change its type, targets or value with: zg-env set \(key) -p \(project), or take it out with: \(removal)"
        }
        let places = DisplayText.safe(rest.joined(separator: ","))
        let advice =
            "Where the team wants sensitive variables, make it one: zg-env set \(key) -p \(project) -t \(places) --type sensitive"
        return scope.targets.contains(.development)
            ? "\(advice), and set the one for development by itself: zg-env set \(key) -p \(project) -t development. Else take it out with: \(removal)"
            : "\(advice). Else change its type, targets or value, or take it out with: \(removal)"
    }
}
