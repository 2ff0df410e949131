"""The parts of the page that several files of tests touch, and requests that are held back."""

from playwright.sync_api import expect


def square(page, name):
    return page.locator(f'#squares [data-square="{name}"]')


def shown(page):
    """Waits until the position is on the board: until then a move that is made on it does nothing."""
    expect(page.locator('#tables[aria-busy="false"]')).to_have_count(1)


def drag(page, start, end, ahead=False):
    """Drags a piece; with `ahead` even if the board still shows the position before."""
    if not ahead:
        shown(page)
    box, goal = square(page, start).bounding_box(), square(page, end).bounding_box()
    page.mouse.move(box["x"] + box["width"] / 2, box["y"] + box["height"] / 2)
    page.mouse.down()
    page.mouse.move(goal["x"] + goal["width"] / 2, goal["y"] + goal["height"] / 2, steps=4)
    page.mouse.up()


def click(page, name):
    shown(page)
    box = square(page, name).bounding_box()
    page.mouse.click(box["x"] + box["width"] / 2, box["y"] + box["height"] / 2)


def line(page):
    """The moves that were played, without what books go on with."""
    return page.locator("#line button:not(.way)")


def address(page, fragment):
    page.wait_for_function("wanted => location.hash === wanted", arg=fragment)


def piece(page, name, what):
    expect(square(page, name)).to_have_attribute("aria-label", f"{name}, {what}" if what else name)


def weight(page, move):
    return page.locator(f'[data-focus="0 {move} value"]')


def note(page):
    return page.locator('.note[data-note="0"]')


def saved(page):
    """Waits until nothing is being saved: a value is shown as soon as it is set."""
    expect(page.locator("#tables[data-saving]")).to_have_count(0)


class Held:
    """Holds back the requests of a context whose address matches, until they are let go; then all others go through."""

    def __init__(self, context, pattern):
        self.routes = []
        self.open = False
        context.route(pattern, lambda route: route.continue_() if self.open else self.routes.append(route))

    def wait(self, page, count=1):
        while len(self.routes) < count:
            page.wait_for_timeout(10)

    def let_go(self):
        self.open = True
        for route in self.routes:
            route.continue_()
