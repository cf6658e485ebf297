"""The page in a real browser: Debian's Chromium, driven by Playwright."""

import shortlist as sl
from shortlist.server import snapshots
from tests.server.browsing import expect, marks
from tests.server.servers import in_thread

pytestmark = marks
HOSTILE = '<img src=x onerror="window.hacked=1"><script>window.hacked=1</script><b>wheat</b> &amp; "quotes" \' {{7*7}}'


def rank(page, text, first=None):
    page.get_by_role("textbox", name="Text").fill(text)
    if first is not None:
        expect(page.locator("#ranking .name").first).to_have_text(first)


def test_rank_and_explain(visit):
    page = visit()
    rank(page, "Corn and wheat, wheat, at the bank", "grain")
    page.locator("#ranking .pick").first.click()
    expect(page.locator("#why-heading")).to_contain_text("Why grain")
    assert page.locator("#why-text mark").all_inner_texts() == ["Corn", "and", "wheat", "wheat"]
    assert page.locator("#why-text").inner_text() == "Corn and wheat, wheat, at the bank"
    assert "wheat" in page.locator("#why-votes li").first.inner_text()
    page.locator("#ranking .pick").nth(1).click()
    expect(page.locator("#why-heading")).to_contain_text("Why money")
    expect(page.locator("#why-text mark").last).to_have_text("bank")


def test_the_sentences_that_carry_a_label_are_marked_and_in_view(visit):
    page = visit()
    text = "😀 Good morning. " + "Nothing here. " * 300 + "Corn and wheat rose. Bye."
    rank(page, text, "grain")
    page.locator("#ranking .pick").first.click()
    expect(page.locator("#why-text .passage")).to_have_text(["Corn and wheat rose."])
    box = page.locator("#why-text").bounding_box()
    passage = page.locator("#why-text .passage").bounding_box()
    assert box["y"] <= passage["y"] <= box["y"] + box["height"] - passage["height"]
    assert page.locator("#why-text").inner_text() == text


def test_words_are_marked_whole_however_many_of_their_parts_vote(visit, tmp_path):
    folder = tmp_path / "parts"
    folder.mkdir()
    model = sl.Categorizer(sl.FeatureFocus(), sl.TextVectorizer(prefix=5, ngrams=2))
    texts, labels = (
        ["removed a file", "removal of rust", "rates of banks", "a bank"],
        ["out", "out", "money", "money"],
    )
    model.fit(texts * 3, labels * 3).save(tmp_path / "parts.shortlist")
    snapshots.take_base(folder, tmp_path / "parts.shortlist")
    with in_thread(folder) as server:
        page = visit(server.base_url)
        rank(page, "removing 😀 rust", "out")
        page.locator("#ranking .pick").first.click()
        expect(page.locator("#why-text mark").first).to_have_text("removing")
        assert page.locator("#why-text mark").all_inner_texts() == ["removing", "rust"]
        assert page.locator("#why-text").inner_text() == "removing 😀 rust"
        page.close()


def test_what_it_would_do_alone_is_marked(sure, visit):
    page = visit(sure.base_url)
    rank(page, "apple number3", "fruit")
    expect(page.locator("#decision")).to_have_text("Would assign automatically: fruit")
    expect(page.locator("#ranking .alone .name")).to_have_text("fruit")
    expect(page.locator("#ranking .score").first).to_contain_text("%")
    rank(page, "number3 number4")
    expect(page.locator("#decision")).to_have_text("Needs a person: unlike anything learned")
    expect(page.locator("#ranking .alone")).to_have_count(0)
    rank(page, "")
    expect(page.locator("#decision")).to_be_hidden()


def test_correct_undo_and_reload(visit, server):
    page = visit()
    rank(page, "bank holiday in the wheat fields", "money")
    page.get_by_role("button", name="grain is right").click()
    page.get_by_role("button", name="money is wrong").click()
    expect(page.locator("#ranking li.refused .name")).to_have_text("money")
    page.get_by_role("button", name="Learn").click()
    expect(page.locator("#toast")).to_contain_text("Learned as example 1")
    assert server.ask("examples")["examples"][0]["labels"] == ["grain"]
    expect(page.locator("#recent .names")).to_have_text("grain")
    expect(page.get_by_role("textbox", name="Text")).to_have_value("")
    expect(page.get_by_role("textbox", name="Text")).to_be_focused()
    rank(page, "bank holiday in the wheat fields", "grain")
    page.reload()
    expect(page.get_by_role("textbox", name="Text")).to_have_value(
        "bank holiday in the wheat fields"
    )
    expect(page.locator("#ranking .name").first).to_have_text("grain")
    page.get_by_role("button", name="Undo example 1").click()
    expect(page.locator("#toast")).to_contain_text("Example 1 is taken back")
    expect(page.locator("#ranking .name").first).to_have_text("money")
    expect(page.locator("#recent .undone").first).to_be_visible()


