"""Statistics of an arena: what players, judges and authors did, what that cost, and how each task went."""
