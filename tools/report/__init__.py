"""``make report``: one page of figures and pictures, from one run of the benchmarks.

``running`` carries benchmarks out, ``lines`` reads what they print, ``sections`` chooses what is
shown, ``chart`` draws, and ``page`` writes HTML and Markdown. Nothing here measures.
"""
