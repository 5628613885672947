"""A ledger for others: `export` for other programs, `copying` into another store, `disclosure` without
secrets. It imports all other folders of the room, and nobody in it imports this one."""
