"""Constants that are no size thresholds, by reason, and those that a test elsewhere crosses."""

from __future__ import annotations

ELSEWHERE = {
    "_dask._PATIENCE": "test_cluster_trouble.py::test_work_does_not_wait_forever_for_workers",
    "_memory.LITTLE": "test_validate.py::test_little_memory_is_not_asked_for",
    "credible.comparison._SUM_BYTES": "test_thresholds.py::test_comparison_in_batches",
    "diagnostics.convergence._MIN_DRAWS": "diagnostics/test_convergence.py::"
    "test_constants_and_few_draws_give_no_warnings_of_numpy",
    "diagnostics.warnings.MIN_ESS": "diagnostics/test_convergence.py::"
    "test_too_few_effective_draws_are_named",
    "io.collect.BLOCK_LABELS": "io/test_parquet.py::test_row_groups",
    "io.collect._ENOUGH_TO_COUNT": "io/test_real_tables.py::test_a_column_that_counts_is_no_item",
    "io.memberships._CELLS": "io/test_memberships.py::test_blocks_of_draws_change_nothing",
    "io.source._BLOCK_BYTES": "io/test_text.py::test_blocks_of_any_size",
    "io.source._MOST_PASSED_OVER": "io/test_text.py::"
    "test_a_file_is_not_searched_for_its_rows_without_end",
    "kernels.credible.growth._FEW": "test_thresholds.py::test_cores_of_many_clusters",
    "kernels.credible.uncertainty._BATCH": "test_thresholds.py::test_comparison_in_batches",
    "kernels.credible.uncertainty._CELLS": "test_thresholds.py::test_comparison_in_batches",
    "kernels.credible.uncertainty._TILE": "test_thresholds.py::test_comparison_in_batches",
    "kernels.gibbs.categorical._FLUSH": "samplers/test_families.py::test_many_columns_of_levels",
    "kernels.gibbs.components._LARGE": "samplers/test_learned.py::"
    "test_rising_factorials_keep_their_digits",
    "kernels.gibbs.normal._FLUSH": "samplers/test_families.py::test_many_columns_do_not_overflow",
    "kernels.gibbs.poisson._SHORT": "samplers/test_families.py::test_gamma_poisson_integrates",
    "kernels.io.text._MOST_DIGITS": "io/test_text_kernels.py::"
    "test_read_whole_agrees_with_exact_decimals",
    "kernels.partitions.similarity._COLUMNS": "partitions/test_similarity.py::"
    "test_every_number_of_items",
    "kernels.partitions.similarity._DRAWS": "partitions/test_similarity.py::"
    "test_counts_survive_every_boundary_of_the_passes_over_draws",
    "kernels.losses.among.MASK_BYTES": "rivals/test_representatives.py::"
    "test_distances_among_are_the_pairwise_ones",
    "kernels.search.counts.DRAWS": "search/test_tables.py::"
    "test_the_margin_of_an_item_is_the_cost_of_its_best_move",
    "kernels.search.single_moves.CELLS": "test_thresholds.py::test_single_moves_in_batches",
    "kernels.search.single_moves.MOST_CELLS": "test_thresholds.py::test_single_moves_in_batches",
    "losses.additive._TRIED": "losses/test_claims.py::"
    "test_terms_that_reward_splitting_large_clusters_are_refused",
    "partitions.arrays._TILE": "partitions/test_similarity.py::"
    "test_counts_survive_every_boundary_of_the_passes_over_draws",
    "losses.evaluate._BLOCK_CELLS": "losses/test_expected_loss.py::"
    "test_pairwise_distances_in_small_blocks",
    "partitions.cleaning.BLOCK_LABELS": "partitions/test_draws.py::"
    "test_the_dtype_grows_in_a_later_block",
    "partitions.enumeration.MAX_ENUMERATED": "partitions/test_enumeration.py::"
    "test_listing_is_lazy_and_bounded",
    "losses.hasse._MAX_DRAWN": "losses/test_hasse.py::test_what_cannot_be_drawn_is_refused",
    "partitions.pieces._MOST_DRAWS": "partitions/test_passes.py::"
    "test_blocks_do_not_depend_on_threads",
    "partitions.passes.GATHERED_LABELS": "test_cluster.py::"
    "test_searches_of_few_and_of_many_labels_agree",
    "partitions.pieces._GROUPS": "partitions/test_passes.py::"
    "test_groups_of_blocks_cover_them_in_order",
    "partitions.similarity._BATCH_CELLS": "partitions/test_similarity.py::"
    "test_batches_of_rows_add_up",
    "partitions.similarity._CHUNK_LABELS": "partitions/test_similarity.py::"
    "test_chunks_of_draws_add_up",
    "partitions.similarity._CODES": "partitions/test_similarity.py::"
    "test_labels_too_many_for_the_kernels_are_renamed_in_groups",
    "partitions.similarity._LITTLE_WORK": "partitions/test_similarity.py::"
    "test_the_number_of_threads_does_not_matter",
    "plots.posterior_map._LANDMARKS": "plots/test_lattice_and_map.py::"
    "test_partitions_in_a_chain_come_to_lie_on_a_line",
    "plots.representatives.MOST_BLOCKS": "plots/test_rivals.py::test_many_items_are_shown_as_bars",
    "plots.similarity_map._LINKED": "plots/test_similarity.py::"
    "test_a_large_cluster_is_ordered_by_some_of_its_items",
    "samplers.display._FEW": "samplers/test_sample.py::test_r_hat_so_far_is_that_of_the_chains",
    "samplers.guard._MANY": "samplers/test_door.py::"
    "test_doubtful_columns_are_refused_with_the_way_out",
    "report.item_sample.AT_RANDOM": "report/test_prepare.py::"
    "test_of_very_many_items_some_are_shown",
    "report.item_sample.LEAST_CERTAIN": "report/test_prepare.py::"
    "test_of_very_many_items_some_are_shown",
    "report.item_sample.MOST_ITEMS": "report/test_prepare.py::"
    "test_of_very_many_items_some_are_shown",
    "samplers.guard._WIDE": "samplers/test_door.py::"
    "test_columns_with_nothing_in_them_and_wide_ones",
    "samplers.predictive._CELLS": "samplers/test_fit.py::"
    "test_density_in_blocks_of_points_is_the_same",
    "search.constraints.EVALUATED_ITEMS": "search/test_constraints.py::"
    "test_impossible_requests_are_refused_in_words",
    "search.methods.draws.BATCH": "search/test_draws_method.py::"
    "test_many_pieces_without_the_matrix",
    "search.methods.draws.PIECE_LABELS": "search/test_draws_method.py::"
    "test_many_pieces_without_the_matrix",
    "search.methods.draws.ALL_PAIRS": "search/test_draws_method.py::"
    "test_draws_that_are_ruled_out_leave_the_same_answer",
    "search.methods.ruled_out.EVALUATED": "search/test_draws_method.py::"
    "test_draws_that_are_ruled_out_leave_the_same_answer",
    "search.methods.ruled_out.EVALUATED_LABELS": "search/test_draws_method.py::"
    "test_draws_that_are_ruled_out_leave_the_same_answer",
    "search.methods.ruled_out.JUDGES": "search/test_draws_method.py::"
    "test_draws_that_are_ruled_out_leave_the_same_answer",
    "search.methods.enumerate_all.MAX_TIES": "search/test_enumerate.py::"
    "test_more_ties_than_are_listed",
    "search.methods.few_items.PAIRS": "search/test_few_items.py::"
    "test_too_many_in_doubt_are_swept_and_it_is_said",
    "search.methods.hasse.CHUNK_CELLS": "search/test_hasse.py::"
    "test_time_that_is_up_still_gives_partitions",
    "search.methods.linkage.BLOCK_LABELS": "search/test_linkage.py::"
    "test_the_same_for_every_number_of_threads",
    "search.methods.many_labels.FEW_CLUSTERS": "search/test_many_labels.py::"
    "test_partitions_too_wide_for_tables_are_not_searched",
    "search.methods.many_labels.TABLE_CELLS": "search/test_many_labels.py::"
    "test_partitions_too_wide_for_tables_are_not_searched",
    "search.methods.polish.WIDE_CELLS": "search/test_tables.py::"
    "test_looking_at_all_draws_gives_the_loss_after_each_move",
    "search.problem.FEW_CLUSTERS": "search/test_lists.py::"
    "test_lists_are_chosen_for_many_small_clusters_and_find_the_same",
    "search.path_search.CHECKED_CELLS": "search/test_price_path.py::"
    "test_corners_that_are_looked_at_on_fewer_draws",
    "search.path_search.DISSOLVED_DRAWS": "search/test_price_path.py::"
    "test_corners_that_are_looked_at_on_fewer_draws",
    "search.path_search.MANY": "search/test_price_path.py::"
    "test_corners_that_are_looked_at_on_fewer_draws",
    "search.methods.walks.WALK_CELLS": "search/test_starts.py::test_work_without_end_is_ended",
    "search.methods.walks.WALK_SWEEPS": "search/test_starts.py::test_work_without_end_is_ended",
    "search.pass_descent.MOST_CELLS": "search/test_many_labels.py::"
    "test_a_descent_that_does_not_end_is_ended_and_that_is_said",
    "search.pass_descent.MOST_SWEEPS": "search/test_many_labels.py::"
    "test_a_descent_that_does_not_end_is_ended_and_that_is_said",
    "search.pass_descent.MOST_STEPS": "search/test_many_labels.py::"
    "test_a_descent_that_does_not_end_is_ended_and_that_is_said",
    "search.pass_descent.DOUBTFUL": "search/test_many_labels.py::"
    "test_moves_that_do_not_help_together_are_halved",
    "search.task.LITTLE_MEMORY": "search/test_lists.py::"
    "test_threads_that_would_not_fit_are_fewer_and_that_is_said",
    "summary.how_many.CHEAP_CELLS": "summary/test_how_many.py::test_what_is_cheap_is_said_unasked",
}

