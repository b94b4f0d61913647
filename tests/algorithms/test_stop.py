"""Reasons to stop: found again from their words, which model files keep."""

import pytest

from coterie.algorithms.stop import StopReason

WORDS = {  # as models of 0.1.0 hold them
    "no assignment changed": StopReason.UNCHANGED,
    "the means moved less than tol=0.0001": StopReason.MEANS_SETTLED,
    "the error fell by less than rel_tol=1e-05": StopReason.ERROR_SETTLED,
    "the error changed by less than tol=0.001 per point": StopReason.LIKELIHOOD_SETTLED,
    "max_iter=300 reached": StopReason.MAX_ITER,
    "max_seconds reached": StopReason.MAX_SECONDS,
    "the callback asked to stop": StopReason.CALLBACK,
    "interrupted": StopReason.INTERRUPTED,
    "stopped before iteration 3: expected covariances that\nspread": StopReason.FLAT_COVARIANCE,
    "partial_fit moves the means by one batch": StopReason.ONE_BATCH,
}


@pytest.mark.parametrize("words", WORDS)
def test_reasons_are_found_from_the_words_of_old_files(words):
    assert StopReason.of(words) is WORDS[words]


def test_every_reason_has_words():
    assert set(WORDS.values()) == set(StopReason)


@pytest.mark.parametrize("reason", StopReason)
def test_reasons_are_found_from_their_own_words(reason):
    stop = reason.stop(*["1e-07", "tol=2 reached"][: reason.value.count("{}")])
    assert "{" not in stop.words
    assert (StopReason.of(stop.words), stop.reason) == (reason, reason)


def test_words_of_another_version_have_no_reason():
    assert StopReason.of("") is None
    assert StopReason.of("the moon rose; no assignment changed") is None


def test_reasons_that_converged_and_reasons_that_end_all_runs():
    converged = {reason for reason in StopReason if reason.converged}
    ends = {reason for reason in StopReason if reason.ends_all_runs}
    assert {reason.value.partition(" ")[0] for reason in converged} == {"no", "the"}
    assert ends == {StopReason.MAX_SECONDS, StopReason.CALLBACK, StopReason.INTERRUPTED}
    assert not converged & ends


def test_a_reason_without_values_equals_its_words():
    assert StopReason.UNCHANGED == "no assignment changed"
