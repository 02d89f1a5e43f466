"""How the turns of a chat begin, by the programs and habits that write chats down."""

from __future__ import annotations

import re
from dataclasses import dataclass

_TIME = r"\d{1,2}:\d{2}(?::\d{2})?(?:[.,]\d{1,3})?(?:\s?[AaPp]\.?\s?[Mm]\b\.?)?"
_DATE = (
    r"(?:\d{1,4}[-/.]\d{1,2}[-/.]\d{1,4}"
    r"|\d{1,2}\.? [^\W\d_]{3,9}\.? \d{4}|[^\W\d_]{3,9}\.? \d{1,2}(?:, \d{4})?)"
)
_STAMP = rf"(?:{_DATE},?[T ]\s?)?{_TIME}"
_DAY = r"(?:(?:today|yesterday|last \w+|[^\W\d_]{3,9}day),?(?: at)?\s+)"
_NAME = r"[^\s:<>\[\]|#=/\\][^:：<>\[\]|=/\\\r\n\t]{0,39}?"
_MARKS = "[\u200e\u200f\u202a-\u202e]*"


@dataclass(frozen=True, slots=True)
class Style:
    """One way to begin a turn."""

    name: str
    head: re.Pattern[str]
    """Matches at the start of the first line of a turn; groups ``speaker`` and ``time``."""
    share: float
    """Least share of the lines that must begin a turn. Where the text stands below its head, or
    is wrapped, most lines begin none."""
    recurring: bool
    """True if speakers must come back, as the head alone could be something else."""


def _style(name: str, head: str, share: float, *, recurring: bool) -> Style:
    return Style(name, re.compile(_MARKS + head, re.IGNORECASE), share, recurring)


NAMED = _style("named", rf"(?P<speaker>{_NAME})(?:：|:(?=\s|\Z))(?P<time>)", 0.5, recurring=True)
"""``Ann: text``. That alone is no sign of a chat: what else must hold, :mod:`chat` says."""

TIMED = (
    # [12:03] <ann> text, and what the server says
    _style(
        "irc",
        rf"(?:\[?(?P<time>{_STAMP})\]?\s+)(?:<[ @+%&~]?(?P<speaker>[^\s<>]{{1,32}})>(?=\s|\Z)"
        r"|(?:\*{1,3}|-!-|-->|<--|<-|->)\s)",
        0.5,
        recurring=False,
    ),
    # 12/03/2024, 09:15 - Ann: text, and what the program says
    _style(
        "dashed",
        rf"(?P<time>{_DATE},?\s+{_TIME})\s+[-–]\s+(?:(?P<speaker>{_NAME}):(?=\s|\Z)|(?=\S))",
        0.3,
        recurring=False,
    ),
    # [12:03] Ann: text
    _style(
        "bracketed",
        rf"[\[(](?P<time>{_STAMP})[\])]\s+(?:(?P<speaker>{_NAME}):(?=\s|\Z))",
        0.2,
        recurring=False,
    ),
    # 12:03 Ann: text; 12:03 From Ann to Everyone: text
    _style(
        "timed",
        rf"(?P<time>{_STAMP})\s+(?:-\s+|from\s+)?(?P<speaker>{_NAME})(?:\s+to\s+{_NAME})?"
        r":(?=\s|\Z)",
        0.5,
        recurring=True,
    ),
    # Ann (12:03): text
    _style(
        "named-timed",
        rf"(?P<speaker>{_NAME})\s+[(\[](?P<time>{_STAMP})[)\]]:?(?=\s|\Z)",
        0.15,
        recurring=True,
    ),
    # Ann  9:15 AM, and the text below
    _style(
        "headed",
        rf"(?P<speaker>{_NAME})(?:\s+|\s*[—–·-]\s*)\[?(?P<time>(?:{_DAY}|{_DATE},?(?: at)?\s+)?"
        rf"{_TIME})\]?\s*\Z",
        0.15,
        recurring=True,
    ),
    # [12:03] text
    _style("times", rf"[\[(](?P<time>{_TIME})[\])]\s+(?P<speaker>)(?=\S)", 0.7, recurring=False),
)

NICKS = _style(
    "nicks", r"<[ @+%&~]?(?P<speaker>[^\s<>/!]{1,32})>(?=\s|\Z)(?P<time>)", 0.6, recurring=True
)
"""``<ann> text``, which could be markup too."""

ROLES = re.compile(
    r"(?:the )?(?:user|assistant|human|ai|bot|chatbot|system|agent|customer|client|caller|operator"
    r"|interviewer|interviewee|speaker|participant|respondent|host|guest|moderator|facilitator"
    r"|therapist|counsel+or|doctor|physician|nurse|patient|teacher|student|tutor|support|me|you"
    r"|representative|advisor|chatgpt|gpt-?\d?|claude|gemini|copilot|model|narrator|audience"
    r"|benutzer|nutzer|assistent|kunde|sprecher|utilisateur|usuario|cliente|asistente)"
    r"(?: ?[#-]?\d{1,2}| ?[a-c])?",
    re.IGNORECASE,
)
"""What takes the place of a name in a conversation."""

LABELS = frozenset(
    """note notes warning caution tip example examples question answer q a input output date time
    name title subject from to cc bcc author authors description type status error errors info
    debug source sources address phone email fax term definition word meaning problem solution
    symptom cause pros cons before after summary abstract keywords result results usage returns
    return raises parameters parameter args see default defaults version license copyright file
    path url link category categories tags tag key value id size price total ingredients step
    steps day week month year chapter section part figure table reference references remark
    remarks goal goals task tasks fix fixes bug issue todo done why how what when where who
    expected actual given then hint hints important background objective conclusion methods
    severity priority impact action actions risk owner due location venue cost duration level
    frage antwort hinweis beispiel achtung datum quelle thema titel vorteile nachteile pregunta
    respuesta nota ejemplo ventajas desventajas remarque exemple avantages synonyms antonyms
    noun verb adjective pronunciation origin etymology""".split()
)
"""Words with a colon that begin a note, a field or a step, and no turn."""

LOG_LINE = re.compile(
    r"[^\r\n]{0,60}?(?:\b(?:TRACE|DEBUG|INFO|NOTICE|WARN|WARNING|ERROR|FATAL|CRITICAL)\b"
    r"|\[(?:trace|debug|info|notice|warn|warning|error|fatal|critical|crit)\])"
)
"""A line of a log, by the level that stands near its beginning."""
