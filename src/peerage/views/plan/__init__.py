"""What is ahead: the matches it takes to be sure, what they cost, and what simulated arenas come to. It
imports `views.leaderboard`."""
