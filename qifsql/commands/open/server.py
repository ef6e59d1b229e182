"""The page as a web application for one person on this machine.

A request is answered only if its host is the loopback address and port of the page, its address
has the token, and no other site made it. All others get an empty answer.
"""

import asyncio
import hmac
from collections.abc import Awaitable, Callable, Mapping, Sequence
from typing import TypeAlias
from urllib.parse import parse_qsl

from starlette.applications import Starlette
from starlette.concurrency import run_in_threadpool
from starlette.requests import Request
from starlette.responses import HTMLResponse, Response
from starlette.routing import Route
from starlette.types import ASGIApp, Receive, Scope, Send

from qifsql.commands.open import choices, rendering
from qifsql.commands.open.background import SweepJob
from qifsql.commands.open.calculations import Superseded
from qifsql.commands.open.choices import Choices
from qifsql.commands.open.explorer import Explorer, SourceColumn
from qifsql.commands.open.fields import integer
from qifsql.commands.open.walking import Walk
from qifsql.errors import DatasetError, InputError, QifError
from qifsql.presentation import html
from qifsql.presentation.language import ENGLISH, LANGUAGES, number, said, speaking

HOST = "127.0.0.1"
ASSETS = {
    "style.css": "text/css",
    "explorer.css": "text/css",
    "explorer.js": "text/javascript",
    "htmx.min.js": "text/javascript",
}
POLICY = (
    "default-src 'none'; script-src 'self'; style-src 'self' 'unsafe-inline'; img-src data:; "
    "connect-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'"
)
HEADERS = {
    "Content-Security-Policy": POLICY,
    "Referrer-Policy": "no-referrer",
    "X-Content-Type-Options": "nosniff",
    "Cache-Control": "no-store",
    "Cross-Origin-Resource-Policy": "same-origin",
    "Cross-Origin-Opener-Policy": "same-origin",
}
FORMS = ("page", "charts", "cost", "reopen", "progress", "job", "stop", "answers", "subset")
POSTED = {**dict(zip(FORMS, FORMS, strict=True)), "try": "attempt", "do": "start"}
"""The forms, by the last part of their address, and the methods that answer them."""
LONGEST_REQUEST = 2**20  # bytes
TRAIL = 5  # states to go back to

Form: TypeAlias = Mapping[str, str]
Answer: TypeAlias = Callable[[Form], Awaitable[str]]


