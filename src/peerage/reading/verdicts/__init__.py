"""What was said of answers: votes and scores of judges, votes of people, credits by checks."""
