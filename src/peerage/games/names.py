"""First names for those who appear in tasks."""

NAMES = (
    "Ada", "Ben", "Cleo", "Dan", "Eva", "Finn", "Gus", "Hana", "Ivo", "June", "Kai", "Lea", "Max", "Nora",
    "Oto", "Pia", "Quin", "Rosa", "Sam", "Tess", "Uma", "Vito", "Wes", "Yara", "Zoe",
)  # fmt: skip
