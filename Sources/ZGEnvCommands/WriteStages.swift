/// The features that take part in each write of variables, in the order in which they are called.
enum WriteStages {
    static var all: [any WriteStage] {
        [
            RotationGuard(), RotationNoticeGuard(), SecretKeeping(), HistoryPruning(),
            GroupRecording(),
            // Last, so that there is no line about a write that another stage refused.
            AuditedWrites(),
        ]
    }
}
