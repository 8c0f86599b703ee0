"""The html plan in a real browser: on a phone and on a desk, by day and by night, by keyboard."""

from collections.abc import Iterator
from contextlib import contextmanager
from itertools import pairwise
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

if TYPE_CHECKING:
    from playwright.sync_api import Browser, Page

PAGES = ("quickstart", "conflict", "no-nodes", "hostile", "long", "crowded", "empty", "one pool", "five pools")
PHONE, DESK = 390, 1280

OPEN = "document.querySelectorAll('details').forEach(one => one.open = true)"

# what the tab key stops at, in the order of the page; and which of it has the focus, with the width of its outline
STOPS = """window.stops = [...document.querySelectorAll("a, summary")].filter(one => one.checkVisibility())"""
FOCUS = """[stops.indexOf(document.activeElement), parseFloat(getComputedStyle(document.activeElement).outlineWidth)]"""

# elements that stick out of the window to the right
OUTSIDE = """() => [...document.body.querySelectorAll("*:not(.skip)")]
  .filter(one => one.getClientRects().length && one.getBoundingClientRect().right > innerWidth + 0.5)
  .map(one => one.outerHTML.slice(0, 120))"""

# texts with their WCAG 2 contrast against what lies behind them
CONTRASTS = """() => {
  const parse = text => text.match(/[\\d.]+/g).map(Number);
  const part = value => (value /= 255) <= 0.04045 ? value / 12.92 : ((value + 0.055) / 1.055) ** 2.4;
  const light = ([red, green, blue]) => 0.2126 * part(red) + 0.7152 * part(green) + 0.0722 * part(blue);
  const behind = one => {
    for (; one; one = one.parentElement) {
      const color = parse(getComputedStyle(one).backgroundColor);
      if (color.length < 4 || color[3] > 0) return color;
    }
    return [255, 255, 255];
  };
  const walker = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT), found = [];
  while (walker.nextNode()) {
    const text = walker.currentNode.data.trim(), one = walker.currentNode.parentElement;
    if (!text || !one.getClientRects().length) continue;
    const [low, high] = [light(parse(getComputedStyle(one).color)), light(behind(one))].sort((a, b) => a - b);
    found.push([text.slice(0, 60), (high + 0.05) / (low + 0.05)]);
  }
  return found;
}"""


# names of workloads without their namespace, and over how many lines each goes
NAME_LINES = """() => [...document.querySelectorAll(".card strong, summary strong")].map(one => {
  const range = document.createRange();
  range.selectNodeContents(one.lastChild);
  return [one.lastChild.data, new Set([...range.getClientRects()].map(box => Math.round(box.top))).size];
})"""
EDGE = "one => [getComputedStyle(one).borderLeftColor, getComputedStyle(one).borderLeftStyle].join()"


@contextmanager
def opened(
    browser: "Browser", path: Path, width: int = DESK, scheme: Any = "light", height: int = 800
) -> Iterator["Page"]:
    """Open a page and see that it asks for nothing and complains about nothing, until the end."""
    page = browser.new_page(viewport={"width": width, "height": height}, color_scheme=scheme)
    said: list[str] = []
    page.on("console", lambda message: said.append(message.text))
    page.on("pageerror", lambda error: said.append(str(error)))
    page.on(
        "request", lambda request: said.append(request.url) if request.url not in {path.as_uri(), "data:,"} else None
    )
    page.goto(path.as_uri())
    yield page
    page.close()
    assert said == []


@pytest.mark.slow
@pytest.mark.parametrize("name", PAGES)
def test_nothing_sticks_out(browser: "Browser", pages: dict[str, Path], name: str) -> None:
    with opened(browser, pages[name]) as page:
        page.evaluate(OPEN)
        for width in (320, PHONE, DESK):
            page.set_viewport_size({"width": width, "height": 800})
            assert page.evaluate("document.documentElement.scrollWidth") <= width
            assert page.evaluate(OUTSIDE) == []


@pytest.mark.slow
@pytest.mark.parametrize("name", PAGES)
def test_every_text_can_be_read_by_day_and_by_night(browser: "Browser", pages: dict[str, Path], name: str) -> None:
    with opened(browser, pages[name]) as page:
        page.evaluate(OPEN)
        for scheme in ("light", "dark"):
            page.emulate_media(color_scheme=scheme)
            contrasts = page.evaluate(CONTRASTS)
            assert contrasts
            assert [one for one in contrasts if one[1] < 4.5] == []


def test_dark_is_dark_and_light_is_light(browser: "Browser", pages: dict[str, Path]) -> None:
    papers = []
    for scheme in ("light", "dark"):
        with opened(browser, pages["quickstart"], scheme=scheme) as page:
            papers.append(page.evaluate("getComputedStyle(document.body).backgroundColor"))
    assert papers == ["rgb(246, 247, 249)", "rgb(15, 19, 25)"]


