"""Pages of results: tables, figures and coverage, as HTML, Markdown and JSON."""
