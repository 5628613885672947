"""Programs in matches: `run_tests` tries those that players write, `tools` lets players run some before they
answer."""
