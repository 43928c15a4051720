"""What customers of Larkfield Goods write in support tickets, by theme; ``tickets.py`` puts the pieces together.

``[a|b]`` is a choice, ``{name}`` a blank: ``{thing}`` the product in a customer's words, ``{order}`` an order code,
``{bought}`` the day of purchase, ``{store}`` a store. No phrase holds the label of its theme, and several phrasings of
one theme share no word, so counting complaints takes reading, or an embedding. Every piece of a theme fits every other.
"""

from __future__ import annotations

from typing import NamedTuple


class Theme(NamedTuple):
    """One kind of complaint: its label and share in per cent, what it is about, first and second sentences.

    ``kind`` decides which surroundings fit: ``goods`` (something is broken), ``order``, ``queue`` or ``app``.
    """

    label: str
    percent: int
    kind: str
    products: tuple[str, ...]
    complaints: tuple[str, ...]
    details: tuple[str, ...]


PRODUCTS = {
    "AK-170R": ("red Aster", "red kettle", "Aster kettle in red", "red Aster kettle", "Aster (the red one)"),
    "AK-170B": ("blue Aster", "blue kettle", "Aster kettle in blue", "blue Aster kettle", "Aster (the blue one)"),
    "EARBUDS-AIR2": ("Air2 set", "pair of Air2 earbuds", "EARBUDS-AIR2 set", "set of wireless earbuds"),
    "BT-240": ("Bramble toaster", "two-slot Bramble", "small Bramble toaster"),
    "HS-05": ("Heron scale", "Heron kitchen scale", "kitchen scale"),
    "SL-38": ("Sorrel lamp", "Sorrel reading lamp", "Sorrel desk lamp"),
    "TB-600": ("Thistle blender", "Thistle hand blender", "hand blender"),
    "WR-12": ("Wren radio", "Wren digital radio", "little Wren radio"),
}
"""Product code to the ways in which customers name one of it."""

BUDS = ("Air2 earbuds", "wireless earbuds", "EARBUDS-AIR2", "Air2 buds", "new earbuds")
"""The earbuds in the plural, for complaints about the buds themselves."""

# Where each product is sold agrees with the documents, so that no ticket contradicts the range plan.
_ALL_STORES = (
    *("Riverside", "Riverhead", "Market Cross", "Harbour Row", "Old Mill", "Castle Gate"),
    *("Northgate", "Station Parade", "Elm Street", "Quayhouse", "Linden Park", "Tollgate"),
)
STORES = {
    "AK-170R": _ALL_STORES,
    "AK-170B": (
        *("Riverside", "Riverhead", "Market Cross", "Castle Gate", "Old Mill", "Northgate"),
        *("Linden Park", "Quayhouse"),
    ),
    "EARBUDS-AIR2": (
        *("Riverside", "Market Cross", "Harbour Row", "Castle Gate", "Northgate", "Station Parade"),
        "Linden Park",
    ),
    "BT-240": _ALL_STORES[:-1],
    "HS-05": ("Market Cross", "Harbour Row", "Old Mill", "Elm Street", "Quayhouse"),
    "SL-38": ("Riverhead", "Castle Gate", "Northgate", "Quayhouse", "Linden Park"),
    "TB-600": ("Riverside", "Riverhead", "Old Mill", "Elm Street", "Station Parade", "Tollgate"),
    "WR-12": ("Riverside", "Market Cross", "Harbour Row", "Station Parade", "Elm Street"),
    "app": _ALL_STORES,
}
"""Product code to the stores that sell it; for the app, every store."""

_KETTLES = ("AK-170R", "AK-170B")
_BUDS = ("EARBUDS-AIR2",)
_ANY = tuple(PRODUCTS)

