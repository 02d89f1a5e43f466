"""What the elements of HTML are, as far as reading their text goes (WHATWG HTML, section 13)."""

from __future__ import annotations


def _names(words: str) -> frozenset[str]:
    return frozenset(words.split())


VOID = _names(
    "area base basefont bgsound br col embed frame hr img input keygen link meta param source "
    "track wbr"
)
"""Elements that hold nothing and have no end tag."""

HEADINGS = _names("h1 h2 h3 h4 h5 h6")

BLOCK = HEADINGS | _names(
    "address article aside blockquote body center details dialog dir div dl fieldset figcaption "
    "figure footer form frameset header hgroup hr html legend listing main menu nav noframes ol "
    "optgroup p plaintext pre search section summary table ul xmp"
)
"""Elements that stand on lines of their own, parted from what is around them by a blank line."""

LINES = _names("li dt dd tr option caption")
"""Elements that stand on lines of their own without blank lines between them."""

CELLS = _names("td th")

LISTS = _names("ul ol menu dir")

PREFORMATTED = _names("pre listing xmp plaintext")

WITHOUT_TEXT = _names("script style template noscript head title datalist iframe noembed noframes")
"""Elements whose content is not part of what a reader sees."""

HEAD_ONLY = _names("base basefont bgsound link meta noframes noscript script style template title")
"""Elements that may stand in the head; any other ends it."""

CLOSES_PARAGRAPH = (BLOCK | _names("li dt dd")) - _names("body html frameset legend optgroup")
"""Elements whose start tag ends a paragraph that is open."""

SCOPES = _names(
    "applet button caption foreignobject html marquee math object svg table td template th"
)
"""Elements beyond which an end tag, or a start tag that implies one, does not reach."""

STOPS_ITEM = (BLOCK | SCOPES | LINES | CELLS) - _names("address div p dt dd li")
"""Elements beyond which a list item's start tag does not look for an open one to end."""

TABLE_PARTS = _names("thead tbody tfoot")

SECTIONING = _names("article main section")
"""Elements in which a header or footer belongs to the content."""

BOILERPLATE = _names("nav aside search")
BOILERPLATE_CLASSES = _names("navheader navfooter navbar breadcrumb breadcrumbs sphinxsidebar")
"""What the page makers of documentation (DocBook, Sphinx and others) call navigation."""

ASIDE_CLASSES = _names(
    "admonition note tip hint important warning caution danger attention error seealso callout "
    "alert"
)
"""What they call boxes beside the text; ``role="note"`` is one too."""

BOILERPLATE_ROLES = _names("navigation banner contentinfo search")
