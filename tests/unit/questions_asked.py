"""
Questions as people ask them, and what each asks for: mode, relation and period, and the question.

They are asked on Wednesday, 17 June 2026, at noon UTC. A period is ``start/end`` in UTC, ``..`` an open side, ``-`` none.
"""

from __future__ import annotations

__all__ = ["MEANT", "TRAPS"]

MEANT = {
    "English": """
        as_of | in 2026-03-01/2026-04-01 | which port was it in March
        as_of | in 2026-03-01/2026-04-01 | In March, which port was it?
        as_of | in 2025-09-01/2025-10-01 | which port was it in September
        as_of | in 2026-06-01/2026-07-01 | which port was it in June
        as_of | in 2025-03-01/2025-04-01 | which port was it in March 2025
        as_of | in 2025-03-01/2025-04-01 | which port was it in March of 2025
        as_of | in 2025-03-01/2025-04-01 | which port was it in March last year
        as_of | in 2026-05-01/2026-06-01 | the port in may
        as_of | in 2026-03-03/2026-03-04 | who was on call on 3 March
        as_of | in 2026-03-03/2026-03-04 | who was on call on March 3rd
        as_of | in 2025-03-03/2025-03-04 | who was on call on March 3, 2025
        as_of | in 2025-03-03/2025-03-04 | who was on call on the 3rd of March 2025
        as_of | in 2025-06-20/2025-06-21 | which port did we use on 20 June
        as_of | in 2026-06-16/2026-06-17 | which port did we use yesterday
        as_of | in 2026-06-17/2026-06-18 | what was deployed today
        as_of | in 2026-06-15/2026-06-16 | what was deployed the day before yesterday
        as_of | in 2026-06-08/2026-06-15 | which queue did we use last week
        as_of | in 2026-06-15/2026-06-22 | what did we decide this week
        as_of | in 2026-05-01/2026-06-01 | who owned billing last month
        as_of | in 2026-06-01/2026-07-01 | who owned billing this month
        as_of | in 2025-01-01/2026-01-01 | who owned billing last year
        as_of | in 2026-01-01/2026-04-01 | who owned billing last quarter
        as_of | in 2026-06-12/2026-06-13 | who was on call last Friday
        as_of | in 2026-06-12/2026-06-13 | who was on call on Friday
        as_of | in 2026-06-17/2026-06-18 | who was on call on Wednesday
        as_of | in 2026-06-10/2026-06-11 | who was on call last Wednesday
        as_of | in 2026-06-19/2026-06-20 | who will be on call on Friday
        as_of | in 2026-06-24/2026-06-25 | who is on call next Wednesday
        as_of | in 2026-06-22/2026-06-29 | who is on call next week
        as_of | in 2026-06-18/2026-06-19 | who is on call tomorrow
        as_of | in 2026-06-01/2026-06-08 | which host were we on two weeks ago
        as_of | in 2026-06-14/2026-06-15 | which host were we on 3 days ago
        as_of | in 2026-03-01/2026-04-01 | which host were we on three months ago
        as_of | in 2025-01-01/2026-01-01 | which host were we on a year ago
        as_of | in 2026-01-01/2026-04-01 | which limit held in Q1
        as_of | in 2025-01-01/2025-04-01 | which limit held in Q1 2025
        as_of | in 2025-04-01/2025-07-01 | which limit held in the second quarter of 2025
        as_of | in 2025-01-01/2025-07-01 | which limit held in the first half of 2025
        as_of | in 2025-07-01/2026-01-01 | which limit held in H2 2025
        as_of | in 2024-01-01/2025-01-01 | which limit held in 2024
        as_of | in 2026-05-21/2026-06-01 | which limit held at the end of May
        as_of | in 2025-05-01/2025-05-11 | which limit held in early May 2025
        as_of | in 2025-05-11/2025-05-21 | which limit held in mid-May 2025
        as_of | in 2025-10-01/2026-01-01 | which limit held at the end of last year
        as_of | since 2026-01-01/.. | which ports were used since January
        as_of | since 2026-06-12/.. | which ports were used since Friday
        as_of | before ../2025-03-01 | which port did we use before March 2025
        as_of | after 2025-04-01/.. | which port did we use after March 2025
        as_of | until ../2025-04-01 | which port did we use until March 2025
        as_of | as of 2025-03-01/2025-04-01 | the port as of March 2025
        as_of | between 2026-01-01/2026-04-01 | which ports were used between January and March
        as_of | between 2025-11-01/2026-03-01 | which ports were used between November and February
        as_of | between 2025-03-03/2025-03-06 | which ports were used from 3 to 5 March 2025
        as_of | between 2025-03-03/2025-04-08 | which ports were used between 2025-03-03 and 2025-04-07
        as_of | between 2023-01-01/2025-01-01 | which ports were used from 2023 to 2024
        as_of | since 2026-06-14/.. | which ports were used in the last 3 days
        as_of | in 2025-11-02/2025-11-03 | which port was open on 2025-11-02
        as_of | in 2025-11-01/2025-12-01 | which port was open in 2025-11
        as_of | in 2025-11-02T14:30/2025-11-02T14:31 | which port was open at 2025-11-02T14:30Z
        as_of | in 2026-06-16T14:30/2026-06-16T14:31 | which port was open yesterday at 14:30
        as_of | in 2025-06-01/2025-09-01 | which port was open last summer
        known_at | in 2026-03-01/2026-04-01 | what did we think in March
        known_at | in 2026-03-01/2026-04-01 | which port did we believe it was in March
        known_at | in 2026-06-08/2026-06-15 | what did the team know about the port last week
        known_at | before ../2025-03-01 | what did we assume about the port before March 2025
        history | - | how has the port changed
        history | - | how did the port change
        history | - | history of the port
        history | - | the port over time
        history | in 2026-06-08/2026-06-15 | what changed last week
        history | since 2026-03-01/.. | how has the port changed since March
        history | - | what was the port previously
        current | - | which port
        current | - | what is the port right now
        current | - | which port do we use as of now
        as_of | in 2026-02-01/2026-03-01 | February port
        as_of | in 2024-02-29/2024-03-01 | who was on call on 29 February 2024
        as_of | in 2024-02-29/2024-03-01 | who was on call on February 29
        as_of | in 2026-01-01/2026-02-01 | who owned the cluster back in January
        as_of | in 2026-06-16T18:00/2026-06-17T06:00 | what broke last night
        as_of | in 2026-06-17/2026-06-17T12:00 | what broke this morning
        as_of | in 2026-06-16/2026-06-16T12:00 | what broke yesterday morning
        as_of | in 2026-06-13/2026-06-15 | who was on call last weekend
        as_of | in 2026-06-08/2026-06-09 | who was on call on Monday last week
        as_of | in 2026-06-14/2026-06-15 | who was on call on Sun
        as_of | in 2026-03-01/2026-04-01 | which port did we use last March
        as_of | in 2025-06-01/2025-07-01 | which port did we use last June
        as_of | in 2027-03-01/2027-04-01 | which port do we use next March
        as_of | in 2026-03-25/2026-04-01 | which host was it in the last week of March
        as_of | in 2026-03-01/2026-03-08 | which host was it in the first week of March
        as_of | in 2026-05-01/2026-05-16 | which host was it in the first half of May
        as_of | in 2025-10-01/2026-01-01 | which host was it in the last quarter of 2025
        as_of | in 2026-06-07/2026-06-08 | which host was it ten days ago
        as_of | in 2026-06-17T10:00/2026-06-17T11:00 | which host was it two hours ago
        as_of | in 2026-06-16/2026-06-17 | which host was it a day ago
        as_of | in 2026-06-01/2026-06-08 | which host was it a couple of weeks ago
        as_of | in 2026-05-18/2026-06-08 | which host was it a few weeks ago
        as_of | since 2026-06-17T10:00/.. | errors in the last 2 hours
        as_of | since 2026-03-17/.. | decisions of the past three months
        as_of | since 2025-06-17/.. | decisions of the past year
        as_of | since 2026-03-01/.. | ports from March onwards
        as_of | since 2026-03-01/.. | ports from March on
        as_of | until ../2026-06-01 | what had we settled by the end of May
        as_of | before ../2026-06-01 | what had we settled before the end of May
        as_of | between 2026-03-01/2026-05-01 | which ports were open from March to April
        as_of | between 2026-03-01/2026-06-01 | which ports were open between March and May
        as_of | between 2026-03-01/2026-06-01 | which ports were open Mar-May
        as_of | between 2026-06-09/2026-06-13 | which ports were open between Tuesday and Friday
        as_of | between 2025-03-01/2025-06-01 | which port did we use since March 2025 until May 2025
        as_of | between 2026-03-01/2026-06-01 | which port did we use in March and in May
        as_of | between 2026-03-03/2026-03-06 | March 3-5 on-call rota
        as_of | in 2026-03-02/2026-03-09 | which port was it in calendar week 10
        as_of | in 2025-03-03/2025-03-10 | who was on call in 2025-W10
        as_of | in 2025-01-01/2025-04-01 | the limit in 2025-Q1
        as_of | in 2025-03-01/2025-04-01 | who owned billing last year March
        as_of | in 2026-06-08/2026-06-15 | which host was it last week at 14:30
        as_of | between 2023-11-01/2024-03-01 | which ports were open from November to February 2024
        as_of | between 2023-11-01/2024-03-01 | which ports were open from November 2023 to February
        as_of | between 2025-03-01/2025-06-01 | which ports were open between May 2025 and March 2025
        as_of | in 2025-11-02T17:30/2025-11-02T17:31 | which port at 2025-11-02T14:30-03:00
        as_of | in 2025-11-02/2025-11-03 | who was on call on 2025/11/02
        as_of | in 2025-12-25/2025-12-26 | who was on call on 25/12/2025
        as_of | in 2025-12-25/2025-12-26 | who was on call on 12/25/2025
        as_of | since 2026-02-01/.. | which port have we had since 1.2.2026
        as_of | in 2025-11-02T13:30/2025-11-02T13:31 | which port at 2025-11-02T14:30+01:00
        as_of | between 2025-11-02/2025-11-06 | ports 2025-11-02..2025-11-05
        as_of | in 2024-01-01/2024-04-01 | which region was it in early 2024
        as_of | before ../2025-01-01 | which region was it pre-2025
        as_of | in 2025-12-01/2026-03-01 | which region was it in winter
        as_of | in 2025-06-01/2025-09-01 | the region in summer 2025
        as_of | in 2026-06-16/2026-06-17 | who was on call last Tuesday
        as_of | in 2026-06-16/2026-06-17 | who was on call this Tuesday
        as_of | in 2026-09-01/2026-10-01 | what will the port be in September
        as_of | since 2026-06-16/.. | what have we merged since yesterday
        as_of | as of 2026-06-16/2026-06-17 | the owner as of yesterday
        as_of | in 2026-03-01/2026-04-01 | do you know which port it was in March
        as_of | in 2026-03-01/2026-04-01 | I thought it was 8080, which port was it in March?
        known_at | in 2026-06-16/2026-06-17 | what did I believe yesterday
        known_at | in 2025-01-01/2026-01-01 | last year, who did we think owned billing
        known_at | as of 2026-05-01/2026-06-01 | which port had we assumed as of May
        known_at | in 2026-03-01/2026-04-01 | which port was known in March
        known_at | in 2026-05-01/2026-06-01 | what was our understanding of the limit in May
        history | - | has the port changed
        history | - | when did the port change
        history | - | show me all versions of the port
        history | - | evolution of the retry limit
        history | - | port history
        history | - | what did the port use to be
        history | - | what was the old port
        history | - | have we ever used Redis
        history | between 2026-01-01/2026-04-01 | how did the limit evolve between January and March
        current | - | who changed the password policy
        current | - | history table size
        as_of | in 2023-07-28/2023-07-29 | whose puppy was it two weeks before August 11, 2023
        as_of | in 2023-07-27/2023-08-03 | what did we do the week before August 3, 2023
        as_of | in 2022-10-23/2022-10-24 | what ran on the Sunday before October 25, 2022
        as_of | in 2022-10-30/2022-10-31 | what ran on the Sunday after October 25, 2022
        as_of | in 2022-10-18/2022-10-19 | what ran on the Tuesday before October 25, 2022
        as_of | in 2023-11-06/2023-11-07 | what was the issue last week, as mentioned on November 6, 2023
        as_of | in 2025-10-01/2026-01-01 | the policy during the last three months of 2025
        as_of | in 2025-04-01/2025-05-01 | what ran in the month before May 2025
        history | - | which ports have we used
        history | - | which cities has Siv lived in
        known_at | in 2026-03-05/2026-03-06 | what would the ledger have said on 2026-03-05 about the port
    """,
    "German": """
        as_of | in 2026-03-01/2026-04-01 | welcher Port war es im März
        as_of | in 2025-03-01/2025-04-01 | welcher Port war es im März 2025
        as_of | in 2025-03-03/2025-03-04 | wer hatte am 3. März 2025 Bereitschaft
        as_of | in 2026-06-08/2026-06-15 | welchen Port hatten wir letzte Woche
        as_of | in 2026-06-01/2026-06-08 | welchen Port hatten wir vor zwei Wochen
        as_of | in 2026-06-16/2026-06-17 | welchen Port hatten wir gestern
        as_of | since 2026-01-01/.. | welche Ports hatten wir seit Januar
        as_of | in 2024-01-01/2025-01-01 | welcher Port war 2024 aktiv
        known_at | in 2026-03-01/2026-04-01 | was dachten wir im März
        history | - | wie hat sich der Port geändert
        current | - | welcher Port ist es
        as_of | in 2025-03-01/2025-04-01 | Port im März letzten Jahres
        as_of | in 2025-01-01/2025-04-01 | welches Limit galt im ersten Quartal 2025
        as_of | in 2026-05-21/2026-06-01 | welches Limit galt Ende Mai
        as_of | in 2026-06-15/2026-06-16 | wer hatte vorgestern Bereitschaft
        as_of | in 2026-06-16T18:00/2026-06-17 | was lief gestern Abend
        as_of | in 2025-03-03/2025-03-04 | wer hatte am 03.03.2025 Dienst
        as_of | in 2026-03-02/2026-03-09 | wer hatte in KW 10 Dienst
        as_of | since 2026-06-03/.. | welchen Port haben wir seit zwei Wochen
        as_of | since 2026-06-14/.. | Fehler in den letzten 3 Tagen
        as_of | before ../2026-03-01 | welchen Port hatten wir vor März
        as_of | until ../2026-04-01 | welcher Port galt bis März
        as_of | between 2026-03-01/2026-06-01 | welche Ports galten von März bis Mai
        as_of | between 2026-03-01/2026-06-01 | welche Ports galten zwischen März und Mai
        as_of | in 2025-01-01/2025-07-01 | welches Limit galt in der ersten Hälfte 2025
        known_at | in 2026-06-08/2026-06-15 | was haben wir letzte Woche über den Port gedacht
        history | - | Geschichte des Ports
        history | since 2026-01-01/.. | was hat sich seit Januar geändert
        current | - | welchen Port nutzen wir derzeit
        as_of | in 2026-03-10/2026-03-11 | was lief eine Woche nach dem 3. März
    """,
    "French": """
        as_of | in 2026-03-01/2026-04-01 | quel était le port en mars
        as_of | in 2025-03-03/2025-03-04 | qui était d'astreinte le 3 mars 2025
        as_of | in 2026-06-01/2026-06-08 | quel port avions-nous il y a deux semaines
        as_of | in 2026-06-16/2026-06-17 | quel port avions-nous hier
        as_of | before ../2025-03-01 | quel port avions-nous avant mars 2025
        known_at | in 2026-03-01/2026-04-01 | que pensions-nous en mars
        history | - | comment le port a-t-il changé
        as_of | in 2025-03-01/2025-04-01 | le port en mars de l'année dernière
        as_of | in 2025-01-01/2025-04-01 | la limite au premier trimestre 2025
        as_of | in 2026-05-21/2026-06-01 | quelle limite fin mai
        as_of | in 2026-05-21/2026-06-01 | quelle était la limite à la fin du mois de mai
        as_of | in 2026-04-01/2026-05-01 | le port d'avril
        as_of | since 2026-01-01/.. | quels ports depuis janvier
        as_of | since 2026-04-17/.. | quels ports depuis deux mois
        as_of | since 2026-06-14/.. | les erreurs des 3 derniers jours
        as_of | between 2026-03-01/2026-06-01 | quels ports entre mars et mai
        as_of | between 2025-03-03/2025-03-06 | quels ports du 3 au 5 mars 2025
        as_of | in 2025-01-01/2026-01-01 | le port de l'année dernière
        known_at | in 2026-06-16/2026-06-17 | que croyait-on hier au sujet du port
        history | - | l'historique du port
        current | - | quel port utilise-t-on actuellement
    """,
    "Spanish": """
        as_of | in 2026-03-01/2026-04-01 | qué puerto era en marzo
        as_of | in 2025-03-03/2025-03-04 | quién estaba de guardia el 3 de marzo de 2025
        as_of | in 2026-06-08/2026-06-15 | qué puerto teníamos la semana pasada
        as_of | in 2026-06-01/2026-06-08 | qué puerto teníamos hace dos semanas
        known_at | in 2026-03-01/2026-04-01 | qué pensábamos en marzo
        history | - | cómo ha cambiado el puerto
        as_of | in 2025-03-01/2025-04-01 | el puerto en marzo del año pasado
        as_of | in 2026-05-21/2026-06-01 | qué límite había a finales de mayo
        as_of | in 2026-06-16/2026-06-17 | qué puerto usábamos ayer
        as_of | since 2026-01-01/.. | qué puertos desde enero
        as_of | since 2026-06-14/.. | errores de los últimos 3 días
        as_of | between 2026-03-01/2026-06-01 | qué puertos de marzo a mayo
        as_of | between 2026-03-01/2026-06-01 | qué puertos entre marzo y mayo
        as_of | before ../2025-03-01 | qué puerto había antes de marzo de 2025
        as_of | in 2025-01-01/2025-07-01 | qué límite había en la primera mitad de 2025
        history | - | el historial del puerto
        current | - | qué puerto usamos ahora
    """,
    "Portuguese": """
        as_of | in 2026-03-01/2026-04-01 | qual era a porta em março
        as_of | in 2026-06-08/2026-06-15 | qual era a porta na semana passada
        as_of | in 2026-06-16/2026-06-17 | qual era a porta ontem
        history | - | como a porta mudou
        known_at | in 2026-03-01/2026-04-01 | o que pensávamos em março
        as_of | in 2025-03-01/2025-04-01 | a porta em março do ano passado
        as_of | in 2026-06-01/2026-06-08 | qual era a porta há duas semanas
        as_of | since 2026-01-01/.. | quais portas desde janeiro
        as_of | between 2026-03-01/2026-06-01 | quais portas entre março e maio
        as_of | in 2026-05-21/2026-06-01 | qual era o limite no final de maio
        as_of | in 2025-03-03/2025-03-04 | quem estava de plantão em 3 de março de 2025
        history | - | histórico da porta
        history | - | como o limite evoluiu ao longo do tempo
    """,
    "Chinese": """
        as_of | in 2025-03-01/2025-04-01 | 去年三月用的哪个端口
        as_of | in 2025-03-03/2025-03-04 | 2025年3月3日的端口
        as_of | in 2026-06-08/2026-06-15 | 上周用的哪个端口
        as_of | in 2026-06-01/2026-06-08 | 两周前的端口
        known_at | in 2026-03-01/2026-04-01 | 我们三月的时候以为端口是什么
        history | - | 端口是怎么变化的
        as_of | in 2026-06-10/2026-06-11 | 上周三谁值班
        as_of | in 2026-06-08/2026-06-15 | 上周三个端口是哪些
        as_of | in 2026-06-16/2026-06-17 | 昨天的端口
        as_of | in 2025-01-01/2025-07-01 | 2025年上半年的端口
        as_of | in 2025-10-01/2026-01-01 | 2025年第四季度用的端口
        as_of | before ../2026-03-01 | 三月之前的端口
        as_of | since 2026-03-01/.. | 三月以来的端口
        as_of | since 2026-03-17/.. | 最近三个月的端口
        as_of | between 2026-03-01/2026-06-01 | 从3月到5月的端口
        as_of | in 2026-05-21/2026-06-01 | 五月底的端口
        as_of | in 2026-03-01/2026-04-01 | 三個月前的端口
        history | - | 端口的历史
        known_at | in 2026-06-16/2026-06-17 | 我们昨天认为端口是多少
        current | - | 现在用的哪个端口
    """,
    "Japanese": """
        as_of | in 2026-03-01/2026-04-01 | 3月はどのポート
        as_of | in 2025-03-03/2025-03-04 | 2025年3月3日のポート
        as_of | in 2026-06-08/2026-06-15 | 先週はどのポート
        as_of | in 2026-06-14/2026-06-15 | 3日前のポート
        known_at | in 2026-03-01/2026-04-01 | 3月にはどのポートだと思っていた
        history | - | ポートはどう変わった
        as_of | in 2025-03-01/2025-04-01 | 昨年3月のポート
        as_of | in 2026-06-08/2026-06-09 | 先週の月曜日の担当は誰
        as_of | before ../2026-03-01 | 3月より前のポート
        as_of | since 2026-03-01/.. | 3月以降のポート
        as_of | until ../2026-04-01 | 3月までのポート
        as_of | between 2026-03-01/2026-06-01 | 3月から5月までのポート
        as_of | in 2026-06-01/2026-06-08 | 2週間前のポート
        as_of | in 2025-01-01/2025-07-01 | 2025年前半のポート
        as_of | in 2026-05-21/2026-06-01 | 5月末のポート
        as_of | since 2026-03-01/.. | 3月からのポート
        known_at | in 2026-06-08/2026-06-15 | 先週はどのポートだと考えていましたか
        history | - | ポートの変更履歴
        current | - | 現在のポートは
    """,
    "mixed": """
        as_of | in 2025-10-01/2025-11-01 | which queue did we use back in October
        as_of | in 2026-06-06/2026-06-08 | who was on call the weekend before last
        known_at | in 2025-10-01/2026-01-01 | what did the team believe about latency in Q4 2025
        as_of | as of 2026-05-01/2026-05-02 | owner of billing as of 2026-05-01
        as_of | between 2025-04-01/2025-07-01 | limits between April 2025 and the end of June 2025
        history | since 2026-02-01/.. | has the retry limit changed since February
        as_of | as of 2026-06-01/2026-06-02 | port as at 1 June
        as_of | in 2025-07-01/2025-10-01 | which region were we in three quarters ago
        as_of | in 2025-10-01/2026-01-01 | what were we running late last year
        as_of | since 2025-12-17/.. | password rotation over the past six months
        as_of | in 2025-01-01/2025-04-01 | welche Region galt Anfang 2025
        known_at | in 2026-05-03/2026-05-04 | was wussten wir am 3. Mai über den Port
        history | since 2025-01-01/.. | wie hat sich das Limit seit letztem Jahr entwickelt
        as_of | in 2026-03-01/2026-04-01 | Port vor drei Monaten
        as_of | in 2026-06-08/2026-06-15 | quelle région utilisait-on la semaine dernière
        known_at | in 2025-02-01/2025-03-01 | que savait-on en février 2025 sur la base
        history | - | comment la limite a-t-elle évolué
        as_of | in 2026-01-01/2026-04-01 | qué región usábamos en el primer trimestre de 2026
        known_at | in 2026-05-05/2026-05-06 | qué creíamos el 5 de mayo de 2026
        history | since 2026-01-01/.. | cómo ha cambiado el límite desde enero
        as_of | in 2026-04-01/2026-05-01 | qual era a região há dois meses
        known_at | in 2026-03-01/2026-04-01 | o que achávamos em março
        as_of | in 2026-05-01/2026-06-01 | 上个月的端口是多少
        as_of | in 2025-04-01/2025-07-01 | 2025年第二季度的区域
        known_at | in 2026-05-01/2026-06-01 | 我们在五月认为端口是多少
        as_of | in 2026-05-01/2026-06-01 | 先月のポートは
        as_of | as of 2025-12-01/2026-01-01 | 2025年12月時点の上限
        history | - | 上限はどのように変わりましたか
        as_of | in 2026-06-15/2026-06-16 | 一昨日の担当者は誰
        as_of | in 2025-10-01/2025-11-01 | Where did the API live in Oct?
        as_of | in 2026-04-12/2026-04-13 | who led the review on the 12th of April
        as_of | in 2026-06-15/2026-06-16 | what host did we use two days ago
        as_of | since 2026-04-11/.. | which keys have been valid since mid April
        as_of | after 2025-12-25/.. | which keys were issued after 24 December
        as_of | in 2025-11-01/2025-12-01 | November's retention limit
        as_of | in 2026-06-11/2026-06-12 | what was the queue last Thursday
        as_of | between 2025-10-01/2026-04-01 | timeouts from Q4 2025 through Q1 2026
        as_of | in 2025-01-01/2025-07-01 | what was the policy during the first six months of 2025
        as_of | in 2026-01-01/2027-01-01 | what is the retention this year
        as_of | in 2026-06-16T09:00/2026-06-16T10:00 | which node was leader yesterday at 9am
        as_of | before ../2026-06-15 | what was the limit before this week
        known_at | in 2026-04-01/2026-05-01 | in April, where did you think the backups were
        known_at | since 2026-06-01/.. | what has the team believed since the beginning of June
        known_at | in 2026-06-16/2026-06-17 | what did our agents know yesterday about the proxy
        history | - | In what ways has our retry policy evolved?
        history | - | list every value the limit has had
        history | - | was it a different port before?
        history | in 2025-01-01/2026-01-01 | how did the limit change in 2025
        history | - | changes to the port over time
        as_of | in 2025-08-01/2025-09-01 | Wer war im August 2025 verantwortlich?
        as_of | in 2026-05-01/2026-06-01 | welcher Host war letzten Monat aktiv
        as_of | after 2026-04-01/.. | welche Ports galten nach März
        history | - | wie hat sich das Passwort-Limit über die Zeit verändert
        known_at | in 2026-06-12/2026-06-13 | was glaubte das Team am Freitag
        as_of | in 2026-05-01/2026-06-01 | quel était l'hôte le mois dernier
        as_of | in 2026-06-12/2026-06-13 | qui était de garde vendredi dernier
        as_of | in 2024-01-01/2025-01-01 | quelle région utilisait-on en 2024
        as_of | in 2026-05-01/2026-06-01 | qué host teníamos el mes pasado
        as_of | in 2024-01-01/2025-01-01 | qué región usábamos en 2024
        as_of | in 2026-05-01/2026-06-01 | qual era o host no mês passado
        as_of | in 2026-06-14/2026-06-15 | 三天前谁负责
        as_of | in 2026-03-01/2026-04-01 | 今年3月的区域是哪里
        history | - | このポートはどのように変化しましたか
        as_of | in 2024-01-01/2025-01-01 | 2024年のリージョンは
    """,
}
"""What asks for a time, a history or a belief, by language; ``mixed`` was written before the rules and run once."""

