import EnvOperations
import Testing

@Suite("The polling loop")
struct WaitingTests {
    /// Finds the result at the third check, with pauses of 1, 2, … s.
    private func wait(
        until last: Int = .max, waits: Bool = true
    ) -> (end: Waiting<Int>, looks: Int, slept: [Duration]) {
        var (looks, slept) = (0, [Duration]())
        let end = Waiting.until(
            wait: {
                slept.append($0)
                return waits
            },
            pause: { looks < last ? .seconds(looks) : nil },
            look: {
                looks += 1
                return looks == 3 ? looks : nil
            })
        return (end, looks, slept)
    }

    @Test func `ends with the result, without a further pause`() {
        let (end, looks, slept) = wait()
        #expect(end == .ended(3))
        #expect(looks == 3)
        #expect(slept == [.seconds(1), .seconds(2)])
    }

    @Test func `ends at the timeout, after a last check`() {
        let (end, looks, slept) = wait(until: 2)
        #expect(end == .timedOut)
        #expect(looks == 2)
        #expect(slept == [.seconds(1)])
    }

    @Test func `ends when interrupted, without another check`() {
        let (end, looks, slept) = wait(waits: false)
        #expect(end == .interrupted)
        #expect(looks == 1)
        #expect(slept == [.seconds(1)])
    }
}
