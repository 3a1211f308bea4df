"""The nouns: frozen values that every other room speaks in. No network, files, environment, clock or randomness."""
