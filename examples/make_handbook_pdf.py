"""Write ``handbook/device/service-manual.pdf``, a small manual with the traits of real ones.

It has a running header and footer, numbered headings at two levels, a paragraph that runs over a
page end with its decisive sentence on the second page, words hyphenated at a line end, and a ruled
table. Run it with fpdf2 installed; the bytes are the same on every run.
"""

from __future__ import annotations

import sys
from datetime import UTC, datetime
from pathlib import Path
from typing import NamedTuple

from fpdf import FPDF, XPos, YPos

OUTPUT = Path(__file__).parent / "handbook" / "device" / "service-manual.pdf"
TITLE = "Pierbox 200 Service Manual"
CREATED = datetime(2025, 4, 1, 8, 0, tzinfo=UTC)
BODY_SIZE = 12
"""Points."""
BODY_LEADING = 6.4
"""Millimetres from line to line."""
SOFT_HYPHEN = "\N{SOFT HYPHEN}"


class Heading(NamedTuple):
    level: int
    text: str


class Paragraph(NamedTuple):
    """``~`` marks where a word may be hyphenated."""

    text: str
    crosses_page: bool = False


class Steps(NamedTuple):
    items: tuple[str, ...]


class Table(NamedTuple):
    caption: str
    rows: tuple[tuple[str, ...], ...]


Part = Heading | Paragraph | Steps | Table

