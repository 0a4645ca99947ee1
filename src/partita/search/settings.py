"""Tuning constants of the search, each with the measurement that set it.

Work is counted in cells of count tables; about 10⁹ are read in a second. "Contest" is
``python -m benchmarks.contest``, "ablation" its table in ``benchmarks/RESULTS.md``. Sizes of
blocks and shares of memory, which change no answer, stand with the code that uses them.
"""

# ---------------------------------------------------------------------- which method

EXACT_ITEMS = 10
"""Up to this many items (115,975 partitions) every partition is compared: 8 ms for 8 items."""

EVALUATED_ITEMS = 8
"""The same within constraints for a loss that is measured by evaluation, 0.1 ms a partition."""

MATRIX_ITEMS = 2_000
"""Up to this many items linear losses of pairs are searched with the similarity matrix, and
linkages are made of all of them: 32 MB and a second of linkage."""

MANY_ITEMS, SOME_ITEMS = 50_000, 20_000
"""Above the first number of items a search explores the second, drawn at random: tables of more do
not stay near, and 20,000 leave every cluster of 0.1% twenty items."""

STRATA, STRATUM_ITEMS = 8, 4
"""Draws of which every cluster, however small, has this many items among those explored."""

FEW_CLUSTERS, CLUSTER_TIMES = 64, 2
"""Cap on clusters where items are many: the first number, or this multiple of those of a draw.
Draws of fewer than the first are always held in tables, which read faster than lists there."""

# ---------------------------------------------------------------------- draws that are explored

SAMPLE_LABELS, FEWEST_DRAWS, MOST_DRAWS, MOST_DRAWS_NONLINEAR = 150_000, 100, 300, 500
"""Starts explore a sample of about this many labels, within these numbers of draws, and as many
labels are compared, in a millisecond, for the draw to start from. ID on Example 1 ends 0.2% higher
for one seed of four with 300 draws; VI does not for 200."""

UNCERTAIN, FEW_UNCERTAIN, UNCERTAIN_SHARE = 16, 6, 32
"""Items that cost least to move: at most the first number are ejected in a round of a descent, and
the second where kinds of starts have met and on all draws. At least the first, and one in the
third, are scored on all draws: in 40 posteriors of 3,000 to 10,000 draws the items that moved
there were among the 6 least certain of the sample."""

# ---------------------------------------------------------------------- starts

KINDS = 3
"""Kinds among the first starts that must end at the same loss for a search to be brief. Where they
end apart and later ones meet, contest 1324 is missed by 0.27% for one seed of 16."""

LINKED_ITEMS = 1_000
"""Most items of the linkage that a start is cut from; of more this many are drawn. 10 ms."""

ALTERNATIVES = 4
"""Ways tried where one is needed: cuts to start from, clusters to split, pairs to merge, and
partitions to restart from where the loss is not linear or starts end apart. Crossing modes under ID
end 0.1% to 0.3% higher with restarts from 2 for two seeds of three; contest 1054 (VI) is missed by
0.2% with 2 for one seed of twelve."""

JUDGES = 200
"""Draws that judge which draw to start from."""

PRICE_RATIOS = (1.7, 0.6, 2.9, 0.35)
"""Factors of a / (2 − a) of neighbouring prices whose minimisers are starts."""

# ---------------------------------------------------------------------- descent

ROUNDS = 8
"""Most alternations of cluster moves and sweeps in one descent; few need more than three."""

LEADING = 2
"""Partitions that go on with cluster moves, and on all draws."""

STEP_WORK = 1e8
"""Work, at most, of one step that a search can do without, a tenth of a second: a sweep from
singletons, and comparing every two items that may change places; of more items, those that cost
least to move. Contest 986 (ID, 224 items × 255 draws) is missed by 3% without such exchanges, and
11 others by less."""

NEAR = 0.05
"""How far above the best on the sample, relative to it, a partition is refined on all draws."""

MOVED_CLUSTERS, MERGED_CLUSTERS = 400, 2_000
"""Clusters, at most, that one round of splits takes up, and of which every pair is compared."""

SEARCH_WORK, SEARCH_SWEEPS = 5e9, 50
"""Work, some seconds, and sweeps at the draws' own number of clusters, whichever is more, after
which a descent ends: only partitions of very many clusters get there."""

SCAN_STEPS, SCAN_SWEEPS = 60, 20
"""Steps of a descent by scans of all draws, each of many moves, and its work in sweeps."""

# ---------------------------------------------------------------------- iterated local search

DEFAULT_STARTS = 64
"""Restarts in a row without a gain after which a search ends. The interval and ring cases of the
contest need at most 22."""

RETURNS, NONLINEAR_TIMES = 4, 4
"""A search whose kinds of starts have met ends when the first restarts, this many, all return to
the best partition. On the galaxies and on Example 1 nearly all do; on intervals, rings and crossing
modes that need more of them about half do. A ring of 44 items × 37 draws is missed by 1.3% for 4,
2, 1, 1 of 13 seeds with 1, 2, 3, 4. Of these and of restarts without a gain nonlinear losses make
times as many: contest 117 (NID) is missed by 0.4% if 2 returns end it, crossing modes under ID end
0.3% too high after 128 restarts without a gain; 99 cases of NVI, ID, NID and 1 − ARI end the same
after 256 and 512."""

LITTLE_WORK, MUCH_WORK = 6e6, 1e8
"""Work of restarts without a gain after which it ends: if kinds of starts of a linear loss have
met, and otherwise. A ring of 44 items × 37 draws is missed by 1.3% with a third of the first;
contest 117 (NID) by 0.4% with half of the second."""

TOTAL_WORK = 8.0
"""Work of all restarts of one chain, relative to that of restarts without a gain. 1 − ARI on nearly
separate items gains a little for a minute without it (contest 740: 68 s)."""

DEEP_SHARE = 0.5
"""Share of a nonlinear search's work in restarts that move clusters, too. With all of it in them
contest 1207 (NID) gets a fifth of the restarts."""

MOVED_SHARES = (0.05, 0.3)
"""Share of the items that a perturbation moves at random."""

TABU_IDLE, TABU_WORK, TABU_TENURE = 200, 6e8, (3, 10)
"""Moves in a row without a gain and work after which a tabu search ends; moves for which an item
that has moved is tabu, at least, drawn for each search, and at most twice as many."""

# ---------------------------------------------------------------------- within constraints

LEADING_WITHIN = 3
"""Partitions that go on with cluster moves, and draws to start from. On 12 posteriors with 12
constraints each, Binder's loss ends up to 6.7% higher with 2 of the former."""

PARTNERS = 256
"""Items that may come in exchange for one of a cluster that may not get smaller."""

SMALL_SHARE = 0.25
"""Share of the items, at most, in clusters that are too small, to be put elsewhere one by one."""
