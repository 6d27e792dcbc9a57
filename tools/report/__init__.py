"""``make report``: one page of figures and pictures, from one run of the benchmarks.

``running`` runs benchmarks, ``lines`` reads their output, ``topics`` selects what is shown of each,
``section`` makes tables and pictures of it, ``chart`` draws, and ``page`` writes HTML and Markdown.
Nothing here measures.
"""
