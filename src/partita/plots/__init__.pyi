"""The public figures, each from the module that draws it."""

from partita.plots._diagnostics import ranks as ranks
from partita.plots._diagnostics import replicates as replicates
from partita.plots._diagnostics import traces as traces
from partita.plots._items import core as core
from partita.plots._items import distances as distances
from partita.plots._items import feature_ball as feature_ball
from partita.plots._items import items as items
from partita.plots._items import memberships as memberships
from partita.plots._items import n_clusters as n_clusters
from partita.plots._items import n_features as n_features
from partita.plots._items import overview as overview
from partita.plots._items import profiles as profiles
from partita.plots._on_data import ball as ball
from partita.plots._on_data import estimate as estimate
from partita.plots._posterior_map import hasse as hasse
from partita.plots._posterior_map import posterior_map as posterior_map
from partita.plots._price_path import clusters_curve as clusters_curve
from partita.plots._price_path import compare_losses as compare_losses
from partita.plots._price_path import persistence as persistence
from partita.plots._price_path import price_path as price_path
from partita.plots._price_path import prior_sensitivity as prior_sensitivity
from partita.plots._representatives import by_run as by_run
from partita.plots._representatives import representatives as representatives
from partita.plots._representatives import representatives_curve as representatives_curve
from partita.plots._similarity import similarity as similarity

__all__: list[str]
