/// A program that reaches the clipboard of the desktop, as distributions have them.
enum ClipboardProgram: String, CaseIterable {
    case wlCopy = "wl-copy"
    case xclip
    case xsel

    /// What talks to the clipboard here: that of Wayland where there is one, else of X.
    ///
    /// - Throws: ``ExitCode/failed`` with what to install, or that there is no screen.
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
                .failed, "There is no clipboard: neither WAYLAND_DISPLAY nor DISPLAY is set.",
                hint: "Leave out --copy, or run it in a terminal of the desktop.")
        }
        throw CommandError(
            .failed, "There is no program that reaches the clipboard.",
            hint: hasWayland
                ? "Install wl-clipboard, which has wl-copy and wl-paste." : "Install xclip.")
    }

    /// Takes the text from its standard input; goes on beside its caller to hand it to others.
    ///
    /// - Parameter isSensitive: Whether it may tell clipboard managers not to keep the text.
    func copying(isSensitive: Bool) -> [String] {
        switch self {
        // A type of its own: otherwise it has other programs look at the text to guess one.
        case .wlCopy:
            ["wl-copy", "--type", "text/plain"] + (isSensitive ? ["--sensitive"] : [])
        case .xclip: ["xclip", "-selection", "clipboard", "-in"]
        case .xsel: ["xsel", "--clipboard", "--input"]
        }
    }

    /// Prints what the clipboard holds, and nothing else.
    var pasting: [String] {
        switch self {
        case .wlCopy: ["wl-paste", "--no-newline"]
        case .xclip: ["xclip", "-selection", "clipboard", "-out"]
        case .xsel: ["xsel", "--clipboard", "--output"]
        }
    }

    /// Empties the clipboard, with nothing on its standard input.
    var clearing: [String] {
        switch self {
        case .wlCopy: ["wl-copy", "--clear"]
        case .xclip: ["xclip", "-selection", "clipboard", "-in"]
        case .xsel: ["xsel", "--clipboard", "--clear"]
        }
    }
}
