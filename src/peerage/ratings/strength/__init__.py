"""Strengths from decided matches: `evidence` in, `posterior` out (ratings, chances, bins), `pooling` by topic
or game. Others import these, `likelihood` (counts) and `clustering`; what draws is private. Imports only
`columns`, `table` and `arrays`."""
