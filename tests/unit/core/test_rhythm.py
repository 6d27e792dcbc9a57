"""Clients that rest for the same time again and again, and clients that do not."""

from math import inf

import pytest

from nvshare.core.client import Client
from nvshare.core.rhythm import expected_at, note_rest

from .stage import Stage


@pytest.fixture
def client() -> Client:
    """A client that began to rest at 100."""
    stage = Stage()
    stage.join(1, 8)
    client = stage.device.roster.clients[1]
    client.rests_since = 100.0
    return client


def rested(client: Client, before: float, last: float) -> Client:
    client.rest_before, client.last_rest = before, last
    return client


def test_two_similar_rests_are_a_rhythm(client: Client) -> None:
    assert expected_at(rested(client, 20.0, 24.0), now=101.0) == 122.0


@pytest.mark.parametrize(("before", "last"), [(0.0, 0.0), (0.0, 20.0), (20.0, 41.0), (41.0, 20.0)])
def test_one_rest_or_two_different_ones_are_not(client: Client, before: float, last: float) -> None:
    assert expected_at(rested(client, before, last), now=101.0) == inf


def test_a_client_that_stays_away_is_no_longer_expected(client: Client) -> None:
    rested(client, 20.0, 24.0)
    assert expected_at(client, now=148.0) == 122.0
    assert expected_at(client, now=148.1) == inf


def test_a_client_that_did_not_give_its_turn_up_to_rest_has_no_rhythm(client: Client) -> None:
    rested(client, 20.0, 24.0).rests_since = None
    note_rest(client, now=130.0)
    assert (client.rest_before, client.last_rest) == (20.0, 24.0)
    assert expected_at(client, now=131.0) == inf


def test_the_last_two_rests_count(client: Client) -> None:
    note_rest(rested(client, 20.0, 24.0), now=130.0)
    assert (client.rest_before, client.last_rest) == (24.0, 30.0)
