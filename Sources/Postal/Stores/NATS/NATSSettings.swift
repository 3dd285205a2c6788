internal import SystemFiles

/// The address of a cluster, and this store's name in it.
package struct NATSSettings: Equatable, Sendable {
    /// `nats://HOST:PORT` or `tls://HOST:PORT`, without user and password.
    package var servers: [String]
    /// A file with `USER:PASSWORD`, a token, or credentials created by `nsc`.
    package var credentialsFile: String?
    /// Characters `A-Z a-z 0-9 _`. The prefix of streams and subjects, so that two stores can share
    /// a cluster.
    package var name = "zg_env_postal"
    /// Timeout of one response, in milliseconds.
    package var patience: Int64 = 4_000

    /// Returns whether a text is a server's URL without user or password, which other local users
    /// could see in the process's arguments.
    package static func isAddress(_ text: String) -> Bool {
        guard
            let rest = ["nats://", "tls://"].first(where: text.hasPrefix).map({
                text.dropFirst($0.count)
            }), !rest.isEmpty, rest.utf8.count <= 256
        else { return false }
        return rest.utf8.allSatisfy { byte in
            switch byte {
            case 0x30...0x39, 0x41...0x5A, 0x61...0x7A: true
            default: ".-:[]_".utf8.contains(byte)
            }
        }
    }
}

/// The names of streams and subjects.
struct NATSNames: Sendable {
    let prefix: String

    /// The stream of events: `PREFIX.e.ACCOUNT`, and `PREFIX.c.ACCOUNT` for separate copies.
    var events: String { "\(prefix)_events" }
    /// The stream of the register, which keeps the last messages of each subject.
    var register: String { "\(prefix)_register" }

    func entries(of account: String) -> String { "\(prefix).e.\(account)" }
    func copies(of account: String) -> String { "\(prefix).c.\(account)" }
    func device(_ id: String) -> String { "\(prefix).r.d.\(id)" }
    func acknowledgement(_ id: String) -> String { "\(prefix).r.a.\(id)" }
    func invite(_ digest: [UInt8]) -> String { "\(prefix).r.i.\(Hexadecimal.text(of: digest))" }
    var check: String { "\(prefix).r.x.check" }
    /// No stream stores these: only connected relays need them.
    var streams: String { "\(prefix).s" }

    var allEntries: String { "\(prefix).e.*" }
    var allCopies: String { "\(prefix).c.*" }
    var allRegister: String { "\(prefix).r.*.*" }

    /// Returns the part of a subject after its last dot.
    static func last(of subject: String) -> String {
        subject.lastIndex(of: ".").map { String(subject[subject.index(after: $0)...]) } ?? subject
    }
}