THEMES = (
    Theme(
        "kettle shuts off early",
        18,
        "goods",
        _KETTLES,
        (
            "My {thing} [clicks off|switches itself off|cuts out] [long|well] before the water [boils|is boiling].",
            "The switch on the {thing} [pops up|jumps back|flips up] when the water is [barely warm|only lukewarm].",
            "I have to press the {thing} down [three|four|five] times to get one [proper boil|pot of hot water].",
            "Since [last week|the weekend|about a month ago] the {thing} [stops|gives up] at [about|roughly] "
            "[sixty|seventy|eighty] degrees.",
            "The {thing} [will not|won't|refuses to] stay on until it bubbles[| any more].",
            "The light on the {thing} goes out after [a minute|ninety seconds|half a minute] and the tea is "
            "[tepid|undrinkable].",
            "[Every morning|Most mornings|Time after time] the {thing} [quits|trips] halfway and I have to "
            "[start it again|hold the lever down].",
            "Our {thing} never reaches [a rolling boil|boiling point] because it turns itself off [first|too soon].",
            "Water from the {thing} is [never hot enough|not hot enough] now, it [disconnects|drops out] on its own.",
        ),
        (
            "I [measured|checked] with a [jam|meat|sugar] thermometer and it [read|showed] [71|74|78|82] degrees.",
            "It happens [with a full jug and with a half full one|however much I put in].",
            "The lid is [shut properly|firmly closed], I [looked|checked] twice.",
            "It was [fine|perfect] for the first [two|three|six] months.",
            "I tried [another socket|a different plug|the kitchen and the study], [same thing|no change].",
            "Holding the lever with a finger works, but that [cannot|can't] be [right|safe|the idea].",
            "A cup of instant coffee [takes|now takes] [three|four] goes.",
            "My [mother|neighbour|flatmate] has the same one and hers [boils|works] [normally|as it should].",
        ),
    ),
    Theme(
        "limescale",
        15,
        "goods",
        _KETTLES,
        (
            "There is a [white|grey|brownish] crust [on the floor|over the bottom|all over the base] of the {thing} "
            "[already|after only a few weeks].",
            "[Bits|Flakes|Little white flakes] [float|swim] in every cup from the {thing}.",
            "The inside of the {thing} is [furred up|coated in something chalky|covered in a hard white layer].",
            "The {thing} leaves [grit|a chalky film|white specks] in [my tea|our tea|the teapot].",
            "I [cannot|can't] get the [chalk|white deposit|rough coating] off the [plate|bottom] of the {thing}.",
            "After [six|eight|ten] weeks the {thing} looks [like a cave|ten years old] inside.",
            "Something [pale and crumbly|hard and white] is building up inside the {thing}[| again].",
            "The spout of the {thing} is [blocked|clogged] by [chalky lumps|white crumbs].",
            "The {thing} needs [cleaning with acid|a sour bath] every [fortnight|week] or it looks [awful|dirty].",
        ),
        (
            "We live in a [hard water area|place with very hard water].",
            "I tried [lemon juice|citric acid|your sachets] [twice|three times] and it [came back|did not shift].",
            "The [filter|mesh] catches [some|half] of it, the rest ends up in the cup.",
            "It [crunches|feels like sand] when I [drink|swallow].",
            "Guests [noticed|asked about it], which was [embarrassing|not nice].",
            "The old kettle never [did|had] this [in ten years|with the same tap].",
            "It [takes|now takes] longer to heat [too|as well], [I think|I believe] because of that layer.",
            "How [often|many times a month] am I [supposed|meant] to treat it?",
        ),
    ),
    Theme(
        "lid hinge",
        8,
        "goods",
        _KETTLES,
        (
            "The lid of my {thing} [hangs loose|wobbles|flops about] on [one side|its left side].",
            "The [pin|little pin|metal pin] that holds the top of the {thing} has [snapped|worked loose|fallen out].",
            "The top of the {thing} [came off in my hand|broke off] when I [opened it|filled it].",
            "The cover of the {thing} [no longer|doesn't] [springs open|snaps shut], the joint is [bent|cracked].",
            "The {thing} [will not|won't] close [flat|properly|fully] because the flap is [crooked|skewed].",
            "A [crack|split] has opened where the flap of the {thing} [pivots|joins the handle].",
            "I press the button and the lid of the {thing} [swings sideways|drops off|hangs by a thread].",
        ),
        (
            "Steam [escapes|comes out] at the back [and scalds my hand|near the handle].",
            "I have [taped|tied] it [down|on] for now.",
            "It was [stiff|hard to move] from [the first day|the start].",
            "Nobody dropped it, [I promise|to be clear].",
            "The plastic there looks [thin|much too thin] [to me|for daily use].",
            "Can I [buy|get] that part [alone|on its own], or does the whole kettle [go back|have to come in]?",
            "It [opened|went] with a [bang|crack] at breakfast.",
        ),
    ),
    Theme(
        "earbuds pairing",
        14,
        "goods",
        _BUDS,
        (
            "My phone [cannot|can't|does not] [find|see|discover] the {thing}[| at all].",
            "The {thing} [connect|link up] to my [laptop|tablet|old phone] instead of [my phone|the one in my hand].",
            "Only the [left|right] one of the {thing} [links up|connects], the other stays [silent|dead].",
            "The {thing} [lose|drop] the Bluetooth [link|connection] [every few minutes|whenever I stand up].",
            "I hold the button [five|ten|twenty] seconds and the {thing} [never appear|do not show up] in the list.",
            "After the [phone|system] update the {thing} [will not|won't] [reconnect|talk to it].",
            "[Each|Every] morning I have to [forget|delete] the {thing} on the phone and [set them up|add them] again.",
            "The {thing} [blink white|keep blinking] and [nothing happens|my phone says 'unable to connect'].",
            "I [give up|am stuck]: the {thing} and my [handset|mobile] [do not|cannot] see each other.",
        ),
        (
            "I [reset|cleared] them [twice|as the guide says], [no luck|no difference].",
            "Other headphones [work|connect] with the same phone [at once|without any trouble].",
            "It is a [two|three] year old Android[| phone], [fully|completely] up to date.",
            "My [wife|husband|daughter|son] tried with [a second|another] phone, [same result|no better].",
            "The list shows a name for a [second|moment] and then it [vanishes|is gone].",
            "On the [train|bus] this [is hopeless|happens all the time].",
            "They worked for [two days|a week|a month] and then [stopped|no more].",
            "Is there a [trick|setting] that I [missed|overlooked]?",
        ),
    ),
    Theme(
        "charging case battery",
        11,
        "goods",
        _BUDS,
        (
            "The [case|box] of the {thing} is [empty|flat|dead] after [one|a single] [day|night].",
            "The little box for the {thing} [does not|doesn't|will not] hold [its charge|power][| any longer].",
            "The case of my {thing} [gives|manages] only [one|half a] refill [now|instead of three].",
            "I plug in the case of the {thing} and [the lamp stays amber|no light comes on|nothing happens].",
            "The box the {thing} live in [drains|runs down] [overnight|in a drawer] without [being used|any use].",
            "The case of the {thing} gets [warm|hot] on the cable and [still|yet] shows [ten|twenty|five] per cent.",
            "Where you promise 28 hours, the {thing} with their case [last|give me] [nine|eleven|twelve|fourteen].",
            "The {thing} come out of their case [uncharged|half empty|with no juice].",
        ),
        (
            "I tried [two|three] [cables|chargers] [and a power bank|and the one in the car].",
            "It is [only|just] [three|four|five] months old.",
            "The buds [themselves|alone] are [fine|still good for seven hours].",
            "It was never [left in the cold|wet|dropped].",
            "I charged it [all night|for six hours], [same story|no better].",
            "[Commuting|A long flight] with it [makes no sense|is no use] like this.",
            "The amber [light|lamp] [flickers|stays on] for [hours|ages].",
            "[My|An] [older|earlier] pair [did|lasted] [far|much] better.",
        ),
    ),
    Theme(
        "late delivery",
        13,
        "order",
        _ANY,
        (
            "My {thing} was [promised|due] for [Monday|Tuesday|Thursday] and has [not come|still not arrived].",
            "[Ten|Twelve|Fifteen] days and the {thing} is [nowhere to be seen|still on its way].",
            "The tracking page for the {thing} has said 'in transit' since [last week|the weekend|Friday].",
            "I am [still|again] waiting for the {thing} that I [paid|ordered] [two|three] weeks ago.",
            "The parcel with the {thing} turned up [nine|eight|six] days after the [day|date] you [gave|named].",
            "The {thing} [missed|did not make it for] [my mother's birthday|the wedding] it was meant for.",
            "Two days, said the checkout; my {thing} [took|needed] [more than a week|eleven days].",
            "Twice I stayed at home for the {thing} and [no van|nobody] [came|rang].",
            "Where is my {thing}? The [slot|window] you gave me [passed|ended] [days|a week] ago.",
        ),
        (
            "The [courier|driver|carrier] [does not answer|blames you|says it never left the warehouse].",
            "I took [a day|half a day] off work [for this|for nothing].",
            "The [status|tracking] has not [changed|moved] [at all|since].",
            "Nobody [wrote|told me] that there [was|would be] a [delay|problem].",
            "I [even paid|paid extra] for [speed|express].",
            "A shop in town [had|has] it [on the shelf|in stock].",
            "The new date [has|had] [moved|slipped] [twice|three times] already.",
        ),
    ),
    Theme(
        "wrong item",
        7,
        "order",
        _ANY,
        (
            "I ordered the {thing} and [unpacked|found in the box|received] [something else entirely|another article].",
            "The label says {thing}, but inside was [a filter jug|a set of mugs|a phone charger|a travel iron].",
            "You sent me [somebody else's parcel|the order of a stranger] instead of my {thing}.",
            "This is not the {thing} that I [chose|paid for], it is [another model|a different colour].",
            "Instead of one {thing} I [got|was sent] [a coffee grinder|a lamp shade|a box of spare filters].",
            "The [number|code] on the carton does not [match|fit] the {thing} on my invoice.",
            "There has been a mix-up: [no|not the] {thing} in the box, [just|but] [towels|a clock|a bread bin].",
        ),
        (
            "The packing slip [has|shows] [another name|a different address] on it.",
            "I have not [opened|used] the [thing|other article], it is [still|all] wrapped.",
            "Who pays for [sending it back|the return]?",
            "The [picture|photo] on the site [was|is] [clear|quite different].",
            "Please send the right one [first|at once], I need it [by Friday|this week].",
            "It [looks|seems] as if two [labels|parcels] were [swapped|exchanged].",
            "I can [take|bring] it to [a store|the counter] if that [helps|is quicker].",
        ),
    ),
    Theme(
        "slow refund",
        6,
        "order",
        _ANY,
        (
            "I sent the {thing} back [three|four|five] weeks ago and the money [is not here|has not come].",
            "You [confirmed|accepted] the return of my {thing}, but nothing [has reached|shows on] my [account|card].",
            "I am [still|yet] to be paid back for the {thing}.",
            "[Twenty|Thirty|Eighteen] days after handing in the {thing} I [am|remain] out of pocket.",
            "How long [can|does] it take to [credit|reimburse] one {thing}?",
            "The [amount|sum] for the returned {thing} has been 'processing' [for weeks|since forever].",
            "My bank [sees|has seen] [no|not one] payment from you for the {thing}.",
        ),
        (
            "The counter gave me a [slip|receipt], I [have|kept] it.",
            "Last time it [was|came] [within|in] [three|four] days.",
            "Each [call|mail] gets me [another|a new] [date|promise].",
            "I need that money for [the rent|a replacement|the new one].",
            "The card [is|was] [valid|the same], I checked with [them|the bank].",
            "Your [page|policy] says [days, not weeks|something else].",
            "[One|A] colleague said [Tuesday|Friday], that was [two|three] weeks ago.",
        ),
    ),
    Theme(
        "app login",
        5,
        "app",
        ("app",),
        (
            "The app [throws|logs] me out [every time|each day] and [rejects|does not take] my password.",
            "I [cannot|can't] get into my account on the phone, it [says|claims] the [e-mail|address] is unknown.",
            "The code you text me [never arrives|comes too late], so I [cannot|can't] sign in.",
            "Since the update your app [shows|gives] 'session expired' [as soon as I|whenever I] sign in.",
            "I changed my password [twice|three times] and [still|yet] the app keeps me [out|at the front door].",
            "My [fingerprint|face] is [no longer|not] accepted by the app and the [backup|PIN] [fails|is refused] too.",
            "The reset [link|mail] [leads|goes] to an [empty|error] page, so I am locked out.",
        ),
        (
            "On the [website|computer] the same password [works|is fine].",
            "My [points|vouchers|receipts] are in there.",
            "I [deleted|removed] it and [installed it afresh|put it back], [no change|no luck].",
            "The phone is [new|a year old] and has [space|room] enough.",
            "I need the receipt for a [warranty|repair] [claim|case].",
            "Then it [wants|asks for] a [picture|code] that nobody [sent|gave] me.",
            "It [spins|hangs] for a minute and [closes|goes white].",
        ),
    ),
    Theme(
        "store queues",
        3,
        "queue",
        _ANY,
        (
            "I stood [forty|thirty|fifty] minutes at the till in {store} to pay for [one|a] {thing}.",
            "In {store} there was [one|a single] cashier for [twenty|thirty] people when I came for the {thing}.",
            "The line at the {store} tills went [round the shelves|out of the door], I left without my {thing}.",
            "Why does [collecting|picking up] a {thing} in {store} [cost|take] [an hour|my whole lunch break]?",
            "[Nobody|Not a soul] was serving in {store} on [Saturday|Friday], and [a dozen|twenty] of us were waiting.",
            "The wait in {store} was [absurd|endless] and all I wanted was the {thing}.",
        ),
        (
            "[Two|Three] of the tills were [dark|closed].",
            "The self-service machine [was|stood] out of order[| again].",
            "The [young man|lady] [there|at the desk] did [her|a heroic] best.",
            "[Older|Elderly] people had [no chair|nowhere to sit].",
            "It [was|is] the [second|third] time [this month|in a row].",
            "In June it was [as bad|no better].",
            "Please put [more people|somebody else] on at [noon|weekends].",
        ),
    ),
)