@pytest.mark.parametrize("width", [PHONE, DESK])
def test_a_conflict_is_seen_without_a_scroll_or_a_click(browser: "Browser", pages: dict[str, Path], width: int) -> None:
    with opened(browser, pages["conflict"], width, height=844) as page:
        assert page.locator("p.result").inner_text() == "2 of 6 workloads in conflict"
        for code in ("CC0304", "CC0311"):
            box = page.locator(".findings li.error", has_text=code).bounding_box()
            assert box is not None
            assert box["y"] + box["height"] <= 844
        nowhere = page.locator(".pool.nowhere")
        assert nowhere.locator(".card strong").all_inner_texts() == ["shop/payments", "shop/recommendations"]
        assert page.locator("article").first.get_attribute("class") == "pool nowhere"
        color = nowhere.evaluate("one => getComputedStyle(one).borderTopColor")
        red, green, blue = (int(part) for part in color.removeprefix("rgb(").removesuffix(")").split(","))
        assert red > 2 * max(green, blue)
        assert page.locator("main > section > details[open] > summary strong").all_inner_texts() == [
            "shop/payments",
            "shop/recommendations",
        ]


def test_the_picture_shows_each_workload_in_its_pool(browser: "Browser", pages: dict[str, Path]) -> None:
    with opened(browser, pages["quickstart"]) as page:
        shown = {
            pool.locator("h3, h4").inner_text(): pool.locator(".card strong").all_inner_texts()
            for pool in page.locator("article.pool").all()
        }
        assert shown == {
            "snp-1, snp-2": ["shop/coordinator", "shop/db", "shop/nightly-report", "shop/web"],
            "snp-gpu-1": ["shop/recommendations"],
            "tdx-1": ["shop/payments"],
            "plain-1": [],
        }
        assert page.locator("h1").inner_text() == "6 protected, 1 plain, 0 blocked"
        assert page.locator("p.result").inner_text() == "Every Contrast workload has a node, 2 warnings"


def test_the_cards_of_one_pool_use_the_width_of_the_page(browser: "Browser", pages: dict[str, Path]) -> None:
    with opened(browser, pages["one pool"]) as page:
        boxes = [box for card in page.locator(".card").all() if (box := card.bounding_box())]
        assert len(boxes) == 12
        assert len({round(box["y"]) for box in boxes}) == 4, "rows"
        main = page.locator("main").bounding_box()
        assert main is not None
        assert max(box["x"] + box["width"] for box in boxes) > main["x"] + 0.9 * main["width"]
        page.set_viewport_size({"width": PHONE, "height": 800})
        boxes = [box for card in page.locator(".card").all() if (box := card.bounding_box())]
        assert len({round(box["x"]) for box in boxes}) == 1, "columns"


@pytest.mark.parametrize("name", ["one pool", "five pools"])
def test_no_name_is_broken_inside_of_a_word(browser: "Browser", pages: dict[str, Path], name: str) -> None:
    with opened(browser, pages[name]) as page:
        for width in (PHONE, 600, 900, DESK):
            page.set_viewport_size({"width": width, "height": 800})
            names = page.evaluate(NAME_LINES)
            assert len(names) == 24
            assert [one for one in names if one[1] > 1] == []


def test_the_legend_has_the_platforms_of_the_page_with_their_looks(browser: "Browser", pages: dict[str, Path]) -> None:
    with opened(browser, pages["five pools"]) as page:
        texts = {"snp": "AMD SEV-SNP", "snp gpu": "AMD SEV-SNP with GPU", "tdx": "Intel TDX"}
        texts["tdx gpu"] = "Intel TDX with GPU"
        assert page.locator(".legend li").all_inner_texts() == list(texts.values())
        looks = set()
        for look, text in texts.items():
            legend = page.get_by_text(text, exact=True)
            card = page.locator(f'.card[class="card {look}"]').first
            mine, theirs = legend.evaluate(EDGE), card.evaluate(EDGE)
            assert mine == theirs
            looks.add(mine)
        assert len(looks) == 4
    with opened(browser, pages["one pool"]) as page:
        assert page.locator(".legend li").all_inner_texts() == ["AMD SEV-SNP"]


def test_a_note_is_announced_on_its_card_and_stands_in_the_details(browser: "Browser", pages: dict[str, Path]) -> None:
    with opened(browser, pages["five pools"]) as page:
        assert page.locator(".card", has_text="1 note").locator("strong").all_inner_texts() == ["shop/frontend"]
        assert page.locator("#w0 .said").all_text_contents() == ["the policy accepts any value of DB_URL"]


def test_a_conflict_is_told_once_and_linked_from_elsewhere(browser: "Browser", pages: dict[str, Path]) -> None:
    with opened(browser, pages["conflict"]) as page:
        text = page.locator("body").inner_text()
        assert text.count("contradicts runtime class") == 1
        assert text.count("none of 5 nodes accepts the pod") == 1
        links = page.locator(".see a:visible")
        assert links.all_inner_texts() == ["error CC0304", "error CC0311"]
        for link, message in zip(links.all(), ("contradicts", "none of 5 nodes"), strict=True):
            target = page.locator(str(link.get_attribute("href")))
            assert message in target.inner_text()
            assert target.locator("a").count() == 1, "and back"
        assert page.locator(".nowhere .tag").all_inner_texts() == ["error CC0304", "error CC0311"]


