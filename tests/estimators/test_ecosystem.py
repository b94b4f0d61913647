"""Among the tools people use: pickling, pipelines, searches, frames, routing, callbacks."""

from __future__ import annotations

import copy
import doctest
import importlib
import pickle
from pathlib import Path

import joblib
import numpy as np
import pandas as pd
import pytest
import sklearn
from sklearn.base import clone
from sklearn.model_selection import GridSearchCV
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.utils import get_tags
from support.estimators import assert_same_fit, same_partition

import coterie
from coterie import KMeans


def through_joblib(model, folder):
    joblib.dump(model, folder / "model")
    return joblib.load(folder / "model")


COPIES = {
    "pickle": lambda model, folder: pickle.loads(pickle.dumps(model)),
    "deepcopy": lambda model, folder: copy.deepcopy(model),
    "joblib": through_joblib,
    "memory-mapped": lambda model, folder: (
        joblib.dump(model, folder / "m") and joblib.load(folder / "m", mmap_mode="r")
    ),
}


@pytest.mark.parametrize("how", COPIES)
@pytest.mark.parametrize("scale", [1.0, 1e-200])
@pytest.mark.filterwarnings("ignore:inertia_ underflows")
def test_copies_answer_the_same(blobs, tmp_path, how, scale):
    X = blobs[0] * scale
    model = KMeans(5, random_state=0, trace=True, n_init=2).fit(X)
    other = COPIES[how](model, tmp_path)
    assert_same_fit(other, model)
    np.testing.assert_array_equal(other.predict(X), model.labels_)
    np.testing.assert_array_equal(other.transform(X), model.transform(X))
    assert other.history_ == model.history_
    assert [run.inertia for run in other.runs_] == [run.inertia for run in model.runs_]
    assert_same_fit(other.fit(X), model)


def test_clone_copies_parameters_and_no_more(blobs):
    model = KMeans(5, init=blobs[0][:5], rel_tol=0.1, metric="cosine").fit(blobs[0])
    other = clone(model)
    assert vars(other).keys() == model.get_params().keys()
    np.testing.assert_array_equal(other.init, model.init)
    assert (other.n_clusters, other.rel_tol, other.metric) == (5, 0.1, "cosine")


def test_representation_names_what_differs():
    assert repr(KMeans(3, metric="cosine")) == "KMeans(metric='cosine', n_clusters=3)"


def test_frames_in_and_out(blobs):
    frame = pd.DataFrame(blobs[0], columns=list("abcd"), index=np.arange(300) + 7)
    model = KMeans(5, random_state=0).set_output(transform="pandas")
    distances = model.fit_transform(frame)
    assert list(distances.columns) == [f"kmeans{c}" for c in range(5)]
    assert model.get_feature_names_out().tolist() == list(distances.columns)
    assert (distances.index == frame.index).all()
    pd.testing.assert_frame_equal(distances, model.transform(frame))
    assert model.feature_names_in_.tolist() == list("abcd")
    np.testing.assert_array_equal(distances.to_numpy().argmin(axis=1), model.labels_)


def test_pipeline_and_search(blobs):
    X, y = blobs
    pipeline = make_pipeline(StandardScaler(), KMeans(5, random_state=0, n_init=5))
    assert same_partition(pipeline.fit_predict(X), y)
    assert pipeline.transform(X).shape == (300, 5)
    search = GridSearchCV(pipeline, {"kmeans__n_clusters": [2, 5]}, cv=3).fit(X)
    assert search.best_params_ == {"kmeans__n_clusters": 5}
    with joblib.parallel_config(backend="threading"):
        parallel = GridSearchCV(KMeans(random_state=0), {"n_clusters": [2, 5]}, cv=3, n_jobs=2)
        parallel.fit(X)
    assert parallel.best_params_ == {"n_clusters": 5}


def test_weights_are_routed(cloud):
    weights = np.random.RandomState(0).rand(len(cloud))
    with sklearn.config_context(enable_metadata_routing=True):
        step = KMeans(4, random_state=0).set_fit_request(sample_weight=True)
        step = step.set_score_request(sample_weight=True)
        step.set_partial_fit_request(sample_weight=True)
        scaler = StandardScaler().set_fit_request(sample_weight=False)
        pipeline = make_pipeline(scaler, step)
        pipeline.fit(cloud, sample_weight=weights)
        routed_score = pipeline.score(cloud, sample_weight=weights)
    scaled = StandardScaler().fit_transform(cloud)
    expected = KMeans(4, random_state=0).fit(scaled, sample_weight=weights)
    assert_same_fit(pipeline[-1], expected)
    assert routed_score == -expected.inertia_


