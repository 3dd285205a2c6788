/// The words of ``CheckWords``: short, distinct when spoken, with different first four letters.
///
/// The list is part of the format, so it must not change.
enum CheckWordList {
    /// 256 words; a byte is the place of its word.
    static let words: [String] = text.split(whereSeparator: \.isWhitespace).map(String.init)

    private static let text = """
        abacus acorn actor airport album alley amber anchor angle antler apple apron arrow atlas
        atom attic bacon badge ballet banjo barrel basil basket beaver bench biscuit bishop blanket
        bonfire bottle branch bridge bronze bubble bucket button cabin cactus camel candle canyon
        carpet castle chalk cherry chimney circle cloud clover cobra coconut coffee comet copper
        cotton cradle cricket crystal curtain cushion daisy dancer delta dentist diamond dinner
        doctor dolphin dragon drawer dream drum duck dynamo eagle easel echo elbow emerald engine
        evening fabric falcon feather fence fiddle flute forest fossil fox furnace galaxy gallery
        garden garlic gazelle ginger giraffe glacier goblet gravel guitar hammer hamster harbor
        hazel hedge helmet hermit hippo honey hotel hunter iceberg igloo index insect island ivory
        jacket jaguar jasmine jelly jigsaw jockey jungle juniper kayak kettle kiosk kitchen kitten
        koala ladder lagoon lantern laptop laundry lemon leopard letter library lily lobster lumber
        lunch magnet mango maple marble meadow melon mirror monkey moon mosaic muffin museum napkin
        nectar needle nickel noodle north nugget nutmeg oasis ocean octopus olive onion opera orange
        orchid oxygen oyster paddle palace pancake panda paper parade parrot pebble pencil pepper
        piano pillow pirate planet pocket pony potato pumpkin puzzle quartz quilt rabbit radio raven
        reef ribbon river robin ruby salmon sandal scarf school scooter shadow shelf signal silver
        sketch spider spoon squid statue stereo summer sunset swan syrup table teapot temple tennis
        thunder tiger timber tomato tractor trumpet tulip tunnel turtle tuxedo unicorn vanilla
        velvet violin volcano voyage waffle wagon walnut wheat window winter wizard wolf yacht
        yogurt zebra zigzag
        """
}
