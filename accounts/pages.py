"""Sign-in, sign-out and the current org."""

from collections.abc import Callable
from functools import wraps
from secrets import token_urlsafe
from typing import Any

from django.conf import settings
from django.contrib.auth import authenticate, login, logout
from django.contrib.sessions.backends.db import SessionStore
from django.http import HttpRequest, HttpResponse, HttpResponseBase
from django.shortcuts import redirect, render
from django.urls import reverse
from django.utils.http import url_has_allowed_host_and_scheme, urlencode
from django.views.decorators.debug import sensitive_post_parameters
from django.views.decorators.http import require_http_methods, require_POST
from django_htmx.middleware import HtmxDetails

from accounts import throttle
from accounts.authentication import page_actor
from accounts.models import Org, User
from accounts.naming import FIRST_PERSON
from accounts.orgs import open_to
from core import bodies, problems, uploads
from core.errors import InvalidRequest, NoOrgProvided, NotFound, NotSignedIn, TooManyTries
from core.ids import ORG
from core.prepared import PreparedRow

ORG_SESSION_KEY = "org"
_KNOWN, _KNOWN_SECONDS = "known", 365 * 24 * 60 * 60
"""Cookie of a browser that has signed in, for whom and with an id of its own, and how long it lasts."""
View = Callable[..., HttpResponseBase]


def signed_in(view: View) -> View:
    """Require a session: redirect to the sign-in page, which leads back afterwards.

    After a form it leads back to the form's page, where the typed text is kept as a draft. Requests by scripts are
    rejected instead, because leaving the page would lose what is not in a draft.
    """

    @wraps(view)
    def wrapper(request: HttpRequest, *args: Any, **kwargs: Any) -> HttpResponseBase:
        try:
            page_actor(request)
        except NotSignedIn:
            if HtmxDetails(request):
                is_form = request.method == "POST"
                return problems.page(request, NotSignedIn(problems.lost(request) if is_form else "You are signed out."))
            target = request.get_full_path() if request.method == "GET" else problems.came_from(request) or "/"
            return redirect(f"{reverse('accounts:signin')}?{urlencode({'next': target})}")
        return view(request, *args, **kwargs)

    wrapper.needs_user = True  # type: ignore[attr-defined]
    return wrapper


@sensitive_post_parameters("password")
@require_http_methods(["GET", "HEAD", "POST"])
@uploads.takes(uploads.SMALL)
def signin(request: HttpRequest) -> HttpResponse:
    """The sign-in page. After five wrong passwords sign-in is paused. Raises `Unavailable`."""
    target = _safe_next(request)
    if request.method != "POST":
        if request.user.is_authenticated:
            return redirect(target)
        first = "" if User.objects.exists() else FIRST_PERSON
        return render(request, "signin.html", {"next": target, "email": "", "error": None, "first_person": first})
    email = request.POST.get("email", "").strip().lower()
    caller = request.META.get("REMOTE_ADDR", "")
    if "\x00" in email:  # PostgreSQL rejects it in queries; nobody has such an address, so it is not counted
        return _refused(request, target, email, "Wrong email or password.", "", 400)
    browser = _known(request, email)
    try:
        with throttle.counted(email, caller, browser) as left:
            user = authenticate(request, username=email, password=request.POST.get("password", ""))
    except TooManyTries as problem:
        return _refused(request, target, email, "Sign-in is paused.", problem.message, 429)
    if user is None:
        hint = f"{left} more {'attempt' if left == 1 else 'attempts'} before a pause of one minute."
        return _refused(request, target, email, "Wrong email or password.", hint, 400)
    throttle.succeeded(email, caller, browser)
    login(request, user)
    SessionStore.clear_expired()  # here, because nothing else adds them
    response = redirect(target)
    response.set_signed_cookie(
        _KNOWN,
        f"{throttle.name_of(email)} {browser or token_urlsafe(16)}",
        salt=_KNOWN,
        max_age=_KNOWN_SECONDS,
        path=request.path,
        secure=settings.SESSION_COOKIE_SECURE,
        httponly=True,
        samesite="Lax",
    )
    return response


def _known(request: HttpRequest, email: str) -> str:
    """The id of a browser that has signed in with this email before; empty for any other."""
    said = request.get_signed_cookie(_KNOWN, "", salt=_KNOWN, max_age=_KNOWN_SECONDS) or ""
    name, _, browser = said.partition(" ")
    return browser if name == throttle.name_of(email) else ""


def _refused(request: HttpRequest, target: str, email: str, problem: str, hint: str, status: int) -> HttpResponse:
    context = {"next": target, "email": email, "error": {"title": problem, "detail": hint}}
    return render(request, "signin.html", context, status=status)


def _safe_next(request: HttpRequest) -> str:
    return local(request, request.POST.get("next") or request.GET.get("next") or "", otherwise="threads:list")


def local(request: HttpRequest, target: str, *, otherwise: str) -> str:
    """The given path if it is on this server, else the URL of the page `otherwise`."""
    is_ours = url_has_allowed_host_and_scheme(target, {request.get_host()}, require_https=request.is_secure())
    return target if target.startswith("/") and is_ours else reverse(otherwise)


@require_POST
def signout(request: HttpRequest) -> HttpResponse:
    """End the session."""
    logout(request)
    return redirect("accounts:signin")


@signed_in
@require_POST
def switch_org(request: HttpRequest) -> HttpResponse:
    """Choose the current org, from the menu or by typing its name. Raises `NotFound`, `InvalidRequest`."""
    slug = request.POST.get("org", "").strip()
    bodies.check_storable({"org": slug})
    org = open_to(page_actor(request)).filter(slug=slug).first()
    if org is None:
        raise NotFound(f"There is no org {slug[:80]!r} that you can act in.")
    request.session[ORG_SESSION_KEY] = org.slug
    return redirect(_safe_next(request))


def current_org(request: HttpRequest) -> Org | None:
    """The org of a page request: the chosen one, else the user's first; looked up once per request."""
    if not hasattr(request, "org"):
        request.org = _current_org(request)  # type: ignore[attr-defined]
    return request.org  # type: ignore[attr-defined, no-any-return]


def required_org(request: HttpRequest) -> Org:
    """The org of a page request that needs one; raises `NoOrgProvided` for a user without any.

    A form names the org it was opened in. If another one was chosen since, in another tab, it would be stored there,
    and be seen by people it was not meant for: raises `InvalidRequest`. The form that comes back is of the new org.
    """
    org = current_org(request)
    if org is None:
        raise NoOrgProvided("You are not in an org yet. An org admin or an operator can add you.")
    if (meant := request.POST.get("acts_in") or org.slug) != org.slug:
        again = f"Send it again for {org.slug}, or switch back first. Nothing was stored"
        raise InvalidRequest.of("acts_in", f"You are in {org.slug} now; this form is of {meant[:80]}. {again}")
    return org


def _current_org(request: HttpRequest) -> Org | None:
    actor = page_actor(request)
    chosen = request.session.get(ORG_SESSION_KEY)
    org = _BY_SLUG.first(chosen) if chosen else None
    if org and (actor.is_admin or org.pk in actor.orgs.values()):
        return org
    if first := next(iter(actor.orgs), ""):
        return _BY_KEY.first(first.removeprefix(ORG))
    return open_to(actor).first()


_BY_SLUG = PreparedRow(lambda slug: Org.objects.filter(slug=slug), Org, str)
_BY_KEY = PreparedRow(lambda key: Org.objects.filter(key=key), Org, str)
