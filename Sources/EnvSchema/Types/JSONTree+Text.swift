internal import JSON

extension JSONTree {
    /// Passes the text of a string, without escapes, or of a number or word. What has escapes is
    /// copied to memory that is wiped.
    func withText<Result>(of node: Int, _ body: (ValueSlice) -> Result) -> Result {
        withSource(of: node) { source in
            unsafe source.withUnsafeBytes { bytes in
                guard kind(node) == .escapedText else {
                    return unsafe body(ValueSlice(bytes))
                }
                // No escape is shorter than what it stands for.
                return ScratchText.lend(bytes.count) { text in
                    text.withAppending { append in _ = forEachByte(ofText: node, append) }
                    return body(text.slice)
                }
            }
        }
    }
}