def test_methods_agree(blobs):
    X, _ = blobs
    model = KMeans(5, random_state=0)
    np.testing.assert_array_equal(model.fit_predict(X), model.fit(X).labels_)
    np.testing.assert_array_equal(model.fit_transform(X), model.fit(X).transform(X))
    weights = np.arange(1.0, 301)
    expected = clone(model).fit(X, sample_weight=weights)
    np.testing.assert_array_equal(model.fit_predict(X, sample_weight=weights), expected.labels_)
    np.testing.assert_array_equal(
        model.fit_transform(X, sample_weight=weights), expected.transform(X)
    )


def test_tags():
    tags = get_tags(KMeans())
    assert tags.input_tags.sparse
    assert tags.estimator_type == "clusterer"
    assert tags.transformer_tags.preserves_dtype == ["float64"]
    assert not tags.target_tags.required


class Listener:
    """A callback of scikit-learn's protocol that writes down its events."""

    def __init__(self, stop_after=None):
        self.told, self.scores, self.stop_after = [], [], stop_after

    def setup(self, estimator, context):
        self.told.append("setup")

    def teardown(self, estimator, context):
        self.told.append("teardown")

    def on_fit_task_begin(self, estimator, context):
        self.told.append(("begin", context.task_name, context.task_id))

    def on_fit_task_end(self, estimator, context, *, X=None, fitted_estimator=None):
        self.told.append(("end", context.task_name, context.task_id))
        if context.task_name == "iteration" and fitted_estimator is not None:
            self.scores.append(fitted_estimator.score(X))
            return len(self.scores) == self.stop_after
        return False


needs_callbacks = pytest.mark.skipif(
    not hasattr(KMeans, "set_callbacks"), reason="scikit-learn before 1.9 has no callbacks"
)


@needs_callbacks
def test_callbacks_of_scikit_learn_hear_of_runs_and_iterations(cloud):
    listener = Listener()
    model = KMeans(9, n_init=2, random_state=0).set_callbacks(listener).fit(cloud)
    plain = KMeans(9, n_init=2, random_state=0).fit(cloud)
    assert_same_fit(model, plain)
    assert listener.told[:4] == [
        "setup",
        ("begin", "fit", 0),
        ("begin", "run", 0),
        ("begin", "iteration", 0),
    ]
    assert listener.told[-2:] == [("end", "fit", 0), "teardown"]
    begun = [(name, number) for kind, name, number in listener.told[1:-1] if kind == "begin"]
    ended = [(name, number) for kind, name, number in listener.told[1:-1] if kind == "end"]
    assert sorted(begun) == sorted(ended)
    assert [name for name, _ in ended].count("run") == 2
    errors = [-record.error * len(cloud) for run in model.runs_ for record in run.history]
    # The score is that of the nearest means, which is at least as good as the recorded one.
    assert len(listener.scores) == len(errors)
    assert all(s >= e * (1 + 1e-12) for s, e in zip(listener.scores, errors, strict=True))
    assert not [name for name in vars(model) if "ctx" in name or "teardown" in name]


@needs_callbacks
def test_callbacks_of_scikit_learn_can_stop_and_are_torn_down(cloud):
    listener = Listener(stop_after=2)
    model = KMeans(9, n_init=3, random_state=0).set_callbacks(listener).fit(cloud)
    assert model.n_iter_ == 2
    assert len(model.runs_) == 1
    assert listener.told[-1] == "teardown"
    failing = Listener()
    with pytest.raises(ValueError, match="NaN"):
        KMeans(9).set_callbacks(failing).fit(cloud * np.nan)
    broken = KMeans(9, callback=lambda event: 1 / 0).set_callbacks(failing)
    with pytest.raises(ZeroDivisionError):
        broken.fit(cloud)
    assert failing.told[0] == "setup"
    assert failing.told[-1] == "teardown"
    assert vars(broken).keys() == broken.get_params().keys() | {"_skl_callbacks"}


@needs_callbacks
def test_progress_bar(cloud, capsys):
    pytest.importorskip("rich")
    from sklearn.callback import ProgressBar

    KMeans(9, n_init=2, random_state=0).set_callbacks(ProgressBar()).fit(cloud)
    assert "run #1" in capsys.readouterr().out


def modules_with_examples():
    package = Path(coterie.__file__).parent
    files = (path for path in package.rglob("*.py") if "    >>> " in path.read_text("utf-8"))
    return sorted(
        ".".join(path.relative_to(package.parent).with_suffix("").parts) for path in files
    )


@pytest.mark.parametrize("name", modules_with_examples())
def test_the_examples_in_the_docstrings_are_true(name):
    tried = doctest.testmod(importlib.import_module(name.removesuffix(".__init__")))
    assert tried.failed == 0
    assert tried.attempted > 0


def test_version():
    assert coterie.__version__.count(".") >= 2