def test_id_blocks_are_one_line_of_the_edits(browser: "Browser", pages: dict[str, Path]) -> None:
    with opened(browser, pages["quickstart"]) as page:
        edits = page.locator("details", has_text="shop/web").locator(".inner li").all_text_contents()
        blocks = [text for text in edits if "CC0607" in text]
        assert len(blocks) == 1
        assert "6 ID block annotations" in blocks[0]
        assert "Genoa" in blocks[0]
        assert "Milan" in blocks[0]


def test_a_node_without_a_contrast_workload_is_not_called_useless(browser: "Browser", pages: dict[str, Path]) -> None:
    with opened(browser, pages["quickstart"]) as page:
        assert page.locator("h3.idle").inner_text() == "Nodes without a Contrast workload"
        assert page.locator(".pool.idle h4").all_inner_texts() == ["plain-1"]
        assert "none of these" not in page.content()


def test_a_policy_is_summed_up_without_values(browser: "Browser", pages: dict[str, Path]) -> None:
    with opened(browser, pages["quickstart"]) as page:
        page.locator("main > section > details", has_text="shop/web").locator("summary").first.click()
        text = page.locator("main > section > details[open]").inner_text()
        assert "What its policy allows" in text
        assert "/bin/web" in text
        assert "ANALYTICS_TOKEN" in text
        everything = page.content()
        assert "http://127.137.0.1:8443" not in everything
        assert "POSTGRES_HOST_AUTH_METHOD=" not in everything


def focused(page: "Page") -> str:
    text: str = page.evaluate("document.activeElement.innerText.trim().split('\\n').pop()")
    return text


def test_the_keyboard_reaches_everything_in_the_order_of_the_page(browser: "Browser", pages: dict[str, Path]) -> None:
    with opened(browser, pages["conflict"]) as page:
        count = page.evaluate(f"({STOPS}).length")
        assert count > 15
        for index in range(count):
            page.keyboard.press("Tab")
            place, outline = page.evaluate(FOCUS)
            assert place == index
            assert outline >= 2


def test_the_first_key_leads_past_the_picture(browser: "Browser", pages: dict[str, Path]) -> None:
    with opened(browser, pages["quickstart"]) as page:
        page.keyboard.press("Tab")
        assert focused(page) == "Skip to the workloads"
        box = page.locator(".skip").bounding_box()
        assert box is not None
        assert box["x"] >= 0
        page.keyboard.press("Enter")
        page.keyboard.press("Tab")
        assert page.evaluate("document.activeElement.tagName") == "SUMMARY"


def test_a_card_opens_the_details_of_its_workload(browser: "Browser", pages: dict[str, Path]) -> None:
    with opened(browser, pages["quickstart"], PHONE) as page:
        details = page.locator("main > section > details", has_text="shop/payments")
        assert details.get_attribute("open") is None
        page.locator(".card", has_text="shop/payments").focus()
        page.keyboard.press("Enter")
        assert details.get_attribute("open") is not None
        box = details.locator("summary").first.bounding_box()
        assert box is not None
        assert 0 <= box["y"] < 400


def test_details_open_and_close_by_keyboard(browser: "Browser", pages: dict[str, Path]) -> None:
    with opened(browser, pages["quickstart"]) as page:
        details = page.locator("main > section > details").first
        details.locator("summary").first.focus()
        page.keyboard.press("Enter")
        assert details.get_attribute("open") is not None
        page.keyboard.press("Space")
        assert details.get_attribute("open") is None


def test_headings_and_regions_make_an_outline(browser: "Browser", pages: dict[str, Path]) -> None:
    with opened(browser, pages["conflict"]) as page:
        assert page.locator("h1").count() == 1
        assert page.get_by_role("region").count() == page.locator("main > section").count() == 4
        levels = page.evaluate("[...document.querySelectorAll('h1, h2, h3')].map(one => Number(one.tagName[1]))")
        assert all(after - before <= 1 for before, after in pairwise(levels))
        assert page.evaluate("document.documentElement.lang") == "en"


def test_a_page_that_was_tampered_with_still_runs_no_script(
    browser: "Browser", pages: dict[str, Path], tmp_path: Path
) -> None:
    """The content security policy, not only the escaping: a script in the page is refused."""
    text = pages["quickstart"].read_text(encoding="utf-8")
    path = tmp_path / "evil.html"
    path.write_text(text.replace("</main>", "<script>document.title = 'owned'</script></main>"), encoding="utf-8")
    page = browser.new_page()
    said: list[str] = []
    page.on("console", lambda message: said.append(message.text))
    page.goto(path.as_uri())
    assert page.title() != "owned"
    assert "Content Security Policy" in said[0]
    page.close()
