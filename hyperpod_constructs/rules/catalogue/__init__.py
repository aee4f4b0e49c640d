"""The rules, one module per topic; importing a module registers its rules."""