def test_a_new_label_by_keyboard_alone(visit, server):
    page = visit()
    page.keyboard.press("Tab")
    page.keyboard.press("Enter")  # the link that skips to the text
    page.keyboard.type("zebra crossing at the bank")
    expect(page.locator("#ranking .name").first).to_have_text("money")
    page.locator("#ranking .pick").first.focus()
    page.keyboard.press("-")
    page.keyboard.press("Enter")
    expect(page.locator("#why-heading")).to_contain_text("Why money")
    page.get_by_role("combobox", name="Add a label").focus()
    page.keyboard.type("anim")
    expect(page.locator("#suggestions").get_by_role("option")).to_have_count(1)
    expect(page.locator("#suggestions").get_by_role("option")).to_contain_text("new label")
    page.keyboard.press("Enter")
    page.keyboard.type("gra")
    expect(page.locator("#suggestions").get_by_role("option").first).to_contain_text("grain")
    page.keyboard.press("ArrowDown")
    page.keyboard.press("ArrowUp")
    page.keyboard.press("Enter")
    assert page.locator("#chosen").inner_text().split() == ["anim", "grain"]
    page.keyboard.press("Control+Enter")
    expect(page.locator("#toast")).to_contain_text("Learned as example 1")
    assert server.ask("examples")["examples"][0]["labels"] == ["anim", "grain"]
    assert "anim" in server.best("zebra")
    expect(page.locator("#live")).to_contain_text("Learned here")


def test_a_hostile_text_stays_text(visit, server):
    server.learn(HOSTILE, [HOSTILE])
    page = visit()
    page.goto(f"{server.base_url}/")
    rank(page, HOSTILE)
    expect(page.locator("#ranking .name", has_text="<img").first).to_have_text(HOSTILE)
    page.locator("#ranking .pick", has_text="<img").first.click()
    expect(page.locator("#why-text mark").first).to_be_visible()
    assert page.locator("#why-text").inner_text() == HOSTILE
    page.get_by_role("combobox", name="Add a label").fill("<img src=y onerror=window.hacked=1>")
    expect(page.locator("#suggestions").get_by_role("option").last).to_contain_text("new label")
    page.locator("#suggestions").get_by_role("option").last.click()
    page.get_by_role("button", name="Learn").click()
    expect(page.locator("#toast")).to_contain_text("Learned")
    expect(page.locator("#recent .names").first).to_contain_text("<img src=y")
    page.get_by_role("tab", name="Model").click()
    page.get_by_role("button", name="<img src=x").first.click()
    expect(page.locator("#connections button").first).to_be_visible()
    assert page.evaluate("window.hacked") is None
    assert page.locator("body img:not(h1 img), body script, body b").count() == 0


def test_the_model_is_browsed(visit):
    page = visit()
    page.get_by_role("tab", name="Model").click()
    expect(page.locator("#labels-found")).to_have_text("3 labels")
    page.get_by_role("searchbox").fill("MON")
    expect(page.locator("#labels button")).to_have_count(1)
    page.locator("#labels button").click()
    expect(page.locator("#connections button", has_text="bank")).to_be_visible()
    page.locator("#connections button", has_text="bank").click()
    expect(page.locator("#connections-words")).to_contain_text("“bank”")
    expect(page.locator("#connections button").first).to_contain_text("money")
    expect(page.locator("#settings")).to_contain_text("FeatureFocus")


def test_on_a_phone(visit):
    page = visit(viewport={"width": 360, "height": 740}, has_touch=True, is_mobile=True)
    rank(page, "wheat " + "verylongword" * 20, "grain")
    page.locator("#ranking .pick").first.tap()
    expect(page.locator("#why-text mark").first).to_be_visible()
    for tab in ("Label", "Model"):
        page.get_by_role("tab", name=tab).tap()
        assert page.evaluate("document.documentElement.scrollWidth") <= 360, (
            "nothing reaches over the edge"
        )
    page.get_by_role("tab", name="Label").tap()
    small = page.evaluate(
        "[...document.querySelectorAll('#view-label button, nav button')].filter(b => "
        "b.offsetParent)"
        ".filter(b => b.offsetHeight < 32).map(b => b.textContent)"
    )
    assert small == [], "fingers need room"


