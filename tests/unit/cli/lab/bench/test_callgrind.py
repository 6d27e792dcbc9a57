"""The figures that are read from a callgrind profile."""

from nvshare.cli.lab.bench.callgrind import Instructions, read_calls, read_profile

PROFILE = """\
# callgrind format
version: 1
events: Ir
part: 1
ob=/bin/program
fl=main.c
fn=main
10 5
11 2
cob=/lib/libnvshare.so
cfn=cuLaunchKernel
calls=3 20
11 900
12 1

ob=/lib/libnvshare.so
fl=gate.c
fn=cuLaunchKernel
20 24
fi=gate.h
21 3
calls=3 5
21 800

ob=/lib/libcuda.so.1
fn=cuLaunchKernel
5 800
totals: 835
"""


def test_every_instruction_counts_once_and_belongs_to_an_object() -> None:
    assert read_profile(PROFILE, "libnvshare.so") == Instructions(all=835, own=27)


def test_what_calls_cost_is_the_difference_between_two_runs() -> None:
    assert (Instructions(1210, 160) - Instructions(210, 60)).per(10) == Instructions(100, 10)


def test_what_calls_of_some_functions_cost_counts_once() -> None:
    profile = """\
fn=submit
10 5
cfn=usage_saw
calls=2 20
11 90
cfn=other
calls=1 5
12 700

fn=usage_saw
20 50
cfn=usage_read
calls=2 30
21 40
"""
    assert read_calls(profile, {"usage_saw", "usage_read"}) == 90
    assert read_calls(profile, {"usage_read"}) == 40
