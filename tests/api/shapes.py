"""The exact keys of every record (spec 3), so that a field that appears or vanishes is noticed."""

from typing import Any

THREAD = {
    "thread_id",
    "created",
    "created_by",
    "created_by_principal",
    "org_id",
    "messages",
    "continuation_token",
    "status",
    "activity",
    "title",
    "model_profile",
    "forked_from_thread_id",
    "forked_from_message_sequence_num",
    "visibility",
    "created_from_agent_id",
    "created_from_trigger_id",
    "origin",
    "pinned_at",
    "goals",
    "tasks",
}
MESSAGE = {"role", "content", "status", "created"}
TEXT = {"content_type", "text"}
TOOL_USE = {"content_type", "tool_name", "tool_use_id", "input", "raw_request", "answered_by_server"}
TOOL_RESULT = {"content_type", "tool_name", "tool_use_id", "runtime_ms", "status", "payload", "raw_response"}
ERROR = {"content_type", "error_message", "error_code"}
CLIENT_CONTEXT = {"content_type", "context"}
BLOCKS = {
    "text": TEXT,
    "tool_use": TOOL_USE,
    "tool_result": TOOL_RESULT,
    "error": ERROR,
    "client_context": CLIENT_CONTEXT,
}
DELTA = {
    "messages_by_idx",
    "continuation_token",
    "reset_from_message_sequence_num",
    "status",
    "activity",
    "title",
    "goals",
    "tasks",
}
GOAL = {
    "goal_type",
    "goal_data",
    "status",
    "message_sequence_num",
    "created",
    "concluded_at",
    "achieve_tool_use_id",
}
USER_FEEDBACK = {
    "feedback_id",
    "thread_id",
    "message_sequence_num",
    "org_id",
    "created",
    "created_by",
    "modified",
    "modified_by",
    "sentiment",
    "categories",
    "notes",
}
ADMIN_ONLY = {"admin_label", "admin_note", "resolved", "resolved_by", "resolved_at"}
PAGE = {"items", "next_token"}


def check_thread(record: dict[str, Any]) -> None:
    """A thread record with exactly its keys, down to the blocks (spec 3.1 to 3.3)."""
    assert set(record) == THREAD
    for message in record["messages"]:
        check_message(message)
    for goal in record["goals"] or []:
        assert set(goal) == GOAL


def check_message(message: dict[str, Any]) -> None:
    assert set(message) == MESSAGE
    for block in message["content"]:
        assert set(block) == BLOCKS[block["content_type"]]


def check_delta(delta: dict[str, Any]) -> None:
    """A delta with exactly its keys (spec 3.7); indices are decimal strings."""
    assert set(delta) == DELTA
    for idx, message in delta["messages_by_idx"].items():
        assert str(int(idx)) == idx
        check_message(message)


def texts(record: dict[str, Any]) -> list[str]:
    """What each message of a record says."""
    return [said(message) for message in record["messages"]]


def said(message: dict[str, Any]) -> str:
    """The text of a message; fragments join without a separator."""
    return "".join(block["text"] for block in message["content"] if block["content_type"] == "text")


def blocks(record: dict[str, Any], kind: str) -> list[dict[str, Any]]:
    """All blocks of a kind, in order."""
    return [block for message in record["messages"] for block in message["content"] if block["content_type"] == kind]
