internal import Glibc

/// The user that runs the program, as the audit log names them.
package struct UserAccount: Equatable, Sendable {
    /// The user's number.
    package let number: UInt32
    /// The name that goes with it; empty where there is none.
    package let name: String

    /// Names both parts.
    package init(number: UInt32, name: String) {
        self.number = number
        self.name = name
    }

    /// The user of this process, not the one whose rights it has.
    static var current: UserAccount {
        let number = getuid()
        return UserAccount(number: number, name: name(of: number))
    }

    /// The name of a user; empty where there is none.
    static func name(of number: UInt32) -> String {
        // The name service loads libraries and may ask the network; most users stand in the file.
        if let name = SmallFile.text("/etc/passwd").flatMap({ nameInList($0, number) }) {
            return name
        }
        guard let entry = unsafe getpwuid(number), let name = unsafe entry.pointee.pw_name else {
            return ""
        }
        return unsafe String(cString: name)
    }

    /// Looks a user up in the text of `/etc/passwd`: name, password, number, parted by colons.
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
