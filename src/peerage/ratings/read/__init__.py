"""The one reader for tasks, votes and results that people have in files."""
