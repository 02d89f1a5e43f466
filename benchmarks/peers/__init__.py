"""What the benchmarks of chunkers share: tools, units, samples, an oracle, measures."""
