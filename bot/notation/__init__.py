"""How the nouns are written on GitHub. Every file here reads and writes one notation, so both directions agree."""
