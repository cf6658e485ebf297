"""What people use: a text, a table or a query in, an answer out."""
