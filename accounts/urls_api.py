"""The routes for orgs and tokens under /v1."""

from django.urls import path

from accounts import api_orgs as api

urlpatterns = [
    path("orgs", api.Orgs.as_view()),
    path("orgs/<str:org_id>", api.OneOrg.as_view()),
    path("orgs/<str:org_id>/members", api.Members.as_view()),
    path("orgs/<str:org_id>/members/<str:email>", api.OneMember.as_view()),
    path("orgs/<str:org_id>/members/<str:email>/invitation", api.Invitation.as_view()),
    path("tokens", api.Tokens.as_view()),
    path("tokens/<str:token_id>", api.OneToken.as_view()),
]
