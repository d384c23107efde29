"""The parts of `parley.settle`: rules, evidence, the state machine, and what it has done."""
