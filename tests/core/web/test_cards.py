"""Cards as the server answers for them; tests/browser looks at those that a browser draws."""

import io
from threading import Event
from urllib.parse import urlsplit

import pytest
from PIL import Image
from starlette.applications import Starlette

from delphi_core.web import cards
from delphi_core.web.background import Workroom
from delphi_core.web.cards import Cards, figure_of
from delphi_core.web.links import LONGEST_QUERY, read_link, read_query
from delphi_core.web.page_index import PAGES
from delphi_core.words import unbroken
from tests.core.web.asking import ask

APP = Starlette(routes=cards.ROUTES)


class Drawer:
    """A browser whose pictures are the names of the figures it was given."""

    def __init__(self):
        self.figures, self.may_go_on, self.fails = [], Event(), False
        self.may_go_on.set()

    def draw(self, figure):
        """Bytes that no other figure gives."""
        assert self.may_go_on.wait(60)
        self.figures.append(figure)
        if self.fails:
            raise RuntimeError("it broke")
        return figure.to_json().encode()

    def end(self):
        """There is nothing to end."""


@pytest.fixture
def drawer(monkeypatch):
    """A browser that draws, and no cards yet."""
    found = Drawer()
    own = Cards(found)
    monkeypatch.setattr(cards, "cards", lambda: own)
    monkeypatch.setattr(cards, "DRAWING", Workroom("a test", threads=1, most=2))
    monkeypatch.setattr(cards, "SECONDS", 60)
    yield found
    found.may_go_on.set()
    # What was begun ends before another test does.
    while (last := cards.DRAWING.submit(lambda: None)) is None:
        pass
    last.result(60)


def get(query=b"", **options):
    return ask(APP, "/card.png", query, **options)


def link(path, query=b""):
    return read_link(PAGES[path], read_query(query))


def is_static(answer):
    return answer.status == 200 and answer.body == cards.static_card()


def test_the_card_of_each_view_is_its_chart(drawer):
    asked = [
        ("/", b"method=cubic"),
        ("/scaling", b"tab=size"),
        ("/trajectories", b"rungs=true"),
        ("/recipes", b""),
        ("/recipes", b"tab=speed-up"),
        ("/recipes", b"tab=pairs"),
        ("/planner", b"flops=1e21,1e22"),
    ]
    bodies = set()
    for path, query in asked:
        view = link(path, query)
        answer = get(urlsplit(view.card).query.encode())
        assert answer.status == 200
        assert answer.headers["content-type"] == "image/png"
        assert answer.headers["cache-control"] == "public, max-age=86400"
        assert answer.body == figure_of(view).to_json().encode()
        bodies.add(answer.body)
    assert len(bodies) == len(drawer.figures) == len(asked)


def test_a_card_says_what_its_page_does_and_how_it_was_got():
    view = link("/scaling", b"target=1e22&level=0.8")
    layout = figure_of(view).layout
    title = layout.title.text.replace("<b>", "").replace("</b>", "").replace("<br>", " ")
    assert title == unbroken(view.page.heading(view.snapshot, view.view))
    source = layout.title.subtitle.text.replace("<br>", " ")
    assert "80 % band by residual bootstrap" in source
    assert source.endswith(f"Snapshot of {view.snapshot.created_at[:10]}.")


def test_a_card_is_drawn_once_and_known_by_its_etag(drawer):
    first, again = get(b"page=/scaling"), get(b"page=scaling&utm=discord")
    assert first.body == again.body
    assert len(drawer.figures) == 1
    known = get(b"page=/scaling", headers=[("if-none-match", first.headers["etag"])])
    assert (known.status, known.body) == (304, b"")
    other = get(b"page=/scaling&law=log", headers=[("if-none-match", first.headers["etag"])])
    assert other.status == 200
    head = get(b"page=/scaling", method="HEAD")
    assert head.status == 200
    assert head.headers["content-length"] == str(len(first.body))


@pytest.mark.parametrize("path", [path for path, page in PAGES.items() if page.chart])
def test_a_zoomed_view_has_a_zoomed_card(path):
    layout = figure_of(link(path, b"zoom=9,10,2.5,3")).layout
    assert (tuple(layout.xaxis.range), tuple(layout.yaxis.range)) == ((9, 10), (2.5, 3))
    assert tuple(figure_of(link(path)).layout.xaxis.range or ()) != (9, 10)


def test_the_card_is_the_chart_of_the_open_tab_and_of_the_first_where_that_has_none():
    def drawn(path, query):
        return [trace.name for trace in figure_of(link(path, query)).data]

    laws = drawn("/recipes", b"base=moe-v16")
    for tab in (b"table", b"metrics", b"download"):
        assert drawn("/recipes", b"base=moe-v16&tab=" + tab) == laws
    # No run of this base is paired, and no law is shared with a ladder that is refused.
    assert drawn("/recipes", b"base=moe-v16&tab=pairs") == laws
    speed_ups = drawn("/recipes", b"base=moe-v16&tab=speed-up")
    assert any(name.endswith(", by the laws") for name in speed_ups)
    alone = drawn("/recipes", b"ladders=hero")
    assert drawn("/recipes", b"ladders=hero&tab=speed-up") == alone
    valley = drawn("/planner", b"")
    for tab in (b"valley", b"recipe", b"backtest", b"download"):
        assert drawn("/planner", b"tab=" + tab) == valley


