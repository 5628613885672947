"""One arena on many machines: a leader issues, pays and folds; workers drive matches.

The leader is the run that holds the ledger's lock (`engine.run.runner`); `crew` is its driving of matches. It
offers those that may begin in the store, decides on each call's money and rate (`call_permits`), and hears
what comes of them. A `worker` claims matches by leases, drives them as a run on one machine does
(`engine.match.under_way`), and journals requests and replies itself. Nothing here knows how the two reach
each other, but for `on_ray`.
"""
