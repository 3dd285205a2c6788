/// One action in a sequence of the model test, fully determined: it is the same on every run.
enum ModelStep: Sendable {
    /// A machine runs a command.
    case command(ModelCommand)
    /// Somebody acts in the dashboard, in the syntax of the sandbox's acts.
    case act(String)
    /// That many seconds pass on Vercel.
    case clock(Double)
    /// The team starts or stops to require separate Secrets for production.
    case policy(separates: Bool)
}

/// A command of one machine, and its faults.
struct ModelCommand: Sendable {
    /// A kill -9 at one request of the command.
    struct Kill: Sendable {
        /// What happened to the request.
        enum EntryAction: String, Sendable, CaseIterable {
            /// It was never served.
            case lost
            /// It was served after the program was dead.
            case late
            /// It was served, and its answer never arrived.
            case unheard
        }

        /// The request's number, from 1.
        let request: Int
        /// Whether only modifying requests count.
        let countsWrites: Bool
        let fate: EntryAction
    }

    /// Which machine.
    let machine: Int
    /// The words after `zg-env`.
    var words: [String]
    /// The content of stdin.
    var input: String?
    /// In the syntax of the sandbox's faults.
    var faults: [String] = []
    var kill: Kill?
    /// What somebody does during the command's question, which is then answered with yes.
    var interlude: String?
    /// How builds end meanwhile.
    var build = "ok"

    /// The command's own name.
    var name: String { words.first ?? "" }

    /// Returns whether an option is present.
    func has(_ option: String) -> Bool { words.contains(option) }

    /// The value of an option.
    func argument(of option: String) -> String? {
        words.firstIndex(of: option).flatMap {
            words.indices.contains($0 + 1) ? words[$0 + 1] : nil
        }
    }
}
