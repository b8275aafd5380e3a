"""Figures for people: tables, plots, one page of HTML."""
