"""Runs as a page, as Markdown and as JSON."""

from merestone.evaluation.report.contents import Report
from merestone.evaluation.report.markdown import to_markdown
from merestone.evaluation.report.writing import report_of, write_page, write_report

__all__ = ["Report", "report_of", "to_markdown", "write_page", "write_report"]
