"""Code that is executed inside the sandbox, never in the arena: plain Python for the guest's standard
library.

prelude.py and then execute.py and snapshot.py run once, while the snapshot is made.
"""
