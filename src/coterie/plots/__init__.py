"""Figures: Display objects over results, and moving pictures of a fit.

Each module draws one kind of figure from a finished result: begin with `clusters.py`. `style.py`
holds their common look. matplotlib is imported only when a figure is drawn.
"""

from coterie.plots.animation import animate
from coterie.plots.clusters import ClustersDisplay
from coterie.plots.comparison import ComparisonDisplay
from coterie.plots.curves import EpsChoiceDisplay, HistoryDisplay, KChoiceDisplay
from coterie.plots.patch_clusters import draw_patch_clusters
from coterie.plots.pictures import PatchesDisplay, SegmentationDisplay
from coterie.plots.silhouette import SilhouetteDisplay
from coterie.plots.style import Display

__all__ = [
    "ClustersDisplay",
    "ComparisonDisplay",
    "Display",
    "EpsChoiceDisplay",
    "HistoryDisplay",
    "KChoiceDisplay",
    "PatchesDisplay",
    "SegmentationDisplay",
    "SilhouetteDisplay",
    "animate",
    "draw_patch_clusters",
]
