"""What the matches come to: whom to pick, two players side by side, a gate that one must pass. It imports
`views.leaderboard`."""
