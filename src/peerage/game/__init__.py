"""What authors of games import: fixtures and outcomes (`match`), requests and replies (`protocol`), what a
game says of itself (`spec`), the blocks that show a match (`blocks`), house play and texts. It imports
formats and values.
"""
