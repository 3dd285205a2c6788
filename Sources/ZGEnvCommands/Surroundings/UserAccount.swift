internal import Glibc

/// The user that runs the program, for the audit log.
package struct UserAccount: Equatable, Sendable {
    /// The user id.
    package let number: UInt32
    /// The user name; may be empty.
    package let name: String

    /// The real user of this process, not the effective one.
    static var current: UserAccount {
        let number = getuid()
        return UserAccount(number: number, name: name(of: number))
    }

    /// Returns the name of a user; empty for an unknown one.
    static func name(of number: UInt32) -> String {
        // The name service loads libraries and may use the network; most users are in the file.
        if let name = SmallFile.text("/etc/passwd").flatMap({ nameInList($0, number) }) {
            return name
        }
        guard let entry = unsafe getpwuid(number), let name = unsafe entry.pointee.pw_name else {
            return ""
        }
        return unsafe String(cString: name)
    }

    /// Finds a user in the text of `/etc/passwd`: name, password and number, separated by colons.
    static func nameInList(_ text: String, _ number: UInt32) -> String? {
        let wanted = Array("\(number)".utf8)
        for line in text.utf8.split(separator: 0x0A) {
            let fields = line.split(
                separator: 0x3A, maxSplits: 3, omittingEmptySubsequences: false)
            if fields.count == 4, fields[2].elementsEqual(wanted), !fields[0].isEmpty {
                return String(Substring(fields[0]))
            }
        }
        return nil
    }
}
