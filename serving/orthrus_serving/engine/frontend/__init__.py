"""The front end of the engine in the server process: arguments, engine client, OpenAI routes."""
