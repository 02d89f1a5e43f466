"""What the runs cost, and by which settings they were made."""

from __future__ import annotations

from merestone.evaluation.report.contents import Report
from merestone.evaluation.report.markup import Markup, element, user_text
from merestone.evaluation.report.tables import NONE, heads_of, sheet
from merestone.evaluation.report.words import cost, cost_name


def costs_table(report: Report) -> Markup | None:
    """What each run stores, embeds and serves."""
    if not report.costs:
        return None
    rows = [
        element(
            "tr",
            element("th", cost_name(row.name), scope="row"),
            *(
                element("td", NONE if cell is None else cost(row.name, cell), class_="num")
                for cell in row.cells
            ),
        )
        for row in report.costs
    ]
    return sheet("Costs", heads_of("Cost", report), element("tbody", *rows), class_="costs")


def settings_table(report: Report, *, different: bool) -> Markup | None:
    """Settings that differ between the runs, or those that do not."""
    found = [row for row in report.settings if row.differs is different]
    if not found:
        return None
    columns = report.columns if different else report.columns[:1]
    caption = "Settings that differ" if different else "Settings"
    rows = [
        element(
            "tr",
            element("th", element("code", row.key), scope="row"),
            *(
                element("td", user_text(value, "code") if value else NONE)
                for value in row.values[: len(columns)]
            ),
        )
        for row in found
    ]
    heads = (
        heads_of("Setting", report, "")
        if different
        else [
            element("th", "Setting", scope="col"),
            element("th", "Value", scope="col"),
        ]
    )
    return sheet(caption, heads, element("tbody", *rows), class_="settings")
