"""Records of a run: the journal, records of matches, and entries of the log on players, settings, benches,
probes and models. Each module knows how its entries are written and read back. It imports nothing else of
`engine`."""
