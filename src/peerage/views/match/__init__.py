"""One match as it is shown: who sat where, the blocks that tell it, every exchange, what came of it."""