CONTENT: tuple[Part, ...] = (
    Heading(1, "1 About this manual"),
    Paragraph(
        "This manual is for technicians who inspect and repair the Pierbox 200 where it stands. It "
        "covers the models PB-200-S and PB-200-T with firmware 4.6 and later. For mounting a new "
        "unit see the installation guide; for the meaning of codes on the display see the list of "
        "error codes. Part numbers are those of the price list."
    ),
    Heading(2, "1.1 Who may do the work"),
    Paragraph(
        "The Pierbox 200 contains parts at mains voltage. Only a qualified electrician may open "
        "the enclosure. Water and salt make surfaces conductive: treat a wet enclosure as live "
        "until you have measured that it is not."
    ),
    Paragraph(
        "Work that leaves the enclosure closed, such as cleaning, pressing the test button or "
        "replacing the display film, may be done by the staff of the marina after an introduction "
        "of about an hour. The introduction is recorded in Harbour Cloud with the name and the "
        "date, and is repeated every two years."
    ),
    Heading(2, "1.2 Tools and material"),
    Paragraph(
        "A torque screwdriver from 0.5 to 5 Nm and a torque wrench up to 15 Nm, an insulation "
        "tester for 500 V, a tester for residual-current devices, a two-pole voltage tester, a "
        "soft brush, and a cloth without lint. For seals use silicone grease of food grade. Grease "
        "made from mineral oil lets the seals swell and must not be used, not even once."
    ),
    Paragraph(
        "Take the spare parts that go with every visit: one door seal, one backup battery, one "
        "cartridge for the surge arrester, and ten numbered seals. Batteries have a date on the "
        "side. Don't fit one that is older than three years, even if it has never been used."
    ),
    Heading(1, "2 Inspection"),
    Paragraph(
        "Inspection keeps the unit safe and finds most faults before guests do. The result of each "
        "inspection is entered in Harbour Cloud on the same day. An inspection that is not "
        "entered counts as not done, and the unit raises HT-1008 when its date has passed."
    ),
    Heading(2, "2.1 What is inspected"),
    Steps(
        (
            "Look at the enclosure from all sides. Cracks, missing screws and a door that doesn't "
            "close by itself are entered as faults.",
            "Look at the sockets. The lids have to close with their own spring. Brown or melted "
            "contacts mean that the socket is replaced.",
            "Press the test button of each residual-current device and measure the tripping time. "
            "It must not be longer than 200 ms at the rated current.",
            "Open and close both taps. The valve has to close within eight seconds.",
            "Compare the counters of the meters with the values in the app.",
            "Read the list of codes, those in brackets included, and note what came more than "
            "three times since the last inspection.",
        )
    ),
    Heading(2, "2.2 Cleaning"),
    Paragraph(
        "Clean the closed enclosure with fresh water, a mild soap and a soft brush. Never use a "
        "pressure washer: the jet passes the door seal and the vents, and its use ends the "
        "warranty. Bird droppings are soaked for ten minutes first, because rubbing scratches the "
        "display film. Solvents are not allowed on the film and on the lids of the sockets."
    ),
    Heading(2, "2.3 Grades of faults"),
    Paragraph(
        "Every fault that is entered gets one of three grades. Grade A is a danger to people, "
        "such as a socket that can be touched while live: the supply is switched off at once and "
        "locked, and the office of the marina is told before you leave the pier. Grade B limits "
        "the use or will soon do so, and is repaired within 14 days. Grade C is everything else "
        "and waits for the next inspection."
    ),
    Paragraph(
        "A fault of grade C that is found twice in a row becomes grade B. A grade may be lowered "
        "only by a second technician who has seen the unit, never by telephone and never because "
        "a part is missing."
    ),
    Heading(2, "2.4 Intervals"),
    Paragraph(
        "The interval depends on where the unit stands and how it is used. It was set from the "
        "returns of the first four years, in which salt in the glands and worn contacts were the "
        "cause of two faults out of three. Faults of the electronics were rare and showed no "
        "pattern in time, so that frequent opening of the enclosure would do more harm than good: "
        "every opening lets moist air in and presses the door seal out of shape. For this reason "
        "the interval is no shorter than it has to be, and marinas are asked not to open units "
        "between inspections without a reason. A unit is inspected every twelve months when it "
        "stands on fresh water. On open salt water, or within 200 metres of it, the interval is "
        "six months, and the door seal is replaced at every second inspection whether it looks "
        "worn or not.",
        crosses_page=True,
    ),
    Paragraph(
        "Units that were under water are not inspected but replaced. Units that were out of "
        "service for more than a year are inspected before they are switched on again, and the "
        "test of section 4.1 is part of that inspection."
    ),
    Heading(1, "3 Replacing parts"),
    Paragraph(
        "Before any of the work in this chapter: disconnect the mains at the distribution board of "
        "the pier, lock the switch, wait five minutes and check with the two-pole tester that X1 "
        "is dead. The only exception is the backup battery, see section 3.1."
    ),
    Heading(2, "3.1 Backup battery"),
    Paragraph(
        "The battery keeps the clock and the last readings while the mains are off. It lasts "
        "about five years. It is replaced when HT-1017 is shown, and in any case after six years. "
        "The battery may be changed while the unit is under voltage, because its compartment is "
        "parted from the mains by a wall of its own. Pull the plug X9, take the battery out, put "
        "the new one in with the label to the front, and plug it in again within 90 seconds. If "
        "it takes longer, the clock stops and has to be set in the app."
    ),
    Paragraph(
        "Used batteries are lithium batteries. Tape over the contacts and return them with the "
        "transport box; they must not travel in a parcel with other goods."
    ),
    Heading(2, "3.2 Door seal"),
    Paragraph(
        "Pull the old seal out of its groove and clean the groove with the brush. Leave no grease "
        "from the old seal behind. Press the new seal in, beginning at the middle of the lower "
        "edge, without pulling it: a stretched seal shrinks within weeks and opens at the joint. "
        "Cut it 3 mm too long and press the ends together. Then put a thin film of silicone grease "
        "on it."
    ),
    Paragraph(
        "The seal may be used again after the door was opened, as long as it springs back within a "
        "minute. A seal that was taken out of its groove is never used again."
    ),
    Heading(2, "3.3 Surge arrester"),
    Paragraph(
        "A cartridge that has responded shows a red window. Pull it out and plug the new one in "
        "until it clicks. If both the cartridge and the base are black, the base is replaced too, "
        "and the insulation of the supply cable is measured."
    ),
    Heading(2, "3.4 Metering board"),
    Paragraph(
        "Note the last readings of both counters before you take the board out. Unplug the ribbon "
        "cable by its tabs, loosen the four screws and lift the board straight up. The new board "
        "is programmed for the serial number and works only in this unit. After switching on, "
        "enter the start value in the app; until then the unit shows HT-1102 and the cloud refuses "
        "readings with READING_LOWER."
    ),
    Heading(2, "3.5 Tightening torques"),
    Table(
        "Table 1: tightening torques",
        (
            ("Place", "Thread", "Torque (Nm)", "Check"),
            ("Enclosure to post", "M8", "9.0", "at every inspection"),
            ("Terminals X1", "screw", "1.2", "at every inspection"),
            ("Terminals X2 to X5", "screw", "0.8", "after work on sockets"),
            ("Earth bolt", "M6", "4.5", "at every inspection"),
            ("Board to carrier", "M3", "0.6", "when replaced"),
            ("Cable gland M20", "M20", "3.5", "at every inspection"),
            ("Cable gland M25", "M25", "5.0", "at every inspection"),
        ),
    ),
    Paragraph(
        "Stainless screws are fitted with a paste against seizing. The values hold for screws with "
        "paste; without it, dry threads seize before the joint is tight. Don't tighten a gland "
        "again while the cable is cold, below 5 °C: the sheath cracks under the ring."
    ),
    Heading(1, "4 Putting the unit back into service"),
    Paragraph(
        "Every repair that needed the mains to be disconnected ends with the tests of this "
        "chapter, in this order. The unit stays locked in the app until both results have been "
        "entered. After a break of under a year, the functional test is enough for "
        "recom~mis~sion~ing, provided that the enclosure stayed closed and no code is shown."
    ),
    Heading(2, "4.1 Insulation test"),
    Paragraph(
        "Switch all sockets off, take the cartridge of the surge arrester out, and measure between "
        "all live wires together and earth with 500 V for one minute. At least 1 megohm is needed. "
        "Between 1 and 5 megohms the unit may go into service but is measured again after four "
        "weeks. With the cartridge left in, the reading is too low and says nothing about the "
        "insulation. Put the cartridge back afterwards."
    ),
    Heading(2, "4.2 Functional test"),
    Steps(
        (
            "Switch the mains on and wait for READY.",
            "Choose Service, Test in the app. The unit switches each socket on for five seconds.",
            "Plug the test load of 2 kW into each socket. The power shown must be within 2 % of "
            "the value on the label of the load.",
            "Draw ten litres of water from each tap into the measuring bucket. The counter has to "
            "show between 9.8 and 10.2 litres.",
            "Send the report. The unit is unlocked when the cloud has confirmed it.",
        )
    ),
    Heading(1, "5 Storage and disposal"),
    Heading(2, "5.1 Storage"),
    Paragraph(
        "Units are stored upright and dry, between -20 and 50 °C. Unplug the backup battery at X9 "
        "if the unit is stored for more than three months; a unit that is stored with its battery "
        "plugged in has an empty one after about 14 months. The water side is emptied and dried "
        "with air of no more than 2 bar, since frost in the meter isn't covered by the warranty."
    ),
    Heading(2, "5.2 Disposal"),
    Paragraph(
        "The enclosure is glass-reinforced polyester and can't be recycled with other plastics. "
        "Boards and batteries go to the collection point for electrical waste. Before disposal, "
        "release the unit from the account and reset it to its factory state. Harbour Tools takes "
        "old units back free of charge in Zürich, Bristol and Yokohama, if they arrive without "
        "battery."
    ),
)


