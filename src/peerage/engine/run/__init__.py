"""One run of an arena: rounds issued, matches admitted, left waiting and folded, players probed before and
asked again meanwhile, hosts started and stopped. It stands above all else of `engine` and imports any of
it."""
