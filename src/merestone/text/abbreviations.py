"""Words that tell whether a full stop ends a sentence. All in lower case, without the stop."""

from __future__ import annotations


def _words(*lines: str) -> frozenset[str]:
    return frozenset(word for line in lines for word in line.split())


NEVER_LAST = _words(
    # English
    "mr mrs ms mx dr prof st messrs hon rev gen col capt cpt cmdr adm lt sgt maj gov sen rep pres",
    "mt ft vs v cf viz approx esp incl excl resp",
    # German
    "hr fr bzw vgl ca sog ggf ggfs evtl inkl exkl zzgl insb insbes bspw hrsg geb gest dipl ing mag",
    # French, Spanish, Portuguese, Italian, Dutch
    "mme mlle mgr ste sr sra srta dña ej dott sig avv dhr mevr bijv",
    # Russian
    "напр см рис стр им ул",
)
"""Abbreviations that need something after them, whatever its case."""

NEVER_LAST_DOTTED = _words(
    "e.g i.e z.b d.h u.a u.u v.a s.o s.u i.d.r i.a m.e o.ä z.t b.v т.е т.к",
)
"""As :data:`NEVER_LAST`, of single letters, each with its stop but the last."""

BEFORE_NUMBER = _words(
    "no nos nr nrs fig figs abb tab eq eqs art arts abs sec sect ch chap kap vol vols bd p pp s",
    "pos n c ziff par para anm cl ex app ver tel ext rn rz núm num pág págs cap ann aufl ed",
    "jan feb mar apr jun jul aug sep sept oct nov dec jän mär okt dez",
)
"""Abbreviations that don't end a sentence when a number follows."""

AFTER_DAY = _words(
    "januar jänner februar märz april mai juni juli august september oktober november dezember",
    "jahrhundert",
)
"""Capitalised words that follow an ordinal number in German, which is written with a stop."""

STARTERS = _words(
    # English
    "the a an this that these those it its he she they we you i in on at by for from with as if",
    "when while where what who why how there here then thus so but and or however although also",
    "after before since because no not each all some many most more our your his her their my",
    "one two both such to of is are was were do does did can may please see use",
    # German
    "der die das den dem des ein eine einer eines es er sie wir ihr ich in im am an auf bei mit",
    "nach von vor zu zum zur für aus als wenn weil doch aber und oder auch so dann dies diese",
    "dieser dieses nicht kein keine",
    # French, Spanish, Portuguese, Italian, Dutch
    "le la les l un une des il elle ils elles on nous vous je ce cette ces dans en sur pour par",
    "avec mais et ou donc si quand",
    "el los las una lo se su sus es esta este esto pero y o como cuando por para con",
    "o os as um uma não gli i ma e non che de het een",
)
"""Words that many sentences begin with. A name, or the noun behind an acronym, is none of them."""