class Manual(FPDF):
    """A4 pages with a running header and footer, none of it part of the text."""

    def __init__(self) -> None:
        super().__init__(format="A4")
        # Compressed streams would differ between versions of zlib.
        self.set_compression(False)
        self.set_creation_date(CREATED)
        self.set_producer("make_handbook_pdf.py")
        self.set_title(TITLE)
        self.set_author("Harbour Tools")
        self.set_lang("en")
        self.set_margins(25, 28, 25)
        self.set_auto_page_break(True, margin=25)

    def header(self) -> None:
        self.set_y(14)
        self.set_font("Helvetica", "I", 9)
        self.cell(0, 5, TITLE)
        self.set_x(self.l_margin)
        self.cell(0, 5, "Edition 3, April 2025", align="R")
        self.set_y(self.t_margin)

    def footer(self) -> None:
        self.set_y(-16)
        self.set_font("Helvetica", "", 9)
        self.cell(0, 5, "Harbour Tools AG, Zürich")
        self.set_x(self.l_margin)
        self.cell(0, 5, f"Page {self.page_no()}", align="R")

    def write_part(self, part: Part) -> None:
        match part:
            case Heading():
                self.write_heading(part)
            case Paragraph():
                self.write_paragraph(part)
            case Steps():
                self.write_steps(part)
            case Table():
                self.write_table(part)

    def write_heading(self, heading: Heading) -> None:
        # Room for the heading and two lines, so that no heading is the last line of a page.
        if self.will_page_break(26):
            self.add_page()
        self.ln(3)
        self.start_section(heading.text, level=heading.level - 1)
        self.set_font("Helvetica", "B", 15 if heading.level == 1 else 12)
        self.write_lines(heading.text, 7)
        self.ln(1.5)

    def write_paragraph(self, paragraph: Paragraph) -> None:
        first_page = self.page_no()
        self.set_font("Helvetica", "", BODY_SIZE)
        self.write_lines(paragraph.text.replace("~", SOFT_HYPHEN), BODY_LEADING)
        if paragraph.crosses_page and self.page_no() == first_page:
            sys.exit(f"This paragraph should run over a page end: {paragraph.text[:60]}...")
        self.ln(2.5)

    def write_steps(self, steps: Steps) -> None:
        self.set_font("Helvetica", "", BODY_SIZE)
        for number, item in enumerate(steps.items, 1):
            if self.will_page_break(12):
                self.add_page()
                self.set_font("Helvetica", "", BODY_SIZE)
            self.cell(8, BODY_LEADING, f"{number}.")
            self.write_lines(item, BODY_LEADING)
        self.ln(2.5)

    def write_table(self, table: Table) -> None:
        self.set_font("Helvetica", "I", 10)
        self.write_lines(table.caption, 6)
        self.set_font("Helvetica", "", 10)
        with self.table(rows=table.rows, col_widths=(38, 18, 24, 40), line_height=6.5):
            pass
        self.ln(4)

    def write_lines(self, text: str, line_height: float) -> None:
        self.multi_cell(0, line_height, text, align="L", new_x=XPos.LMARGIN, new_y=YPos.NEXT)


def build() -> bytes:
    """The PDF."""
    manual = Manual()
    manual.add_page()
    manual.set_font("Helvetica", "B", 20)
    manual.write_lines(TITLE, 10)
    manual.ln(2)
    for part in CONTENT:
        manual.write_part(part)
    return bytes(manual.output())


if __name__ == "__main__":
    OUTPUT.write_bytes(build())
