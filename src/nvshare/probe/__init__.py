"""Measures what a GPU and its driver really do, for ``nvshare doctor --gpu``.

Probes (``probes/``, one subject per file) measure and record readings. A table says what a reading
should be (``expectations/``), and the verdict is a function of readings and table, so that a report
can be judged again anywhere. Nothing here shares a GPU or changes a setting.
"""
