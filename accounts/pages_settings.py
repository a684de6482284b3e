"""The user's own settings: profile, password, theme, API tokens."""

from collections.abc import Collection
from datetime import timedelta
from typing import Any

from django.contrib import messages
from django.contrib.auth import login, update_session_auth_hash
from django.contrib.auth.forms import PasswordChangeForm
from django.contrib.auth.views import INTERNAL_RESET_SESSION_TOKEN, PasswordResetConfirmView
from django.db import transaction
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.urls import reverse
from django.views.decorators.debug import sensitive_post_parameters
from django.views.decorators.http import require_http_methods, require_POST

from accounts import invitations, shown_once, throttle, tokens
from accounts.authentication import org_of, page_actor
from accounts.context import KEYS_COOKIE, MOST_ORGS, OFF, THEME_COOKIE, THEMES
from accounts.models import ApiToken, User
from accounts.orgs import open_to, take_turns_with
from accounts.pages import current_org, signed_in
from core import forms
from core.actor import Actor
from core.errors import InvalidRequest, NoOrgProvided

_USUAL = "90"
_NEW_TOKEN = "new_token"  # noqa: S105 - the name of a cookie
_YEAR_SECONDS = int(timedelta(days=365).total_seconds())


@signed_in
@require_http_methods(["GET"])
def settings(request: HttpRequest) -> HttpResponse:
    """The settings page. The secret of a token just created is shown once."""
    return _settings(request, {}, secret=shown_once.handed_over(request, _NEW_TOKEN, to=page_actor(request).user_id))


def _settings(request: HttpRequest, errors: dict[str, str], *, secret: str = "") -> HttpResponse:
    actor = page_actor(request)
    context = {
        "orgs": open_to(actor)[:MOST_ORGS],
        "tokens": tokens.active(actor.user_id),
        "new_token": secret,
        "lifetimes": tokens.LIFETIMES.items(),
        "themes": [("", "System"), *((name, name.capitalize()) for name in THEMES)],
        "typed": {
            **{name: request.POST.get(name, "") for name in ("name", "scope")},
            "expires": request.POST.get("expires", "" if request.method == "POST" else _USUAL),
        },
        "errors": errors,
    }
    if secret:
        context |= _beginning(request, actor)
    response = render(request, "accounts/settings.html", context, status=400 if errors else 200)
    if secret:
        shown_once.forget(response, _NEW_TOKEN)
    return response


def _beginning(request: HttpRequest, actor: Actor) -> dict[str, Any]:
    """What the first calls with the newest token need: the org, if one has to be named, and whether it only reads."""
    org, newest = None, tokens.active(actor.user_id).first()
    try:
        org_of(actor, None)
    except NoOrgProvided:
        org = current_org(request)
    return {
        "begins_in": org.org_id if org else "",
        "begins_to_read": newest is not None and newest.scope == ApiToken.Scope.READ,
    }


@signed_in
@require_POST
def token_create(request: HttpRequest) -> HttpResponse:
    """Create a token; its secret is shown once, on the next page."""
    user = request.user
    assert isinstance(user, User)
    asked = {"scope": request.POST.get("scope", ApiToken.Scope.WRITE), "days": request.POST.get("expires", "")}
    try:
        secret = tokens.create(user, request.POST.get("name", "").strip(), **asked)
    except InvalidRequest as problem:
        if not (errors := forms.reasons(problem, ("name",))).get("name"):
            raise
        return _settings(request, errors)
    response = redirect(reverse("accounts:settings") + "#new-token")
    shown_once.hand_over(response, _NEW_TOKEN, secret, to=user.pk)
    return response


@signed_in
@require_POST
def token_revoke(request: HttpRequest, token_id: int) -> HttpResponse:
    """Revoke an own token; it stops working with the next request."""
    messages.success(request, f"Token {tokens.revoke(page_actor(request).user_id, token_id)} revoked.")
    return redirect("accounts:settings")


@sensitive_post_parameters()
@signed_in
@require_POST
def password(request: HttpRequest) -> HttpResponse:
    """Change the user's password. Other sessions end; tokens stay. Wrong passwords count as at sign-in."""
    user = request.user
    assert isinstance(user, User)
    caller = request.META.get("REMOTE_ADDR", "")
    form = PasswordChangeForm(user, request.POST)
    wrong = "This is not your current password."  # as the page calls it
    form.error_messages = {**form.error_messages, "password_incorrect": wrong}
    with throttle.counted(user.email, caller):
        is_right = form.is_valid()
    if not is_right:
        if "old_password" not in form.errors or not request.POST.get("old_password"):
            throttle.withdraw(user.email, caller)
        return _settings(request, {field: " ".join(map(str, said)) for field, said in form.errors.items()})
    throttle.succeeded(user.email, caller)
    update_session_auth_hash(request, form.save())
    messages.success(request, "Password changed. Your other sessions have ended.")
    return redirect("accounts:settings")


class Welcome(PasswordResetConfirmView):
    """A new user chooses a password with an invitation link and is signed in."""

    template_name = "accounts/welcome.html"
    token_generator = invitations.tokens

    def form_valid(self, form: Any) -> HttpResponse:
        user = form.save(commit=False)  # hash before taking the lock
        if not self._keeps(user):
            self.validlink = False
            return self.render_to_response(self.get_context_data())
        del self.request.session[INTERNAL_RESET_SESSION_TOKEN]
        login(self.request, user)
        return redirect("threads:list")

    def _keeps(self, user: User) -> bool:
        """Save the password unless the link has become invalid meanwhile; returns whether it was saved."""
        with transaction.atomic():
            take_turns_with(user.pk)
            now = User.objects.get(pk=user.pk)
            is_good = invitations.tokens.check_token(now, self.request.session[INTERNAL_RESET_SESSION_TOKEN])
            if is_good:
                user.save(update_fields=["password"])
            return is_good

    def form_invalid(self, form: Any) -> HttpResponse:
        return self.render_to_response(self.get_context_data(form=form), status=400)


@signed_in
@require_POST
def theme(request: HttpRequest) -> HttpResponse:
    """Save the theme for this browser, or follow the system again."""
    return _chosen(request, THEME_COOKIE, THEMES)


@signed_in
@require_POST
def keys(request: HttpRequest) -> HttpResponse:
    """Turn letters and signs off as keys in this browser, or on again (WCAG 2.1.4)."""
    return _chosen(request, KEYS_COOKIE, (OFF,))


def _chosen(request: HttpRequest, cookie: str, values: Collection[str]) -> HttpResponse:
    """Keep the choice of a form in the browser's cookie of the same name, or forget it if it is none of `values`."""
    chosen, response = request.POST.get(cookie, ""), redirect("accounts:settings")
    if chosen in values:
        response.set_cookie(
            cookie, chosen, max_age=_YEAR_SECONDS, httponly=True, samesite="Lax", secure=request.is_secure()
        )
    else:
        response.delete_cookie(cookie)
    return response
