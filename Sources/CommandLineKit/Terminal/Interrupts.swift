import CLinux
import Glibc

/// Handlers for SIGHUP, SIGINT, SIGQUIT and SIGTERM.
///
/// After ``install()`` these signals restore a terminal that shows a prompt and end the process:
/// SIGINT by itself, so that a shell ends its loop too, the others with exit code 128 + signal
/// number, such as 143 for SIGTERM. SIGPIPE is ignored, so that a closed output is
/// `OutputError.closed`. Signals that were already ignored stay ignored.
package enum Interrupts {
    /// Installs the handlers once; later calls do nothing.
    ///
    /// - Throws: ``TerminalError/system(errno:)``.
    package static func install() throws(TerminalError) {
        guard zg_install_interrupt_handlers() == 0 else { throw .system(errno: errno) }
    }

    /// The maximum length of the last words, in bytes.
    package static let interruptionMessageLimit = 512

    /// Sets the text that is written to stderr when a signal ends the process.
    ///
    /// - Parameter text: Cut to ``interruptionMessageLimit`` bytes; empty to write nothing.
    package static func setInterruptionMessage(_ text: String) {
        unsafe zg_set_last_words(text, text.utf8.count)
    }

    /// Runs a section that must not be interrupted: signals are only recorded.
    ///
    /// Check ``pending`` or call ``endIfPending()`` afterwards: a recorded signal has no other effect.
    package static func deferred<Result: ~Copyable, Failure: Error>(
        _ section: () throws(Failure) -> Result
    ) throws(Failure) -> Result {
        zg_interrupts_defer()
        defer { zg_interrupts_resume() }
        return try section()
    }

    /// The signal recorded in a deferred section, or nil.
    package static var pending: Int32? {
        let signal = zg_interrupted()
        return signal == 0 ? nil : signal
    }

    /// Makes code that checks ``pending`` give up as after a signal, when the user cancels its work.
    package static func requestCancellation() { zg_interrupts_note_end() }

    /// Undoes ``requestCancellation()``. A signal that arrived meanwhile stays recorded.
    package static func clearCancellation() { zg_interrupts_forget_end() }

    /// Ends the process as the recorded signal would have, if there is one.
    package static func endIfPending() {
        zg_end_if_interrupted()
    }

    /// Runs a section of a full-screen program that has left its screen. An interrupt from the
    /// keyboard, or Escape at a hidden prompt, makes the section throw instead of ending the process.
    ///
    /// To be called in a deferred section.
    package static func returningToScreen<Result: ~Copyable, Failure: Error>(
        _ section: () throws(Failure) -> Result
    ) throws(Failure) -> Result {
        zg_interrupts_return_begin()
        defer { zg_interrupts_return_end() }
        return try section()
    }

    /// Whether a section of ``returningToScreen(_:)`` is running.
    static var returnsToScreen: Bool { zg_interrupts_returns() }

    /// Runs a section in which another program has the terminal: keyboard interrupts affect only that
    /// program, and other signals are only recorded.
    package static func withTerminalLent<Result: ~Copyable, Failure: Error>(
        _ section: () throws(Failure) -> Result
    ) throws(Failure) -> Result {
        zg_interrupts_pause_keys()
        defer { zg_interrupts_resume_keys() }
        return try deferred(section)
    }

    /// Restores the signal dispositions and mask that ``install()`` found, right before this process
    /// executes another program.
    ///
    /// - Throws: ``TerminalError/system(errno:)``.
    package static func restoreInitialState() throws(TerminalError) {
        guard zg_restore_signal_state() == 0 else { throw .system(errno: errno) }
    }
}
