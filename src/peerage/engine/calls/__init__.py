"""Calls of players, from request to reply: `calls` sends and retries, `dispatch` queues behind limits,
`budget` and `reservations` hold the money, `pauses` knows who fails, `availability` who may be asked now. It
imports `engine.record` and nothing else of `engine`.
"""
