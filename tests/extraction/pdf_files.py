"""Small PDF files, written by hand so that a test decides each stroke."""

from __future__ import annotations

from dataclasses import dataclass, field

FONTS = {
    "regular": "Helvetica",
    "bold": "Helvetica-Bold",
    "italic": "Helvetica-Oblique",
    "mono": "Courier",
}


SPECIAL = {
    "A": "FB03",  # the ligature ffi
    "B": "D835DEFC",  # mathematical italic alpha, two UTF-16 units
    "C": "0000",
    "D": "F0B7",  # the bullet of Symbol
    "E": "200B",  # zero width space
    "F": "00A0",
}
"""UTF-16 that letters of the font ``special`` stand for; other letters stand for themselves."""


@dataclass
class PageFile:
    """The content of one page, drawn with the origin at the bottom left."""

    width: float = 612
    height: float = 792
    rotate: int = 0
    crop: tuple[float, float, float, float] | None = None
    content: list[str] = field(default_factory=list)
    image: bool = False

    def text(
        self,
        x: float,
        y: float,
        words: str,
        size: float = 10,
        font: str = "regular",
        more: str = "",
    ) -> PageFile:
        """``more`` are operators before the text is shown, such as ``3 Tr``."""
        escaped = words.replace("\\", r"\\").replace("(", r"\(").replace(")", r"\)")
        self.content.append(f"q BT /{font} {size} Tf 1 0 0 1 {x} {y} Tm {more} ({escaped}) Tj ET Q")
        return self

    def lines(self, x: float, y: float, *lines: str, pitch: float = 12, **style: object) -> float:
        """Lines below each other; returns where the next would stand."""
        for line in lines:
            self.text(x, y, line, **style)  # type: ignore[arg-type]
            y -= pitch
        return y

    def draw(self, operators: str) -> PageFile:
        self.content.append(f"q {operators} Q")
        return self

    def grid(self, xs: list[float], ys: list[float]) -> PageFile:
        for y in ys:
            self.draw(f"{xs[0]} {y} m {xs[-1]} {y} l S")
        for x in xs:
            self.draw(f"{x} {ys[0]} m {x} {ys[-1]} l S")
        return self

    def picture(self, x: float, y: float, width: float, height: float) -> PageFile:
        self.image = True
        return self.draw(f"{width} 0 0 {height} {x} {y} cm /picture Do")


def write_pdf(
    *pages: PageFile, info: dict[str, str] | None = None, labels: str = "", more: str = ""
) -> bytes:
    """The bytes of a file with these pages. ``labels`` and ``more`` go into its catalog."""
    objects: dict[int, bytes] = {}
    fonts = {name: 10 + index for index, name in enumerate(FONTS)}
    for name, number in fonts.items():
        objects[number] = (
            f"<</Type/Font/Subtype/Type1/BaseFont/{FONTS[name]}/Encoding/WinAnsiEncoding>>".encode()
        )
    objects[8] = _stream(
        b"\xff",
        "/Type/XObject/Subtype/Image/Width 1/Height 1/ColorSpace/DeviceGray/BitsPerComponent 8",
    )
    mapping = "".join(f"<{ord(key):02X}> <{value}>\n" for key, value in SPECIAL.items())
    objects[7] = _stream(
        f"/CIDInit /ProcSet findresource begin begincmap 1 begincodespacerange <00> <FF> "
        f"endcodespacerange {len(SPECIAL)} beginbfchar\n{mapping}endbfchar endcmap end".encode()
    )
    fonts["special"] = 9
    objects[9] = b"<</Type/Font/Subtype/Type1/BaseFont/Helvetica/ToUnicode 7 0 R>>"
    kids = []
    for index, page in enumerate(pages):
        number = 20 + 2 * index
        kids.append(f"{number} 0 R")
        resources = " ".join(f"/{name} {font} 0 R" for name, font in fonts.items())
        image = "/XObject<</picture 8 0 R>>" if page.image else ""
        crop = "/CropBox[{} {} {} {}]".format(*page.crop) if page.crop else ""
        objects[number] = (
            f"<</Type/Page/Parent 2 0 R/MediaBox[0 0 {page.width} {page.height}]{crop}"
            f"/Rotate {page.rotate}/Contents {number + 1} 0 R"
            f"/Resources<</Font<<{resources}>>{image}>>>>"
        ).encode()
        objects[number + 1] = _stream("\n".join(page.content).encode("cp1252"))
    objects[1] = f"<</Type/Catalog/Pages 2 0 R{labels}{more}>>".encode()
    objects[2] = f"<</Type/Pages/Kids[{' '.join(kids)}]/Count {len(pages)}>>".encode()
    entries = "".join(f"/{key}({value})" for key, value in (info or {}).items())
    objects[3] = f"<<{entries}>>".encode()
    return _file(objects)


def _stream(data: bytes, entries: str = "") -> bytes:
    return f"<</Length {len(data)}{entries}>>\nstream\n".encode() + data + b"\nendstream"


def _file(objects: dict[int, bytes]) -> bytes:
    out = b"%PDF-1.7\n"
    places = {}
    for number, body in sorted(objects.items()):
        places[number] = len(out)
        out += b"%d 0 obj\n" % number + body + b"\nendobj\n"
    start = len(out)
    size = max(objects) + 1
    out += b"xref\n0 %d\n0000000000 65535 f \n" % size
    for number in range(1, size):
        out += (
            b"%010d 00000 n \n" % places[number] if number in places else b"0000000000 00000 f \n"
        )
    return out + b"trailer\n<</Size %d/Root 1 0 R/Info 3 0 R>>\nstartxref\n%d\n%%%%EOF\n" % (
        size,
        start,
    )
