"""Views as HTML: `writer` writes all blocks, on `match` (transcripts), `tables` (and charts) and `texts`.

It imports the blocks and `values`.
"""
