"""Database connections that outlive their request: a thread has one only while it uses it."""

from typing import Any


class Borrower:
    """Lets a Django connection take over an open driver connection instead of making a new one. Goes before Django's
    class; `_borrowed` finds the driver connection.
    """

    _has_connected = False

    def _borrowed(self) -> Any:
        """An open driver connection, configured and outside a transaction; None if there is none."""
        raise NotImplementedError

    def get_new_connection(self: Any, conn_params: dict[str, Any]) -> Any:
        """A driver connection: a borrowed one, or a new one."""
        return self._borrowed() or super().get_new_connection(conn_params)  # type: ignore[misc]

    def ensure_connection(self: Any) -> None:
        """As Django's, which takes as long as a query by key: it works out each time how a connection would be made.

        Only the first time is Django's, which also keeps some of that on this object.
        """
        if self.connection is not None:
            return
        found = self._borrowed() if self._has_connected and not self.in_atomic_block else None
        if found is None:
            super().ensure_connection()  # type: ignore[misc]
            self._has_connected = True
            return
        self.connection, self.autocommit = found, True
        self.needs_rollback = self.closed_in_transaction = self.errors_occurred = False
        self.savepoint_ids, self.atomic_blocks, self.run_on_commit = list[Any](), list[Any](), list[Any]()
        self.health_check_done, self.close_at = True, 0.0

    def close_if_unusable_or_obsolete(self: Any) -> None:
        """Return the connection at the end of a request or task. Not inside a transaction, where tests ask for it."""
        if self.connection is not None and not self.in_atomic_block:
            self.close()
