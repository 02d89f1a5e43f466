"""Learning relevance and the weight of the sides from a library's own questions."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

import numpy as np
import pytest
from evaluation.small_library import asking, small_library
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.optimize import minimize

from merestone import Library, SettingsError
from merestone.evaluation.calibration.fitting import RelevanceFit, fit_relevance
from merestone.evaluation.calibration.logistic import fit_logistic, sigmoid
from merestone.evaluation.calibration.weighing import learn_dense_weight
from merestone.evaluation.questions import Question
from merestone.evaluation.statistics.probabilities import area, goodness

_METALS = ("iron", "copper", "zinc", "nickel", "silver", "cobalt", "lead", "tin", "gold", "chrome")
_PARTS = ("valve", "pump", "gasket", "flange", "bearing")


def documents() -> dict[str, str]:
    return {
        f"{metal}/{part}.md": f"# {part.capitalize()} of {metal}\n\nThe {metal} {part} is made for "
        f"a pressure of {10 * number + place} bar.\n\nIt is kept dry and cleaned once a year.\n"
        for number, metal in enumerate(_METALS)
        for place, part in enumerate(_PARTS)
    }


def questions() -> list[Question]:
    answered = [
        asking(
            f"{metal}-{part}",
            f"What pressure is the {metal} {part} made for?",
            (f"{metal}/{part}.md", f"a pressure of {10 * number + place} bar"),
        )
        for number, metal in enumerate(_METALS)
        for place, part in enumerate(_PARTS)
    ]
    lost = [asking(f"lost-{n}", f"Who wrote the opera number {n} of Vienna?") for n in range(12)]
    return answered + lost


@pytest.fixture(scope="module")
def library(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Library]:
    with small_library(tmp_path_factory.mktemp("metals"), documents()) as opened:
        yield opened


@pytest.fixture(scope="module")
def found(library: Library) -> RelevanceFit:
    return fit_relevance(library, questions())


def test_questions_teach_what_their_relevance_should_have_been(
    library: Library, found: RelevanceFit
) -> None:
    assert (found.questions, found.answered, found.answerless) == (62, 50, 12)
    assert found.is_better
    assert found.fitted.log_loss < found.shipped.log_loss
    assert found.settings == {"relevance": list(found.numbers)}
    assert found.right_nothing is not None
    assert found.right_nothing[1] == 1.0
    with Library.open(
        library.settings.root,
        embedding={"model": "hashing"},
        retrieval={"relevance": list(found.numbers)},
    ) as fitted:
        query = questions()[0].question
        before, after = library.search(query).hits[0], fitted.search(query).hits[0]
        assert before.chunk.id == after.chunk.id
        assert (after.relevance or 0) != (before.relevance or 0)


def test_it_is_the_same_each_time_whatever_was_learned_before(
    library: Library, found: RelevanceFit
) -> None:
    with Library.open(
        library.settings.root,
        embedding={"model": "hashing"},
        retrieval={"relevance": [3.0, 2.0], "min_relevance": 0.9},
    ) as changed:
        assert fit_relevance(changed, questions()) == found


@pytest.mark.parametrize(
    "few",
    [
        questions()[:49],
        [replace(question, made=True) for question in questions()],
        [replace(question, evidence=()) for question in questions()],
    ],
    ids=["too few", "made by a machine", "one outcome"],
)
def test_too_few_questions_are_refused(library: Library, few: list[Question]) -> None:
    with pytest.raises(SettingsError) as raised:
        fit_relevance(library, few)
    assert raised.value.code == "too-few-questions"
    with pytest.raises(SettingsError) as raised:
        learn_dense_weight(library, few)
    assert raised.value.code == "too-few-questions"


def test_the_side_that_finds_answers_gets_the_weight(library: Library) -> None:
    found = learn_dense_weight(library, questions(), weights=(0.0, 1.0))
    assert found.questions == 50
    by_weight = dict(found.by_weight)
    assert set(by_weight) == {0.0, 0.5, 1.0}
    assert by_weight[found.weight] == max(by_weight.values())
    assert found.is_better == bool(found.settings)
    assert found.to_json()["weight"] == found.weight


def test_where_weights_are_equal_the_plain_one_stays(library: Library) -> None:
    found = learn_dense_weight(library, questions(), weights=(0.5,))
    assert found.weight == 0.5
    assert found.settings == {}


rows = st.lists(
    st.tuples(st.floats(0, 1), st.floats(0, 1), st.booleans()), min_size=12, max_size=60
)


@settings(max_examples=15, deadline=None)
@given(rows)
def test_the_fit_is_as_good_as_that_of_a_general_optimiser(
    data: list[tuple[float, float, bool]],
) -> None:
    features = np.array([row[:2] for row in data])
    outcomes = np.array([row[2] for row in data])
    ridge = 0.01

    def loss(values: np.ndarray[tuple[int], np.dtype[np.float64]]) -> float:
        odds = values[0] + features @ values[1:]
        fit = np.mean(np.logaddexp(0, odds) - outcomes * odds)
        return float(fit + 0.5 * ridge * (values[1:] ** 2).sum())

    ours = fit_logistic(features, outcomes, ridge=ridge)
    assert (ours[1:] >= 0).all()
    bounds = [(-40, 40), (0, None), (0, None)]
    best = minimize(loss, np.zeros(3), bounds=bounds, method="L-BFGS-B")
    assert loss(ours) <= best.fun + 1e-4


def test_coefficients_are_found_again() -> None:
    generator = np.random.default_rng(7)
    features = generator.uniform(0, 1, (20_000, 2))
    outcomes = generator.uniform(0, 1, 20_000) < sigmoid(-2 + features @ [3.0, 1.0])
    assert fit_logistic(features, outcomes) == pytest.approx([-2, 3, 1], abs=0.15)


def test_goodness_of_hand_made_probabilities() -> None:
    chances = np.array([0.9, 0.8, 0.3, 0.1])
    outcomes = np.array([True, True, False, True])
    found = goodness(chances, outcomes)
    assert found.brier == pytest.approx((0.01 + 0.04 + 0.09 + 0.81) / 4)
    assert found.ece == pytest.approx((0.1 + 0.2 + 0.3 + 0.9) / 4)
    assert found.auc == pytest.approx(2 / 3)
    assert area(np.array([1.0, 1.0]), np.array([True, False])) == 0.5
