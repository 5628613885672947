"""Who stands where: the board of one track, its ratings, chances and notes, and its columns. It imports
everything below `views` and nothing beside it but `views.shown`."""
