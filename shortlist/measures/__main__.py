"""Print the documentation page of the measures."""

from shortlist.measures.page import page

print(page(), end="")
