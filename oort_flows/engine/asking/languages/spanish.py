"""Spanish."""

from __future__ import annotations

from oort_flows.engine.asking.languages.vocabulary import language

__all__ = ["SPANISH"]

SPANISH = language(
    "Spanish",
    """
    M 1: enero, ene
    M 2: febrero, feb
    M 3: marzo
    M 4: abril, abr
    M 5: mayo
    M 6: junio, jun
    M 7: julio, jul
    M 8: agosto, ago
    M 9: septiembre, setiembre, sept
    M 10: octubre, oct
    M 11: noviembre, nov
    M 12: diciembre, dic
    W 0: lunes
    W 1: martes
    W 2: miércoles
    W 3: jueves
    W 4: viernes
    W 5: sábado
    W 6: domingo
    U minute: minuto, minutos
    U hour: hora, horas
    U day: día, días
    U week: semana, semanas
    U month: mes, meses
    U quarter: trimestre, trimestres
    U half: mitad, semestre
    U year: año, años
    U weekend: fin de semana
    N 1: un, una, uno
    N 2: dos, un par de
    N 3: tres
    N few: unos, unas, algunos, algunas, varios, varias, unos pocos
    N 4: cuatro
    N 5: cinco
    N 6: seis
    N 7: siete
    N 8: ocho
    N 9: nueve
    N 10: diez
    N 11: once
    N 12: doce
    O 1: primer, primero, primera
    O 2: segundo, segunda
    O 3: tercer, tercero, tercera
    O 4: cuarto, cuarta
    L -1: pasado, pasada, pasados, pasadas, último, última, últimos, últimas, anterior
    L 0: este, esta, estos, estas
    L 1: próximo, próxima, próximos, próximas, que viene
    V: hace
    A: atrás
    E day -1: ayer
    E day -2: anteayer, antes de ayer
    E day 0: hoy
    E day 1: mañana
    E day 2: pasado mañana
    E night -1: anoche
    B start: principios de, a principios de, a principios del, comienzos de, a comienzos de, inicios de, a inicios de
    B start: principio de, al principio de, inicio de, al inicio de, comienzo de
    B middle: mediados de, a mediados de, a mediados del
    B end: finales de, a finales de, a finales del, fines de, a fines de, final de, al final de, fin de
    S 1: primavera
    S 2: verano
    S 3: otoño
    S 4: invierno
    D morning: por la mañana
    D noon: al mediodía
    D afternoon: por la tarde
    D evening: por la noche
    i: en, durante, a lo largo de, en el mes de
    b: antes de, antes del, previo a
    a: después de, después del, tras, luego de
    s: desde, a partir de, a partir del, desde hace
    u: hasta
    o: a fecha de, con fecha de, a día
    n: entre
    t in: a, al
    &: y, e, o
    w: en adelante
    g: de, del, la, el, los, las, lo
    Z: ahora, actualmente, ahora mismo, hoy en día, en este momento, hasta ahora, por ahora
    """,
    small="""
    qué que cuál cuáles quién quiénes cuándo dónde cómo por para
    es son era eran fue fueron estaba estaban teníamos tenía usábamos usaba
    usamos había se no sí nos nosotros yo él ella ellos con sin sobre y
    o el la los las un una de del en lo al su sus hay teníais
    """,
    weak="primavera verano otoño invierno sept ene ago segundo segunda cuarto",
    names="julio abril",
    history=r"""
    \b(?P<c1>c[oó]mo\b)(?=.{0,120}?(?P<c2>\b(?:cambiado|cambió|cambio|evolucionado|evolucionó|variado|cambiando)\b))
    \b(?P<c3>(?:ha|han)\b)(?=.{0,40}?(?P<c4>\b(?:cambiado|evolucionado)\b))
    \b(?P<c5>cu[aá]ndo\b)(?=.{0,80}?(?P<c6>\b(?:cambió|cambiaron|cambiado|reemplazó)\b))
    \b(?P<c7>qu[eé]\s(?:ha\scambiado|cambió|cambios\shubo))\b
    \b(?P<c8>(?:historial|historia|evolución|evolucion|cronología)\s(?:de\sla|de\slos|de\slas|del|de))\b
    \b(?P<c9>(?:a\slo\slargo\sdel\stiempo|con\sel\stiempo|con\sel\spaso\sdel\stiempo))\b
    \b(?P<c10>(?:anteriormente|antiguamente|previamente|originalmente))\b
    \b(?P<c11>todas\slas\sversiones|todos\slos\s(?:valores|cambios))\b
    \b(?:era|eran|fue|teníamos|usábamos)\b.{0,60}?\b(?P<c12>antes)[\s?.!]*\Z
    """,
    belief=r"""
    \b(?P<c1>(?:pensábamos|pensabamos|pensaba|pensaban|creíamos|creiamos|creía|creían|creia|sabíamos|sabiamos|sabía
    + |sabían|suponíamos|suponiamos|suponía|asumíamos|asumimos|pensamos|creímos|supimos))\b
    """,
    future=r"""
    \b(?:será|serán|estará|estarán|va\sa|van\sa|vamos\sa|tendremos)\b
    """,
    excuses=r"""
    \bhistoria\s+(?:de\s+la\s+(?:empresa|compañía|música|ciudad)|del\s+(?:arte|mundo|país)|de\s+españa)\b
    \bhistorial\s+(?:de\s+navegación|de\s+navegacion|del\s+navegador|médico)\b
    \bqui[eé]n\s+(?:ha\s+)?cambi
    \bc[oó]mo\s+(?:puedo|se\s+puede|debo|hay)\b
    """,
)
