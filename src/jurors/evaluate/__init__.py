"""From a sketch to evaluations: exact trios, latent-class models, baselines, and comparison with an answer key."""
