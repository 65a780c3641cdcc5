"""Figures, one a module: tables and fit results in, plotly figures out."""
