"""Differences that are proven at every look, without a prior: between players (`proven`), and by a margin
(`not_worse`). Imports `strength.evidence` besides `fits`, `columns`, `table` and `arrays`."""
