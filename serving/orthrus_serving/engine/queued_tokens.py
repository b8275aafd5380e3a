"""A bound on the prompt tokens that wait: an HTTP request gets its whole place, or none."""


class QueueFullError(Exception):
    """No place now; there will be when earlier prompts are done."""


class RequestTooLargeError(Exception):
    """No place ever: the request alone is above the limit."""


class QueuedTokens:
    """Counts prompt tokens from admission until their prompt is computed.

    Kept in the front end, the only process that sees an HTTP request whole: vLLM's own bound looks
    at one prompt at a time, so it would let half of a list in.
    """

    def __init__(self, limit: int) -> None:
        self._limit = limit
        self.reserved = 0

    def require_room(self) -> None:
        """Raises QueueFullError when not even one token would be taken: spares the tokenizing."""
        if self.reserved >= self._limit:
            raise QueueFullError(self._full())

    def reserve(self, tokens: int) -> "Reservation":
        """Takes the place of all prompts of one HTTP request.

        Raises QueueFullError or RequestTooLargeError, and takes nothing then.
        """
        if tokens > self._limit:
            raise RequestTooLargeError(
                f"The request holds {tokens} prompt tokens, and this server takes at most "
                f"{self._limit} at once: send it in parts."
            )
        if self.reserved + tokens > self._limit:
            raise QueueFullError(self._full())
        self.reserved += tokens
        return Reservation(self, tokens)

    def _full(self) -> str:
        return f"The queue is full: {self.reserved} of {self._limit} prompt tokens are waiting."


class Reservation:
    """The place of one HTTP request; given back prompt by prompt, and what is left at its end."""

    def __init__(self, queue: QueuedTokens, tokens: int) -> None:
        self._queue = queue
        self._left = tokens

    def release(self, tokens: int) -> None:
        """Gives back the place of a prompt that has been computed."""
        given_back = min(tokens, self._left)
        self._left -= given_back
        self._queue.reserved -= given_back

    def close(self) -> None:
        """Gives back what is left: the request has ended, however that was."""
        self.release(self._left)
