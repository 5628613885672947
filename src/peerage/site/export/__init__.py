"""An arena as files: static pages, the report, a repository of results; and who witnesses it. It
imports `pages` and what is below."""