TRAPS = """
    may we deploy
    May we deploy to production?
    what may go wrong in staging
    how do we march to production
    who did March hire
    ask April about the port
    what is April's port
    did August approve the budget
    which port does May use
    the password of April
    as of now, which port
    which port is it now
    what is the current port
    what changed in 2.5.2
    release notes of 1.2.2026
    since version 1.2.2026 which port
    where is backup-2026-03-01.tar
    what does ADR-2025-11 say
    which host has port 2024
    what is error 1999
    who sits in room 2019
    the second port
    the 90 day retention
    what is the 90-day retention
    who wrote the history of the company
    what changed password policy for admins
    who is the Sun admin
    what does mon do
    the spring framework version
    which port does spring boot use
    what does the service fall back to
    what does "in March" mean
    what did he mean by "yesterday"
    where is the log `app 2026-03-01`
    the browser history limit
    which key is used to sign
    what is the December report about
    who maintains the 2024 report
    which api version 2024-10-21 do we use
    the timeout is 30 seconds
    how many users in 2000 requests
    may 3 people deploy at once
    what may be changed
    this may work, which port
    is it true that April left
    which port did we open before April joined
    a message from April
    the deploy written by April
    where is march.toml
    which image is app:2026-03-01
    run 2026-03-01T10:00:00-abc123
    open reports/2026-03-01/summary.md
    see https://example.org/2026/03/01/post
    which branch is feature/may-release
    which limit is 2024-2025
    which tag is v2026.3.1
    python 3.12 or 3.11
    the ratio is 3/4
    upgrade to version 1.2.2026
    port changed from 2001 to 2024 in the config, which one is it
    the first one
    which port is used in Spring
    what did we open before April had access
    the team at March
    a second opinion on the port
    first half of the file
    in the second half of the page
    who is on the March team
    which May release do we ship
    what is in the Q1 report
    the h1 tag color
    does the sun service run
    is Mon the admin
    what is a spring bean
    use Spring for the api
    the summer school budget
    git history of main
    where is the history table
    the chat history limit
    the new history teacher
    who changed the port
    what changes when I restart
    how can I change the port
    keep 30 days of logs
    retention is two weeks
    every 2 hours
    the job runs every day
    a 5 minute timeout
    port 8080
    error 404
    IP 10.0.20.24
    2024 is the port
    room 1999 and room 2001
    in 2000 requests how many fail
    in 2048 MB of memory
    up to 2000 users
    what do we know about the port
    what do you think of the port
    do we think it is 8080
    which port did we think of
    she said "last year" was fine
    the `yesterday` alias
    the table “March 2025”
    which port is used to reach staging
    as of now
    right now
    currently
    who is June
    does July like tea
    wer ist Mai Ling
    wer hat den Port geändert
    Port 2024
    Fehler 1999
    die Suchverlauf-Seite
    la moitié du fichier
    qui est Mars
    el segundo puerto
    quién es Julio
    un segundo puerto
    a segunda porta
    quem é o Marco
    五月天是谁
    浏览历史的上限
    第二个端口
    3つのポート
    履歴書の場所
    日本の歴史
    2番目のポート
    春さんのポート
    the autumn colours
    winter coat
    plans for the summer camp
    which users have access to the port
    May wants to know the port
    can we march on with port 2025
    is the April ticket still open
    node 2024 is down
    which user owns release-2026-05-01
    how do I use spring in the summer-api service
    who is the second owner
    what is our 30 day refund rule
    wer ist August Meier
    what changes the port at startup
    do you know the port
    who is August
    which limit may we raise
    the march of progress team
    open ticket 2025-04
    who was on the spring-cleaning crew
"""
"""What only looks like that, one a line: it asks for the present."""