OPENINGS = (
    "Hello[,| there,|.]",
    "[Hi|Hi there|Hi team],",
    "Good [morning|evening|afternoon],",
    "Dear [team|support|Larkfield people],",
    "To whom it may concern,",
    "Sorry to [bother|trouble] you.",
    "I am [rather|quite|a bit] [annoyed|disappointed|fed up].",
    "[Long-time|Loyal] customer here.",
    "First [complaint|letter] in [ten|six|eight] years.",
    "[Please help|I need some help].",
    "I [rarely|never] write [such mails|to companies].",
    "Second [message|mail], [no answer to the first|nobody replied to the first].",
    "",
    "",
    "",
)

_POST = (
    "Order {order}, [bought|placed|paid] on {bought}.",
    "[My order|The order number|The order] is {order}.",
    "Order number {order}[| from {bought}].",
    "[Reference|Your reference] {order}, [dated|from] {bought}.",
    "See {order}.",
    "It was [handled|registered|booked] as {order} on {bought}.",
    "Paid [by card|from my account|with a gift card] on {bought} ({order}).",
)
_COUNTER = (
    "I bought [it|this] on {bought} in your {store} store, {order} on the receipt.",
    "Receipt [says|shows] {order}, {bought}, {store}.",
    "[Details|The details]: {order}, {store}, {bought}.",
)
CONTEXTS = {
    "goods": _POST + _COUNTER,
    "order": _POST,
    "queue": ("That was on {bought}.", "[It was|We are talking of] {bought}.", "Receipt {order}, {bought}."),
    "app": (
        "[My last|The last] order [in there|I can remember] was {order}.",
        "The account [goes with|belongs to] order {order} of {bought}.",
        "It [started|began] on {bought}.",
    ),
}
"""Where the order code stands, by kind."""

