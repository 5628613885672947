"""Runs native programs: those of agents, and commands in folders; docs/sandbox.md says what holds them.

`places.WorkPlace` is a folder to work in with the launcher of its jail, `commands.run_command` runs one
command in one, `confined` is the launcher of programs that users trust, but for what is hidden.
"""
