"""What people do in a browser: vote blind, judge as experts, review challenges, play in a seat. Beside each
page stands what it does without one. It imports `http`, `api`, `pages` and what is below."""
