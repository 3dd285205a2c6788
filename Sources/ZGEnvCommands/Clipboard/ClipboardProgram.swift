/// A program that accesses the clipboard.
enum ClipboardProgram: String, CaseIterable {
    case wlCopy = "wl-copy"
    case xclip
    case xsel

    /// Returns the program to use: Wayland's if there is a Wayland display, else one for X.
    ///
    /// - Throws: ``ExitCode/failed`` if no program is installed or there is no display.
    static func found(_ context: Context) throws -> ClipboardProgram {
        let search = ExecutableSearch(path: context.variable("PATH"))
        let hasWayland = context.variable("WAYLAND_DISPLAY") != nil
        let hasX = context.variable("DISPLAY") != nil
        if hasWayland, search.find("wl-copy") != nil, search.find("wl-paste") != nil {
            return .wlCopy
        }
        if hasX {
            if search.find("xclip") != nil { return .xclip }
            if search.find("xsel") != nil { return .xsel }
        }
        guard hasWayland || hasX else {
            throw CommandError(
                .failed, "There is no clipboard: WAYLAND_DISPLAY and DISPLAY are not set.",
                hint: "Use a terminal of a desktop, or show the value instead of copying it.")
        }
        throw CommandError(
            .failed, "No clipboard program is installed.",
            hint: hasWayland
                ? "Install wl-clipboard (wl-copy and wl-paste)." : "Install xclip.")
    }

    /// Returns the command that copies its standard input and stays in the background.
    ///
    /// - Parameter isSensitive: Whether to ask clipboard managers not to keep the text.
    func copying(isSensitive: Bool) -> [String] {
        switch self {
        // With a type: otherwise wl-copy passes the text to other programs to guess one.
        case .wlCopy:
            ["wl-copy", "--type", "text/plain"] + (isSensitive ? ["--sensitive"] : [])
        case .xclip: ["xclip", "-selection", "clipboard", "-in"]
        case .xsel: ["xsel", "--clipboard", "--input"]
        }
    }

    /// The command that prints the content and nothing else.
    var pasting: [String] {
        switch self {
        case .wlCopy: ["wl-paste", "--no-newline"]
        case .xclip: ["xclip", "-selection", "clipboard", "-out"]
        case .xsel: ["xsel", "--clipboard", "--output"]
        }
    }

    /// The command that clears the clipboard, with empty standard input.
    var clearing: [String] {
        switch self {
        case .wlCopy: ["wl-copy", "--clear"]
        case .xclip: ["xclip", "-selection", "clipboard", "-in"]
        case .xsel: ["xsel", "--clipboard", "--clear"]
        }
    }
}
