/// One thing that somebody does in a sequence of the model test, decided to the last word: it is the same
/// however often it is done.
enum ModelStep: Sendable {
    /// A machine runs a command.
    case command(ModelCommand)
    /// Somebody does something at the dashboard, in the notation of the sandbox's acts.
    case act(String)
    /// So many seconds pass at Vercel.
    case clock(Double)
}

/// A command of one machine, and what goes wrong with it.
struct ModelCommand: Sendable {
    /// A kill -9 at one request of the command.
    struct Kill: Sendable {
        /// What became of the request.
        enum Fate: String, Sendable, CaseIterable {
            /// It was never served.
            case lost
            /// It was served when the program was dead.
            case late
            /// It was served, and its answer never arrived.
            case unheard
        }

        /// The how manieth request, from 1.
        let request: Int
        /// Whether only requests that change something count.
        let countsWrites: Bool
        let fate: Fate
    }

    /// Which machine.
    let machine: Int
    /// The words behind `zg-env`.
    var words: [String]
    /// What comes on stdin.
    var input: String?
    /// In the notation of the sandbox's faults.
    var faults: [String] = []
    var kill: Kill?
    /// What somebody does while the command's question is open, which is then answered with yes.
    var interlude: String?
    /// How builds end meanwhile.
    var build = "ok"

    /// The command's own name.
    var name: String { words.first ?? "" }

    /// Tells whether an option is there.
    func has(_ option: String) -> Bool { words.contains(option) }

    /// What follows an option.
    func argument(of option: String) -> String? {
        words.firstIndex(of: option).flatMap {
            words.indices.contains($0 + 1) ? words[$0 + 1] : nil
        }
    }
}
