"""Where blocks live. An engine carries a step to every block and adds up what comes back."""
