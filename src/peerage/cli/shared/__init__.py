"""What commands share: options, opening an arena, views on standard output.

It imports what is below `cli`, and no command.
"""
