internal import CommandLineKit
internal import VercelAPI

/// Says on stderr that the platform does not answer while something is waited for, and that it does again:
/// each once, however often it is asked meanwhile.
final class OutageNotice {
    private let invocation: Invocation
    /// Those of what is waited for that got no answer last.
    private var silent: Set<Int> = []

    init(_ invocation: Invocation) { self.invocation = invocation }

    /// Takes what came of a question.
    ///
    /// - Parameters:
    ///   - error: Why there is no answer; nil where there is one.
    ///   - number: Tells apart what is waited for at the same time.
    ///   - end: When the waiting ends, in milliseconds since 1970.
    func take(_ error: VercelAPIError?, of number: Int = 0, until end: UInt64) {
        let wasSilent = !silent.isEmpty
        guard let error else {
            silent.remove(number)
            if wasSilent, silent.isEmpty { tell("The platform answers again.") }
            return
        }
        silent.insert(number)
        guard !wasSilent else { return }
        let reason = CommandError(mapping: error).message
        tell(
            "The platform cannot be reached since \(Self.time(invocation.context.now())). "
                + "\(reason) Waiting goes on until \(Self.time(end)).")
    }

    /// Progress is no result: a stderr that is gone changes nothing.
    private func tell(_ text: String) { try? invocation.note(text) }

    private static func time(_ milliseconds: UInt64) -> String {
        TimeText.utc(Int64(clamping: milliseconds))
    }
}
