"""French."""

from __future__ import annotations

from oort_flows.engine.asking.languages.vocabulary import language

__all__ = ["FRENCH"]

FRENCH = language(
    "French",
    """
    M 1: janvier, janv
    M 2: février, févr
    M 3: mars
    M 4: avril, avr
    M 5: mai
    M 6: juin
    M 7: juillet, juil
    M 8: août
    M 9: septembre
    M 10: octobre, oct
    M 11: novembre, nov
    M 12: décembre, déc
    W 0: lundi
    W 1: mardi
    W 2: mercredi
    W 3: jeudi
    W 4: vendredi
    W 5: samedi
    W 6: dimanche
    U minute: minute, minutes
    U hour: heure, heures
    U day: jour, jours
    U week: semaine, semaines
    U month: mois
    U quarter: trimestre, trimestres
    U half: moitié, semestre
    U year: an, ans, année, années
    U weekend: week-end, weekend
    N 1: un, une
    N 2: deux
    N 3: trois
    N few: quelques, plusieurs
    N 4: quatre
    N 5: cinq
    N 6: six
    N 7: sept
    N 8: huit
    N 9: neuf
    N 10: dix
    N 11: onze
    N 12: douze
    O 1: premier, première, 1er
    O 2: deuxième, second, seconde
    O 3: troisième
    O 4: quatrième
    L -1: dernier, dernière, derniers, dernières, passé, passée, passés, passées, précédent, précédente
    L 0: ce, cet, cette
    L 1: prochain, prochaine, prochains, prochaines
    V: il y a, ça fait, voici
    E day -1: hier
    E day -2: avant-hier
    E day 0: aujourd'hui
    E day 1: demain
    E day 2: après-demain
    E week -2: il y a quinze jours, il y a 15 jours
    B start: début, au début de, début de, au début du, au début
    B middle: mi, au milieu de, milieu de, au milieu du, à la mi
    B end: fin, à la fin de, fin de, à la fin du, à la fin
    S 1: printemps
    S 2: été
    S 3: automne
    S 4: hiver
    D morning: matin, au matin
    D afternoon: après-midi
    D evening: soir, au soir
    D night: nuit
    i: en, dans, pendant, durant, au cours de, au cours du, au mois de, courant, lors de, au mois d, vers
    b: avant
    a: après
    s: depuis, à partir de, à partir du, à compter de, à compter du, dès
    u: jusqu'en, jusqu'au, jusqu'à, jusque, jusqu en, jusqu au, jusqu à
    o: au titre de, à la date du, en date du, à date du, état au, arrêté au
    n: entre
    t in: à, au
    &: et, ou
    g: le, la, les, l, de, du, d, des, de l, de la
    Z: maintenant, actuellement, à présent, en ce moment, de nos jours, pour l'instant, jusqu'ici, jusqu'à présent
    """,
    small="""
    quel quelle quels quelles qui que qu quoi quand où
    comment pourquoi est sont était étaient avions avait avaient utilisait utilisions
    utilisait-on on nous je il elle ils elles vous se ne pas plus sur dans avec pour
    par et ou un une le la les des du ce c a ont fut été y
    """,
    weak="printemps automne hiver été second seconde",
    names="",
    history=r"""
    \b(?P<c1>comment\b)(?=.{0,120}?(?P<c2>\b(?:changé|change|évolué|evolue|évolue|varié|évoluait|changeait)\b))
    \b(?P<c3>(?:a|ont)(?:-t-(?:il|elle|on|ils|elles))?)\b(?=.{0,30}?(?P<c4>\b(?:changé|évolué|evolue)\b))
    \b(?P<c5>quand\b)(?=.{0,80}?(?P<c6>\b(?:changé|remplacé)\b))
    \b(?P<c7>qu'?\s?est-ce\squi\sa\schangé)\b
    \b(?P<c8>(?:l')?(?:historique|évolution|evolution|chronologie|histoire)\s(?:de\sla|de\sl|du|des|de|d))\b
    \b(?P<c9>(?:au\sfil\sdu\stemps|au\scours\sdu\stemps|avec\sle\stemps))\b
    \b(?P<c10>(?:auparavant|autrefois|précédemment|precedemment|à\sl'origine|jadis))\b
    \b(?P<c11>toutes\sles\s(?:anciennes\s)?(?:versions|valeurs|modifications))\b
    """,
    belief=r"""
    \b(?P<c1>(?:pensions|pensait|pensaient|pensais|croyions|croyait|croyaient|croyais|savions|savait|savaient|savais
    + |supposions|supposait|supposaient|estimions|estimait|pensé|cru|supposé))(?:-(?:nous|on|ils|elles|vous|il|elle))?\b
    """,
    future=r"""
    \b(?:sera|seront|serons|prévu|prévue|aura|auront|va|vont)\b
    """,
    excuses=r"""
    \b(?:histoire|historique)\s+(?:de\s+la\s+(?:société|musique|ville|france)|de\s+l['’](?:entreprise|art|europe)|du\s+
    + (?:monde|pays|navigateur)|de\s+navigation)\b
    \bqui\s+a\b
    \bcomment\s+(?:puis|peut|peux|faire|faut)\b
    """,
)