NO_THRESHOLD = {
    "how much is shown, and how large": (
        "cli.compare._UNLIMITED",
        "cli.show._WIDE",
        "credible.core_result._SHOWN",
        "partitions.profile_table._SHOWN",
        "plots.canvas.SMALL",
        "plots.distances._MOST_BINS",
        "plots.on_data._GRID",
        "plots.colours._PER_SHAPE",
        "plots.persistence.MOST_PEAKS",
        "plots.price_path._EDGED",
        "plots.profiles._MOST_PANELS",
        "plots.thumbnail._CELLS",
        "plots.traces._MOST_POINTS",
        "report.figures.HEAT_STEPS",
        "report.holds.HEIGHT",
        "report.holds.WIDTH",
        "report.holds._PANELS",
        "report.holds._ROWS",
        "report.how_many.HEIGHT",
        "report.how_many.WIDTH",
        "report.how_many._BOTTOM",
        "report.how_many._LABELLED",
        "report.how_many._SIDE",
        "report.how_many._TOP",
        "report.partitions._WIDEST",
        "report.prepare._DISTANCE_BINS",
        "report.prepare._TRACE_POINTS",
        "report.tables._CLUSTERS",
        "report.tables._STARTS",
        "report.wording._SIZES",
        "summary.notebook._SHOWN",
        "summary.text.WIDTH",
        "summary.text._NARROWEST",
    ),
    "the default of an argument, which tests give": (
        "diagnostics.agreement.MAX_PAIRS",
        "plots.posterior_map.MOST_DRAWS",
        "plots.ranks._BINS",
        "plots.similarity_map.MOST_CELLS",
        "rivals.conformal.MAX_DRAWS",
        "search.ruled_walk._SWAPPED",
    ),
    "the most that an argument or a cell may be": (
        "io.ids._LARGEST",
        "partitions.enumeration._LARGEST",
        "samplers.poisson._LARGEST",
        "samplers.sample._MOST",
        "samplers.sample._MOST_MOVES",
        "samplers.storage._MOST",
        "samplers.table._LARGEST",
        "testing.priors._LARGEST",
    ),
    "how often or how finely, the same for every size": (
        "_dask._WAITING",
        "_parallel._AT_ONCE",
        "cli.demo.BURN_IN",
        "cli.demo.DRAWS",
        "diagnostics.drift.ENOUGH",
        "diagnostics.drift.SEEN",
        "diagnostics.drift.SHUFFLES",
        "kernels.rivals.spectrum._HALVINGS",
        "plots.embedding._ROUNDS",
        "rivals.centres._STEPS",
        "rivals.curve.BLOCKS",
        "rivals.exchangeable._MIN_DRAWS",
        "samplers.learned_rates.N_VALUES",
        "search.curve_search.STRIDE",
    ),
    "bits, bytes, places in an array, an exit code, a time": (
        "_dask._BYTES",
        "_files._DAY",
        "_own_files._HEAD",
        "cli.cluster._SECONDS",
        "cli.failures.INTERRUPTED",
        "io.arviz_files._OVERHEAD",
        "samplers.beginning._CHAIN_BYTES",
        "io.cells._COPIES",
        "io.zarr_chunks._ABSENT",
        "io.zarr_chunks._BLOSC_HEAD",
        "kernels.bits.WORD",
        "kernels.gibbs.math.LANES",
        "kernels.gibbs.math._MANTISSA",
        "kernels.gibbs.math._MANTISSA_BITS",
        "kernels.gibbs.math._ONE_BITS",
        "kernels.gibbs.math._ROUND",
        "kernels.gibbs.split_merge._LARGEST_ODDS",
        "kernels.gibbs.types.ADDRESS",
        "kernels.gibbs.types.HYPER",
        "kernels.gibbs.types.N_HYPER",
        "kernels.gibbs.types.N_TABLES",
        "kernels.gibbs.types.TABLES",
        "kernels.gibbs.types.WIDTH",
        "kernels.gibbs.views._BYTES",
        "kernels.search.types.LANES",
        "search.methods.polish.LABEL_BYTES",
    ),
}
