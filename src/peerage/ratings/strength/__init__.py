"""Strengths from decided matches: `evidence` in, `posterior` (ratings and chances) and `bins` out; `proven`
for claims that hold without a prior. Others import these four; the other files are theirs."""
