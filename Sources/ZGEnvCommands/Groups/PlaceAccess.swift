internal import GroupPlaces
internal import Vault

/// Opens the places of groups.
enum PlaceAccess {
    /// Returns the address that a user gave, or that the vault stores; `.` is this repository's origin.
    static func address(_ text: String, _ workspace: Workspace) throws -> PlaceAddress {
        let context = workspace.context
        if text == "." {
            return try PlaceAddress.ofOrigin(
                of: context.workingDirectory, runningIn: try directory("repositories", workspace),
                environment(workspace))
        }
        return try PlaceAddress.parse(text, relativeTo: context.workingDirectory)
    }

    static func place(
        _ address: PlaceAddress, _ workspace: Workspace
    ) throws -> any GroupPlace {
        if address.kind == .directory { return DirectoryPlace(address.text) }
        guard !workspace.options.offline else {
            throw CommandError(.unavailable, "Requests are turned off (--offline).")
        }
        return GitPlace(
            address, copyIn: try directory("repositories", workspace), environment(workspace))
    }

    /// This machine's copy of the objects of all groups. What a power failure damages in it is
    /// fetched again.
    static func copy(_ workspace: Workspace) throws -> any GroupPlace {
        DirectoryPlace(try directory("objects", workspace), isDurable: false)
    }

    private static func environment(_ workspace: Workspace) -> GitEnvironment {
        GitEnvironment(
            workspace.context.rawEnvironment, mayAsk: workspace.interaction.canConfirm)
    }

    private static func directory(_ name: String, _ workspace: Workspace) throws -> String {
        let path = "\(try Directories(workspace.context).state)/groups/\(name)"
        try workspace.context.files.prepareDirectory(of: "\(path)/object")
        return path
    }
}
