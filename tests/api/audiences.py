"""Who may see which column: every column of every model, in one table. And values by which one that leaks is known.

public  says nothing of what anybody said or decided: ids, links between rows, places, words of the wire
org     whoever may read the thread, skill or agent
own     the person who wrote it, or the thread's owner; of a report its submitter; admins too
admin   platform admins, and whoever operates the server; nobody else
nobody  no answer at all
"""

from collections.abc import Iterator
from datetime import UTC, datetime
from typing import Any

from django.apps import apps
from django.db import models

from core.db import JsonText

ADMINS, OWN, RAW = "~zq~", "~xw~", "~rw~"
"""What admin columns, own columns and raw payloads are filled with: short, and in no id, token or page."""
WHEN = datetime(2031, 3, 4, 5, 6, 7, tzinfo=UTC)
MARKS = {"admin": (ADMINS, "2031-03-04", "Mar 2031"), "own": (OWN,)}
APPS = ("accounts", "catalogue", "threads", "feedback")

AUDIENCES: dict[str, dict[str, str]] = {
    "accounts.User": {
        "public": "id",
        "org": "email name is_active",
        "own": "created is_staff last_login is_superuser",
        "nobody": "password put_out_of",
    },
    "accounts.Org": {"public": "id key", "org": "slug name members_may_fork visibility_may_change created"},
    "accounts.Membership": {"public": "id user org", "org": "role created", "own": "is_default"},
    "accounts.ApiToken": {
        "public": "id user",
        "own": "name hint scope created expires_at revoked_at last_used_at",
        "nobody": "hash",
    },
    "catalogue.Skill": {"public": "id key org", "org": "created_by accessibility name tags created modified"},
    "catalogue.SkillVersion": {
        "public": "id skill",
        "org": "version description body relevant_topics created modified",
    },
    "catalogue.SkillSubscription": {"public": "id user skill", "own": "ai_version subscribed"},
    "catalogue.Call": {
        "public": "id key org tool_use_id thread_id created_by world",
        "org": "server tool version outcome runtime_ms",
        "own": "arguments answer world_facts",
        "nobody": "attempt begun idempotency_key fingerprint",
    },
    "catalogue.DataRef": {
        "public": "id ref_id org",
        "own": "created_by summary data size_bytes created expires_at",
    },
    "catalogue.World": {
        "public": "id key org",
        "org": "created_by name mode seed seed_given failure_profile strict_fixtures ttl_seconds step_count history "
        "created expires_at closed_at",
        "nobody": "revision",
    },
    "catalogue.WorldTool": {
        "public": "id world folded",
        "org": "server name qualified_name version description input_schema output_schema param_order idempotent",
    },
    "catalogue.WorldFixture": {"public": "id world match", "org": "tool input output error"},
    "catalogue.WorldEntity": {"public": "id world", "org": "noun entity_id data is_dropped"},
    "catalogue.WorldAnswer": {"public": "id world", "org": "key answer", "nobody": "fingerprint"},
    "catalogue.DemoCount": {"public": "id", "org": "org name count"},
    "catalogue.ToolServer": {
        "public": "id org folded",
        "org": "name description version capabilities source_dialect created created_by modified modified_by",
    },
    "catalogue.Tool": {
        "public": "id org server search",
        "org": "name qualified_name version tags visible deprecated deprecation_message spelled_out handler "
        "is_dispatchable source_dialect created created_by modified modified_by",
    },
    "catalogue.ToolConnection": {
        "public": "id server",
        "org": "kind url command dialect timeout_ms overlap_until server_info drift refreshed created created_by "
        "modified modified_by",
        "nobody": "key headers secret_generation oldest_generation",
    },
    "catalogue.ToolVersion": {
        "public": "id tool",
        "org": "version declared_version description input_schema output_schema idempotent annotations param_order "
        "category source_dialect extras spec_hash created created_by",
    },
    "threads.Agent": {
        "public": "id key org",
        "org": "name description request_template variables version created created_by modified modified_by",
    },
    "threads.AgentVersion": {
        "public": "id agent",
        "org": "version name description request_template variables created created_by",
    },
    "threads.Thread": {
        "public": "id key org revision title_revision goals_revision rewind_revision world",
        "org": "created_by created modified title status visibility model_profile system_prompt "
        "client_context analysis_scope available_skills forked_from forked_from_message_sequence_num "
        "created_from_agent_id created_from_agent_version created_from_trigger_id launch_values origin import_id "
        "message_count weave has_error goal_count achieved_goal_count last_outcome",
        "own": "metadata",
    },
    "threads.Rewind": {"public": "id thread revision from_idx"},
    "threads.Pin": {"public": "id user thread", "own": "pinned_at"},
    "threads.Subject": {"public": "id thread", "org": "association_id note"},
    "threads.Turn": {
        "public": "id thread answer_idx",
        "org": "requested_by state error_code",
        "own": "profile model input_tokens output_tokens cost requests retries reprompts queued_at started_at "
        "first_text_at finished_at attempt replays_calls waits",
        "nobody": "losses worker lease_until request_hash requested_at is_told",
    },
    "threads.Unindexed": {"public": "thread", "nobody": "from_idx"},
    "threads.UsedTool": {"public": "id thread", "org": "tool_name failed"},
    "threads.Goal": {
        "public": "id thread turn",
        "org": "goal_type goal_data status message_sequence_num created concluded_at achieve_tool_use_id attempt_count "
        "result",
    },
    "threads.ClientTool": {"public": "id thread", "org": "name description input_schema"},
    "threads.Message": {
        "public": "id thread idx first_revision revision block_count",
        "org": "role status created author echo_to",
    },
    "threads.Block": {
        "public": "id thread idx position revision",
        "org": "kind text data outcome tool_use_id",
        "own": "raw",
    },
    "feedback.UserFeedback": {
        "public": "id key thread message_sequence_num org",
        "own": "created created_by modified modified_by sentiment categories category_bits notes",
        "admin": "admin_label admin_note resolved resolved_by resolved_at owned_by",
    },
    "feedback.Reply": {"public": "feedback", "own": "public_status public_reply replied_at seen_at"},
    "feedback.Retraction": {"public": "id", "admin": "key retracted_at"},
    "feedback.RatedAnswer": {"public": "feedback", "admin": "model_profile error_code"},
    "feedback.RatedTool": {"public": "id feedback", "admin": "tool_name failed"},
    "feedback.Undigested": {"public": "feedback"},
    "feedback.Reworded": {"public": "feedback"},
    "feedback.Tally": {"public": "day", "admin": "quarters counts"},
    "feedback.Untallied": {"public": "id day"},
    "feedback.Triage": {
        "public": "feedback",
        "admin": "owner outcome duplicate_of snoozed_until snoozed_until_again proof",
    },
    "feedback.TriageChange": {"public": "id feedback", "admin": "at actor before after verb action undoes"},
    "feedback.Label": {"public": "id", "admin": "name folded description created created_by"},
    "feedback.Labelled": {"public": "id feedback label"},
    "feedback.Comment": {"public": "id feedback", "admin": "key author text created modified edited_at deleted_at"},
    "feedback.Mention": {"public": "id comment feedback", "admin": "person is_pending is_answer"},
    "feedback.Lease": {"public": "id feedback", "admin": "holder until"},
    "feedback.SavedView": {"public": "id", "admin": "key name query is_shared created created_by"},
    "feedback.Bulk": {
        "public": "id",
        "admin": "key verb arguments query chosen below state total done_count failed_count after undoes lease_until "
        "created created_by finished_at",
    },
    "feedback.Check": {
        "public": "id feedback thread message_sequence_num",
        "admin": "key title expectations state outcome outcome_before created created_by modified modified_by "
        "is_kept dropped_at",
    },
    "feedback.CheckBatch": {
        "public": "id",
        "admin": "key created created_by skills prompt tools model_profile times ended_at asked",
    },
    "feedback.CheckRun": {
        "public": "id of batch fork",
        "admin": "key model_profile skill_versions created ended_at verdict findings is_alike problem seconds "
        "input_tokens output_tokens cost judged_by",
    },
    "feedback.BulkFailure": {"public": "id", "admin": "bulk feedback_key reason is_as_wanted"},
    "feedback.WebhookEndpoint": {
        "public": "id key org",
        "own": "owner url description events is_enabled disabled_at disabled_reason failing_since failed_at created "
        "modified overlap_until",
        "nobody": "secret_generation oldest_generation lease_until",
    },
    "feedback.WebhookEvent": {
        "public": "id key report",
        "own": "name at",
        "admin": "actor is_triage due_at settled_at is_told",
    },
    "feedback.WebhookDelivery": {
        "public": "id key endpoint event",
        "own": "message_id name audience body state tries next_at created settled_at",
        "nobody": "goes_first",
    },
    "feedback.WebhookAttempt": {"public": "id delivery", "own": "at milliseconds status error response"},
    "feedback.WebhookTold": {"public": "id endpoint report"},
}


def stored() -> Iterator[tuple[str, type[models.Model], Any]]:
    """Every column that there is: the model's name, the model, the column."""
    for app in APPS:
        for model in apps.get_app_config(app).get_models():
            for column in model._meta.concrete_fields:
                yield f"{app}.{model.__name__}", model, column


def audience_of(name: str, column: str) -> str:
    """Who may see a column; the error names one that is not in the table."""
    found = [audience for audience, columns in AUDIENCES[name].items() if column in columns.split()]
    assert len(found) == 1, f"{name}.{column}: who may see it? {found}"
    return found[0]


def marked(column: Any, audience: str, admin: Any) -> Any:
    """A value for a column by which a leak is known; None where its kind holds none: numbers, truths, closed lists."""
    mark = ADMINS if audience in ("admin", "nobody") else OWN
    if column.choices or column.primary_key:
        return None
    if isinstance(column, models.ForeignKey):
        return admin if column.related_model is type(admin) and audience == "admin" else None
    if isinstance(column, models.DateTimeField):
        return WHEN if audience == "admin" else None
    if isinstance(column, JsonText):
        return [mark] if column.default is list else {"admin_note": mark}
    return mark if isinstance(column, models.CharField | models.TextField) else None
