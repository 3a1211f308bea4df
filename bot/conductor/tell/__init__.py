"""Telling people and machines what a tick saw and did: the summary and the webhook."""
