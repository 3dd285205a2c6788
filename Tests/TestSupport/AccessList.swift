internal import CTestSupport

/// Access control lists of files (acl(5)).
package enum AccessList {
    /// Lets a user read a file that the group cannot read.
    ///
    /// - Parameter isInherited: Whether new files of a directory get the list instead.
    /// - Returns: False where the file system has no such lists.
    package static func grant(
        reader: UInt32, _ path: String, isInherited: Bool = false
    ) -> Bool {
        unsafe zg_test_grant(path, reader, isInherited ? 1 : 0) == 0
    }

    /// A file's list as the kernel has it; nil without one.
    package static func bytes(of path: String) -> [UInt8]? {
        var list = [UInt8](repeating: 0, count: 1 << 10)
        let count = unsafe list.withUnsafeMutableBytes { bytes in
            guard let base = bytes.baseAddress else { return -1 }
            return unsafe zg_test_access_list(path, base, UInt(bytes.count))
        }
        return count < 0 ? nil : Array(list.prefix(count))
    }
}
