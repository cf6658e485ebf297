"""Numbers -> tables and plots."""
