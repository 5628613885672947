"""The way of requests in and answers out: connections and their limits, the guard at the door, the frame of
pages that only a server has, and a log that cannot be flooded. It imports `pages` and `api`."""
