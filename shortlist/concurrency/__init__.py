"""Several things at once: stages that work ahead, readers and one writer, interrupts at whole examples."""
