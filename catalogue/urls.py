"""URLs of the catalogue pages."""

from django.urls import path

from catalogue import pages_compliance, pages_importing, pages_skills, pages_tools, pages_trying, pages_worlds

app_name = "catalogue"
urlpatterns = [
    path("catalogue/", pages_tools.tool_list, name="tools"),
    path("catalogue/import/", pages_importing.import_tools, name="import"),
    path("catalogue/servers/<str:server>/describe/", pages_tools.describe, name="server_describe"),
    path("catalogue/tools/<str:qualified_name>/", pages_tools.tool, name="tool"),
    path("catalogue/tools/<str:qualified_name>/change/", pages_tools.change, name="tool_change"),
    path("catalogue/tools/<str:qualified_name>/compare/", pages_tools.compare, name="tool_compare"),
    path("catalogue/tools/<str:qualified_name>/delete/", pages_tools.delete, name="tool_delete"),
    path("catalogue/tools/<str:qualified_name>/export/", pages_tools.export, name="tool_export"),
    path("catalogue/tools/<str:qualified_name>/try/", pages_trying.try_it, name="tool_try"),
    path("skills/", pages_skills.skill_list, name="skills"),
    path("skills/new/", pages_skills.new, name="skill_new"),
    path("skills/<str:skill_id>/", pages_skills.detail, name="skill"),
    path("skills/<str:skill_id>/compare/", pages_skills.compare, name="skill_compare"),
    path("skills/<str:skill_id>/write/", pages_skills.write, name="skill_write"),
    path("skills/<str:skill_id>/change/", pages_skills.change, name="skill_change"),
    path("skills/<str:skill_id>/subscribe/", pages_skills.subscribe, name="skill_subscribe"),
    path("skills/<str:skill_id>/pin/", pages_skills.pin, name="skill_pin"),
    path("skills/<str:skill_id>/delete/", pages_skills.delete, name="skill_delete"),
    path("skills/<str:skill_id>/versions/<str:version>/edit/", pages_skills.edit, name="version_edit"),
    path("skills/<str:skill_id>/versions/<str:version>/delete/", pages_skills.delete_version, name="version_delete"),
    path("catalogue/compliance/", pages_compliance.compliance, name="compliance"),
    path("catalogue/worlds/", pages_worlds.worlds, name="worlds"),
    path("catalogue/worlds/new/", pages_worlds.new, name="world_new"),
    path("catalogue/worlds/<str:world_id>/", pages_worlds.detail, name="world"),
    path("catalogue/worlds/<str:world_id>/tools/", pages_worlds.tools, name="world_tools"),
    path("catalogue/worlds/<str:world_id>/call/", pages_worlds.call, name="world_call"),
    path("catalogue/worlds/<str:world_id>/fixtures/", pages_worlds.fixtures, name="world_fixtures"),
    path("catalogue/worlds/<str:world_id>/fixtures/recorded/", pages_worlds.recorded, name="world_recorded"),
    path("catalogue/worlds/<str:world_id>/reset/", pages_worlds.reset, name="world_reset"),
    path("catalogue/worlds/<str:world_id>/close/", pages_worlds.close, name="world_close"),
]
