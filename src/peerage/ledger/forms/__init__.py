"""Stored forms. Pure. `rows` are what passes in and out, `schema` declares the tables, `codec`
and `codec_requests` have the stored bodies, `bodies` compresses them, `merkle` and `log` say what is
hashed. It imports shared nouns alone.
"""
