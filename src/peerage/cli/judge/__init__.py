"""Commands by which recorded answers are judged again: by a person (annotate), by other judges (rejudge).

They import `cli.play`, `cli.data`, `cli.shared` and what is below `cli`.
"""
