"""German."""

from __future__ import annotations

from oort_flows.engine.asking.languages.vocabulary import language

__all__ = ["GERMAN"]

GERMAN = language(
    "German",
    """
    M 1: januar, jänner, jan
    M 2: februar, feber, feb
    M 3: märz, mär, mrz
    M 4: april, apr
    M 5: mai
    M 6: juni, jun
    M 7: juli, jul
    M 8: august, aug
    M 9: september, sept, sep
    M 10: oktober, okt
    M 11: november, nov
    M 12: dezember, dez
    W 0: montag, montags
    W 1: dienstag, dienstags
    W 2: mittwoch, mittwochs
    W 3: donnerstag, donnerstags
    W 4: freitag, freitags
    W 5: samstag, sonnabend, samstags
    W 6: sonntag, sonntags
    U minute: minute, minuten
    U hour: stunde, stunden
    U day: tag, tage, tagen, tages
    U week: woche, wochen
    U month: monat, monats, monate, monaten, monates
    U quarter: quartal, quartals, quartale, quartalen, vierteljahr, vierteljahres
    U half: hälfte
    U year: jahr, jahre, jahren, jahres, jahrs
    U weekend: wochenende, wochenendes
    N 1: ein, eine, einen, einem, einer
    N 2: zwei
    N 3: drei
    N few: ein paar, paar, einigen, mehreren
    N 4: vier
    N 5: fünf
    N 6: sechs
    N 7: sieben
    N 8: acht
    N 9: neun
    N 10: zehn
    N 11: elf
    N 12: zwölf
    O 1: erste, erster, ersten, erstes
    O 2: zweite, zweiter, zweiten, zweites
    O 3: dritte, dritter, dritten, drittes
    O 4: vierte, vierter, vierten, viertes
    L -1: letzte, letzter, letzten, letztes, letztem, vergangene, vergangenen, vergangenes, vergangener, vorige
    L -1: voriger, vorigen, voriges
    L 0: diese, dieser, diesen, dieses, diesem
    L 1: nächste, nächster, nächsten, nächstes, nächstem, kommende, kommenden, kommendes, kommender
    v: vor
    E day -1: gestern
    E day -2: vorgestern
    E day 0: heute
    E day 1: morgen
    E day 2: übermorgen
    E week -2: vorletzte woche, vorletzter woche
    E month -2: vorletzten monat, im vorletzten monat
    E year -2: vorletztes jahr, vorletzten jahres
    E year 0: heuer
    E dawn 0: heute morgen, heute früh
    E dawn -1: gestern morgen, gestern früh
    B start: anfang, beginn, zu beginn
    B middle: mitte
    B end: ende
    S 1: frühling, frühjahr, frühlings
    S 2: sommer, sommers
    S 3: herbst, herbstes
    S 4: winter, winters
    D morning: früh, vormittag, am vormittag
    D noon: mittag
    D afternoon: nachmittag
    D evening: abend
    D night: nacht
    i: im, in, am, an, während, um
    s: seit, ab
    a: nach
    u: bis, bis zum, bis zur, bis einschließlich
    o: stand, per, zum stand, zum stichtag, mit stand, mit stand vom, stand vom
    n: zwischen
    f: von, vom
    &: und, oder
    g: der, die, das, des, dem, den
    Z: jetzt, derzeit, aktuell, momentan, gerade, zurzeit, zur zeit, heutzutage, im moment, gegenwärtig, bis jetzt, bisher
    K: kw, kalenderwoche
    """,
    small="""
    welcher welche welches welchen welchem was wer wem wen wann wo wie
    warum ist sind war waren wurde wurden hatte hatten haben hat habe
    lief liefen galt galten nutzten benutzten gab wir ich ihr sie er es
    man uns unser unsere und oder nicht noch schon mit für zu auf aus
    über sich kein keine dass ob bei durch dachten glaubten wussten war's dann damals
    """,
    weak="frühling frühjahr sommer herbst winter jan",
    names="august jan",
    history=r"""
    \b(?P<c1>wie\b)(?=.{0,120}?(?P<c2>\b(?:geändert|geaendert|verändert|veraendert|entwickelt|gewandelt|änderte
    + |veränderte|entwickelte|aenderte)\b))
    \b(?P<c3>(?:hat|haben|hatte|hatten)\ssich\b)(?=.{0,100}?(?P<c4>\b(?:geändert|geaendert|verändert|veraendert
    + |entwickelt|gewandelt)\b))
    \b(?P<c5>wann\b)(?=.{0,80}?(?P<c6>\b(?:geändert|geaendert|gewechselt|ersetzt|wechselte|änderte)\b))
    \b(?P<c7>was\s(?:hat\ssich|wurde)\b)(?=.{0,80}?(?P<c8>\b(?:geändert|geaendert|verändert|veraendert|getan)\b))
    \b(?P<c9>(?:geschichte|historie|verlauf|entwicklung|chronik|werdegang)\s(?:des|der|von|vom|zu|zum|zur))\b
    \b(?P<c10>(?:im\slaufe\sder\szeit|im\szeitverlauf|im\szeitlichen\sverlauf|über\sdie\szeit|ueber\sdie\szeit))\b
    \b(?P<c11>alle\s(?:früheren\s|fruheren\s|frueheren\s|bisherigen\s|alten\s)?(?:versionen|werte|stände|änderungen
    + |fassungen))\b
    \b(?P<c12>(?:früher|frueher|ehemals|vormals|ursprünglich|einst|zuvor))\b
    \b(?P<c13>(?:änderungshistorie|aenderungshistorie|versionsgeschichte))\b
    \b(?P<c14>(?:jemals|je\szuvor))\b
    """,
    belief=r"""
    \b(?P<c1>(?:dachten|dachte|glaubten|glaubte|wussten|wusste|vermuteten|vermutete|meinten|meinte|hielten|annahmen
    + |angenommen|gedacht|geglaubt|gewusst|vermutet))\b
    \b(?P<c2>(?:nahmen|nahm)\b)(?=.{0,60}?(?P<c3>\ban\b))
    \b(?P<c4>(?:gingen|ging)\b)(?=.{0,60}?(?P<c5>\bdavon\saus\b))
    \b(?P<c6>(?:unser|unserem|nach\sunserem|der)\s(?:damalige[rnm]?\s)?(?:wissensstand|kenntnisstand|wissen))\b
    """,
    future=r"""
    \b(?:wird|werden|werde|geplant)\b
    """,
    excuses=r"""
    \b(?:geschichte|historie)\s+(?:der\s+firma|des\s+unternehmens|der\s+musik|der\s+kunst|der\s+welt|der\s+stadt
    + |des\s+landes|der\s+informatik)\b
    \b(?:browser|chat|such)-?verlauf\b
    \bwie\s+(?:kann|muss|soll|wird|werden|lässt)\b
    \bwer\s+hat\b
    """,
)
