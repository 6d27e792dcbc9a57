"""``make report``: one page of figures and pictures, from one run of the benchmarks.

``running`` runs benchmarks, ``lines`` reads what they print, ``topics`` says what is shown of each,
``section`` makes tables and pictures of that, ``chart`` draws, and ``page`` writes HTML and
Markdown. Nothing here measures.
"""
