from django.urls import path

from accounts import pages, pages_members, pages_settings

app_name = "accounts"
urlpatterns = [
    path("signin/", pages.signin, name="signin"),
    path("signout/", pages.signout, name="signout"),
    path("welcome/<str:uidb64>/<str:token>/", pages_settings.Welcome.as_view(), name="welcome"),
    path("settings/", pages_settings.settings, name="settings"),
    path("settings/password/", pages_settings.password, name="password"),
    path("settings/theme/", pages_settings.theme, name="theme"),
    path("settings/keys/", pages_settings.keys, name="keys"),
    path("settings/tokens/", pages_settings.token_create, name="token_create"),
    path("settings/tokens/<int:token_id>/revoke/", pages_settings.token_revoke, name="token_revoke"),
    path("settings/members/", pages_members.listed, name="members"),
    path("settings/members/policies/", pages_members.policies, name="policies"),
    path("settings/members/<int:member_id>/role/", pages_members.role, name="member_role"),
    path("settings/members/<int:member_id>/remove/", pages_members.remove, name="member_remove"),
    path("settings/members/<int:member_id>/link/", pages_members.link, name="member_link"),
    path("org/", pages.switch_org, name="switch_org"),
]
