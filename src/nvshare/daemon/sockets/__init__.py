"""Sockets: where programs and users connect; opened, accepted from, read and written as bytes.

What the bytes mean is the business of others: clients/ reads frames, and api/ reads requests.
"""
