/// An absolute URL, by the URL parser of the URL Standard without a base: scheme, authority, host
/// and port, which are all that can make a URL invalid. Of schemes that are not special only the
/// scheme itself counts.
struct URLForm {
    enum Failure: Error {
        case notURL
        /// Only tables of Unicode could tell.
        case international
    }

    private static let specialSchemes: [(name: StaticString, port: UInt32?)] = [
        ("http", 80), ("https", 443), ("ws", 80), ("wss", 443), ("ftp", 21), ("file", nil),
    ]

    private let isSpecial: Bool
    private let isFile: Bool
    private let defaultPort: UInt32?
    /// With user and port.
    private let authority: ValueSlice

    /// Reads a text without tabs and line ends.
    init(_ text: ValueSlice) throws(Failure) {
        let text = Self.withoutControls(text)
        guard let colon = text.firstIndex(of: UInt8(ascii: ":")) else { throw .notURL }
        let scheme = text[text.startIndex..<colon]
        guard scheme.first?.isLetter ?? false, scheme.allSatisfy(Self.isSchemeByte) else {
            throw .notURL
        }
        let special = Self.specialSchemes.first { scheme.equalsIgnoringCase($0.name) }
        isSpecial = special != nil
        isFile = scheme.equalsIgnoringCase("file")
        defaultPort = special?.port
        authority = Self.authority(
            text[(colon + 1)..<text.endIndex], isSpecial: isSpecial, isFile: isFile)
        guard isSpecial else { return }
        try checkAuthority()
    }

    /// Returns whether host and port, written as the standard writes them, are in the list.
    func hasHost(in list: [String]) -> Bool {
        let host = hostAndPort
        guard isSpecial, !host.isEmpty else {
            return list.contains { text in
                host.count == text.utf8.count
                    && zip(host, text.utf8).allSatisfy {
                        $0.lowerCase == $1
                    }
            }
        }
        let (name, port) = Self.parts(of: host, isFile: isFile)
        let number = port.flatMap(Self.portNumber).flatMap { $0 == defaultPort ? nil : $0 }
        return ScratchText.lend(name.count) { decoded in
            let read = URLHost.read(name, decoded: &decoded)
            let name = decoded.slice
            return list.contains { entry in
                let bytes = Array(entry.utf8)
                return unsafe bytes.withUnsafeBytes { bytes in
                    unsafe matches(ValueSlice(bytes), read, name, port: number)
                }
            }
        }
    }

    private func matches(
        _ entry: ValueSlice, _ host: URLHost, _ name: ValueSlice, port: UInt32?
    ) -> Bool {
        let (wanted, wantedPort) = Self.parts(of: entry, isFile: false)
        if let wantedPort {
            // The standard writes a port without zeros before it.
            guard let port, Self.portNumber(wantedPort) == port,
                wantedPort.first != UInt8(ascii: "0") || wantedPort.count == 1
            else { return false }
        } else if port != nil {
            return false
        }
        switch host {
        case .name:
            // In a file URL, `localhost` is no host.
            return isFile && name.equals("localhost")
                ? wanted.isEmpty : wanted.elementsEqual(name)
        case .version4(let address): return AddressForm.version4(wanted) == address
        case .version6(let address):
            return wanted.first == UInt8(ascii: "[") && wanted.last == UInt8(ascii: "]")
                && wanted.count > 2
                && AddressForm.version6(wanted.dropFirst().dropLast()) == address
        case .international, .invalid: return false
        }
    }

    // MARK: Parts

    /// Without C0 controls and blanks at the ends.
    private static func withoutControls(_ text: ValueSlice) -> ValueSlice {
        var text = text.drop { $0 <= 0x20 }
        while let last = text.last, last <= 0x20 { text = text.dropLast() }
        return text
    }

    private static func isSchemeByte(_ byte: UInt8) -> Bool {
        byte.isLetter || byte.isDigit || byte == UInt8(ascii: "+") || byte == UInt8(ascii: "-")
            || byte == UInt8(ascii: ".")
    }

    private static func isSlash(_ byte: UInt8, isSpecial: Bool) -> Bool {
        byte == UInt8(ascii: "/") || isSpecial && byte == UInt8(ascii: "\\")
    }

    private static func authority(
        _ rest: ValueSlice, isSpecial: Bool, isFile: Bool
    ) -> ValueSlice {
        let slashes = rest.prefix { isSlash($0, isSpecial: isSpecial) }
        // Special schemes need no slashes and have no most; others have an authority after two.
        let start: ValueSlice
        if isSpecial, !isFile {
            start = rest.dropFirst(slashes.count)
        } else {
            guard slashes.count >= 2 else { return rest.prefix(0) }
            start = rest.dropFirst(2)
        }
        return start.prefix {
            !isSlash($0, isSpecial: isSpecial) && $0 != UInt8(ascii: "?") && $0 != UInt8(ascii: "#")
        }
    }

    private var hostAndPort: ValueSlice {
        guard !isFile, let at = authority.lastIndex(of: UInt8(ascii: "@")) else {
            return authority
        }
        return authority[(at + 1)..<authority.endIndex]
    }

    /// A colon in brackets belongs to the host.
    private static func parts(
        of host: ValueSlice, isFile: Bool
    ) -> (name: ValueSlice, port: ValueSlice?) {
        var isInBrackets = false
        for index in host.indices {
            switch host[index] {
            case UInt8(ascii: "["): isInBrackets = true
            case UInt8(ascii: "]"): isInBrackets = false
            case UInt8(ascii: ":") where !isInBrackets && !isFile:
                return (host[host.startIndex..<index], host[(index + 1)..<host.endIndex])
            default: break
            }
        }
        return (host, nil)
    }

    private func checkAuthority() throws(Failure) {
        if isFile, authority.isEmpty || isDriveLetter(authority) { return }
        let (name, port) = Self.parts(of: hostAndPort, isFile: isFile)
        guard !name.isEmpty else { throw .notURL }
        if let port {
            guard port.isEmpty || Self.portNumber(port) != nil else { throw .notURL }
        }
        let host = ScratchText.lend(name.count) { URLHost.read(name, decoded: &$0) }
        switch host {
        case .invalid: throw .notURL
        case .international: throw .international
        case .name, .version4, .version6: break
        }
    }

    private func isDriveLetter(_ text: ValueSlice) -> Bool {
        text.count == 2 && text.first?.isLetter ?? false
            && (text.last == UInt8(ascii: ":") || text.last == UInt8(ascii: "|"))
    }

    /// Nil for an empty port, and for another text than a number up to 65535.
    private static func portNumber(_ text: ValueSlice) -> UInt32? {
        guard !text.isEmpty, text.allSatisfy(\.isDigit) else { return nil }
        let value = text.reduce(UInt32(0)) { min($0 * 10 + UInt32($1 - 0x30), 1 << 20) }
        return value <= 65_535 ? value : nil
    }
}
