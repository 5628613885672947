"""The pages on which people act: vote blind, judge as experts, review challenges, play in a seat. Beside each
page stands what it does without one. It imports `http`, `api`, `pages` and what is below."""
