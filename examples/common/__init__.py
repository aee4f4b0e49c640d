"""The parts that all jobs share: settings, model, data, checkpoints, signals, the sample log and heartbeats."""
