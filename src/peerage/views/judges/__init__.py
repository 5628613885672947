"""The judges of an arena: a module for each table of the report, with its rows, how they are computed and its
columns; `report` puts them together. They import readings, `judging` and `ratings`."""