HOSTILE = [
    b"page=/nowhere",
    b"page=%22%3E%3Cscript%3E",
    b"page=" + b"../" * 100,
    b"page=/&ladder=%22%3E%3Cscript%3E&zoom=1,1,1,1&budgets=x",
    b"page=/&method=%00%1b&x=%ff",
    b"page=/&" + b"&".join(b"p%d=1" % i for i in range(150)),
    b"&&==%%%",
]


@pytest.mark.parametrize("query", HOSTILE)
def test_wrong_parameters_give_the_nearest_view(drawer, query):
    assert get(query).body == get(b"page=/").body
    assert len(drawer.figures) == 1


def test_an_address_without_end_is_refused_in_a_sentence(drawer):
    answer = get(b"page=/&x=" + b"y" * LONGEST_QUERY)
    assert answer.status == 414
    assert answer.text == "The address is too long: its parameters may have 8,000 characters.\n"
    assert drawer.figures == []


def test_a_view_without_a_chart_has_the_one_for_all_and_others_are_drawn(drawer, caplog):
    assert is_static(get(b"page=/planner&flops="))
    assert drawer.figures == []
    assert "a card cannot be drawn: /planner?flops= has no chart." in caplog.text
    assert not is_static(get(b"page=/planner"))


def test_without_a_browser_and_for_pages_without_a_chart_it_is_one_for_all(monkeypatch, drawer):
    for page in (b"data&table=evals", b"about"):
        assert is_static(get(b"page=/" + page))
    assert drawer.figures == []
    monkeypatch.setattr(cards, "cards", lambda: Cards(None))
    answer = get(b"page=/scaling")
    assert is_static(answer)
    assert answer.headers["cache-control"] == "public, max-age=300"
    known = get(b"page=/", headers=[("if-none-match", answer.headers["etag"])])
    assert (known.status, known.body) == (304, b"")


def test_no_browser_is_used_that_is_not_installed(monkeypatch):
    cards.cards.cache_clear()
    monkeypatch.setenv("DELPHI_CHROMIUM", "no-such-browser")
    assert cards.cards().browser is None
    cards.cards.cache_clear()


def test_the_static_card_is_a_small_picture_of_the_right_size():
    with Image.open(io.BytesIO(cards.static_card())) as image:
        assert (image.format, image.size) == ("PNG", (1200, 630))
        colours = image.convert("RGB").getcolors(1200 * 630)
    assert len(colours) > 20
    assert max(number for number, _ in colours) < 0.99 * 1200 * 630
    assert len(cards.static_card()) < 30_000


def test_a_browser_that_fails_rests_and_the_static_card_stands_in(drawer, caplog, monkeypatch):
    drawer.fails = True
    assert is_static(get(b"page=/"))
    assert is_static(get(b"page=/scaling"))
    assert len(drawer.figures) == 1
    assert "it broke" in caplog.text
    drawer.fails = False
    monkeypatch.setattr(cards, "REST_SECONDS", 0)
    own = Cards(drawer)
    monkeypatch.setattr(cards, "cards", lambda: own)
    drawer.fails = True
    assert is_static(get(b"page=/"))
    drawer.fails = False
    assert not is_static(get(b"page=/"))


def test_who_asks_waits_only_so_long_and_finds_it_drawn_later(drawer, monkeypatch):
    drawer.may_go_on.clear()
    monkeypatch.setattr(cards, "SECONDS", 0.2)
    assert is_static(get(b"page=/scaling"))
    drawer.may_go_on.set()
    # One at a time: what was asked for first is done by then.
    cards.DRAWING.submit(lambda: None).result(60)
    assert not is_static(get(b"page=/scaling"))
    assert len(drawer.figures) == 1


def test_too_many_at_once_are_asked_to_come_again(drawer, monkeypatch):
    drawer.may_go_on.clear()
    monkeypatch.setattr(cards, "SECONDS", 0.2)
    for _ in range(3):
        # The same card takes one place, however many ask for it.
        assert is_static(get(b"page=/scaling"))
    assert is_static(get(b"page=/scaling&law=log"))
    answer = get(b"page=/scaling&law=huber")
    assert (answer.status, answer.headers["retry-after"]) == (503, "5")
    assert answer.text == "Too many cards are being drawn; ask again in a few seconds.\n"


def test_only_so_many_are_kept(drawer, monkeypatch):
    monkeypatch.setattr(cards, "MOST_KEPT", 1)
    for query in (b"page=/", b"page=/&y=log", b"page=/"):
        assert get(query).status == 200
    assert len(drawer.figures) == 3
