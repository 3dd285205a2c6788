/// The names that Vercel accepts for a new project.
enum VercelProjectName {
    static func isValid(_ name: String) -> Bool {
        (1...100).contains(name.utf8.count) && !name.contains("---")
            && name.utf8.allSatisfy { byte in
                (0x61...0x7A).contains(byte) || (0x30...0x39).contains(byte) || byte == 0x2D
                    || byte == 0x2E || byte == 0x5F
            }
    }
}
