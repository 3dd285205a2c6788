import CLinux

/// What SIGHUP, SIGINT, SIGQUIT and SIGTERM do to this process.
///
/// After ``install()`` they put a terminal at a prompt back and end the process with 128 and the
/// signal's number as its code: 130 for SIGINT, 143 for SIGTERM. SIGPIPE is ignored, so that a
/// closed output is `OutputError.closed`. Signals found ignored stay ignored.
package enum Interrupts {
    /// Installs the handlers. A second call does nothing.
    ///
    /// - Throws: ``TerminalError/system(errno:)``.
    package static func install() throws(TerminalError) {
        guard zg_install_interrupt_handlers() == 0 else { throw .system(errno: currentErrno()) }
    }

    /// The most bytes of the last words that count.
    package static let lastWordsLimit = 512

    /// Sets what goes to stderr when a signal ends the process; nothing for an empty text.
    ///
    /// - Parameter text: At most ``lastWordsLimit`` bytes count.
    package static func setLastWords(_ text: String) {
        unsafe zg_set_last_words(text, text.utf8.count)
    }

    /// Runs a section that must not be cut short: signals are only noted.
    ///
    /// Afterwards ask ``pending`` or call ``endIfPending()``: a noted signal has no effect by itself.
    package static func deferred<Result: ~Copyable, Failure: Error>(
        _ section: () throws(Failure) -> Result
    ) throws(Failure) -> Result {
        zg_interrupts_defer()
        defer { zg_interrupts_resume() }
        return try section()
    }

    /// The signal noted in a deferred section, or nil.
    package static var pending: Int32? {
        let signal = zg_interrupted()
        return signal == 0 ? nil : signal
    }

    /// Has what looks at ``pending`` give up as after a signal: for work that its own user ends.
    package static func noteEnd() { zg_interrupts_note_end() }

    /// Takes back ``noteEnd()``. A signal that came meanwhile stays noted.
    package static func forgetEnd() { zg_interrupts_forget_end() }

    /// Ends the process as the signal would have, if one was noted.
    package static func endIfPending() {
        zg_end_if_interrupted()
    }

    /// Runs a section in which another program has the terminal: interrupts of the keyboard are that
    /// program's alone, and other signals are only noted.
    package static func lendingTerminal<Result: ~Copyable, Failure: Error>(
        _ section: () throws(Failure) -> Result
    ) throws(Failure) -> Result {
        zg_interrupts_pause_keys()
        defer { zg_interrupts_resume_keys() }
        return try deferred(section)
    }

    /// Puts back the dispositions and the signal mask found by ``install()``, right before this
    /// process is replaced by another program.
    ///
    /// - Throws: ``TerminalError/system(errno:)``.
    package static func restoreFoundState() throws(TerminalError) {
        guard zg_restore_signal_state() == 0 else { throw .system(errno: currentErrno()) }
    }
}