class Guard:
    """The checks before any answer: host, token, origin."""

    def __init__(self, app: ASGIApp, *, token: str, port: int, seen: Callable[[], None]) -> None:
        self.app = app
        self.prefix = f"/{token}/"
        self.hosts = {f"{HOST}:{port}", f"localhost:{port}"}
        self.seen = seen

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer a request, with an empty 404 if it fails a check."""
        if scope["type"] == "lifespan":
            await self.app(scope, receive, send)
            return
        if scope["type"] != "http" or not self._passes(scope):
            await Response(status_code=404, headers=HEADERS)(scope, receive, send)
            return
        self.seen()
        path = scope["path"][len(self.prefix) - 1 :]
        await self.app({**scope, "path": path, "root_path": ""}, receive, send)

    def _passes(self, scope: Scope) -> bool:
        """Return whether host, token and origin of a request are those of the page."""
        lines = [(n.decode("latin-1"), v.decode("latin-1")) for n, v in scope["headers"]]
        headers = dict(lines)
        hosts = [value for name, value in lines if name == "host"]
        if len(hosts) != 1 or hosts[0] not in self.hosts:
            return False
        path, method = scope["path"], scope["method"]
        if not hmac.compare_digest(path[: len(self.prefix)].encode(), self.prefix.encode()):
            return False
        # the private file that leads the browser to the page counts as another site
        opens_page = method == "GET" and path == self.prefix
        opens_page = opens_page and headers.get("sec-fetch-dest") == "document"
        if headers.get("sec-fetch-site", "none") not in ("none", "same-origin") and not opens_page:
            return False
        origin = headers.get("origin")
        if origin is None:  # browsers always send it with a POST
            return bool(method in ("GET", "HEAD"))
        return bool(origin == f"http://{hosts[0]}")


def application(
    page: Explorer | Walk, *, token: str, port: int, lang: str, seen: Callable[[], None]
) -> ASGIApp:
    """Return the application for a file or sweep; it calls ``seen`` for each accepted request."""
    answers = SweepAnswers(page, lang) if isinstance(page, Walk) else Answers(page, lang)
    routes = [Route("/", answers.front), Route("/assets/{name}", _asset)]
    for name, method in POSTED.items():
        if hasattr(answers, method):  # a stored sweep answers few of the forms
            handler = _form_handler(getattr(answers, method))
            routes.append(Route(f"/{name}", handler, methods=["POST"]))
    return Guard(Starlette(routes=routes), token=token, port=port, seen=seen)


def _form_handler(answer: Answer) -> Callable[[Request], Awaitable[Response]]:
    """Return the handler of a form: its answer in the language of the reader, or its error."""

    async def handle(request: Request) -> Response:
        body = bytearray()
        async for piece in request.stream():
            body += piece
            if len(body) > LONGEST_REQUEST:
                return Response(status_code=413, headers=HEADERS)
        form = dict(parse_qsl(body.decode("utf-8", "replace"), keep_blank_values=True))
        with speaking(_known_language(form.get("language", ""), ENGLISH.code)):
            try:
                text = await answer(form)
            except Superseded:
                return Response(status_code=204, headers=HEADERS)
            except QifError as e:
                text = rendering.fill("error.html", message=str(e))
            except Exception as e:
                message = f"internal error ({type(e).__name__}); please report it, with --debug"
                text = rendering.fill("error.html", message=message)
        return HTMLResponse(text, headers=HEADERS)

    return handle


def _known_language(code: str, usual: str) -> str:
    return code if code in LANGUAGES else usual


def _requested_language(form: Form, usual: str) -> str:
    """Return the language that a form asks for, or the one it is in."""
    return _known_language(form.get("lang", ""), _known_language(form.get("language", ""), usual))


async def _asset(request: Request) -> Response:
    name = request.path_params["name"]
    if name not in ASSETS:
        return Response(status_code=404, headers=HEADERS)
    text = html.style() if name == "style.css" else (rendering.PAGE / name).read_text("utf-8")
    return Response(text, media_type=ASSETS[name], headers=HEADERS)


class Answers:
    """The answers to the forms of the page of a file."""

    def __init__(self, page: Explorer, lang: str) -> None:
        self.explorer = page
        self.lang = lang

    async def _columns(self) -> Sequence[SourceColumn]:
        return await asyncio.wrap_future(self.explorer.columns())

    async def front(self, _request: Request) -> Response:
        """Return the whole page, with the suggested roles."""
        with speaking(self.lang):
            try:
                columns = await self._columns()
                first, tab = self.explorer.first_choices(columns), str(next(self.explorer.tabs))
                inside = rendering.explorer_page(self.explorer, columns, first, tab=tab)
            except QifError as e:
                inside = rendering.fill("error.html", message=str(e))
            text = rendering.page_frame(inside, f"qifsql: {self.explorer.dataset.name}")
        return HTMLResponse(text, headers=HEADERS)

    async def page(self, form: Form) -> str:
        """Return the page in another language, or as it was in an earlier state."""
        columns = await self._columns()
        choice, trail = self._choice(form, columns), self._trail(form)
        page, tab = self.explorer, form.get("tab", "")
        with speaking(_requested_language(form, self.lang)):
            return rendering.explorer_page(page, columns, choice, tab=tab, trail=trail)

    def _choice(self, form: Form, columns: Sequence[SourceColumn]) -> Choices:
        """Return the choices of a form, or those of an earlier state that it names."""
        number = integer(form.get("state", ""))
        if number is not None and number < len(self.explorer.tried):
            return self.explorer.tried[number]
        return choices.read_choices(form, [column.name for column in columns])

    def _trail(self, form: Form) -> list[int]:
        """Return the numbers of the states to go back to, as in ``explorer.tried``, newest last."""
        numbers = map(integer, form.get("trail", "").split(","))
        states = [n for n in numbers if n is not None and n < len(self.explorer.tried)]
        return states[-TRAIL:]

    async def attempt(self, form: Form) -> str:
        """Attack the changed release; return its risk, or why there is none, as a fragment.

        If roles of columns were changed, the part of the page about the adversary is added.
        """
        columns = await self._columns()
        choice, trail = self._choice(form, columns), self._trail(form)
        try:
            risk = await self._risk(choice, trail, form.get("tab", ""))
        except QifError as e:
            reopen = isinstance(e, DatasetError)  # the file was changed
            risk = rendering.no_result_fragment(self.explorer, str(e), trail, reopen=reopen)
        if rendering.roles_text(columns, choice) == form.get("roles"):
            return risk
        knowledge = rendering.knowledge_values(columns, choice)
        parts = ("knowledge.html", "sliders.html")
        return risk + "".join(rendering.fill(p, replaces=True, **knowledge) for p in parts)

    async def _risk(self, choice: Choices, trail: Sequence[int], tab: str) -> str:
        """Return the risk of choices as a fragment, or that the adversary knows nothing.

        ``trail`` has the numbers of earlier states; that of these choices is put at its end.
        """
        page = self.explorer
        if not choice.knowledge:
            message = said("The adversary knows nothing: no released column is a quasi-identifier.")
            return rendering.no_result_fragment(page, message, trail)
        result = await asyncio.wrap_future(page.attack(choice, tab))
        before = None
        if choice.is_changed:
            before = await asyncio.wrap_future(page.attack(choice.before, f"before {tab}"))
        state = page.remember(choice)
        trail = [*(n for n in trail if n != state), state][-TRAIL:]
        return await run_in_threadpool(rendering.risk_fragment, page, choice, result, before, trail)

    async def charts(self, form: Form) -> str:
        """Return the chapters of the report about a state, with charts."""
        choice = self._choice(form, await self._columns())
        result = await asyncio.wrap_future(self.explorer.attack(choice, form.get("tab", "")))
        return await run_in_threadpool(rendering.charts_fragment, self.explorer, result)

    async def cost(self, form: Form) -> str:
        """Return what the changes of a state save and cost."""
        choice = self._choice(form, await self._columns())
        result = await asyncio.wrap_future(self.explorer.cost(choice, form.get("tab", "")))
        return await run_in_threadpool(rendering.cost_fragment, self.explorer, result)

    async def progress(self, _form: Form) -> str:
        """Return that a calculation is running, and how much of it is done."""
        share = self.explorer.share
        percent = "" if share is None else number(f" {100 * share:.0f} %")
        return said("Working") + percent

    async def reopen(self, form: Form) -> str:
        """Read the file again, and return the page with the choices of the form."""
        self.explorer.reopen()
        return await self.page(form)

    async def start(self, form: Form) -> str:
        """Start the commands that write what a form names."""
        choice = self._choice(form, await self._columns())
        job = self.explorer.start(form.get("what", ""), choice, form)
        return rendering.fill("job.html", job=rendering.job_values(job))

    async def job(self, form: Form) -> str:
        """Return the state of a command, and new answers of a sweep."""
        version = integer(form.get("seen", "")) or 0
        job = self.explorer.jobs[form.get("job", "")]
        return rendering.fill("state.html", job=rendering.job_values(job, version))

    async def stop(self, form: Form) -> str:
        """Stop a command."""
        job = self.explorer.jobs[form.get("job", "")]
        await run_in_threadpool(job.close)
        return rendering.fill("state.html", job=rendering.job_values(job))

    async def answers(self, form: Form) -> str:
        """Return the answers of a sweep so far."""
        return await run_in_threadpool(rendering.answers_fragment, self._sweep(form), form)

    async def subset(self, form: Form) -> str:
        """Return another set of columns of a sweep, another question or measure."""
        return await run_in_threadpool(rendering.walk_fragment, self._sweep(form), form)

    def _sweep(self, form: Form) -> Walk:
        job = self.explorer.jobs[form.get("job", "")]
        if not isinstance(job, SweepJob) or job.answers is None:
            raise InputError("there is no such sweep; load the page again")
        return job.answers


class SweepAnswers:
    """The answers to the forms of the page of a stored sweep."""

    def __init__(self, sweep: Walk, lang: str) -> None:
        self.sweep = sweep
        self.lang = lang

    async def front(self, _request: Request) -> Response:
        """Return the whole page."""
        with speaking(self.lang):
            inside = await run_in_threadpool(rendering.sweep_page, self.sweep, {})
            text = rendering.page_frame(inside, f"qifsql: {self.sweep.file}")
        return HTMLResponse(text, headers=HEADERS)

    async def page(self, form: Form) -> str:
        """Return the page in another language."""
        with speaking(_requested_language(form, self.lang)):
            return await run_in_threadpool(rendering.sweep_page, self.sweep, form)

    async def subset(self, form: Form) -> str:
        """Return another set of columns, another question or measure."""
        return await run_in_threadpool(rendering.walk_fragment, self.sweep, form)
