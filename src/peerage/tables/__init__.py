"""What a ledger says, as rows: leaderboard, statistics, transcripts, histories, plans.

Functions from a ledger (and the arena's settings) to plain values, which terminals, pages and exports show.
They read, compute and return; nothing here writes or prints. In the order of imports `tables` stands above
`engine`; only `site`, `arena` and `cli` stand above it, in this order.
"""
