"""Commands to begin with: demo, choose, init, doctor.

They import `cli.play`, `cli.shared` and what is below `cli`.
"""
