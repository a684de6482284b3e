from django.urls import path

from accounts import pages

app_name = "accounts"
urlpatterns = [
    path("signin/", pages.signin, name="signin"),
    path("signout/", pages.signout, name="signout"),
    path("settings/", pages.settings, name="settings"),
    path("settings/tokens/", pages.token_create, name="token_create"),
    path("settings/tokens/<int:token_id>/revoke/", pages.token_revoke, name="token_revoke"),
    path("org/", pages.switch_org, name="switch_org"),
]
