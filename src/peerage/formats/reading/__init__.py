"""The one reader of replies: objects, numbers and statements in what a model wrote, read where its writer
states them and has one reading. Pure; it imports the texts of formats."""
