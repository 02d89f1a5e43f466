"""Means over questions: of all, and of those that have something in common."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

from merestone.evaluation.runs.values import MADE, Interval, QuestionResult
from merestone.evaluation.statistics.intervals import mean_interval


def mean_measures(results: Sequence[QuestionResult]) -> dict[str, Interval]:
    """Each measure over those of ``results`` that have it, by name. The order of the questions
    does not matter."""
    return _means([result.measures for result in _by_id(results)])


def mean_documents(results: Sequence[QuestionResult]) -> dict[str, Interval]:
    """The same of the measures of documents."""
    return _means([result.documents for result in _by_id(results)])


def _by_id(results: Sequence[QuestionResult]) -> list[QuestionResult]:
    return sorted(results, key=lambda result: result.id)


def _means(rows: Sequence[Mapping[str, float]]) -> dict[str, Interval]:
    values: dict[str, list[float]] = {}
    for row in rows:
        for name, value in row.items():
            values.setdefault(name, []).append(value)
    return {name: mean_interval(column) for name, column in values.items()}


def grouped(results: Iterable[QuestionResult]) -> dict[str, list[QuestionResult]]:
    """Results by group, groups by name. Made questions are in the group of their own alone."""
    groups: dict[str, list[QuestionResult]] = {}
    for result in results:
        for name in groups_of(result):
            groups.setdefault(name, []).append(result)
    return dict(sorted(groups.items()))


def groups_of(result: QuestionResult) -> list[str]:
    """Names of the groups that a question belongs to."""
    if result.made:
        return [MADE]
    names = [f"type:{result.content_type}"] if result.content_type else []
    names += [f"tag:{tag}" for tag in result.tags]
    return names + ([f"language:{result.language}"] if result.language else [])
