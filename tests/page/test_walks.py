"""Walks through a book by two pages that edit it and take edits back, while `tabiya edit` does the same: in the end the book and
the pages agree, and each edit that was answered is in the book, or was taken back or followed by another.
"""

import json
import os
import random
import subprocess

import pytest
from conftest import EXE, HANG, show, tabiya
from parts import saved, weight
from playwright.sync_api import expect

# Before a release, 2,000 walks: 500 in a book of each format.
WALKS = 500 if os.environ.get("TABIYA_FULL_TESTS") else 25

PLACES = ["", "e4", "e4,c5", "e4,e5", "d4", "e4,c5,Nf3"]
SEED = 31


class Chain:
    """What was answered of each move in each position: every edit leads from a value to another."""

    def __init__(self):
        self.steps = {}

    def add(self, place, move, before, after):
        self.steps.setdefault((place, move), []).append((before, after))

    def check(self, first, last):
        """Whether the edits, in some order, lead from the first values to the last ones: as many lead to each value as from it."""
        for key in first.keys() | last.keys() | self.steps.keys():
            balance = {}
            for before, after in self.steps.get(key, []):
                balance[before] = balance.get(before, 0) - 1
                balance[after] = balance.get(after, 0) + 1
            balance[first.get(key)] = balance.get(first.get(key), 0) + 1
            balance[last.get(key)] = balance.get(last.get(key), 0) - 1
            assert not any(balance.values()), (key, first.get(key), last.get(key), self.steps.get(key))


def value_of(name, answer):
    """What the format keeps of a move, of an answer of the server or a line of `show --json`."""
    if name == "marks.ctg":
        return None
    return answer["priority"] if name == "arena.abk" else answer["weight"]


def values(name, book, server):
    """The number that can be edited of each move in the places that are walked to."""
    found = {}
    for place in PLACES:
        play = show_line(book, place)
        answer = server.ask("/api/view?books=0&play=" + ",".join(play))
        for move in answer["books"][0]["moves"]:
            found[",".join(play), move["uci"]] = value_of(name, move)
    return found


UCI = {"e4": "e2e4", "c5": "c7c5", "e5": "e7e5", "d4": "d2d4", "Nf3": "g1f3"}


def show_line(_, place):
    return [UCI[word] for word in place.split(",") if word]


class Walker:
    """A page, and what it was answered."""

    def __init__(self, page, chain, name):
        self.page, self.place, self.conflicts = page, "", 0
        self.asked = {}

        def answered(response):
            request = response.request
            if request.method != "POST" or not request.url.split("?")[0].endswith(("/api/edit", "/api/undo", "/api/redo")):
                return
            self.answers.append((response.status, request, response))

        self.answers = []
        page.on("response", answered)
        self.chain, self.name = chain, name

    def settle(self):
        """Takes note of what was answered so far."""
        saved(self.page)
        while self.answers:
            status, request, response = self.answers.pop(0)
            if status != 200:
                assert status in (404, 409), (status, response.text())
                self.conflicts += status == 409
                continue
            answer = response.json()
            before, after = ({} if side is None else side for side in (answer["before"], answer["after"]))
            self.chain.add(",".join(answer["play"]), answer["move"], value_of(self.name, before), value_of(self.name, after))

    def go(self, place):
        self.place = place
        self.page.evaluate("place => { location.hash = '#' + place; }", place)
        expect(self.page.locator("#line button")).to_have_text([word for word in place.split(",") if word])

    def write(self, move, value):
        weight(self.page, move).click()
        weight(self.page, move).fill(str(value))
        self.page.keyboard.press("Enter")
