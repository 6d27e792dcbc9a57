"""What a GPU and its driver really do, found out by trying: the inside of ``nvshare doctor --gpu``.

Probes measure (``probes/``, one kind of thing per file) and write down readings. What a reading
should be is a table (``expectations.py``), and judging is a function of readings and table, so that
a report can be judged again anywhere. Nothing here shares a GPU or changes a setting.
"""
