"""Ratings by maximum likelihood over all results: Bradley-Terry (ties, covariates, clusters, judges of
unequal reliability) and item response theory. Imports only `columns`, `table` and `arrays`."""