_PLAIN = (
    "What [can|could] be done?",
    "Please [advise|tell me what to do|get back to me].",
    "[Thanks|Thank you|Many thanks][| in advance].",
    "I expect [an answer|a reply] [this week|by Friday|soon].",
    "Otherwise I [like|love] the [brand|shop].",
    "[Kind|Best] regards.",
    "Not [good enough|what I expected][| from you].",
    "Can [someone|somebody] [call|ring] me?",
    "I [hope|trust] you [can sort this out|will put this right].",
    "[Cheers|Greetings], and [sorry for the tone|no hard feelings].",
    "",
)
_BROKEN = (
    "I would like [a replacement|my money back|a repair].",
    "Is [this|that] covered by the warranty?",
    "Shall I [bring it in|come to {store}|send photos]?",
)
CLOSINGS = {"goods": _PLAIN + _BROKEN, "order": _PLAIN, "queue": _PLAIN, "app": _PLAIN}
"""The last sentence, by kind."""

_ALWAYS = (
    "I have [read|searched] your [help page|site] and found [nothing|no answer] [about it|on this].",
    "My [sister|colleague|neighbour] [warned|told] me about this, and I [did not listen|laughed].",
    "I [waited|hesitated] [a week|some days] before writing, in case it [solved itself|was my fault].",
    "[A friend|My son] said that I should [write|report it], so here I am.",
    "It is a [small|minor] thing, [perhaps|I know], but it [adds up|spoils the day].",
    "[Frankly|Honestly], I [thought|believed] that [you were|Larkfield was] better than [this|that].",
)
EXTRAS = {
    "goods": (
        *_ALWAYS,
        "I am [happy|willing] to [send|mail] [photos|a video|a picture] if that helps.",
        "It [spoils|takes away] the [pleasure|joy] of [having|buying] something new.",
        "We are a [family|household] of [three|four|five], so [this|it] [matters|is a nuisance].",
        "The [staff|people] in {store} were [kind|friendly] but could not [help|say more].",
    ),
    "order": (*_ALWAYS, "The [staff|people] in {store} were [kind|friendly] but could not [help|say more]."),
    "queue": _ALWAYS[2:],
    "app": (*_ALWAYS, "The [staff|people] in {store} were [kind|friendly] but could not [help|say more]."),
}
"""Sentences about nothing in particular, by kind."""