def test_a_dropped_file_is_ranked(visit):
    page = visit()
    page.evaluate("""() => {
        const data = new DataTransfer();
        data.items.add(new File(["corn harvest"], "note.txt", {type: "text/plain"}));
        document.getElementById("text").dispatchEvent(new DragEvent("drop", {bubbles: true, dataTransfer: data}));
    }""")
    expect(page.get_by_role("textbox", name="Text")).to_have_value("corn harvest")
    expect(page.locator("#ranking .name").first).to_have_text("grain")


def test_a_file_dropped_before_the_page_is_ready_is_taken(browser, server):
    page = browser.new_page()
    held = []
    page.route("**/page/main.js", lambda route: held.append(route))
    with page.expect_request("**/page/main.js"):
        page.goto(str(server.base_url), wait_until="commit")
    page.wait_for_function("() => window.onDrop && document.getElementById('text')")
    page.evaluate("""() => {
        const data = new DataTransfer();
        data.items.add(new File(["corn harvest"], "note.txt", {type: "text/plain"}));
        document.getElementById("text").dispatchEvent(new DragEvent("drop", {bubbles: true, dataTransfer: data}));
    }""")
    held[0].continue_()
    expect(page.get_by_role("textbox", name="Text")).to_have_value("corn harvest")
    expect(page.locator("#ranking .name").first).to_have_text("grain")
    page.close()


def test_errors_are_shown_in_words(browser, folder):
    context = browser.new_context()
    page = context.new_page()
    with in_thread(folder, token="a token of the page") as server:
        page.goto(str(server.base_url))
        page.locator("#token").fill("not the right one")
        expect(page.locator("#token-wrong")).to_have_text("")
        page.get_by_role("button", name="Go on").click()
        expect(page.locator("#token-wrong")).to_have_text(
            "That token is not the right one. Try again."
        )
        page.locator("#token").fill("a token of the page")
        page.get_by_role("button", name="Go on").click()
        rank(page, "corn harvest", "grain")
        rank(page, "corn " * 50_000)
        expect(page.get_by_role("alert")).to_contain_text(
            "Text 0 has 250,000 characters; at most 200,000 are taken."
        )
    rank(page, "corn")
    expect(page.get_by_role("alert")).to_contain_text("The server cannot be reached")
    context.close()


def test_what_succeeds_later_hides_no_problem(browser, server):
    context = browser.new_context()
    page, held = context.new_page(), []
    page.route("**/v1/me", lambda route: held.append(route))
    page.goto(str(server.base_url))
    rank(page, "corn " * 50_000)
    expect(page.get_by_role("alert")).to_contain_text("at most 200,000 are taken")
    assert held
    for route in held:
        with page.expect_response("**/v1/me"):
            route.continue_()
    expect(page.get_by_role("alert")).to_be_visible()
    context.close()


def test_the_api_page(visit, server):
    page = visit(f"{server.base_url}/docs")
    expect(page.get_by_role("heading", name="POST /v1/rank")).to_be_visible()
    expect(page.locator("#operations")).to_contain_text("Whether the server is up.")


def test_read_only(browser, folder):
    with in_thread(folder, read_only=True) as server:
        page = browser.new_page()
        page.goto(str(server.base_url))
        expect(page.locator("#read-only")).to_be_visible()
        expect(page.locator("#correct")).to_be_hidden()
        page.close()


def test_strike_out_a_word_with_a_preview_and_take_it_back(visit, server):
    server.ask("queue", texts=["wheat", "wheat and corn", "rates"])
    page = visit()
    rank(page, "wheat", "grain")
    page.locator("#ranking .pick").first.click()
    page.get_by_role("button", name="Strike out wheat").click()
    expect(page.locator("#strike-effect-one")).to_contain_text("For grain: 1 of 3 waiting texts")
    expect(page.locator("#strike-effect-any")).to_contain_text("no past decisions would change.")
    page.get_by_role("button", name="For grain").click()
    expect(page.locator("#toast")).to_contain_text("Struck out “wheat” for grain.")
    expect(page.locator("#why-votes .struck")).to_contain_text("struck out")
    expect(page.locator("#ranking .name").first).not_to_have_text("grain")
    page.locator("#toast").get_by_role("button", name="Undo").click()
    expect(page.locator("#ranking .name").first).to_have_text("grain")
    expect(page.locator("#why-votes .struck")).to_have_count(0)
