/// What both sides last had for one key and target.
///
/// An agreement that a value is *gone* is not one of these: the planner treats it like none.
package struct Agreement: Hashable, Sendable {
    /// Vercel's id of the record that carried the value.
    package let record: String
    /// What would differ if the record had changed since, in a form that each platform defines.
    package let witness: String
    package let content: Content

    package init(record: String, witness: String, content: Content) {
        (self.record, self.witness, self.content) = (record, witness, content)
    }
}
