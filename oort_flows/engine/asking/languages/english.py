"""English."""

from __future__ import annotations

from oort_flows.engine.asking.languages.vocabulary import language

__all__ = ["ENGLISH"]

_VERBS = "think|believe|assume|know|suppose|reckon|understand|note|record|remember"
_THOUGHT = "thought|believed|assumed|knew|supposed|reckoned|understood|thinking|assuming|believing"
_THING = "port|value|setting|version|owner|limit|name|state|region|host|queue|model|address|answer|job|team|role|one"

ENGLISH = language(
    "English",
    """
    M 1: january, jan
    M 2: february, feb
    M 3: march, mar
    M 4: april, apr
    M 5: may
    M 6: june, jun
    M 7: july, jul
    M 8: august, aug
    M 9: september, sept, sep
    M 10: october, oct
    M 11: november, nov
    M 12: december, dec
    W 0: monday, mon
    W 1: tuesday, tue, tues
    W 2: wednesday, wed
    W 3: thursday, thu, thur, thurs
    W 4: friday, fri
    W 5: saturday, sat
    W 6: sunday, sun
    U minute: minute, minutes, mins
    U hour: hour, hours
    U day: day, days
    U week: week, weeks
    U month: month, months
    U quarter: quarter, quarters
    U half: half
    U year: year, years
    U weekend: weekend, weekends
    N 1: a, an, one
    N 2: two, a couple of, couple of
    N 3: three
    N few: a few, few, several
    N 4: four
    N 5: five
    N 6: six
    N 7: seven
    N 8: eight
    N 9: nine
    N 10: ten
    N 11: eleven
    N 12: twelve
    O 1: first
    O 2: second
    O 3: third
    O 4: fourth
    L -1: last, previous
    L past: past
    L 0: this, current
    L 1: next, coming, upcoming
    A: ago, back
    E day -1: yesterday
    E day -2: the day before yesterday, day before yesterday
    E day 0: today
    E day 1: tomorrow
    E day 2: the day after tomorrow, day after tomorrow
    E week -2: the week before last, week before last
    E month -2: the month before last, month before last
    E year -2: the year before last, year before last
    E weekend -2: the weekend before last, weekend before last
    E night -1: last night
    E night 0: tonight
    B start: beginning of, start of, early, early in, early on in, at the turn of
    B middle: middle of, mid, midway through
    B end: end of, end, late, late in, close of
    S 1: spring
    S 2: summer
    S 3: autumn, fall
    S 4: winter
    D morning: morning
    D afternoon: afternoon
    D evening: evening
    D night: night
    D noon: noon, midday
    i: in, on, at, during, throughout, around, over, within, back in, sometime in, as early as
    b: before, prior to, earlier than
    a: after, later than
    s: since, ever since, starting, starting in, starting from, as from
    u: until, till, through, up to, up until, by
    o: as of, as at, effective
    n: between
    f: from
    t: to
    &: and, or
    w: onwards, onward, forward, forwards
    g: the, of
    Z: now, as of now, right now, currently, at present, at the moment, presently, nowadays, these days
    Z: until now, up to now, so far, just now, for now
    K: calendar week, week, cw, wk
    """,
    small="""
    which what who whose when where why how was were is are be been am
    did do does had has have it its we our us you your they them
    their i me my he she his her that this these those there here at
    as for with about if or and but not no yes used use using hold held
    still then than out up off into onto onwards can could should would
    will shall might must please tell show list give any all so only
    """,
    weak="""
    march april may june august mar jan jun mon tue wed
    thu fri sat sun sep dec spring summer autumn winter fall second
    """,
    names="march april may june august jan",
    history=rf"""
    \b(?P<c1>how\s(?:has|have|had|did|does)\b)(?=.{{0,120}}?(?P<c2>\b(?:changed?|evolved?|developed?|varied|moved
    + |progressed)\b))
    \b(?P<c3>(?:has|have|had)\b)(?=[^.?!]{{0,80}}?(?P<c4>\b(?:changed|evolved)\b))
    \b(?P<c5>when\s(?:was|were|did|has|have))\b(?=.{{0,80}}?(?P<c6>\b(?:changed?|replaced|superseded)\b))
    \b(?P<c7>what(?:\shas|\shave|'s)?\s(?:all\s)?changed)\b
    \b(?P<c8>what\s(?:did|were\sthe)\s(?:the\s)?changes?(?:\s(?:to|in|of))?)\b
    \b(?P<c9>(?:full\s|whole\s|entire\s|change\s)?history\s(?:of|for|behind))\b
    \b(?P<c10>(?<!-)history)[\s?.!]*\Z
    \b(?P<c11>over\s(?:time|the\syears|the\smonths))\b
    \b(?P<c12>(?:evolution|timeline|changelog|chronology)\s(?:of|for))\b
    \b(?P<c13>(?:all|every|each)\s(?:the\s)?(?:previous\s|earlier\s|past\s|former\s|old\s)?(?:versions?|values?|changes?))\b
    \b(?P<c14>(?:previously|formerly|originally|in\sthe\spast|so\sfar\sever))\b
    (?<!\bis\s)(?<!\bare\s)(?<!\bwas\s)(?<!\bwere\s)(?<!\bbe\s)(?<!\bbeen\s)(?<!\bget\s)\b(?P<c15>(?:used?\sto\s(?:be|use
    + |have|run|own|hold|live|work|sit)))\b
    \b(?:was|were|had)\b[^.?!]{{0,60}}?\b(?P<c16>(?:before|earlier))[\s?.!]*\Z
    \b(?:was|were|had|did)\b[^.?!]{{0,40}}?\b(?P<c17>(?:previous|former|old|original|earlier|past))\s(?:\w+\s)?
    + (?:{_THING})s?\b
    \bwhich\s(?:\w+\s)?\w+s\s(?P<c19>ha(?:s|ve))\b(?!.{{0,200}}?\b(?:since|before|until|between|after|last|this|in\s\d
    + |today|yesterday|now)\b)(?=.{{0,60}}?\b(?:used|had|lived|held|been|owned|worked|run|spoken|served|tried)\b)
    \b(?:have|has|had|did|was|were)\b[^.?!]{{0,40}}?\b(?P<c18>ever)\b(?!\ssince)
    """,
    belief=rf"""
    \b(?P<c1>did)\b(?!\syou\sknow\b)(?=[^.?!;]{{0,60}}?\b(?P<c2>(?:{_VERBS}))\b)
    \b(?P<c3>(?:we|they|you|i|he|she|who|what|which|as|everyone|everybody|people|team|ledger|memory|it)\s(?:had\s|was\s
    + |were\s|have\s)?(?:once\s|still\s|then\s)?(?:{_THOUGHT}))\b
    \b(?P<c4>(?:was|were|been)\s(?:\w+\s){{0,3}}?(?:{_THOUGHT}|known|recorded|noted))\b
    \b(?P<c5>(?:our|the|their|my)\s(?:belief|understanding|assumption|knowledge|best\sguess))\b(?=.{{0,60}}?\b(?:was|were
    + |in|on|at|before|as\sof)\b)
    \b(?P<c6>(?:as|so)\s(?:known|believed|recorded|remembered|we\sknew\sit))\b
    \b(?P<c8>would)\b(?=[^.?!;]{{0,60}}?\b(?P<c9>have\s(?:said|answered|known|thought|believed|told|returned))\b)
    \b(?P<c7>according\sto\s(?:what\swe\sknew|our\snotes|our\srecords|the\sledger|memory))\b
    """,
    future=r"""
    \b(?:will|shall|going\sto|'ll|won't|planned|scheduled|upcoming)\b
    """,
    excuses=r"""
    \b(?:git|browser|browsing|chat|command|shell|bash|commit|search|order|medical|credit|call|undo|run|message
    + |conversation|purchase|edit|job|revision|watch|art|natural|family)\s+history\b
    \bhistory\s+(?:of\s+(?:the\s+|our\s+|this\s+)?(?:company|firm|organi[sz]ation|business|art|music|science|world|war
    + |computing|internet|country|city|town|universe|philosophy|medicine|europe|rome)\b|(?:table|page|server|file|log|tab
    + |class|teacher|book|lesson|exam|api|endpoint|view|command|feature|retention|limit|size|store|service|database
    + |museum|buffer|mode)s?\b)
    \bwhat\s+changed\s+(?!in\b|on\b|at\b|since\b|between\b|after\b|before\b|about\b|with\b|for\b|over\b|during\b|from\b
    + |until\b|till\b|around\b|as\b|and\b|there\b|here\b|last\b|this\b|today\b|yesterday\b|recently\b|lately\b|a\b|two\b
    + |three\b|two\b|now\b|when\b|within\b|\d)\w
    \bchanged?\s+in\s+(?:v?\d+\.\d|(?:version|release|build|commit)\b)
    \bwho\s+(?:has\s+|had\s+)?changed\b
    \bhow\s+(?:do|can|could|should|must|would|to)\b
    """,
)
