"""What people look at: colours and figures. matplotlib is imported only when a figure is drawn."""
