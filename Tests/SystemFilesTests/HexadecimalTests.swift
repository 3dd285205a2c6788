import SystemFiles
import Testing

@Suite("Hexadecimal digits")
struct HexadecimalTests {
    @Test("every byte is two lowercase digits, and read back")
    func all() {
        let bytes = Array(UInt8.min...UInt8.max)
        let text = Hexadecimal.text(of: bytes)
        #expect(text.hasPrefix("000102") && text.hasSuffix("fdfeff"))
        #expect(Hexadecimal.bytes(of: text) == bytes)
        #expect(Hexadecimal.value(of: UInt8(ascii: "F")) == 15)
    }

    @Test("anything else is refused", arguments: ["0", "0g", "0A", " 0", "00 ", "é0"])
    func none(text: String) {
        #expect(Hexadecimal.bytes(of: text) == nil)
    }
}
