"""The ground of all other rooms: values as people read them, files and variables that users name, errors of
the operating system in words, signals, processes, sealed texts, the clock. It imports nothing of ours but
the version.
"""
