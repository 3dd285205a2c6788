import CTestSupport
import Foundation
import Glibc

/// A thread that acts as a login: session keyring, user and forbidden system calls belong to a
/// thread, and programs started from it inherit them.
package enum LoginThread {
    /// The state of the thread before it runs the body.
    package enum State: Sendable {
        /// A session keyring of its own.
        case session
        /// The same, with the user keyring linked in, as logins make it.
        case sessionWithUserKeyring
        /// Only the session keyring that the kernel lends.
        case withoutSession
        /// A session keyring that was revoked.
        case revokedSession
        /// The keyring system calls fail with this error number.
        case forbidden(Int32)
    }

    /// Runs `body` on a new thread and waits for it. Expectations belong outside.
    package static func run<R: Sendable>(
        _ state: State, _ body: @escaping @Sendable () throws -> R
    ) throws -> R {
        let box = Box<R>()
        let thread = Thread {
            box.result = Result {
                try enter(state)
                return try body()
            }
            box.done.signal()
        }
        thread.stackSize = 4 << 20
        thread.start()
        box.done.wait()
        guard let result = box.result else { throw SystemCallError("thread") }
        return try result.get()
    }

    /// Makes this thread one of the user nobody, as `su` would: the session keyring stays.
    package static func becomeNobody() throws {
        try check(zg_test_become(65_534), "become another user, which needs root")
    }

    /// Gives this thread another user's user keyring, and keeps its privileges.
    package static func useKeyrings(ofUser user: UInt32) throws {
        try check(zg_test_become_really(user), "change its real user, which needs root")
    }

    private static func enter(_ state: State) throws {
        let what = "use the kernel keyrings, which this test is about"
        switch state {
        case .session: try check(zg_test_join_session(nil), what)
        case .sessionWithUserKeyring:
            try check(zg_test_join_session(nil), what)
            try check(zg_test_link_user_keyring(), what)
        case .withoutSession: try check(unsafe zg_test_join_session("_uid_ses.\(getuid())"), what)
        case .revokedSession:
            try check(zg_test_join_session(nil), what)
            try check(zg_test_revoke_session(), what)
        case .forbidden(let number): try check(zg_test_forbid_keyrings(number), "forbid calls")
        }
    }

    private static func check(_ status: Int32, _ what: String) throws {
        guard status == 0 else { throw SystemCallError("this machine cannot \(what)") }
    }

    private final class Box<R>: @unchecked Sendable {
        let done = DispatchSemaphore(value: 0)
        var result: Result<R, any Error>?
    }
}
