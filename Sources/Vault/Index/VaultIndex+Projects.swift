extension VaultIndex {
    /// Returns a name that no project has, shortened as far as needed, with a number if the suffix does
    /// not suffice.
    package func unusedProjectName(_ name: String, suffix: String) -> String {
        var number = 1
        while true {
            let mark = suffix.hasPrefix(" ") ? " " : "-"
            let end = number == 1 ? suffix : "\(suffix)\(mark)\(number)"
            var front = name
            while front.utf8.count + end.utf8.count > VaultFormat.nameLimit, !front.isEmpty {
                front.removeLast()
            }
            if project(named: front + end) == nil { return front + end }
            number += 1
        }
    }
}
