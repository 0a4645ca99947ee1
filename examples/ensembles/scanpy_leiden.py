"""
Leiden at many resolutions, with scanpy
=======================================

Which resolution? All of them: run several with several seeds, keep every run as a column of
``adata.obs``, and ask which clustering represents the ensemble and which cells are certain.
"""

# needs: scanpy igraph
# sphinx_gallery_thumbnail_path = '_static/scanpy_leiden.png'

import itertools

import anndata
import numpy as np
import scanpy as sc
from matplotlib import pyplot as plt

import partita as pt

# %%
# 300 cells of five types, of which two are close, with 30 genes each.
rng = np.random.default_rng(0)
types = np.repeat(np.arange(5), 60)
profiles = rng.normal(0, 1.2, (5, 30))
profiles[4] = profiles[3] + rng.normal(0, 0.5, 30)
adata = anndata.AnnData((profiles[types] + rng.normal(0, 1, (300, 30))).astype(np.float32))
sc.pp.pca(adata, n_comps=10)
sc.pp.neighbors(adata, n_neighbors=12)

# %%
# Eight resolutions with five seeds each.
for resolution, seed in itertools.product(np.linspace(0.2, 1.6, 8), range(5)):
    sc.tl.leiden(
        adata,
        resolution=resolution,
        random_state=seed,
        key_added=f"leiden_{resolution:.1f}_{seed}",
        flavor="igraph",
        n_iterations=2,
        directed=False,
    )

# %%
# One call, over all columns whose name begins so. The answer goes where scanpy looks for it.
pt.anndata.summarize(adata, draws="leiden_*", bound=None)
print(adata.obs["partita"].value_counts().to_string())
doubtful = (adata.obs["partita_probability"] < 0.9).sum()
print(f"the runs place {doubtful} of 300 cells differently in more than one run of ten")

# %%
# Clusters, and how sure each cell's place is: the two close types are one cluster, and its cells
# are those that the runs do not agree on.
sc.tl.umap(adata, random_state=0)
figure, axes = plt.subplots(1, 2, figsize=(11, 4.4), layout="constrained")
sc.pl.umap(adata, color="partita", ax=axes[0], show=False)
sc.pl.umap(adata, color="partita_probability", ax=axes[1], show=False, cmap="viridis")
plt.show()
