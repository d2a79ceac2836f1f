"""Portuguese."""

from __future__ import annotations

from oort_flows.engine.asking.languages.vocabulary import language

__all__ = ["PORTUGUESE"]

PORTUGUESE = language(
    "Portuguese",
    """
    M 1: janeiro, jan
    M 2: fevereiro, fev
    M 3: março
    M 4: abril, abr
    M 5: maio
    M 6: junho, jun
    M 7: julho, jul
    M 8: agosto
    M 9: setembro
    M 10: outubro
    M 11: novembro, nov
    M 12: dezembro
    W 0: segunda-feira, segunda feira
    W 1: terça-feira, terça, terça feira
    W 2: quarta-feira, quarta feira
    W 3: quinta-feira, quinta feira
    W 4: sexta-feira, sexta, sexta feira
    W 5: sábado
    W 6: domingo
    U minute: minuto, minutos
    U hour: hora, horas
    U day: dia, dias
    U week: semana, semanas
    U month: mês, meses
    U quarter: trimestre, trimestres
    U half: metade, semestre
    U year: ano, anos
    U weekend: fim de semana, final de semana
    N 1: um, uma
    N 2: dois, duas
    N 3: três
    N few: alguns, algumas, vários, várias, uns, umas, poucos
    N 4: quatro
    N 5: cinco
    N 6: seis
    N 7: sete
    N 8: oito
    N 9: nove
    N 10: dez
    N 11: onze
    N 12: doze
    O 1: primeiro, primeira
    O 2: segundo, segunda
    O 3: terceiro, terceira
    O 4: quarto, quarta
    L -1: passado, passada, passados, passadas, último, última, últimos, últimas, anterior
    L 0: este, esta, neste, nesta, estes, estas, deste, desta
    L 1: próximo, próxima, próximos, próximas, que vem
    V: há, faz
    A: atrás
    E day -1: ontem
    E day -2: anteontem
    E day 0: hoje
    E day 1: amanhã
    E day 2: depois de amanhã
    B start: início de, no início de, no início do, começo de, no começo de, no começo do, início do
    B middle: meados de, em meados de, meados do, em meados do
    B end: fim de, no fim de, no fim do, final de, no final de, no final do, final do, fins de
    S 1: primavera
    S 2: verão
    S 3: outono
    S 4: inverno
    D morning: de manhã, pela manhã
    D afternoon: à tarde, de tarde
    D evening: à noite, de noite
    i: em, no, na, nos, nas, durante, ao longo de, no mês de
    b: antes de, antes do, antes da
    a: depois de, depois do, depois da, após, após o
    s: desde, a partir de, a partir do, desde a
    u: até, até a, até ao
    o: à data de, com data de, na data de
    n: entre
    t in: a, ao, à
    &: e, ou
    w: em diante
    g: de, do, da, o, os, as, dos, das
    Z: agora, atualmente, neste momento, no momento, hoje em dia, até agora
    """,
    small="""
    qual quais quem que o quando onde como porque por para é
    são era eram foi foram estava estavam tínhamos tinha usávamos usava usamos
    havia se não sim nós eu ele ela eles com sem sobre e ou os as um uma do da no na em ao seu sua a-gente gente achávamos
    """,
    weak="primavera verão outono inverno jan segundo segunda sexta terça quarta",
    names="abril",
    history=r"""
    \b(?P<c1>como\b)(?=.{0,120}?(?P<c2>\b(?:mudou|mudaram|mudado|evoluiu|evoluíram|evoluido|evoluído|variou|alterou
    + |mudando)\b))
    \b(?P<c3>quando\b)(?=.{0,80}?(?P<c4>\b(?:mudou|mudaram|mudado|trocou|alterado)\b))
    \b(?P<c5>o\sque\s(?:mudou|foi\salterado|tem\smudado))\b
    \b(?P<c6>(?:histórico|historico|história|historia|evolução|evolucao|cronologia)\s(?:do|da|dos|das|de))\b
    \b(?P<c7>(?:ao\slongo\sdo\stempo|com\so\stempo|com\so\spassar\sdo\stempo))\b
    \b(?P<c8>(?:antigamente|anteriormente|previamente|originalmente))\b
    \b(?P<c9>todas\sas\svers[õo]es|todos\sos\svalores)\b
    \b(?P<c10>(?:porta|valor|limite|\w+)\s(?:já\s)?mudou)[\s?.!]*\Z
    \b(?:era|eram|foi|tínhamos|usávamos)\b.{0,60}?\b(?P<c11>antes)[\s?.!]*\Z
    """,
    belief=r"""
    \b(?P<c1>(?:pensávamos|pensavamos|pensava|pensavam|achávamos|achavamos|achava|achavam|acreditávamos|acreditavamos
    + |acreditava|acreditavam|sabíamos|sabiamos|sabia|sabiam|supúnhamos|supunha|pensamos|achamos|julgávamos))\b
    """,
    future=r"""
    \b(?:será|serão|estará|estarão|vai|vão|vamos|teremos)\b
    """,
    excuses=r"""
    \bhist[óo]ria\s+(?:da\s+(?:empresa|música|cidade|arte)|do\s+(?:mundo|brasil|país))\b
    \bhist[óo]rico\s+(?:de\s+navegação|do\s+navegador|médico)\b
    \bquem\s+mudou\b
    """,
)
