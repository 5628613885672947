"""JSON schemas: made from a struct for providers, and those that people bring along. Pure; it imports texts
and patterns."""
